"""What a Python program that `heddle run` or `heddle check` has started can ask of Heddle.

Without Heddle all of it does nothing, so a script may keep it.
"""
import os

__all__ = ["running"]


def running():
    """Is this process run by Heddle?"""
    return "HEDDLE_MODE" in os.environ

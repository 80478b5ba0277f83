"""What is looked at of a large set: a fixed part with each commit, all of it or another part each night.

HEDDLE_NIGHT is a number where `./dev nightly` runs a test, the date as a rule. Without it a test must do the same for each commit.
"""
import os


def night():
    """The number of this night; None: this is not one."""
    text = os.environ.get("HEDDLE_NIGHT")
    return int(text) if text else None


def some(items, parts):
    """One of so many parts, always the same one; at night all."""
    items = list(items)
    return items if night() is not None else items[::parts]


def seed(fixed):
    """Where random choices begin."""
    return fixed if night() is None else night()

"""What a Python program that `heddle run` or `heddle check` has started can ask of Heddle.

    with heddle.search():          # heddle check --kernel=heddle.search script.py
        kernel[(4,)](x, lock)

Without Heddle all of it does nothing, so a script may keep it.
"""
import contextlib
import ctypes
import os

__all__ = ["running", "search"]


def running():
    """Is this process run by Heddle?"""
    return "HEDDLE_MODE" in os.environ


@contextlib.contextmanager
def search():
    """The search of `heddle check --kernel=heddle.search` begins at the first launch in this block.

    It ends, and so does each execution that it looks at, at the end of the block: what follows is not
    executed. Other ways to start the program do nothing here.
    """
    if os.environ.get("HEDDLE_MODE") != "check" or os.environ.get("HEDDLE_KERNEL") != "heddle.search":
        yield
        return
    runtime = next(lib for lib in map(_loaded, ("libcudart.so.13", "libcudart.so.12")) if lib is not None)
    runtime.heddle_search_begins()
    yield
    runtime.cudaDeviceSynchronize()
    ctypes.CDLL(None).exit(0)  # and not Python's own end, which has much to do


def _loaded(name):
    try:
        return ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return None

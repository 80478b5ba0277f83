"""What is looked at of a large set: a fixed part with each commit, all of it or another part each night.

HEDDLE_NIGHT is a number where `./dev nightly` runs a test, the date as a rule. Without it a test must do the same for each commit.
HEDDLE_NIGHT_SECONDS is how long a test may look for something new there (tools/nightly.py).
"""
import os
import random
import time

STARTED = time.monotonic()


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


def late():
    """HEDDLE_NIGHT_SECONDS of the clock have passed since this was imported: what is left is for another night."""
    limit = os.environ.get("HEDDLE_NIGHT_SECONDS")
    return bool(limit) and time.monotonic() - STARTED > float(limit)


def in_time(function):
    """The function, which answers None without a look where it is late(). The first call looks: on a busy machine a share may be over by then."""
    first = iter([True])
    return lambda *arguments: None if late() and not next(first, False) else function(*arguments)


def mixed(items):
    """In another order each night, so that what a limit of time leaves out is not always the same."""
    items = list(items)
    if night() is not None:
        random.Random(night()).shuffle(items)
    return items

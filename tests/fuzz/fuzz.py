#!/usr/bin/env python3
"""Runs a libFuzzer target for a number of inputs that does not depend on the machine, from a seed that changes with the commit: the
same commit tries the same inputs each time.

    fuzz.py TARGET SEEDS [FLAG…]

An input that fails lies in the folder where this runs, as crash-…
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from rotation import turn  # noqa: E402


def main():
    target, seeds, *flags = sys.argv[1:]
    with tempfile.TemporaryDirectory() as found:
        command = [target, found, seeds, f"-seed={1 + turn(2 ** 31)}", *flags]
        print(*command, flush=True)
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs a libFuzzer target for a number of inputs that does not depend on the machine, always the same
ones. At night (tests/support/night.py) for 20 seconds, from another seed.

    fuzz.py TARGET SEEDS [FLAG…]

An input that fails lies in the folder where this runs, as crash-…
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from night import night, seed  # noqa: E402


def main():
    target, seeds, *flags = sys.argv[1:]
    with tempfile.TemporaryDirectory() as found:
        command = [target, found, seeds, f"-seed={seed(1)}", *flags]
        if night() is not None:
            command += ["-runs=-1", "-max_total_time=20"]
        print(*command, flush=True)
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

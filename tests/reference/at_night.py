"""Random programs for seven minutes on all processors, from the number of the night on.

    at_night.py HEDDLE_DIFFER
"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import night

SECONDS = 420


def main(differ):
    first = night.seed(1) * 1_000_000
    lanes = len(os.sched_getaffinity(0))
    running = [subprocess.Popen([differ, f"--seed={(first + lane) * 1_000_000}", "--programs=1000000000", f"--seconds={SECONDS}"])
               for lane in range(lanes)]
    return max(process.wait() for process in running)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

#!/usr/bin/env python3
"""`heddle run` on 1, 2, 4, … processors: wall clock of the four kernels of cores.cu, and how many times as fast as on one.

  bench/cores.py [--heddle HEDDLE] [--rounds N]

Best of ROUNDS launches in one process; Heddle has one worker for each processor that it may use (taskset). On a machine
that others use the figures mean little.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def times(heddle, processors, rounds):
    """{kernel: ms}"""
    command = ["taskset", "-c", ",".join(map(str, processors)), heddle, "run", HERE / "cores.cu", "--", str(rounds)]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default=str(HERE.parent / "heddle"))
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    all_of_them = sorted(os.sched_getaffinity(0))
    times(arguments.heddle, all_of_them, 1)  # compiles
    alone = {}
    for count in sorted({1, 2, 4, 8, 16, 32, len(all_of_them)}):
        if count > len(all_of_them):
            break
        now = times(arguments.heddle, all_of_them[:count], arguments.rounds)
        alone = alone or now
        print(f"{count:>3} processors  " + "  ".join(f"{kernel} {ms:>9.2f} ms (x{alone[kernel] / ms:.1f})" for kernel, ms in now.items()), flush=True)


if __name__ == "__main__":
    main()

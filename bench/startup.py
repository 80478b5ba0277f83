#!/usr/bin/env python3
"""Time from starting `heddle run` to the end of the program's first kernel: startup.py HEDDLE [ROUNDS]

The program (first_kernel.cu) launches one kernel, waits for it and prints the monotonic clock; this
script took the same clock before it started the process. Compilation is not counted: the first run,
which may compile, is thrown away.
"""
import pathlib
import statistics
import subprocess
import sys
import time


def main(argv):
    heddle = argv[1]
    rounds = int(argv[2]) if len(argv) > 2 else 20
    program = pathlib.Path(__file__).resolve().parent / "first_kernel.cu"
    times = []
    for _ in range(rounds + 1):
        start = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        done = subprocess.run([heddle, "run", program], capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stderr, file=sys.stderr)
            return 1
        times.append((int(done.stdout) - start) / 1e6)
    times = times[1:]
    print(f"median {statistics.median(times):.1f} ms, best {min(times):.1f} ms of {rounds} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

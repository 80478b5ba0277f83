#!/usr/bin/env python3
"""What compiled code gains or costs in whole programs: those of the files here, or programs without arguments.

  bench/suite/suite.py [--heddle HEDDLE] [--before HEDDLE] [--rounds N] [--work N] [--flags=FLAGS] [PROGRAM.cu …]

Processor time of each (user and system, of all threads and processes) on one processor, with --jit=never (or, --before, what
another version does if nothing is said) and with --jit=hot, whose cache of compiled kernels is warm: the least of ROUNDS runs, by turns. WORK is how often a program of
this folder launches its kernels (16 times if nothing is said; then the start is a large part of most). Prints the ratio of each, their
geometric mean, and which are slower by more than 5 % (and by more than 10 ms, for two runs of one and the
same program differ by as much). Fails if a program prints something else when it is compiled.
"""

import argparse
import math
import os
import resource
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def execute(command):
    """(seconds of processor time, what it prints); (None, "") if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    except subprocess.TimeoutExpired:
        return None, b""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return (used, done.stdout) if done.returncode == 0 else (None, b"")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default=str(HERE.parents[1] / "heddle"))
    parser.add_argument("--before", help="the heddle of another version, in the place of --jit=never")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=int)
    parser.add_argument("--flags", default="", help="further ones of heddle run: --flags=--races")
    parser.add_argument("programs", nargs="*", type=Path)
    arguments = parser.parse_args()
    run = [arguments.heddle, "run", *arguments.flags.split()]
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    cases = [(program.stem, [program]) for program in arguments.programs]
    if not cases:
        for file in sorted(HERE.glob("*.cu")):
            names = execute([arguments.heddle, "run", file])[1].decode().split()
            work = [str(arguments.work)] if arguments.work else []
            cases += [(name, [file, "--", name, *work]) for name in names]
    ways = {
        "other": [arguments.before, "run", *arguments.flags.split()] if arguments.before else [*run, "--jit=never"],
        "hot": [*run, "--jit=hot"],
    }
    ratios, slower, wrong = [], [], []
    for name, words in cases:
        execute([*run, "--jit=always", *words])  # compiles it, and its kernels
        times = {way: [] for way in ways}
        texts = set()
        for _ in range(arguments.rounds):
            for way, command in ways.items():
                seconds, text = execute([*command, *words])
                times[way].append(seconds)
                texts.add(text)
        if None in times["other"] + times["hot"]:
            print(f"{name:24} fails")
            continue
        if len(texts) != 1:
            wrong.append(name)
        other, hot = min(times["other"]), min(times["hot"])
        ratios.append(other / hot)
        if hot > 1.05 * other and hot - other > 0.01:
            slower.append(name)
        print(f"{name:24} {other * 1e3:9.0f} ms {hot * 1e3:9.0f} ms {other / hot:7.2f}", flush=True)
    if not ratios:
        return 1
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{len(ratios)} programs, geometric mean {mean:.2f}; slower: {', '.join(slower) or 'none'}; "
          f"other output: {', '.join(wrong) or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

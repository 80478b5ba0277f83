#!/usr/bin/env python3
"""What `heddle check --memory=ptx` costs: states, with it and without, of the cases of tests/check.

    HEDDLE=./heddle python3 bench/memory_cost.py tests/check/idioms/locks.cu …

Of each program that ends in both and that names no flags of its own: both numbers and their ratio; at last the
geometric mean, and how many did not come to an end within 100,000 states or 20 s.
"""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests/check"))
import cases  # noqa: E402  (found by the line above)

LIMITS = ("--max-states=100000", "--max-time=20", "--schedules=0", "-j1")


def main(programs):
    ratios, open_ones = [], 0
    for case in (c for path in programs for c in cases.read_cases(path)):
        if case.many("flags") or case.verdict != "terminates":
            continue
        plain, weak = case.run(*LIMITS), case.run(*LIMITS, "--memory=ptx")
        if not plain.get("complete"):
            continue
        if weak["verdict"] != "terminates" or not weak["complete"]:
            open_ones += 1
            print(f"{case.name}: {plain['states']} states, --memory=ptx: {weak['verdict']}, {weak.get('states')} states")
            continue
        ratios.append(weak["states"] / plain["states"])
        print(f"{case.name}: {plain['states']} states, {weak['states']} with --memory=ptx, {ratios[-1]:.2f} times")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")
    print(f"{len(ratios)} programs, geometric mean {mean:.2f}; {open_ones} others have another verdict or none")


if __name__ == "__main__":
    main(sys.argv[1:])

#!/usr/bin/env python3
"""The CASEs of test_races.py's programs with every kernel compiled and with none: the same bytes on both streams and the
same exit code, so the same findings, order and counts, in the schedule without a seed and in those of some seeds.

    HEDDLE=build/dev/bin/heddle compare_compiled.py [--seeds N] [--part K/N] FILE.cu…
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import test_races

ABOUT_COMPILING = re.compile(r"^heddle-jit: .*\n", re.M)


def run(path, jit, seed, *arguments):
    flags = test_races.NVCC.search(path.read_text(encoding="utf-8"))
    command = [test_races.HEDDLE, "run", *test_races.grade(path)[0], f"--jit={jit}", *([f"--seed={seed}"] if seed else []),
               *([f"--nvcc={flags[1]}"] if flags else []), path.name, "--", *arguments]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "HEDDLE_JIT_SHOW": "tiers"})
    return (done.returncode, done.stdout, ABOUT_COMPILING.sub("", done.stderr)), ": installed" in done.stderr


def compare(path, name, seeds):
    """(what differs, in how many runs kernels were compiled)"""
    differences, compiled = [], 0
    for twin in ("racy", "right"):
        for seed in range(seeds + 1):
            # Twice, if need be: the engine looks for hangs after half a second, which a busy machine may reach in one of them.
            for _ in range(2):
                interpreted, _ = run(path, "never", seed, name, twin)
                machine_code, installed = run(path, "always", seed, name, twin)
                if interpreted == machine_code:
                    break
            compiled += installed
            if interpreted != machine_code:
                differences.append(f"{path.name}: {name} {twin}, seed {seed}:\n{interpreted}\n{machine_code}\n")
    return differences, compiled


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--part", default="1/1", help="of the cases: K/N, the K-th of N")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    part, parts = map(int, arguments.part.split("/"))
    cases = []
    for path in arguments.files:
        run(path, "never", 0, "no such", "case")  # compiles once
        names = [case[0] for case in test_races.CASE.findall(path.read_text(encoding="utf-8"))]
        cases += [(path, name) for name in names]
    chosen = cases[part - 1::parts]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda case: compare(*case, arguments.seeds), chosen))
    differences = [text for found, _ in results for text in found]
    compiled = sum(count for _, count in results)
    print(*differences, sep="", end="")
    print(f"{len(chosen)} pairs, {compiled} runs with compiled kernels, {len(differences)} differ")
    return 1 if differences or not compiled else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What the reference says of the kernels in tests/check, beside the verdicts that stand there.

    compare_cases.py [--max-states=20000] [--jobs=2] FILE.cu…      all of tests/check without a file

A kernel that may hang, fail or race by the reference is in a program of which the verdict says so. The other way round
only where the host does nothing but wait, which nobody knows here: those that differ so are listed, and are no failure.
"""
import argparse
import concurrent.futures
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/check"))
import cases

# Another system than the one that the reference has.
OTHER = ("--memory", "--warps", "--progress", "--host-progress", "--other-processes", "--api", "--barriers", "--kernel",
         "--uninitialised", "--reconvergence", "--stale-reads", "--devices")


def reference(case, most):
    nvcc = " ".join(case.values.get("nvcc", []))
    command = [cases.HEDDLE, "check", "--reference", f"--max-states={most}", *([f"--nvcc={nvcc}"] if nvcc else []),
               str(case.path), *(["--", *case.words] if case.words else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=case.environment())
    except subprocess.TimeoutExpired:
        return []
    return [line for line in done.stdout.splitlines() if line.startswith("reference: ")]


def judged(case, lines):
    """`wrong`, `host` (only that may explain it), `agrees` or `not searched`, with why."""
    defects = [line for line in lines if ": defect: " in line]
    bad = case.verdict in ("may-hang", "defect")
    if defects:
        # A data race is not what a verdict is about; nor is a program any that has one.
        raced = all("a data race" in line for line in defects)
        return ("agrees" if bad else "races" if raced else "wrong"), defects[0]
    if not lines or any("not searched" in line for line in lines):
        return "not searched", next((line for line in lines if "not searched" in line), "")
    return ("host" if bad else "agrees"), lines[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--max-states", type=int, default=20000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("file", nargs="*")
    options = parser.parse_args()
    files = options.file or cases.programs("tests/check/clauses", "tests/check/idioms")
    count = {}
    for path in files:
        mine = [case for case in cases.read_cases(path)
                if case.gap is None and not any(flag.startswith(OTHER) for flag in case.many("flags"))]
        if mine:
            reference(mine[0], 1)  # compiles, once
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            answers = list(pool.map(lambda case: reference(case, options.max_states), mine))
        for case, lines in zip(mine, answers):
            how, why = judged(case, lines)
            count[how] = count.get(how, 0) + 1
            if how in ("wrong", "host", "races"):
                print(f"{how}: {path}: {case.name}: {case.verdict}; {why}", flush=True)
    print(", ".join(f"{n} {how}" for how, n in sorted(count.items())))
    return 1 if count.get("wrong") else 0


if __name__ == "__main__":
    sys.exit(main())

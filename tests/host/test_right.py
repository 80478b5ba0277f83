#!/usr/bin/env python3
"""Programs with streams that are right (right.cu): no finding in a plain run, by --races, or by `heddle check`.

    HEDDLE=build/dev/bin/heddle test_right.py [CASE…]
"""
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HEDDLE = os.environ.get("HEDDLE", "heddle")
PROGRAM = pathlib.Path(__file__).parent / "right.cu"
CASE = re.compile(r'^    \{"(\w+)", \w+\},$', re.M)
MODES = (["run"], ["run", "--seed=3"], ["run", "--races"], ["run", "--races", "--seed=3"], ["check", "--max-time=60"])


def problem(work):
    mode, case = work
    command = [HEDDLE, *mode, "--nvcc=-std=c++20", PROGRAM, "--", case]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    said = done.stdout + done.stderr
    # A check need not see all in its time: then it says so, and no more (exit status 4).
    right = done.returncode == 0 and not said if mode[0] == "run" else done.returncode in (0, 4) and "error[" not in said
    return None if right and "warning[" not in said else f"{' '.join(map(str, command))}: exit status {done.returncode}\n{said}"


def main(names):
    cases = [c for c in CASE.findall(PROGRAM.read_text()) if not names or c in names]
    for verb in ("run", "check"):
        subprocess.run([HEDDLE, verb, "--nvcc=-std=c++20", PROGRAM], capture_output=True, timeout=600, check=False)  # compiles once
    with ThreadPoolExecutor(2) as pool:
        problems = [text for text in pool.map(problem, [(m, c) for c in cases for m in MODES]) if text]
    print("\n".join(problems))
    print(f"{len(cases)} programs, {len(problems)} wrong answers")
    return 1 if problems or len(cases) < (len(names) or 20) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Objects whose life ends while work that uses them may not be over (lifetimes.cu): what plain `heddle run` and
`--races` say of each racy twin, and that they say nothing of the right one.

    HEDDLE=build/dev/bin/heddle test_lifetimes.py [CASE…]
"""
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HEDDLE = os.environ.get("HEDDLE", "heddle")
PROGRAM = pathlib.Path(__file__).parent / "lifetimes.cu"
CASE = re.compile(r"^//@ run: (.*)\n//@ races: (.*)\nCASE\((\w+),", re.M)


def run(flags, *words):
    command = [HEDDLE, "run", *flags, "--nvcc=-lcuda", PROGRAM, "--", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done, f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}"


def problem(work):
    flags, case, twin, expected = work
    done, text = run(flags, case, twin)
    if twin == "right" or expected == "-":
        return None if done.returncode == 0 and not done.stderr and done.stdout == "done\n" else text
    status = 0 if expected.startswith("warning") else 1
    return None if done.returncode == status and re.search(expected, done.stderr) else f"no {expected!r} in\n{text}"


def main(names):
    cases = [c for c in CASE.findall(PROGRAM.read_text()) if not names or c[2] in names]
    run([], "no such", "case")  # compiles once
    work = [(flags, name, twin, expected) for plain, races, name in cases
            for flags, expected in (([], plain), (["--races"], races), (["--races", "--seed=3"], races)) for twin in ("racy", "right")]
    with ThreadPoolExecutor(2) as pool:
        problems = [text for text in pool.map(problem, work) if text]
    print("\n".join(problems))
    print(f"{len(work)} programs, {len(problems)} wrong answers")
    return 1 if problems or len(cases) < (len(names) or 15) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Mistakes between host and device, each with its good twin (pairs.cu, flags.cu, pipelines.cu, unpromised.cu,
host_functions.cu, graphs.cu, per_thread.cu, devices.cu): what plain `heddle run`, `--races` and `heddle check` say of
the racy twin, and that they say nothing of the right one.

    HEDDLE=build/dev/bin/heddle test_pairs.py run|races|check [CASE…]
"""
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HEDDLE = os.environ.get("HEDDLE", "heddle")
HERE = pathlib.Path(__file__).parent
PROGRAMS = {"pairs.cu": ["--nvcc=-std=c++20"], "flags.cu": ["--nvcc=-std=c++20"],
            "unpromised.cu": ["--nvcc=-std=c++20"],
            "per_thread.cu": ["--nvcc=-std=c++20 -Xcompiler -fopenmp --default-stream per-thread"],
            "host_functions.cu": ["--nvcc=-std=c++20"], "graphs.cu": ["--nvcc=-std=c++20"],
            "pipelines.cu": ["--nvcc=-std=c++20"], "devices.cu": ["--nvcc=-lcuda", "--devices=2"]}
MODES = {"run": ["run"], "races": ["run", "--races"], "check": ["check", "--max-time=30"]}
CASE = re.compile(r"^//@ (.*) \| (.*) \| (.*)\nCASE\((\w+),", re.M)


def run(mode, program, *words):
    command = [HEDDLE, *MODES[mode], *PROGRAMS[program], HERE / program, "--", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    return done, f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}"


def problem(mode, program, case, twin, expected):
    done, text = run(mode, program, case, twin)
    if twin == "right" or expected == "-":
        # A check need not see all in its time: then it says so, and no more (exit status 4).
        silent = done.stdout == "done\n" and not done.stderr and done.returncode == 0 if mode != "check" else \
            done.returncode in (0, 4) and "error[" not in text and "warning[" not in text
        return None if silent else text
    severity, finding = ("warning", expected[8:]) if expected.startswith("warning:") else ("error", expected)
    told = f"{severity}[{finding}]" in done.stdout + done.stderr and done.returncode in (
        (1,) if severity == "error" else (0, 4) if mode == "check" else (0,))
    return None if told else f"no {expected} in {text}"


def main(mode, *names):
    work = []
    for program in PROGRAMS:
        cases = [c for c in CASE.findall((HERE / program).read_text()) if not names or c[3] in names]
        if cases:
            run(mode, program, "no such", "case")  # compiles once
        column = list(MODES).index(mode)
        work += [(mode, program, c[3], twin, c[column]) for c in cases for twin in ("racy", "right")
                 if c[column] != "x" and (twin, c[column]) != ("racy", "?")]
    with ThreadPoolExecutor(2) as pool:
        problems = [text for text in pool.map(lambda w: problem(*w), work) if text]
    print("\n".join(problems))
    print(f"{len(work)} programs, {len(problems)} wrong answers")
    return 1 if problems or len(work) < (2 * len(names) or 140) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
"""Programs with streams that are right (right.cu, right_pipelines.cu, right_threads.cu): no finding in a plain run, by
--races, or by `heddle check`.

    HEDDLE=build/dev/bin/heddle test_right.py [--check] [CASE…]       --check: the searches of all programs, too
"""
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HEDDLE = os.environ.get("HEDDLE", "heddle")
HERE = pathlib.Path(__file__).parent
CASE = re.compile(r'^    \{"(\w+)", \w+\},$', re.M)
PROGRAMS = {"right.cu": ["--nvcc=-std=c++20"], "right_pipelines.cu": ["--nvcc=-std=c++20"],
            "right_threads.cu": ["--nvcc=-std=c++20 -Xcompiler -fopenmp", "--devices=2"]}
RUNS = (["run"], ["run", "--seed=3"], ["run", "--races"], ["run", "--races", "--seed=3"])
CHECK = ["check", "--max-time=60"]
CHECKED_EACH_TIME = "right.cu"  # the others at night
# Programs that work and that nothing promises to end. The call that launches a kernel need not return while the kernel takes steps ([API]),
# and only the host thread that has made the call would raise the flag.
UNPROMISED = {"host_raises_a_flag"}


def problem(work):
    mode, program, case = work
    command = [HEDDLE, *mode, *PROGRAMS[program], HERE / program, "--", case]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    said = done.stdout + done.stderr
    # A check need not see all in its time: then it says so, and no more (exit status 4).
    if mode is CHECK and case in UNPROMISED:
        return None if "error[starvation]" in said and "[API]" in said else said
    right = done.returncode == 0 and not said if mode[0] == "run" else done.returncode in (0, 4) and "error[" not in said
    return None if right and "warning[" not in said else \
        f"{' '.join(map(str, command))}: exit status {done.returncode}\n{said}"


def main(words):
    names = [word for word in words if word != "--check"]
    cases = [(program, c) for program in PROGRAMS for c in CASE.findall((HERE / program).read_text())
             if not names or c in names]
    work = [(mode, *case) for case in cases for mode in RUNS]
    checked = [case for case in cases if "--check" in words or names or case[0] == CHECKED_EACH_TIME]
    if "--check" in words:
        work = []  # the runs are another test
    work += [(CHECK, *case) for case in checked]
    for verb, program in sorted({(mode[0], program) for mode, program, _ in work}):  # compiles each once
        subprocess.run([HEDDLE, verb, *PROGRAMS[program], HERE / program], capture_output=True, timeout=600, check=False)
    with ThreadPoolExecutor(2) as pool:
        problems = [text for text in pool.map(problem, work) if text]
    print("\n".join(problems))
    print(f"{len(cases)} programs, {len(work)} runs, {len(problems)} wrong answers")
    return 1 if problems or len(cases) < (len(names) or 60) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Every CASE of the programs in this folder, both twins, under `heddle run --races` (or another monitor).

    HEDDLE=build/dev/bin/heddle test_races.py FILE.cu…

A case begins with CASE(name, "regular expression"); what is reported for its racy twin must match, and
nothing may be reported for the right one. A line `//@ nvcc: FLAGS` gives flags of nvcc, `//@ find: WORD` says
what is found in the file (GRADES), and how many findings that are (1 and more, if there is no number).
"""
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

CASE = re.compile(r'^CASE\((\w+),\s*"((?:[^"\\]|\\.)*)"\)', re.M)
HEDDLE = os.environ.get("HEDDLE", "heddle")


NVCC = re.compile(r"^//@ nvcc: (.*)$", re.M)
FIND = re.compile(r"^//@ find: ([\w-]+)(?: (\d+))?$", re.M)
# What is found: the flags of heddle run, its exit code, and how each finding begins.
GRADES = {
    "data-race": (["--races"], 1, r"error\[data-race\]"),
    "uninitialised": (["--uninitialised"], 1, r"error\[uninitialised\]"),
    "together": (["--races", "--uninitialised"], 1, r"error\[(data-race|uninitialised)\]"),
    "unordered": (["--races"], 0, r"warning\[unordered-access\]"),
    "same-value": (["--races"], 0, r"heddle: note: \d+ pairs? of places writes? the same value"),
    "same-value-error": (["--races", "--same-value=error"], 1, r"error\[data-race\]"),
    "lifetime": (["--races"], 1, r"error\[use-(after-free|before-allocation)\]"),
    "implicit-wait": (["--races"], 0, r"warning\[data-race\]"),
    "inside": (["--races"], 0, r"heddle: note: \d+ data races? inside code of NVIDIA's libraries or Triton"),
    "library": (["--races", "--library-races"], 1, r"error\[data-race\]"),
}

# A fault besides makes the calls after it fail.
OUTPUT = re.compile("(an illegal memory access was encountered\n)*done\n")
# Not about races; and not about the program: nobody but NVIDIA can do anything about it.
OTHER_WARNINGS = re.compile(r"^\S+ warning\[barrier-divergence\].*\n(?: .*\n)*", re.M)
ABOUT_LIBRARIES = re.compile(r"heddle: note: \d+ data races? inside code of NVIDIA's libraries or Triton (is|are) not reported.*\n")


def grade(path):
    """(flags, exit code, how a finding begins, how many there are or None)"""
    found = FIND.search(path.read_text(encoding="utf-8"))
    return (*GRADES[found[1] if found else "data-race"], int(found[2]) if found and found[2] else None)


def run(path, *arguments):
    flags = NVCC.search(path.read_text(encoding="utf-8"))
    command = [HEDDLE, "run", *grade(path)[0], *([f"--nvcc={flags[1]}"] if flags else []), path.name, "--", *arguments]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True,
                          timeout=600, check=False)


def problems_of(path, name, expected):
    _, defect, begins, count = grade(path)
    for twin, code in (("racy", defect), ("right", 0)):
        done = run(path, name, twin)
        told = OTHER_WARNINGS.sub("", ABOUT_LIBRARIES.sub("", done.stderr))
        if done.returncode != code or (twin == "right" and told) or not OUTPUT.fullmatch(done.stdout):
            yield f"{path.name}: {name} {twin}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        elif twin == "racy" and not (re.search(begins, done.stderr) and re.search(expected, done.stderr)):
            yield f"{path.name}: {name} racy: no {expected!r} in\n{done.stderr}"
        elif twin == "racy" and count not in (None, len(re.findall(begins, done.stderr))):
            yield f"{path.name}: {name} racy: not {count} findings:\n{done.stderr}"


def main(arguments):
    failures = 0
    cases = 0
    for path in map(pathlib.Path, arguments):
        built = run(path, "no such", "case")  # compiles once
        if built.stdout != "no such case\n":
            print(built.stdout, built.stderr)
            return 1
        found = CASE.findall(path.read_text(encoding="utf-8"))
        with ThreadPoolExecutor(2) as pool:
            results = pool.map(lambda case: list(problems_of(path, case[0], case[1].replace("\\n", "\n"))), found)
            for problems in results:
                cases += 1
                failures += bool(problems)
                print(*problems, sep="", end="")
    print(f"{cases} pairs, {failures} wrong")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

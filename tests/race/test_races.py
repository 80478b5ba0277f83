#!/usr/bin/env python3
"""Every CASE of the programs in this folder, both twins, under `heddle run --races` (or another monitor).

    HEDDLE=build/dev/bin/heddle test_races.py FILE.cu…

A case begins with CASE(name, "regular expression"); what is reported for its racy twin must match, and
nothing may be reported for the right one. A line `//@ nvcc: FLAGS` gives flags of nvcc; `//@ find: uninitialised`
what is looked for instead.
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
FIND = re.compile(r"^//@ find: uninitialised$", re.M)

# Not about the program: nobody but NVIDIA can do anything about it.
ABOUT_LIBRARIES = re.compile(r"heddle: note: \d+ data races? inside NVIDIA's own library code are not reported\n")


def run(path, *arguments):
    text = path.read_text(encoding="utf-8")
    flags = NVCC.search(text)
    monitor = "--uninitialised" if FIND.search(text) else "--races"
    command = [HEDDLE, "run", monitor, *([f"--nvcc={flags[1]}"] if flags else []), path.name, "--", *arguments]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True,
                          timeout=120, check=False)


def problems_of(path, name, expected):
    for twin, code in (("racy", 1), ("right", 0)):
        done = run(path, name, twin)
        if done.returncode != code or (twin == "right" and ABOUT_LIBRARIES.sub("", done.stderr)) or done.stdout != "done\n":
            yield f"{path.name}: {name} {twin}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        elif twin == "racy" and (not re.search(r"error\[(data-race|uninitialised)\]", done.stderr) or not re.search(expected, done.stderr)):
            yield f"{path.name}: {name} racy: no {expected!r} in\n{done.stderr}"


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

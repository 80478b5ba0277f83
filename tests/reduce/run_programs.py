#!/usr/bin/env python3
"""Searches programs of the enumeration with and without reductions, in every way that it knows: there must be no disagreement.

    run_programs.py PROGRAM FILE…     PROGRAM: heddle_enumerate; lines of a FILE: "BOUND NUMBER …", # begins a comment
"""
import concurrent.futures
import os
import re
import subprocess
import sys


def read(paths):
    """(bound, number), each once, in the order of the files."""
    rows = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                words = line.split("#")[0].split()
                if words:
                    rows[words[0], words[1]] = None
    return list(rows)


def search(program, bound, number):
    """(searches, what is wrong)"""
    done = subprocess.run([program, f"--bound={bound}", f"--program={number}"], capture_output=True, text=True, check=False)
    last = re.search(r"^\S+: 1 programs of \d+ numbers, (\d+) searches, ", done.stdout, re.MULTILINE)
    if done.returncode == 0 and last:
        return int(last[1]), None
    if not last:
        return 0, f"{bound} has no program {number} (a bound has changed?): {done.stderr}"
    disagreement = done.stdout[last.end():]
    return int(last[1]), f"{bound} {number}: {disagreement}"


def main():
    program, *files = sys.argv[1:]
    rows = read(files)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda row: search(program, *row), rows))
    wrong = [reason for _, reason in answers if reason]
    print("\n".join(wrong))
    print(f"{len(rows)} programs, {sum(searches for searches, _ in answers)} searches, {len(wrong)} disagreements")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Every reduced program of docs/found shows what FOUND.md says of it.

    HEDDLE=build/dev/bin/heddle test_found.py

A program begins with its report: a title, then "Program:", "Status:", "Reported:" and "Rule:". Lines of the form
`//@ word: text` say how it is shown: `command` (of heddle), `exit` (code), `findings` (how many), `expect` (a regular
expression in what is reported), `prints` (what the program prints). FOUND.md names each of them.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEDDLE = os.environ.get("HEDDLE", str(ROOT / "heddle"))
DIRECTIVE = re.compile(r"^//@ ([a-z]+): (.*)$", re.M)
WORDS = {"command", "exit", "findings", "expect", "prints"}
FINDING = re.compile(r"^\S+ error\[[\w-]+\]:", re.M)


def problems_of(path):
    text = path.read_text(encoding="utf-8")
    for word in ("Program", "Status", "Reported", "Rule"):
        if not re.search(rf"^// {word}: \S", text, re.M):
            yield f"no '{word}:'"
    told = DIRECTIVE.findall(text)
    unknown = {word for word, _ in told} - WORDS
    if unknown:
        yield f"unknown directives: {unknown}"
        return
    one = dict(told)
    command, *options = shlex.split(one["command"])
    done = subprocess.run([HEDDLE, command, *options, str(path)], capture_output=True, text=True, timeout=300, check=False)
    said = done.stderr + (done.stdout if command == "check" else "")
    if done.returncode != int(one["exit"]):
        yield f"exit code {done.returncode}"
    if len(FINDING.findall(said)) != int(one["findings"]):
        yield f"{len(FINDING.findall(said))} findings"
    for expected in [text for word, text in told if word == "expect"]:
        if not re.search(expected, said):
            yield f"no {expected!r}"
    if "prints" in one and done.stdout.strip() != one["prints"]:
        yield f"prints {done.stdout.strip()!r}"


def main():
    failures = 0
    table = (ROOT / "FOUND.md").read_text(encoding="utf-8")
    programs = sorted((ROOT / "docs/found").glob("*.cu"))
    named = set(re.findall(r"docs/found/(\w+\.cu)", table))
    for name in named ^ {path.name for path in programs}:
        print(f"{name}: in one of FOUND.md and docs/found only")
        failures += 1
    for path in programs:
        shown = re.search(rf"`heddle ([^`]*) docs/found/{path.name}`", table)
        command = dict(DIRECTIVE.findall(path.read_text(encoding="utf-8")))["command"]
        if shown is None or shown[1].split() != [word for word in shlex.split(command) if not word.startswith("--nvcc=")]:
            print(f"{path.name}: FOUND.md shows another command than 'heddle {command}'")
            failures += 1
        for problem in problems_of(path):
            print(f"{path.name}: {problem}")
            failures += 1
    print(f"{len(programs)} programs, {failures} problems")
    return 1 if failures or not programs else 0


if __name__ == "__main__":
    sys.exit(main())

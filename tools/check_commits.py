#!/usr/bin/env python3
"""Fails on commits whose subject is not "area: what" of at most 72 characters, and on C++ that they change and the formatter would
change again, or clang-tidy does not like.

    check_commits.py [--since=BASE] subjects           the commits of BASE..HEAD; BASE is HEAD~1 by default: HEAD alone
    check_commits.py [--since=BASE] format [TOOL]      files that these have changed, and what is not committed; TOOL: clang-format-22
    check_commits.py [--since=BASE] tidy [TOOL]        what clang-tidy says of lines that these have changed in src/*.cpp: an error if it
                                                       is of bugprone-* or performance-*. Of a merge nothing, and at most 20 files, those
                                                       with most changed lines; build/dev says how to compile
    check_commits.py [--since=BASE] changed            prints the names of the files that are looked at

Merges are left out. Without a repository, or without the commit before, there is nothing to compare with.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys

LONGEST = 72
TIDIED = 20  # files at most: clang-tidy takes some seconds for each, and ./dev nightly tidy looks at all
ERRORS = "bugprone-*,performance-*"
OTHERS = "-misc-*,-readability-*"  # of .clang-tidy: what they say is no error here
SUBJECT = re.compile(r"^\w[^:]*: \S")  # "explore: …", "tests, docs: …"
FORMATTED = ("src/*.h", "src/*.cpp", "tests/unit/*.h", "tests/unit/*.cpp", "tests/reduce/*.h", "tests/reduce/*.cpp", "bench/*.cpp")


def git(*words):
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def problem_of(subject):
    """What is wrong with a subject; None: nothing."""
    if len(subject) > LONGEST:
        return f"{len(subject)} characters, {LONGEST} at most"
    if subject.startswith('Revert "'):
        return None
    return None if SUBJECT.match(subject) else 'does not begin with an area: "explore: …"'


def subjects(since):
    lines = git("log", "--no-merges", "--format=%h %s", f"{since}..HEAD")
    if lines is None:  # a shallow clone: HEAD alone is known
        lines = git("log", "-1", "--no-merges", "--format=%h %s") or ""
    found = [(line, problem_of(line.split(" ", 1)[1])) for line in lines.splitlines()]
    return [f"{line}: {problem}" for line, problem in found if problem]


def changed_files(since):
    committed = git("diff", "--name-only", "--diff-filter=d", since)  # with the working tree
    names = (committed or "").splitlines() + (git("ls-files", "--others", "--exclude-standard") or "").splitlines()
    return sorted(name for name in set(names) if pathlib.Path(name).is_file() and any(fnmatch.fnmatch(name, p) for p in FORMATTED))


def badly_formatted(since, tool):
    files = changed_files(since)
    if not files:
        return []
    done = subprocess.run([tool, "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False)
    wrong = sorted({line.split(":")[0] for line in done.stderr.splitlines() if ": error: " in line})
    return [f"{name}: not as ./dev fmt has it" for name in wrong] or ([done.stderr] if done.returncode else [])


def changed_lines(since, name):
    """[[first, last]…] of the file as it is now."""
    hunks = re.findall(r"^@@ \S+ \+(\d+)(?:,(\d+))? @@", git("diff", "-U0", since, "--", name) or "", re.MULTILINE)
    return [[int(first), int(first) + int(count or 1) - 1] for first, count in hunks if count != "0"]


def tidy(since, tool):
    if since == "HEAD~1" and git("rev-parse", "--verify", "-q", "HEAD^2"):
        return []
    wanted = [(name, changed_lines(since, name)) for name in changed_files(since) if fnmatch.fnmatch(name, "src/*.cpp")]

    def ask(file):
        name, lines = file
        done = subprocess.run([tool, "-p", "build/dev", "--quiet", f"--checks={OTHERS}", f"--warnings-as-errors={ERRORS}",
                               "--line-filter=" + json.dumps([{"name": name, "lines": lines}]), name], capture_output=True, text=True, check=False)
        # Where ten files are compiled as one, flags of a neighbour are used, and a name that another target defines may be missing.
        return [done.stdout] if re.search(r"\[(bugprone|performance)-", done.stdout) else []

    wanted = sorted((file for file in wanted if file[1]), key=lambda file: -sum(last - first + 1 for first, last in file[1]))
    if wanted[TIDIED:]:
        print("tidy: left to ./dev nightly tidy:", *(name for name, _ in wanted[TIDIED:]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [text for found in pool.map(ask, wanted[:TIDIED]) for text in found]


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", default="HEAD~1")
    parser.add_argument("what", choices=["subjects", "format", "tidy", "changed"])
    parser.add_argument("tool", nargs="?")
    options = parser.parse_args(argv[1:])
    if options.what == "changed":
        print("\n".join(changed_files(options.since)))
        return 0
    if options.what == "subjects":
        problems = subjects(options.since)
    elif options.what == "format":
        problems = badly_formatted(options.since, options.tool or "clang-format-22")
    else:
        problems = tidy(options.since, options.tool or "clang-tidy-22")
    print("\n".join(problems) or f"{options.what}: fine")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

#!/usr/bin/env python3
"""Runs heddle-lint over the cases and compares with what they say must happen.

    run_cases.py HEDDLE_LINT FOLDER… [--cuda-path=PATH]

A line with a finding ends in `// expect: key` (several keys: separated by commas); every other line of the
file must be silent. `// lint-options: …` in a file gives options for that file alone. Prints precision and
recall; fails on any difference.
"""
import collections
import json
import pathlib
import re
import shlex
import subprocess
import sys

EXPECT = re.compile(r"//\s*expect:\s*([\w, -]+)")
OPTIONS = re.compile(r"//\s*lint-options:\s*(.*)")


def expectations(path):
    wanted = collections.Counter()
    options = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := EXPECT.search(line):
            for key in match[1].replace(" ", "").split(","):
                wanted[(number, key)] += 1
        if match := OPTIONS.search(line):
            options += shlex.split(match[1])
    return wanted, options


def run(program, files, options):
    flags = options.index("--") if "--" in options else len(options)
    command = [program, "--format=json", *options[:flags], *map(str, files), *options[flags:]]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, files))}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def main(argv):
    cuda = next((a.partition("=")[2] for a in argv if a.startswith("--cuda-path=")), "none")
    program, folders = argv[1], [pathlib.Path(a) for a in argv[2:] if not a.startswith("--")]
    files = sorted(f for folder in folders for f in (folder.rglob("*.cu") if folder.is_dir() else [folder]))
    groups = collections.defaultdict(list)
    wanted = {}
    for path in files:
        wanted[path], options = expectations(path)
        groups[tuple(options)].append(path)
    problems, right, missed, false = [], 0, 0, 0
    cases = sum(path.read_text().count("__global__") for path in files)
    for options, members in sorted(groups.items()):
        result = run(program, members, [*([f"--cuda-path={cuda}"] if cuda else []), *options])
        found = collections.defaultdict(collections.Counter)
        for finding in result["findings"]:
            if finding["suppressed"] is None:
                found[pathlib.Path(finding["location"]["file"])][(finding["location"]["line"], finding["key"])] += 1
        for file in result["files"]:
            if file["parse_errors"]:
                problems.append(f"{file['file']}: {file['parse_errors']} parse errors: {file['first_error']}")
        for path in members:
            right += sum((wanted[path] & found[path]).values())
            for (line, key), count in sorted((wanted[path] - found[path]).items()):
                missed += count
                problems.append(f"{path}:{line}: missed: {key}")
            for (line, key), count in sorted((found[path] - wanted[path]).items()):
                false += count
                problems.append(f"{path}:{line}: not expected: {key}")
    print("\n".join(problems))
    print(f"{len(files)} files, {cases} kernels; findings: {right} right, {missed} missed, {false} not expected; "
          f"precision {right / max(1, right + false):.3f}, recall {right / max(1, right + missed):.3f}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

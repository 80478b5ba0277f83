#!/usr/bin/env python3
"""Compiles one test program with nvcc, runs it with `heddle run`, and compares what it does with what
its header and its .out file say (see program.py). Used by ctest, one call per program; also by hand:

    run_test.py --heddle build/dev/bin/heddle --cache build/dev/tests/programs tests/run/vector_add.cu
    BLESS=1 … rewrites NAME.out of programs that no GPU can be asked about
"""
import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
import time

from program import BadProgram, Compiler, Program


def difference(expected, actual):
    lines = lambda data: data.decode("utf-8", "replace").splitlines(keepends=True)
    text = list(difflib.unified_diff(lines(expected), lines(actual), "expected", "actual", n=1))
    shown = "".join(line if line.endswith("\n") else line + "\n" for line in text[:60])
    return shown + (f"… and {len(text) - 60} lines more\n" if len(text) > 60 else "")


def check_report(program, stderr):
    """The first line that starts a report must match the first `expect`, the others some later line."""
    if not program.expected:
        return []
    lines = stderr.splitlines()
    starts = [i for i, line in enumerate(lines) if re.search(r"(error|warning)\[|heddle: (error|unsupported):", line)]
    if not starts:
        return [f"no report on stderr; expected {program.expected[0].pattern!r}"]
    problems = []
    if not program.expected[0].search(lines[starts[0]]):
        problems.append(f"the report begins {lines[starts[0]]!r}, expected {program.expected[0].pattern!r}")
    for pattern in program.expected[1:]:
        if not any(pattern.search(line) for line in lines[starts[0]:]):
            problems.append(f"no line of the report matches {pattern.pattern!r}")
    return problems


def run_once(program, heddle, executable, heddle_arguments, what):
    command = [heddle, "run", *program.heddle_arguments, *heddle_arguments, executable, *program.arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=program.timeout, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as expired:
        return [f"{what}: still running after {program.timeout:g} s: {shlex.join(command)}\n"
                f"{(expired.stdout or b'').decode('utf-8', 'replace')[-2000:]}"
                f"{(expired.stderr or b'').decode('utf-8', 'replace')[-2000:]}"]
    stderr = done.stderr.decode("utf-8", "replace")
    problems = []
    if done.returncode != program.exit_code:
        problems.append(f"exit code {done.returncode}, expected {program.exit_code}")
    expected = program.expected_output()
    if os.environ.get("BLESS") and program.no_hardware is not None and not problems:
        with open(program.output_path, "wb") as file:
            file.write(done.stdout)
    elif expected is None and program.exit_code == 0:
        problems.append(f"there is no {os.path.basename(program.output_path)} to compare with; it printed\n"
                        + done.stdout.decode("utf-8", "replace")[:2000])
    elif expected is not None and expected != done.stdout:
        problems.append("the output differs:\n" + difference(expected, done.stdout))
    problems += check_report(program, stderr)
    if problems:
        problems = [f"{what}: {problem}" for problem in problems]
        problems.append(f"{what}: command: {shlex.join(command)}")
        if stderr:
            problems.append("stderr:\n" + stderr[:6000])
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    os.makedirs(options.cache, exist_ok=True)
    libraries = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(options.heddle))), "lib")
    compiler = Compiler(options.nvcc, os.path.abspath(options.cache), libraries)
    failed = 0
    for path in options.program:
        began = time.monotonic()
        problems = []
        try:
            program = Program(path)
            if program.needs and not compiler.has_header(program.needs):
                print(f"skipped {path}: the toolkit has no {program.needs}")
                continue
            for index, flags in enumerate(program.flag_sets):
                executable = compiler.compile(program.sources, flags)
                if options.compile_only:
                    continue
                name = " ".join(flags) if index else "as is"
                problems += run_once(program, options.heddle, executable, [], name)
                if index == 0:
                    for seed in program.seeds:
                        problems += run_once(program, options.heddle, executable, ["--seed", str(seed)], f"seed {seed}")
            if program.gap is not None:
                # A known gap does not fail the suite; when it is closed, the line should go.
                print(f"known gap ({program.gap})" if problems else f"{path}: the gap is closed, remove '//@ gap:'")
                problems = []
        except BadProgram as error:
            problems.append(str(error))
        print(f"{'FAIL' if problems else 'ok'} {path} {time.monotonic() - began:.1f} s")
        for problem in problems:
            print(problem, file=sys.stderr)
        failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

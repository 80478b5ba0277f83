#!/usr/bin/env python3
"""Programs of tests/run, linked with a static runtime library as nvcc does by default, must do what
they do with a shared one: the same output, exit code and report.

    test_programs.py --heddle build/dev/bin/heddle --cache build/dev/tests/programs [--only saxpy]

One ctest entry for all, with a program on each core: every third of them, at night (tests/support/night.py) all.
"""
import argparse
import concurrent.futures
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "run"), str(HERE.parent / "support")]
from program import BadProgram, Compiler, Program  # noqa: E402
from night import some  # noqa: E402
from run_test import run_once  # noqa: E402


def try_one(name, compiler, heddle):
    try:
        program = Program(HERE.parent / "run" / f"{name}.cu")
        executable = compiler.compile(program.sources, program.flag_sets[0])
        return run_once(program, heddle, executable, [], "static")
    except BadProgram as error:
        return [str(error)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--only")
    options = parser.parse_args()
    os.makedirs(options.cache, exist_ok=True)
    heddle = os.path.abspath(options.heddle)
    libraries = os.path.join(os.path.dirname(os.path.dirname(heddle)), "lib")
    compiler = Compiler(options.nvcc, os.path.abspath(options.cache), libraries, runtime="static")
    names = [line for line in (HERE / "static_programs.txt").read_text().split("\n") if line and line[0] != "#"]
    if options.only:
        names = [name for name in names if name == options.only]
    else:
        names = some(names, 3)
    if not names:
        print("no such program", file=sys.stderr)
        return 2
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, problems in zip(names, pool.map(lambda name: try_one(name, compiler, heddle), names)):
            print("FAIL" if problems else "ok", name, flush=True)
            for problem in problems:
                print(problem, file=sys.stderr)
            failed += bool(problems)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

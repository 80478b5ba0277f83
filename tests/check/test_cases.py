#!/usr/bin/env python3
"""Runs `heddle check` on every case of the programs given (see cases.py) and compares.

    test_cases.py tests/check/idioms/locks.cu [--only=REGEX] [--verbose] [--with="-j4 --states-alone=0"]
    test_cases.py --lists      only the lists of cases: each example, each clause with both outcomes
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import sys

import cases


def check_lists():
    """Every clause of the execution model has, besides the document's examples, one program of our
    own that it saves and one that it does not; an idiom has a right and a wrong version."""
    problems = []
    ours = [case for path in cases.programs("tests/check/clauses", "tests/check/idioms")
            for case in cases.read_cases(path)]
    for clause in sorted(cases.CLAUSES):
        outcomes = {case.verdict == "terminates" for case in ours if clause in case.clauses}
        if outcomes != {True, False}:
            problems.append(f"clause {clause}: outcomes {outcomes or 'none'}")
    for path in cases.programs("tests/check/idioms"):
        # A right version may be too large for the search to end; a wrong one may go by what no search knows.
        verdicts = {case.verdict for case in cases.read_cases(path)}
        if len(verdicts) < 2 or verdicts.isdisjoint({"terminates", "unknown"}):
            problems.append(f"{path}: no right version or no wrong one")
    names = [case.name for case in ours]
    problems += [f"two cases are called '{name}'" for name in sorted({n for n in names if names.count(n) > 1})]
    documents = {f"device.{n}" for n in range(5)} | {f"api.{n}" for n in range(1, 5)} | {"stream.0", "stream.1"}
    if {p.stem for p in cases.programs("examples/execution-model")} != documents:
        problems.append("examples/execution-model: not the examples of the document")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--twice", action="store_true", help="the same program gives the same report bytes")
    parser.add_argument("--then-with", dest="then", help="the flags of the second time, instead of --with")
    parser.add_argument("--with", dest="flags", default="", help="more flags of heddle check")
    parser.add_argument("program", nargs="*")
    options = parser.parse_args()
    then = options.flags if options.then is None else options.then
    problems = check_lists() if options.lists else []
    for path in options.program:
        selected = [c for c in cases.read_cases(path) if re.search(options.only, c.name)]
        if not selected:
            continue
        own = "".join(selected[0].many("flags"))
        short = [limit for limit in ("--max-states=16", "--schedules=0") if limit.split("=")[0] not in own]
        first = selected[0].run(*short)  # compiles, once
        if first["exit"] == 2:
            problems.append(f"{path}: {first['stderr']}")
            continue
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            answers = list(pool.map(lambda case: case.run(*options.flags.split()), selected))
        for case, answer in zip(selected, answers):
            found = cases.problems_of(case, answer)
            if options.twice and not found and case.gap is None:
                again = case.run(*then.split())
                differs = [f"{key}: {answer.get(key)} and {again.get(key)}" for key in sorted(set(answer) | set(again))
                           if key not in ("seconds", "wall") and answer.get(key) != again.get(key)]
                found = [f"a second run says something else: {', '.join(differs)}"] if differs else []
            gap = f" (known gap: {case.gap})" if case.gap and not found else ""
            print(f"{'FAIL' if found else 'ok  '} {case.name}: {answer['verdict']}, {answer.get('states', 0)} states, "
                  f"{answer.get('wall', 0):.2f} s{gap}", flush=True)
            if options.verbose and case.gap:
                found = found + case.differences(answer)
            problems += [f"{case.name}: {text}" for text in found if not (options.verbose and case.gap)]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

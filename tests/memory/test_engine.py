#!/usr/bin/env python3
"""heddle check --memory=ptx on litmus programs: exactly the outcomes that the axioms allow.

    test_engine.py LITMUS [COUNT [BOUND…]]     LITMUS: heddle_litmus; so many programs of each bound
    test_engine.py LITMUS --shapes COUNT       so many of each classical family, in every kind of placement
    test_engine.py LITMUS --random COUNT FIRST so many random ones, from number FIRST on

Each program is checked twice: that no outcome is seen but those of the axioms (within the stated bound), and that
one of them, another one for each program, is seen. One with a data race must be found to have one. Searches are limited by their
states, not by time; programs that are too large for that are few and say nothing.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from night import in_time, mixed  # noqa: E402

HEDDLE = os.environ.get("HEDDLE", "./heddle")
INTERPRETER = pathlib.Path(__file__).with_name("interpret.cu")
LIMITS = ("--max-states=10000", "--max-time=100000", "--schedules=0")  # the second one: none
LONGEST = 100_000  # of outcomes, which are arguments: Linux passes no longer text on to a program
TOGETHER, APART = "000,000", "000,110"
BOUNDS = {"2x2-together": TOGETHER, "2x2-apart": APART, "2x3-together": TOGETHER, "2x3-fences": APART,
          "2x3-updates": TOGETHER, "2x3-reductions": TOGETHER, "3x2-together": "000,000,000",
          "3x2-sequences": "000,000,000", "3x2-two-one": "000,000,110"}


def search(placement, program, *arguments, flags=()):
    """The verdict, the findings and whether all was searched, of a program whose threads are placed so."""
    devices = 1 + max(int(at[2]) for at in placement.split(","))
    command = [HEDDLE, "check", "--format=json", "--memory=ptx", *LIMITS, *flags, f"--devices={devices}", str(program), "--", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return done.returncode, done.stderr, False
    return report["verdict"], sorted(f["code"] for f in report["findings"]), report["complete"]


def compare(number, outcomes, ask):
    """ask(WANT, OUTCOME…) searches. One line for each answer that is not as the axioms have it; how many there were, and of how many
    searches too large."""
    answers = [(("in", *outcomes), ("terminates", [], True))]
    if outcomes == ["race"]:
        answers = [(("in",), None)]
    else:
        answers.append((("not", outcomes[number % len(outcomes)]), ("defect", ["exit-status"])))
    problems, large = [], 0
    if len(" ".join(outcomes)) > LONGEST:
        return [], len(answers), len(answers)
    for (want, *among), expected in answers:
        found = ask(want, *among)
        if found[1] == [] and not found[2]:
            large += 1
            continue
        fine = "data-race" in found[1] if expected is None else found[:len(expected)] == expected
        if not fine:
            problems.append(f"{want} {' '.join(among)}: expected {expected or 'a race'}, got {found}")
    return problems, len(answers), large


def problems_of(number, places, placement, program, outcomes):
    def ask(want, *among):
        return search(placement, INTERPRETER, placement, program, places + want, *among)

    problems, count, large = compare(number, outcomes, ask)
    return [f"{placement} {program} {places}{text}" for text in problems], count, large


def programs(litmus, argv):
    """(number, how many places count or nothing, placement, code, outcomes)"""
    def listed(*arguments):
        done = subprocess.run([litmus, *arguments], capture_output=True, text=True, check=True)
        return [line.split() for line in done.stdout.splitlines()]

    if argv[:1] == ["--random"]:
        lines = listed(f"--random-list={argv[1]}", argv[2])
    elif argv[:1] == ["--shapes"]:
        lines = [["", *line] for line in listed(f"--shapes-list={argv[1]}")]
    else:
        count = int(argv[0]) if argv else 5
        lines = [["2", BOUNDS[b], *line] for b in argv[1:] or BOUNDS for line in listed(b, f"--list={count}")]
    return [(n, places, placement, code, outcomes) for n, (places, placement, code, *outcomes) in enumerate(lines)]


def main(argv):
    todo = programs(argv[1], argv[2:])
    search(TOGETHER, INTERPRETER, TOGETHER, "lrgx00-0,lrgx00-0", "2in")  # compiles, once
    failures = checks = too_large = looked = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as workers:
        looks = workers.map(in_time(lambda program: problems_of(*program)), mixed(todo))
        for problems, count, large in filter(None, looks):
            looked += 1
            checks += count
            too_large += large
            failures += len(problems)
            for problem in problems:
                print(problem, flush=True)
    races = sum(outcomes == ["race"] for *_, outcomes in todo)
    print(f"{looked} of {len(todo)} programs, of which {races} have a race, {checks} checks, {too_large} too large, {failures} failures")
    return 1 if failures or too_large * 5 >= checks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

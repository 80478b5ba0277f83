#!/usr/bin/env python3
"""The same program and the same flags give the same report: whoever searches, however long it takes, and whatever --max-time is, as long as
the check ends within it.

    test_same_reports.py                                   a few programs, for each commit
    test_same_reports.py --all --seed=N                    each night: 100 programs, three times each
    test_same_reports.py --only='composed copy-half'       those whose names match

Each program is checked with one process, with two, with several --max-time, and beside processes that take all there is of each core. A
check that its time has ended (a limit or a note says so) need not be the same; it must not say that it is complete unless the others do,
nor have another verdict or findings that the others do not have.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import random
import re
import sys

import cases

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from night import late, seed  # noqa: E402

# With a search of each kind: void ones, straight ones, those that data is left out of, host threads, hangs, faults, limits.
FEW = ("composed copy-half-between-devices", "cone guarded plain 2 ", "data_order order-places block 4", "grids barrier plain 3",
       "host_threads two-launchers", "last_block sums 64", "locks philosophers-ordered plain 3", "queries event-repeated")


def spin():
    while True:
        pass


class Load:
    """A process for each core that does nothing but take time from others."""
    def __enter__(self):
        self.processes = [multiprocessing.Process(target=spin, daemon=True) for _ in range(len(os.sched_getaffinity(0)))]
        for process in self.processes:
            process.start()

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()


def report_of(case, *flags):
    answer = case.run(*flags)
    for key in ("seconds", "wall", "stderr"):
        answer.pop(key, None)
    return answer


def is_cut_short(report):
    """A limit: not everything was looked at. A note: it was, and what explains the verdict was not found out."""
    return any("--max-time" in words for key in ("limits", "notes") for words in report.get(key, []))


def is_less(report, whole):
    """What a report that was cut short may say: that the program hangs at a line while a call need not return [API] is what a whole one
    replaces by how it hangs there although all calls return."""
    def place(location):
        return location["file"], location["line"]

    codes = {finding["code"] for finding in whole["findings"]}
    places = {place(location) for finding in whole["findings"] for location in finding["locations"]}
    return (report["complete"] in (False, whole["complete"]) and report["verdict"] in ("unknown", whole["verdict"]) and
            all(finding["code"] in codes or (finding["rule"] == "API" and place(finding["locations"][0]) in places)
                for finding in report["findings"]))


def differences(case, times, limits):
    """In words; empty: there are none; None: there is nothing to compare with, since the check does not end."""
    own = " ".join(case.many("flags"))
    limits = [] if "--max-time" in own else limits
    found = []
    whole = report_of(case, "-j1", "--max-time=60")
    if whole["verdict"] is None or is_cut_short(whole):
        return None

    def compare(*flags):
        report = report_of(case, *flags)
        words = " ".join(flags)
        if is_cut_short(report):
            if not is_less(report, whole):
                found.append(f"{words}: cut short, and says {json.dumps(report)[:300]}")
            return
        if report != whole:
            keys = [key for key in sorted(set(whole) | set(report)) if whole.get(key) != report.get(key)]
            found.append(f"{words}: " + "; ".join(f"{k}: {json.dumps(whole.get(k))[:300]} and {json.dumps(report.get(k))[:300]}" for k in keys))

    for _ in range(times):
        compare("-j2", "--max-time=60")
        for seconds in limits:
            compare("-j2", f"--max-time={seconds}")
        with Load():
            compare("-j1", "--max-time=60")
            compare("-j2", f"--max-time={limits[-1] if limits else 60}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="as --programs=100 --times=3 --limits=0.5,1,7")
    parser.add_argument("--programs", type=int, default=0, help="so many, chosen by --seed")
    parser.add_argument("--seed", type=int, default=seed(1))
    parser.add_argument("--times", type=int)
    parser.add_argument("--limits", help="of time (default: 0.7,7)")
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if options.all:
        options.programs = options.programs or 100
    options.times = options.times or (3 if options.all else 1)
    options.limits = options.limits or ("0.5,1,7" if options.all else "0.7,7")
    every = [case for path in cases.programs("tests/check/clauses", "tests/check/idioms", "tests/check/memory") for case in cases.read_cases(path)]
    if options.only:
        chosen = [case for case in every if re.search(options.only, case.name)]
    elif options.programs:
        chosen = random.Random(options.seed).sample(every, options.programs)
    else:
        chosen = [case for name in FEW for case in every if (case.name + " ").startswith(name.rstrip() + " ")]
        missing = [name for name in FEW if not any((case.name + " ").startswith(name.rstrip() + " ") for case in every)]
        if missing:
            print("no such case:", ", ".join(missing))
            return 1
    failed = without = 0
    looked = 0
    for case in chosen:
        if late():
            break
        looked += 1
        case.run("--max-states=16", "--schedules=0")  # compiles
        found = differences(case, options.times, options.limits.split(","))
        if options.verbose or found:
            print(f"{case.name}: {'does not end' if found is None else 'differs' if found else 'the same'}", flush=True)
        for words in found or []:
            print(f"    {words}", flush=True)
        failed += bool(found)
        without += found is None
    print(f"{looked} programs, {failed} with reports that differ, {without} that do not end within a minute")
    most_without = looked // 4 if options.programs or options.only else 0
    return 1 if failed or without > most_without or not chosen else 0


if __name__ == "__main__":
    os.chdir(pathlib.Path(__file__).resolve().parents[2])
    sys.exit(main())

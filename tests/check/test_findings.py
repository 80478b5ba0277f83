#!/usr/bin/env python3
"""What is reported of a program that may hang does not depend on a reduction of the search: with each of them switched
off the findings, the rules they cite, the lines they begin with and the help are the same. A few programs (CORE);
at night (tests/support/night.py) all that may hang."""
import concurrent.futures
import os
import pathlib
import sys
import unittest

import cases

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from night import in_time, mixed, night  # noqa: E402

OFF = (
    ["--no-symmetry"], ["--no-eager"], ["--no-sums"], ["--no-orderly"], ["--no-places"], ["--no-movers"],
    ["--no-data-order"], ["--no-phases"], ["--no-peeks"], ["--no-allocations"], ["--no-neighbours"], ["--no-host-first"],
    ["--no-cone"], ["--no-straight"], ["--straight-after=1"], ["--no-symmetry", "--no-eager"],
)
# Searches that take a minute, are cut short then, and so are not compared: at night only.
ENDLESS = ("alike_hangs two-steps", ["--straight-after=1"])
# Two components of one defect, threads that are alike or not, several findings, host threads.
CORE = (
    "alike_hangs two-steps plain 2", "alike_hangs two-steps plain 3", "alike_hangs two-steps-of-first plain 2",
    "alike_hangs meet plain 3", "alike_hangs lock-again plain 2", "host host-function-awaits-starved",
    "widths global-pair plain 2", "widths wide-lock-kept block 2", "spins volatile plain 2",
)


def hanging():
    """Cases in which all is looked at, and which are small enough without reductions."""
    return [case for path in cases.programs("tests/check/clauses", "tests/check/idioms") for case in cases.read_cases(path)
            if case.verdict == "may-hang" and case.gap is None and case.one("large") is None
            and case.one("incomplete") is None and not any(word.isdigit() and int(word) >= 32 for word in case.words)]


def found(answer):
    """Kind, rule, file and line, help of each finding."""
    def first(finding):
        return [(place["file"], place["line"]) for place in finding["locations"][:1]]
    return sorted((f["code"], f["rule"], first(f), f.get("help", [])) for f in answer["findings"])


class Findings(unittest.TestCase):
    def test_findings(self):
        programs = hanging()
        core = [case for case in programs if case.name in CORE]
        self.assertEqual(sorted(CORE), sorted(case.name for case in core))
        others = [case for case in programs if case.name not in CORE]
        chosen = core + ([] if night() is None else mixed(others))

        def switched_off(case):
            endless = night() is None and case.name.startswith(ENDLESS[0])
            return [off for off in OFF if not set(off) & set(case.many("flags")) and not (endless and off == ENDLESS[1])]

        def look(case):
            """The case, what is found with all reductions, and what without each."""
            return case, case.run(), [(off, case.run("--max-states=20000", *off)) for off in switched_off(case)]
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            looks = [seen for seen in pool.map(in_time(look), chosen) if seen is not None]
        wrong, searches, compared = [], 0, 0
        for case, told, answers in looks:
            searches += len(answers)
            if told.get("coverage") == "cut":
                wrong.append(f"{case.name}: {told['verdict']}, not complete")
                continue
            for off, answer in answers:
                if answer.get("coverage") == "cut": # it is too large without this reduction
                    continue
                compared += 1
                if found(answer) != found(told):
                    wrong.append(f"{case.name} {' '.join(off)}: {found(answer)} instead of {found(told)}")
        print(f"{len(looks)} of {len(chosen)} programs, {searches} searches, {searches - compared} of them cut short")
        self.assertEqual([], wrong, "\n".join(wrong))
        self.assertGreater(compared, searches // 2)


if __name__ == "__main__":
    unittest.main()

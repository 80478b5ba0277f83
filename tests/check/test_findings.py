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
from night import night  # noqa: E402

OFF = (
    ["--no-symmetry"], ["--no-eager"], ["--no-sums"], ["--no-orderly"], ["--no-places"], ["--no-movers"],
    ["--no-data-order"], ["--no-phases"], ["--no-peeks"], ["--no-allocations"], ["--no-neighbours"], ["--no-host-first"],
    ["--no-cone"], ["--no-straight"], ["--straight-after=1"], ["--no-symmetry", "--no-eager"],
)
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
        chosen = core + ([] if night() is None else others)
        jobs = [(case, off) for case in chosen for off in OFF if not set(off) & set(case.many("flags"))]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            plain = {case.name: answer for case, answer in zip(chosen, pool.map(lambda c: c.run(), chosen))}
            answers = list(pool.map(lambda job: job[0].run("--max-states=20000", *job[1]), jobs))
        wrong, compared = [], 0
        for (case, off), answer in zip(jobs, answers):
            told = plain[case.name]
            if told.get("coverage") == "cut":
                wrong.append(f"{case.name}: {told['verdict']}, not complete")
            elif answer.get("coverage") != "cut": # else it is too large without this reduction
                compared += 1
                if found(answer) != found(told):
                    wrong.append(f"{case.name} {' '.join(off)}: {found(answer)} instead of {found(told)}")
        print(f"{len(jobs)} searches, {len(jobs) - compared} of them cut short")
        self.assertEqual([], wrong, "\n".join(wrong))
        self.assertGreater(compared, len(jobs) // 2)


if __name__ == "__main__":
    unittest.main()

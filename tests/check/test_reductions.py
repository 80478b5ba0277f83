#!/usr/bin/env python3
"""The reductions of the search do not change what it finds: every small program once more with each of them
switched off, and with the one for large programs only. A few cases (CORE) and ten random programs; at night
(tests/support/night.py) all, and others."""
import concurrent.futures
import os
import pathlib
import random
import sys
import unittest

import axb_oracle
import cases
import test_axb

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from night import in_time, mixed, night, seed  # noqa: E402

OFF = (["--no-symmetry"], ["--no-eager"], ["--no-sums"], ["--no-orderly"], ["--no-places"], ["--no-movers"], ["--no-data-order"], ["--straight-after=1"], ["--no-phases"], ["--no-allocations", "--no-peeks"], ["--no-host-first"], ["--no-symmetry", "--no-eager"])

# One of each kind: calls, launches by kernels, clocks, blocks that meet, host threads, locks, launches that overlap, wide accesses.
CORE = (
    "api.1", "child_launches only-launches", "clocks limit-ignored plain 2", "grids down plain 3 --progress=obe", "host volatile-kernel",
    "locks philosophers-ordered block 2", "programmatic block-start-half-done", "widths wide-lock-kept block 2",
)


def found(answer):
    return answer["verdict"], sorted({(f["code"], f["rule"]) for f in answer["findings"]}), answer.get("complete")


def contradicts(answer, plain):
    """A search that is cut short, or bounded, may miss a hang, or see too little of it to call it what it is; with a switch off it may see all.
    If both are, each may see what the other one misses: the fair schedule that is tried before a long search has the answers of the system,
    such as the time of day, where a search has its own (docs/checking.md)."""
    if answer["verdict"] is not None and not (plain["complete"] and answer["complete"]):
        whole, part = (answer, plain) if answer["complete"] else (plain, answer)
        allowed = ("unknown", whole["verdict"]) if whole["complete"] else ("unknown", "may-hang", "defect")
        return part["verdict"] not in allowed
    return found(answer) != found(plain)


class Comparison(unittest.TestCase):
    def test_what_is_not_complete_may_miss_something(self):
        def answer(verdict, complete):
            return {"verdict": verdict, "complete": complete, "findings": []}

        ends, hangs = answer("terminates", True), answer("may-hang", True)
        part, cut = answer("may-hang", False), answer("unknown", False)
        self.assertTrue(contradicts(ends, hangs) and contradicts(hangs, ends) and contradicts(part, ends) and contradicts(ends, part))
        self.assertFalse(contradicts(cut, ends) or contradicts(ends, cut) or contradicts(cut, hangs) or contradicts(part, hangs))
        self.assertFalse(contradicts(part, cut) or contradicts(cut, part))  # asked odd-second: an odd second, and an even one
        self.assertTrue(contradicts(answer("terminates", False), cut))


class Reductions(unittest.TestCase):
    def test_programs(self):
        small = [case for path in cases.programs("examples/execution-model", "tests/check/clauses", "tests/check/idioms")
                  for case in cases.read_cases(path) if case.gap is None and case.one("large") is None
                  and not any(word.isdigit() and int(word) >= 32 for word in case.words)]  # out of reach without them
        core = [case for case in small if case.name in CORE]
        self.assertEqual(sorted(CORE), sorted(case.name for case in core))
        chosen = core if night() is None else mixed(small)

        def look(case):
            """The case, what is found with all reductions, and what without each. What differs is told at once: a night may be cut."""
            plain = case.run()
            answers = [(off, case.run(*off)) for off in OFF if not set(off) & set(case.many("flags"))]
            wrong = [f"{case.name} {' '.join(off)}: {found(answer)} instead of {found(plain)}"
                     for off, answer in answers if contradicts(answer, plain)]
            print("".join(f"WRONG {text}\n" for text in wrong), end="", flush=True)
            return plain, answers, wrong
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            looks = [seen for seen in pool.map(in_time(look), chosen) if seen is not None]
        wrong = [text for _, _, texts in looks for text in texts]
        short = sum(plain["complete"] and not answer.get("complete") for plain, answers, _ in looks for _, answer in answers)
        print(f"{len(looks)} of {len(chosen)} programs, {sum(len(answers) for _, answers, _ in looks)} searches, {short} of them cut short")
        self.assertEqual([], wrong, "\n".join(wrong))
        self.assertTrue(looks)

    def test_random_programs(self):
        source = random.Random(seed(7))
        questions = []
        for _ in range(int(os.environ.get("AXB_RANDOM", "10" if night() is None else "1000"))):
            threads = test_axb.random_program(source)
            shape = source.choice(("plain", "block"))
            model = source.choice([m for m in test_axb.MODELS if m not in test_axb.GAPS])
            questions.append((threads, shape, model, source.choice(OFF)))
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            answers = pool.map(lambda q: test_axb.heddle(*q[:3], *q[3]), questions)
        for (threads, shape, model, off), answer in zip(questions, answers):
            expected = axb_oracle.terminates(threads, shape, model)
            # A hang that is found ends the search, whatever it has left out by then (with --straight-after=1: most).
            self.assertEqual(
                answer["verdict"] if expected else answer["verdict"].removesuffix(", not complete"), "terminates" if expected else "may-hang",
                f"{' '.join(map(test_axb.encode, threads))} {shape} {model} {off}",
            )


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""heddle check on programs of a tiny language of loads, stores, exchanges and branches.

Three opinions must agree, for each shape of launch and each progress model: the published verdicts
(axb.json, after OOPSLA 2021 "Specifying and Testing GPU Workgroup Progress Models"), the oracle
(axb_oracle.py), and Heddle on the real kernel axb.cu. On random programs there are the last two.

    AXB_RANDOM=N      N random programs instead of 100 (at night, see tests/support/night.py, 3,000);  AXB_SEED=N others
    AXB_ONLY=REGEX    only those of the published tests
"""
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time
import unittest

import axb_oracle

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from night import in_time, night, seed  # noqa: E402

HEDDLE = os.environ.get("HEDDLE", "./heddle")
HERE = pathlib.Path(__file__).parent
SHAPES = {
    "separate_blocks_plain_grid": "plain",
    "one_block": "block",
    "one_cluster": "cluster",
    "separate_blocks_cooperative_grid": "cooperative",
}
MODELS = ("cuda", "obe", "hsa", "lobe", "fair")
# Of random programs: they hang under a fair schedule, too, and their searches are a little larger than the 4,000 states after which
# that is tried (docs/checking.md).
FAIR = (
    ("cluster", "hsa", "x,1,1,0,2/s,0,0 l,0,1,1/x,1,1,1,0/x,1,1,1,3 x,1,1,1,2/x,0,1,1,3/l,1,1,2/l,1,1,4 x,1,1,0,1/x,1,1,1,2/l,1,0,3/s,1,0"),
    ("plain", "obe", "s,1,0/s,1,0/s,0,1/l,1,1,4 s,1,1/s,1,0 l,0,1,1/s,0,0/x,0,0,1,0 s,0,0/l,0,1,3/x,1,0,1,0"),
    ("plain", "hsa", "l,0,0,2/s,0,1 x,1,0,1,2/s,0,1/s,1,1/s,1,0 l,0,0,2/s,0,1/l,1,1,3/s,0,0 s,0,0/s,1,1/x,1,1,0,0"),
    ("plain", "hsa", "x,0,0,0,1 s,1,0/s,0,1/x,1,0,1,1/l,0,0,2 x,1,1,0,0/l,0,0,2 x,0,1,1,1/l,1,0,3/s,1,1/x,1,0,0,3"),
)
GAPS = ()  # models that are not implemented yet; each must be refused as long as it stands here


def published(test, shape, model):
    """In the paper's models a workgroup is what a cluster or a cooperative grid is here: where all
    threads are in one, they are guaranteed by every model as soon as they are by the fair one."""
    if shape == "separate_blocks_plain_grid" and model != "cuda":
        return test["terminates_under"][model.upper()]
    return test["terminates"][shape]


def encode(thread):
    def one(i):
        if i["op"] == "store":
            return f"s,{i['cell']},{i['write']}"
        if i["op"] == "load_branch":
            return f"l,{i['cell']},{i['branch_if']},{i['to']}"
        return f"x,{i['cell']},{i['branch_if']},{i['write']},{i['to']}"

    return "/".join(map(one, thread))


def heddle(threads, shape, model, *options):
    """Verdict and findings; anything but a complete answer is an error."""
    return answer_of(shape, model, map(encode, threads), *options)


def answer_of(shape, model, words, *options):
    done = subprocess.run(
        [HEDDLE, "check", "--format=json", *([f"--progress={model}"] if model != "cuda" else []), *options,
         str(HERE / "axb.cu"), "--", shape, *words],
        capture_output=True, text=True,
    )
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return {"verdict": f"exit {done.returncode}: {done.stderr}", "findings": []}
    if answer["coverage"] == "cut":
        answer["verdict"] += ", not complete"
    return answer


def random_program(source):
    cells = source.randint(1, 3)

    def instruction(length):
        op = source.choice(["store", "load_branch", "exchange_branch"])
        return {"op": op, "cell": source.randrange(cells), "write": source.randrange(2),
                "branch_if": source.randrange(2), "to": source.randrange(length + 1)}

    # Mostly small ones: they reach more corners in the same time.
    lengths = [source.choice((1, 1, 2, 2, 2, 3, 3, 4)) for _ in range(source.choice((2, 2, 3, 3, 3, 4)))]
    return [[instruction(length) for _ in range(length)] for length in lengths]


class Axb(unittest.TestCase):
    def run_all(self, questions):
        """Each question: name, threads, shape, model, expected verdict, codes that must be among the findings."""
        heddle([[]], "plain", "cuda", "--max-states=16", "--schedules=0")  # compiles, once
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            looks = zip(questions, pool.map(in_time(lambda q: heddle(*q[1:4])), questions))
            looks = [(question, answer) for question, answer in looks if answer is not None]
        wrong = []
        for (name, threads, shape, model, expected, codes), answer in looks:
            verdict = "terminates" if expected else "may-hang"
            found = {f["code"] for f in answer["findings"]}
            if model in GAPS:
                if answer["verdict"] in ("terminates", "may-hang"):
                    wrong.append(f"the gap is closed, remove '{model}' from GAPS")
                continue
            # A hang under a fair schedule ends a large search: what that has found is true, and may be less than there is.
            said = answer["verdict"] if expected else answer["verdict"].removesuffix(", not complete")
            if said != verdict or not codes <= found:
                wrong.append(f"{name} {shape} {model}: expected {verdict} {codes or ''}, got {answer['verdict']} {found}\n"
                             f"    {' '.join(map(encode, threads))}")
        states = sum(answer.get("states", 0) for _, answer in looks)
        self.assertTrue(looks)
        print(f"{len(looks)} of {len(questions)} verdicts, {states} states, {time.monotonic() - began:.1f} s", flush=True)
        self.assertEqual([], wrong, "\n".join([f"{len(wrong)} of {len(questions)} differ:", *wrong[:20]]))

    def test_the_oracle_agrees_with_the_published_verdicts(self):
        for test in json.loads((HERE / "axb.json").read_text()):
            for shape, argument in SHAPES.items():
                for model in MODELS:
                    with self.subTest(test["id"], shape=shape, model=model):
                        self.assertEqual(
                            axb_oracle.terminates(test["threads"], argument, model), published(test, shape, model)
                        )

    def test_published_verdicts(self):
        only = re.compile(os.environ.get("AXB_ONLY", ""))
        questions = []
        for test in json.loads((HERE / "axb.json").read_text()):
            for shape, argument in SHAPES.items():
                for model in MODELS[1:] + (("cuda",) if shape == "separate_blocks_plain_grid" else ()):
                    expected = published(test, shape, model)
                    blames = model == "cuda" and not expected
                    codes = set(test["cause_on_plain_grid"]) if blames else set()
                    if only.search(test["id"]):
                        questions.append((test["id"], test["threads"], argument, model, expected, codes))
        self.run_all(questions)

    def test_a_hang_under_a_fair_schedule_ends_the_search(self):
        """The whole search finds the same hang."""
        for shape, model, words in FAIR:
            with self.subTest(words):
                early = answer_of(shape, model, words.split())
                whole = answer_of(shape, model, words.split(), "--straight-after=1000000")
                self.assertEqual(("may-hang, not complete", "may-hang"), (early["verdict"], whole["verdict"]))
                self.assertEqual(early["states"], 4000)
                self.assertTrue(4000 < whole["states"] < 6000, whole["states"])
                self.assertEqual({f["code"] for f in early["findings"]}, {f["code"] for f in whole["findings"]})

    def test_random_programs(self):
        source = random.Random(int(os.environ.get("AXB_SEED", seed(1))))
        questions = []
        for number in range(int(os.environ.get("AXB_RANDOM", "100" if night() is None else "3000"))):
            threads = random_program(source)
            shape = source.choice(("plain", "plain", "block", "cluster", "cooperative"))
            model = source.choice(MODELS)
            expected = axb_oracle.terminates(threads, shape, model)
            questions.append((f"random {number}", threads, shape, model, expected, set()))
        ends = sum(expected for *_, expected, _ in questions)
        print(f"{ends} of {len(questions)} terminate")
        self.run_all(questions)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""heddle check on programs of a tiny language of loads, stores, exchanges and branches.

Three opinions must agree: the published verdicts (axb.json, after OOPSLA 2021 "Specifying and
Testing GPU Workgroup Progress Models"), the oracle below, which is written against the rules and
knows nothing of PTX, and Heddle on the real kernel axb.cu. AXB_RANDOM=N adds N random programs, on
which the last two must agree; AXB_ONLY=REGEX limits the published ones.
"""
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import unittest

HEDDLE = os.environ.get("HEDDLE", "./heddle")
HERE = pathlib.Path(__file__).parent
SHAPES = {
    "separate_blocks_plain_grid": "plain",
    "one_block": "block",
    "one_cluster": "cluster",
    "separate_blocks_cooperative_grid": "cooperative",
}


def successor(threads, state, t):
    """The state after thread t has made its move. A state: positions, cells, who has taken a step."""
    at, cells, stepped = state
    i = threads[t][at[t]]
    old, to = cells[i["cell"]], at[t] + 1
    if i["op"] != "load_branch":
        cells = cells[: i["cell"]] + (i["write"],) + cells[i["cell"] + 1 :]
    if i["op"] != "store":
        to = i["to"] if old == i["branch_if"] else to
    step = i["op"] != "store" or to == len(threads[t])  # an atomic write is none; ending is one
    return (at[:t] + (to,) + at[t + 1 :], cells, stepped | {t} if step else stepped)


def oracle(threads, shape):
    """True if every allowed execution ends: there is no set of threads that may move for ever by
    themselves while everybody who is owed progress is among them."""
    start = (tuple(0 for _ in threads), (0,) * 4, frozenset())
    reachable, todo = {start}, [start]
    while todo:
        state = todo.pop()
        for t in range(len(threads)):
            if state[0][t] < len(threads[t]):
                after = successor(threads, state, t)
                if after not in reachable:
                    reachable.add(after)
                    todo.append(after)

    def owed(state):
        live = {t for t in range(len(threads)) if state[0][t] < len(threads[t])}
        return live & (state[2] if shape == "plain" else live if state[2] else set())

    def way(start, goal, movers):
        seen, todo = set(), [start]
        while todo:
            state = todo.pop()
            for t in movers:
                if state[0][t] < len(threads[t]):
                    after = successor(threads, state, t)
                    if after == goal:
                        return True
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)
        return False

    for size in range(1, len(threads) + 1):
        for movers in itertools.combinations(range(len(threads)), size):
            for state in reachable:
                if owed(state) <= set(movers) and all(state[0][t] < len(threads[t]) for t in movers):
                    # A circle through `state` in which each of them moves: some state of the circle
                    # is followed by its move.
                    circle = {s for s in reachable if s == state or
                              (way(state, s, movers) and way(s, state, movers))}
                    if all(any(successor(threads, s, t) in circle and
                               (len(circle) > 1 or successor(threads, s, t) == s) for s in circle)
                           for t in movers):
                        return False
    return True


def encode(thread):
    def one(i):
        if i["op"] == "store":
            return f"s,{i['cell']},{i['write']}"
        if i["op"] == "load_branch":
            return f"l,{i['cell']},{i['branch_if']},{i['to']}"
        return f"x,{i['cell']},{i['branch_if']},{i['write']},{i['to']}"

    return "/".join(map(one, thread))


def heddle(threads, shape):
    done = subprocess.run(
        [HEDDLE, "check", "--format=json", str(HERE / "axb.cu"), "--", shape, *map(encode, threads)],
        capture_output=True, text=True,
    )
    if done.returncode not in (0, 1):
        raise AssertionError(f"{threads} {shape}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def random_program(source):
    def instruction(length):
        op = source.choice(["store", "load_branch", "exchange_branch"])
        return {"op": op, "cell": source.randrange(2), "write": source.randrange(2),
                "branch_if": source.randrange(2), "to": source.randrange(length + 1)}

    lengths = [source.randint(1, 2) for _ in range(source.randint(2, 3))]
    return [[instruction(length) for _ in range(length)] for length in lengths]


class Axb(unittest.TestCase):
    def test_published_verdicts(self):
        only = re.compile(os.environ.get("AXB_ONLY", ""))
        for test in json.loads((HERE / "axb.json").read_text()):
            for shape, argument in SHAPES.items():
                if not only.search(test["id"]):
                    continue
                with self.subTest(test["id"], shape=shape):
                    expected = test["terminates"][shape]
                    self.assertEqual(oracle(test["threads"], argument), expected, "the oracle")
                    result = heddle(test["threads"], argument)
                    self.assertEqual(result["verdict"], "terminates" if expected else "may-hang")
                    self.assertTrue(result["complete"])
                    if shape == "separate_blocks_plain_grid" and not expected:
                        self.assertLessEqual(
                            set(test["cause_on_plain_grid"]), {f["code"] for f in result["findings"]}
                        )

    def test_random_programs(self):
        source = random.Random(1)
        for number in range(int(os.environ.get("AXB_RANDOM", "25"))):
            threads = random_program(source)
            shape = source.choice(list(SHAPES.values()))
            with self.subTest(number, threads=threads, shape=shape):
                expected = oracle(threads, shape)
                self.assertEqual(
                    heddle(threads, shape)["verdict"], "terminates" if expected else "may-hang"
                )


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Two pieces of work in two streams, in all ways to order them (orders.cu): no finding, and a race without an order.

    HEDDLE=build/dev/bin/heddle test_orders.py
"""
import itertools
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HEDDLE = os.environ.get("HEDDLE", "heddle")
PROGRAM = pathlib.Path(__file__).parent / "orders.cu"
ORDERS = ("same-stream", "event", "event-waited-for", "event-queried", "stream-waited-for", "stream-queried", "device",
          "legacy", "host-function", "third-stream", "graph", "thread-joined", "thread-tells", "thread-flag")
PRODUCERS = ("kernel", "copy", "set")
CONSUMERS = ("kernel", "copy", "host")


def problem(words):
    order, _, consumer = words
    found = []
    for flags in (["--races"], ["--races", "--seed=3"]) if order == "none" else ([], ["--races"], ["--races", "--seed=3"]):
        command = [HEDDLE, "run", *flags, PROGRAM, "--", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        raced = "error[data-race]" in done.stderr
        right = raced if order == "none" else done.returncode == 0 and not done.stderr
        if not right:
            found.append(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return found


def main():
    subprocess.run([HEDDLE, "run", PROGRAM], capture_output=True, timeout=300, check=False)  # compiles once
    cases = [*itertools.product(ORDERS, PRODUCERS, CONSUMERS), *itertools.product(["none"], PRODUCERS, CONSUMERS)]
    with ThreadPoolExecutor(2) as pool:
        problems = [text for found in pool.map(problem, cases) for text in found]
    print("\n".join(problems))
    print(f"{len(cases)} programs, {len(problems)} wrong answers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

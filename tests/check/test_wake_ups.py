#!/usr/bin/env python3
"""Mutants of [HOST-WAKE] (src/explore/judge/wake_mutant.h): with each of them a program gets a wrong verdict.

    test_wake_ups.py          HEDDLE, HEDDLE_NVCC and so on as for test_cases.py
"""
import json
import os
import pathlib
import subprocess
import unittest

HEDDLE = os.environ.get("HEDDLE", "./heddle")
PROGRAM = pathlib.Path(__file__).parent / "idioms/host_wakes.cu"
DEADLOCK, EXIT = [("deadlock", "HANG-DEADLOCK")], [("exit-status", "HOST-WAKE")]
# Mutant, what it breaks; a case of PROGRAM; what is found without the mutant, and with it.
MUTANTS = [
    ("never", "no wait returns without a notification", "consumer-without-loop", EXIT, []),
    ("never", "… nor one with a time limit", "not-late-means-there", EXIT, []),
    ("owed", "who waits is owed such a return", "nobody-notifies", DEADLOCK, []),
    ("forever", "waits may return so forever", "wrong-kind-is-notified", DEADLOCK, [("livelock", "HOST-WAKE")]),
    ("leaves", "who could return so waits for others", "nobody-notifies", DEADLOCK, [("starvation", "API")]),
    ("nearest", "the nearest way is told, whatever it needs", "second-wait-is-not", DEADLOCK, [("deadlock", "HOST-WAKE")]),
]


def findings(case, **environment):
    done = subprocess.run([HEDDLE, "check", "--format=json", str(PROGRAM), "--", case], capture_output=True, text=True,
                          env={**os.environ, **environment}, check=False)
    return [(one["code"], one["rule"]) for one in json.loads(done.stdout)["findings"]]


class WakeUps(unittest.TestCase):
    def test_each_mutant_is_noticed(self):
        for mutant, breaks, case, right, wrong in MUTANTS:
            with self.subTest(mutant=mutant, breaks=breaks):
                self.assertEqual(findings(case), right)
                self.assertEqual(findings(case, HEDDLE_WAKE_MUTANT=mutant), wrong)


if __name__ == "__main__":
    unittest.main()

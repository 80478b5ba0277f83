"""Mutants of spec/answers.md: with one answer kept as it is in a search, a program that decides by it alone is said to
terminate; with all of them changed it is bounded, and the answer is named.

    test_answers.py          HEDDLE, HEDDLE_NVCC and so on as for test_cases.py
"""
import json
import os
import pathlib
import subprocess
import unittest

HEDDLE = os.environ.get("HEDDLE", "./heddle")
PROGRAM = pathlib.Path(__file__).parent / "idioms/asked.cu"
# Answer, what the verdict calls it, cases of PROGRAM.
ANSWERS = [
    ("device-addresses", "memory of devices lies at other addresses", ["device-order", "device-hash", "stored-order"]),
    ("reuse", "memory of devices that was freed is given again", ["device-again"]),
    ("host-addresses", "memory of the heap lies in another order", ["heap-order", "graph-order", "node-order"]),
    ("heap", "memory of the heap that it has not set", ["heap-contents"]),
    ("process", "other numbers (getpid", ["process", "kernels-thread", "thread-hash", "process-by-syscall", "process-of-group"]),
    ("random", "other random numbers", ["random-call", "random-syscall", "random-device", "random-file", "random-stream", "random-instruction", "random-of-process"]),
    ("load", "other amounts are free", ["free-memory", "free-pages", "free-space", "used-memory", "load", "processor"]),
]


def check(case, **environment):
    done = subprocess.run([HEDDLE, "check", "--format=json", str(PROGRAM), "--", case], capture_output=True, text=True,
                          env={**os.environ, **environment})
    return done.returncode, json.loads(done.stdout)


class Answers(unittest.TestCase):
    def test_each_answer_alone(self):
        for answer, words, cases in ANSWERS:
            for case in cases:
                with self.subTest(case=case):
                    status, said = check(case)
                    self.assertEqual(status, 4, said)
                    self.assertIn(words, said["left_out"][0]["what"])
                    status, said = check(case, HEDDLE_KEEP_ANSWERS=answer)
                    self.assertEqual((status, said["coverage"]), (0, "exhaustive"), said)


if __name__ == "__main__":
    unittest.main()

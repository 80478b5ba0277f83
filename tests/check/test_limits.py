#!/usr/bin/env python3
"""heddle check never takes a search that was cut short for a result."""
import os
import subprocess
import unittest

HEDDLE = os.environ.get("HEDDLE", "./heddle")


def check(program, *options):
    return subprocess.run([HEDDLE, "check", *options, program], capture_output=True, text=True)


class Limits(unittest.TestCase):
    def test_too_few_states(self):
        done = check("examples/execution-model/api.4.cu", "--max-states=16", "--schedules=40")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertIn("no defect found, but not everything was looked at", done.stdout)

    def test_schedules_after_it(self):
        def tried(*options):
            return check("examples/execution-model/api.4.cu", "--max-states=16", "--schedules=30", *options).stdout

        self.assertIn("after that: 30 single schedules", tried())
        self.assertEqual(tried(), tried())
        self.assertNotEqual(tried(), tried("--seed=2"))
        self.assertNotIn("after that", check("examples/execution-model/api.4.cu", "--max-states=16", "--schedules=0").stdout)

    def test_the_same_bytes_twice(self):
        for name in ("device.0", "api.3", "stream.0"):
            with self.subTest(name):
                program = f"examples/execution-model/{name}.cu"
                self.assertEqual(check(program).stdout, check(program).stdout)


if __name__ == "__main__":
    unittest.main()

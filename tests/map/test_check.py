#!/usr/bin/env python3
"""`heddle check` on client programs of the concurrent map: every pair of operations on one key ends in every
schedule with results that some sequential map gives; deliberately broken maps are found."""
import itertools
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "run"))
from program import Compiler  # noqa: E402

HEDDLE = os.environ.get("HEDDLE", "./heddle")
COMPILER = Compiler(os.environ.get("HEDDLE_NVCC", "nvcc"), os.environ.get("HEDDLE_CACHE", "build/dev/tests/programs"))
OPERATIONS = ["insert", "assign", "apply", "find", "erase"]
BROKEN = {  # argument -> what the report says
    "duplicate": "host-crash",
    "half": "host-crash",
    "abandoned": "may hang",
    "unstarted": "starvation",
}


def check(name, *arguments):
    executable = COMPILER.compile([str(HERE / "check" / f"{name}.cu")], [])
    done = subprocess.run([HEDDLE, "check", executable, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class Check(unittest.TestCase):
    def expect_right(self, name, *arguments):
        with self.subTest(" ".join(arguments)):
            status, output = check(name, *arguments)
            self.assertEqual(status, 0, output)
            self.assertIn("exhaustive", output)

    def test_pairs_where_tombstones_are_reused(self):
        self.expect_right("pair", "insert", "insert", "erased", "2")
        self.expect_right("pair", "assign", "apply", "erased", "1")
        self.expect_right("pair", "find", "erase", "present", "2")

    @unittest.skipUnless(os.environ.get("HEDDLE_EVERY_PAIR"), "minutes: set HEDDLE_EVERY_PAIR=1")
    def test_every_pair_of_operations(self):
        # The tombstone of the key is the hardest start: its insertion takes the lock of the path's end.
        for i, (first, second) in enumerate(itertools.combinations_with_replacement(OPERATIONS, 2)):
            self.expect_right("pair", first, second, "erased", str(1 + i % 2))

    @unittest.skipUnless(os.environ.get("HEDDLE_EVERY_PAIR"), "minutes: set HEDDLE_EVERY_PAIR=1")
    def test_other_beginnings(self):
        self.expect_right("pair", "insert", "insert", "absent", "2")
        self.expect_right("pair", "insert", "erase", "present", "1")
        self.expect_right("pair", "assign", "apply", "present", "2")
        self.expect_right("pair", "find", "erase", "present", "2")

    def test_one_key_comes_twice_while_another_goes(self):
        self.expect_right("broken", "right")

    def test_broken_maps_are_found(self):
        for argument, text in BROKEN.items():
            with self.subTest(argument):
                status, output = check("broken", argument)
                self.assertEqual(status, 1, output)
                self.assertIn(text, output)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""heddle check --reference: what an explorer without reductions says of kernels."""
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEDDLE = os.environ.get("HEDDLE", "./heddle")
RESTORED = ROOT / "tests/check/idioms/restored.cu"


def reference(program, *arguments, flags=()):
    return subprocess.run([HEDDLE, "check", "--reference", *flags, str(program), "--", *arguments], capture_output=True,
                          text=True, timeout=300)


class Reference(unittest.TestCase):
    def test_a_defect(self):
        done = reference(RESTORED, "trylock", "blocks")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("reference: trylock_global<<<2,1>>>: ", done.stdout)
        self.assertIn(": defect: ", done.stdout)

    def test_a_hang_names_who_goes_on(self):
        done = reference(RESTORED, "store", "blocks")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("may hang: thread (0,0,0) of block (0,0,0)", done.stdout)

    def test_nothing_found_claims_nothing_of_the_host(self):
        done = reference(RESTORED, "trylock-right", "blocks")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("every order of these kernels' instructions comes to their end", done.stdout)
        self.assertNotIn("terminates", done.stdout)

    def test_too_large(self):
        done = reference(RESTORED, "trylock-right", "threads", flags=["--max-states=10"])
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("more than 10 states", done.stdout)

    def test_what_it_does_not_know_it_says(self):
        done = reference(ROOT / "tests/check/idioms/clock_values.cu", "wait_clock", "block", "1")
        self.assertIn("not searched", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""heddle check on the 11 examples of the CUDA C++ execution model: the outcome that the document
states, the rules on which it rests, the lines it names, and the same bytes twice."""
import json
import os
import pathlib
import subprocess
import unittest

HEDDLE = os.environ.get("HEDDLE", "./heddle")
FOLDER = pathlib.Path("examples/execution-model")

# file -> (rules without which it might not end) or (finding, rule, lines named in the source)
TERMINATES = {
    "device.0": {"CLUSTER", "STEP.4"},
    "api.1": {"API"},
    "api.4": {"QUERY"},
    "stream.1": {"API", "DEP"},
}
MAY_HANG = {
    "device.1": ("no-progress-loop", "LOOP", ["while (true)", "cudaDeviceSynchronize"]),
    "device.2": ("no-progress-loop", "LOOP", ["while (True)", "cudaDeviceSynchronize"]),
    "device.3": ("no-progress-loop", "LOOP", ["True.load()", "cudaDeviceSynchronize"]),
    "device.4": ("no-progress-loop", "LOOP", ["while (true)", "cudaDeviceSynchronize"]),
    "api.2": ("starvation", "LAUNCH", ["while (flag.load() == 0)", "flag.store(1)"]),
    "api.3": ("starvation", "QUERY", ["while (flag.load() == 0)", "flag.store(1)"]),
    "stream.0": ("starvation", "API", ["while (flag.load", "cudaDeviceSynchronize", "flag.store(1"]),
}


def check(name, *options):
    return subprocess.run(
        [HEDDLE, "check", *options, str(FOLDER / f"{name}.cu")], capture_output=True, text=True
    )


class Examples(unittest.TestCase):
    def result(self, name, exit_code):
        done = check(name, "--format=json")
        self.assertEqual(done.returncode, exit_code, done.stdout + done.stderr)
        result = json.loads(done.stdout)
        self.assertTrue(result["complete"])
        return result

    def test_every_example_is_here(self):
        self.assertEqual(
            sorted(p.stem for p in FOLDER.glob("*.cu")), sorted([*TERMINATES, *MAY_HANG])
        )

    def test_those_that_terminate(self):
        for name, rules in TERMINATES.items():
            with self.subTest(name):
                result = self.result(name, 0)
                self.assertEqual(result["verdict"], "terminates")
                self.assertLessEqual(rules, set(result["rests_on"]))

    def test_those_that_may_hang(self):
        for name, (code, rule, lines) in MAY_HANG.items():
            with self.subTest(name):
                result = self.result(name, 1)
                self.assertEqual(result["verdict"], "may-hang")
                self.assertEqual(len(result["findings"]), 1)
                finding = result["findings"][0]
                self.assertEqual((finding["code"], finding["rule"]), (code, rule))
                source = (FOLDER / f"{name}.cu").read_text().splitlines()
                named = [source[place["line"] - 1] for place in finding["locations"]]
                self.assertEqual(len(named), len(lines))
                for text, wanted in zip(named, lines):
                    self.assertIn(wanted, text)

    def test_the_same_bytes_twice(self):
        for name in ("device.0", "api.3", "stream.0"):
            with self.subTest(name):
                self.assertEqual(check(name).stdout, check(name).stdout)

    def test_limits_are_no_verdict(self):
        done = check("api.4", "--max-states=16")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertIn("no defect found within", done.stdout)


if __name__ == "__main__":
    unittest.main()

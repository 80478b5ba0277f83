"""tools/night_elsewhere.py: parts share the processors, and what does not end in time is cut."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import night_elsewhere  # noqa: E402
import nightly  # noqa: E402


class Elsewhere(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def run_parts(self, seconds, **parts):
        tests = {name: [{"name": f"{name}.{i}", "command": ["@ROOT@/tests/support/cost.sh", "x", "sh", "-c", text],
                         "properties": [{"name": "ENVIRONMENT", "value": ["NVCC=@NVCC@"]},
                                        {"name": "WORKING_DIRECTORY", "value": "@BUILD@/tests/new"}]} for i, text in enumerate(texts)]
                 for name, texts in parts.items()}
        (self.root / "tests.json").write_text(json.dumps(tests))
        out = io.StringIO()
        with mock.patch.object(night_elsewhere, "TIDY_UP", 0), contextlib.redirect_stdout(out), mock.patch.object(
                sys, "argv", ["x", "run", str(self.root), f"--seconds={seconds}", f"--log={self.root}/logs", "--night=7", *parts]):
            return night_elsewhere.main(), out.getvalue()

    def test_what_has_passed(self):
        status, out = self.run_parts(60, litmus=["echo night $HEDDLE_NIGHT in $PWD", "exit 77"], map=["echo $NVCC"])
        self.assertEqual(status, 0, out)
        self.assertIn(f"passed       litmus.0: night 7 in {self.root.resolve()}/tests/new", out)
        self.assertRegex(out, "skipped +litmus.1")
        self.assertRegex(out, "passed +map.0: .*nvcc")

    def test_what_has_failed(self):
        status, out = self.run_parts(60, litmus=["echo wrong; exit 3"])
        self.assertEqual(status, 1)
        self.assertIn("failed (3)   litmus.0: wrong", out)

    def test_what_does_not_end(self):
        status, out = self.run_parts(0.5, litmus=["echo begun; sleep 60"])
        self.assertEqual(status, 0)
        self.assertIn("cut          litmus.0: begun", out)
        self.assertIn("0 of 1 passed, 1 cut", out)

    def test_processors_by_minutes(self):
        parts = [nightly.Part("a", "", 30), nightly.Part("b", "", 10), nightly.Part("c", "", 1)]
        with mock.patch.object(os, "sched_getaffinity", lambda _: range(16)):
            shares = night_elsewhere.divide(parts, 16)
        self.assertEqual([len(share) for share in shares], [12, 4, 1])
        self.assertTrue(shares[0].isdisjoint(shares[1]))


if __name__ == "__main__":
    unittest.main()

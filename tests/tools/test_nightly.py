"""tools/nightly.py and tests/support/night.py: parts are done once, what failed is done again, no part is without a row."""
import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/support")]
sys.dont_write_bytecode = True

import night  # noqa: E402
import nightly  # noqa: E402


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def run_nightly(self, *arguments, command=("echo", "5 checks")):
        parts = (nightly.Part("one", "the first", 1, command), nightly.Part("two", "the second", 1, ("sh", "-c", "echo none; exit 77")))
        out = io.StringIO()
        with mock.patch.multiple(nightly, ROOT=self.root, PARTS=parts, commit=lambda: "abc"), \
                mock.patch.object(sys, "argv", ["nightly.py", "--night=7", *arguments]), contextlib.redirect_stdout(out):
            return nightly.main(), out.getvalue()

    def test_rows(self):
        status, out = self.run_nightly()
        self.assertEqual(status, 0)
        self.assertRegex(out, r"\| `one` \| \d{4}-\d\d-\d\d \| passed \| 0 \| 5 checks \|")
        self.assertRegex(out, r"\| `two` \| \S+ \| skipped \| 0 \| none \|")

    def test_done_once(self):
        self.run_nightly()
        self.assertNotIn("== one", self.run_nightly()[1])
        self.assertIn("| passed |", self.run_nightly()[1])
        self.assertIn("== one", self.run_nightly("--again")[1])
        self.assertRegex(self.run_nightly("--list")[1], r"one +done +1 min  the first")

    def test_only_what_is_asked_for(self):
        self.assertNotIn("== one", self.run_nightly("two")[1])

    def test_what_failed_is_done_again(self):
        status, out = self.run_nightly(command=("sh", "-c", "echo broken; exit 3"))
        self.assertEqual(status, 1)
        self.assertIn("| failed |", out)
        self.assertIn("failed: one: ", out)
        self.assertEqual(self.run_nightly()[0], 0)

    def test_tests_share_the_time_of_their_part(self):
        one, wide = nightly.Part("one", "", 1), nightly.Part("two", "", 1, wide=True)
        self.assertEqual(nightly.share(one, 60, 12, 2), (2, 10))
        self.assertEqual(nightly.share(one, 60, 1, 16), (1, 60))
        self.assertEqual(nightly.share(wide, 60, 12, 16), (1, 5))
        self.assertEqual(nightly.share(one, 60, 0, 2), (1, 60))

    def test_a_night_takes_five_hours(self):
        self.assertLessEqual(sum(part.minutes for part in nightly.PARTS), 310)

    def test_the_page_has_a_row_for_each_part(self):
        page = (ROOT / "docs/nightly.md").read_text(encoding="utf-8")
        names = [part.name for part in nightly.PARTS]
        for table in re.split(r"^\|---.*$", page, flags=re.MULTILINE)[1:]:
            rows = re.findall(r"^\| `([a-z]+)` \|", table, re.MULTILINE)
            self.assertEqual(rows[:len(names)], names)
        self.assertNotRegex(page, r"\|[ \t]*\|(?!-)")  # no empty cell


class Night(unittest.TestCase):
    def test_by_day(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("HEDDLE_NIGHT", None)
            self.assertEqual((night.night(), night.seed(3), night.some("abcdef", 4)), (None, 3, ["a", "e"]))

    def test_at_night(self):
        with mock.patch.dict(os.environ, HEDDLE_NIGHT="20261128"):
            self.assertEqual((night.night(), night.seed(3), night.some("abcdef", 4)), (20261128, 20261128, list("abcdef")))
            self.assertEqual(sorted(night.mixed("abcdef")), list("abcdef"))
            self.assertEqual(night.mixed("abcdef"), night.mixed("abcdef"))

    def test_what_is_late_is_left_out_but_the_first(self):
        for seconds, answer in (("", 6), ("1000", 6), ("-1", None)):
            double = night.in_time(lambda x: 2 * x)
            with mock.patch.dict(os.environ, HEDDLE_NIGHT_SECONDS=seconds):
                self.assertEqual((double(2), double(3)), (4, answer))


if __name__ == "__main__":
    unittest.main()

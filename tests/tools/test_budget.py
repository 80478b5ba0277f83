"""tests/BUDGET.md: what a group may cost is in proportion to what was measured, in both directions."""
import math
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True

import tests as costs  # noqa: E402

ROW = re.compile(r"^\| `([^`]+)` \| ([\d.]+) \| ([\d.]+) \(\d+\) \| \S.* \|$")
BOUNDED = {"static.tidy"}  # what it costs depends on the newest commit; its budget is for the largest one


def bounds_of(measured):
    """At least half more, and half a minute more, in tenths of a minute, rounded up; at most twice as much and a minute."""
    return math.ceil(round(10 * max(1.5 * measured, measured + 0.5), 6)) / 10, 2 * measured + 1


class Budget(unittest.TestCase):
    def test_rule(self):
        self.assertEqual([bounds_of(m) for m in (0.5, 1.0, 4.1)], [(1.0, 2.0), (1.5, 3.0), (6.2, 9.2)])

    def test_each_row_follows_the_rule(self):
        page = ROOT / "tests/BUDGET.md"
        rows = [ROW.match(line) for line in page.read_text(encoding="utf-8").splitlines()]
        found = {row[1]: (float(row[2]), float(row[3])) for row in rows if row}
        self.assertGreater(len(found), 20)
        self.assertEqual(set(found), set(costs.read_budget(page)))  # each row says what was measured
        for group, (budget, measured) in found.items():
            if group not in BOUNDED:
                least, most = bounds_of(measured)
                self.assertTrue(least <= budget <= most, f"{group}: {budget} minutes for a group that costs {measured}; {least} to {most:.1f}")


if __name__ == "__main__":
    unittest.main()

"""What documents show of `heddle check examples/look_back_scan.cu -- index` and its replay is what they print.

A shown line that has a "…" is shortened, and is not compared.
"""
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEDDLE = os.environ["HEDDLE"]


def plain(text):
    """Lines, with spaces counted once, and without the schedule."""
    return [" ".join(line.split()) for line in re.sub(r"v1:[\w-]+", "v1:…", text).splitlines()]


def shown(page, command):
    """The lines of a page that stand behind "$ COMMAND", up to the end of its block."""
    text = (ROOT / page).read_text(encoding="utf-8")
    behind = re.search(rf"^( *)\$ {command}[^\n]*\n(.*?)(?=^```|^(?! |\s*$|\1\S)|^##)", text, re.M | re.S)
    return [line for line in plain(behind[2]) if line and "…" not in line]


class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        def run(*arguments):
            return subprocess.run([HEDDLE, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300).stdout

        cls.check = run("check", "examples/look_back_scan.cu", "--", "index")
        cls.trace = run("replay", "--trace", re.search(r"v1:[\w-]+", cls.check).group())

    def compare(self, page, command, output, least):
        lines = shown(page, command)
        self.assertGreaterEqual(len(lines), least)
        self.assertEqual([line for line in lines if line not in plain(output)], [], page)

    def test_check(self):
        for page in ("docs/checking.md", "README.zh.md"):
            self.compare(page, "heddle check examples/look_back_scan.cu", self.check, 3)

    def test_trace(self):
        self.compare("docs/checking.md", "heddle replay --trace", self.trace, 8)


if __name__ == "__main__":
    unittest.main()

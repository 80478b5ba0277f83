#!/usr/bin/env python3
"""heddle check --explain-order: what orders.cu says of each of its atomics, and what cannot be explained."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

HEDDLE = os.environ.get("HEDDLE", "./heddle")
PROGRAM = pathlib.Path(__file__).with_name("orders.cu")
SAID = re.compile(r"order: orders\.cu:(\d+):\d+: (.*)")
LINES = PROGRAM.read_text(encoding="utf-8").splitlines()


def check(*arguments, flags=("--memory=ptx",)):
    done = subprocess.run([HEDDLE, "check", *flags, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def said(case, flag="--explain-order=all"):
    status, text = check(flag, str(PROGRAM), "--", case)
    return status, {int(line): answer for line, answer in SAID.findall(text)}, text


class ExplainOrder(unittest.TestCase):
    def as_written(self, case):
        status, answers, text = said(case)
        self.assertEqual(status, 0, text)
        begin = next(n for n, line in enumerate(LINES) if f"void {case}(" in line)
        end = next(n for n in range(begin, len(LINES)) if LINES[n] == "}")
        wanted = {n + 1: LINES[n].split("// order: ")[1] for n in range(begin, end) if "// order: " in LINES[n]}
        for line, answer in wanted.items():
            self.assertTrue(answers.get(line, "").startswith(answer), f"{line}: {answer}\n{text}")
        self.assertEqual({line for line, answer in answers.items() if "never executed" not in answer and "already" not in answer},
                         {line for line, answer in wanted.items() if "already" not in answer}, text)
        return answers

    def test_needed(self):
        needed = [answer for answer in self.as_written("message").values() if "is needed" in answer]
        self.assertEqual(len(needed), 2)
        for answer in needed:
            self.assertRegex(answer, r"; not relaxed: \d+ states, data-race$")

    def test_can_be_weaker(self):
        self.assertRegex(" ".join(self.as_written("counter").values()), r"relaxed: \d+ states, same verdict")

    def test_fence(self):
        self.as_written("either")

    def test_one_line(self):
        line = next(n for n, text in enumerate(LINES, 1) if "flag.store" in text)
        _, answers, text = said("message", f"--explain-order={line}")
        self.assertEqual(list(answers), [line], text)
        _, answers, text = said("message", "--explain-order=1")
        self.assertIn("no atomic of a kernel stands in line 1", text)
        self.assertFalse(answers)

    def test_refused(self):
        status, text = check("--explain-order=all", str(PROGRAM), "--", "message", flags=())
        self.assertEqual(status, 2)
        self.assertIn("--explain-order needs --memory=ptx", text)
        for where in ("0", "here", "-1"):
            status, text = check(f"--explain-order={where}", str(PROGRAM), "--", "message")
            self.assertEqual(status, 2, text)
            self.assertIn("--explain-order", text)
        status, text = check("--explain-order=all", str(PROGRAM), "--", "unknown-case", flags=("--memory=ptx",))
        self.assertEqual(status, 1)
        self.assertIn("orders are explained where the verdict is 'terminates'", text)


if __name__ == "__main__":
    sys.exit(unittest.main())

"""Tests of the runner itself: what it must refuse. nvcc and heddle are small scripts here."""
import os
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
# "Compiles" by copying the source; "runs" by printing the rest of the line after PRINT and SAY.
NVCC = """#!/bin/sh
case "$*" in *--version*) echo one; exit 0;; esac
echo compiled >> "$COUNT"
while [ $# -gt 0 ]; do case "$1" in -o) out=$2; shift;; *.cu) source=$1;; esac; shift; done
grep -q DOES_NOT_COMPILE "$source" && exit 1
cp "$source" "$out"
"""
HEDDLE = """#!/bin/sh
for last; do :; done
[ -n "$HEDDLE_LOG" ] && echo "$*" >> "$HEDDLE_LOG"
sed -n 's/^PRINT //p' "$last"
sed -n 's/^SAY //p' "$last" >&2
exit $(sed -n 's/^EXIT //p' "$last" | grep . || echo 0)
"""


class Runner(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        for name, text in (("nvcc", NVCC), ("heddle", HEDDLE)):
            self.write(name, text)
            os.chmod(self.path(name), stat.S_IRWXU)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def run_program(self, text, output=None):
        self.write("p.cu", text)
        if output is not None:
            self.write("p.out", output)
        environment = dict(os.environ, COUNT=self.path("count"), HEDDLE_LOG=self.path("log"))
        return subprocess.run([sys.executable, "-B", os.path.join(HERE, "run_test.py"), "--heddle", self.path("heddle"), "--nvcc",
                               self.path("nvcc"), "--cache", self.path("cache"), self.path("p.cu")],
                              capture_output=True, text=True, env=environment)

    def test_equal_output_passes(self):
        self.assertEqual(self.run_program("// Says hello.\n//@ exercises: x\nPRINT hello\n", "hello\n").returncode, 0)

    def test_different_output_fails_and_shows_it(self):
        done = self.run_program("// Says hello.\n//@ exercises: x\nPRINT hallo\n", "hello\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("-hello", done.stderr)
        self.assertIn("+hallo", done.stderr)

    def test_missing_output_fails(self):
        self.assertEqual(self.run_program("// Says hello.\n//@ exercises: x\nPRINT hello\n").returncode, 1)

    def test_exit_code_counts(self):
        self.assertEqual(self.run_program("// Ends.\n//@ exercises: x\nEXIT 3\n", "").returncode, 1)
        self.assertEqual(self.run_program("// Ends.\n//@ exercises: x\n//@ exit: 3\nEXIT 3\n", "").returncode, 0)

    def test_misspelled_directives_fail(self):
        for line in ("//@ exercise: x", "//@ seed: 1", "//@exit: 1", "// @exit: 1", "//@ exit 1", "//@ expects: e"):
            done = self.run_program(f"// Says hello.\n//@ exercises: x\n{line}\nPRINT hello\n", "hello\n")
            self.assertEqual(done.returncode, 1, line)
            self.assertIn("directive", done.stderr)

    def test_header_is_required(self):
        self.assertEqual(self.run_program("//@ exercises: x\nPRINT hello\n", "hello\n").returncode, 1)
        self.assertEqual(self.run_program("// Says hello.\nPRINT hello\n", "hello\n").returncode, 1)

    def test_report_must_begin_as_expected(self):
        header = "// Faults.\n//@ exercises: x\n//@ exit: 1\n//@ expect: error\\[null\\]\n//@ expect: thread 5\nEXIT 1\n"
        self.assertEqual(self.run_program(header + "SAY a.cu:1:2: error[null]: read\nSAY thread 5\n").returncode, 0)
        self.assertEqual(self.run_program(header + "SAY a.cu:1:2: error[null]: read\nSAY thread 6\n").returncode, 1)
        self.assertEqual(self.run_program(header + "SAY error[trap]\nSAY error[null] thread 5\n").returncode, 1)
        self.assertEqual(self.run_program(header).returncode, 1)

    def test_seeds_and_flag_sets_are_run(self):
        done = self.run_program("// Says hello.\n//@ exercises: x\n//@ seeds: 4 5\n//@ also-flags: -G\nPRINT hello\n", "hello\n")
        self.assertEqual(done.returncode, 0)
        with open(self.path("log"), encoding="utf-8") as file:
            log = file.read()
        self.assertIn("--seed 4", log)
        self.assertIn("--seed 5", log)
        self.assertEqual(len(log.splitlines()), 4)

    def test_compilation_is_cached_by_content(self):
        text = "// Says hello.\n//@ exercises: x\n#include \"h.h\"\nPRINT hello\n"
        self.write("h.h", "1")
        for _ in range(2):
            self.run_program(text, "hello\n")
        self.write("h.h", "2")
        self.run_program(text, "hello\n")
        with open(self.path("count"), encoding="utf-8") as file:
            self.assertEqual(len(file.read().split()), 2)

    def test_known_gaps_do_not_fail(self):
        header = "// Says hello.\n//@ exercises: x\n//@ gap: printing\n"
        done = self.run_program(header + "PRINT hallo\n", "hello\n")
        self.assertEqual(done.returncode, 0)
        self.assertIn("known gap", done.stdout)
        self.assertIn("closed", self.run_program(header + "PRINT hello\n", "hello\n").stdout)

    def test_compile_errors_fail(self):
        done = self.run_program("// Says hello.\n//@ exercises: x\nDOES_NOT_COMPILE\n", "")
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not compile", done.stderr)


if __name__ == "__main__":
    unittest.main()

"""`heddle app.cu` on class-room programs: each mistake is found, by name and line, within ten seconds; the right twin
(-DRIGHT) is silent.

A line of a program that ends with `//~ CODE` is where the finding must be. Seconds are the processor's, which other
work on the machine changes little, and those of nvcc do not count: the program is compiled by `heddle run` before."""
import os
import pathlib
import re
import resource
import subprocess
import unittest

HEDDLE = os.environ["HEDDLE"]
PROGRAMS = pathlib.Path(__file__).parent / "classroom"
SECONDS = 10


def expected(program):
    """(line, code) of each mark."""
    lines = program.read_text().splitlines()
    return [(n, mark[1]) for n, line in enumerate(lines, 1) if (mark := re.search(r"//~ (\S+)$", line))]


def look(*arguments):
    """Exit status, all output, processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, cwd=PROGRAMS, timeout=300,
                          stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return done.returncode, done.stdout + done.stderr, seconds


class Everything(unittest.TestCase):
    def test_each_mistake_is_found_once(self):
        marked = [p for p in sorted(PROGRAMS.glob("*.cu")) if expected(p)]
        self.assertGreaterEqual(len(marked), 10)
        for program in marked:
            for right in (False, True):
                with self.subTest(program.name, right=right):
                    self.one(program, right)

    def one(self, program, right):
        flags = ["--nvcc=-DRIGHT"] if right else []
        look("check", "--max-states=1", "--schedules=0", "--races=0", *flags, program.name)  # compiles it
        status, text, seconds = look(*flags, program.name)
        findings = re.findall(r"(?m)^(\S+\.cu):(\d+):\d+: (?:error|warning)\[?([\w.-]*)", text)
        if right:
            self.assertEqual((status, findings), (0, []), text)
            self.assertIn(f"{program.name}: nothing found\n", text)
            return
        for line, code in expected(program):
            self.assertIn((program.name, str(line), code), findings, text)
        self.assertEqual(len(findings), len(expected(program)), text)
        self.assertLess(seconds, SECONDS, text)
        self.assertRegex(text, r"  looked at\n(.*\n)+  not looked at\n")


if __name__ == "__main__":
    unittest.main()

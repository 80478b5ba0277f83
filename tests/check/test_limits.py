#!/usr/bin/env python3
"""heddle check never takes a search that was cut short for a result."""
import os
import pathlib
import subprocess
import tempfile
import unittest

HEDDLE = os.environ.get("HEDDLE", "./heddle")


def check(program, *options):
    return subprocess.run([HEDDLE, "check", *options, program], capture_output=True, text=True)


class Limits(unittest.TestCase):
    def test_too_few_states(self):
        done = check("examples/execution-model/api.4.cu", "--max-states=16", "--schedules=40")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertIn("no defect found, but not everything was looked at", done.stdout)

    def test_schedules_after_it(self):
        def tried(*options):
            return check("examples/execution-model/api.4.cu", "--max-states=16", "--schedules=30", *options).stdout

        self.assertIn("after that: 30 single schedules", tried())
        self.assertEqual(tried(), tried())
        self.assertNotEqual(tried(), tried("--seed=2"))
        self.assertNotIn("after that", check("examples/execution-model/api.4.cu", "--max-states=16", "--schedules=0").stdout)

    def test_the_same_bytes_twice(self):
        for name in ("device.0", "api.3", "stream.0"):
            with self.subTest(name):
                program = f"examples/execution-model/{name}.cu"
                self.assertEqual(check(program).stdout, check(program).stdout)

    def test_standard_input(self):
        source = """
            #include <cstdio>
            __global__ void work() {}
            int main() {
              int lines = 0;
              for (int c; (c = std::fgetc(stdin)) != EOF; lines += c == '\\n') {
              }
              work<<<1, 1>>>();
              cudaDeviceSynchronize();
              return lines;
            }
            """
        with tempfile.TemporaryDirectory() as folder:
            program, lines = pathlib.Path(folder) / "lines.cu", pathlib.Path(folder) / "lines.txt"
            program.write_text(source)
            lines.write_text("line\n" * 3)

            def checked(stdin):
                return subprocess.run([HEDDLE, "check", "--expect-exit=3", program], stdin=stdin, capture_output=True,
                                      text=True)

            with lines.open() as file:
                done = checked(file)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(", standard input as it is", done.stdout)
            done = checked(subprocess.DEVNULL)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("an empty standard input as it is", done.stdout)

    def test_shared_segments_are_refused(self):
        source = """
            #include <sys/shm.h>
            __global__ void work() {}
            int main() {
              work<<<1, 1>>>();
              cudaDeviceSynchronize();
              shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
            }
            """
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "segment.cu"
            program.write_text(source)
            done = check(program)
            self.assertIn("shmget(), as what the kernel keeps", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()

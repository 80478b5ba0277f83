#!/usr/bin/env python3
"""What heddle lint keeps between runs: an unchanged file is not read again, a changed one is.

    test_cache.py HEDDLE_LINT
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

LINT = None
SOURCE = '#include "limit.h"\n__global__ void k(int *p) {\n  if (threadIdx.x < LIMIT) __syncthreads();\n  p[0] = 1;\n}\n'
SOME = "#define LIMIT 3\n"


class Cache(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.kept = self.path / "cache"
        (self.path / "a.cu").write_text(SOURCE)
        (self.path / "limit.h").write_text(SOME)

    def lint(self, *arguments, cwd=None):
        """The lines with findings, and whether the file was read."""
        command = [LINT, "--cuda-path=none", "--format=json", *arguments]
        done = subprocess.run(command, cwd=cwd or self.path, capture_output=True, text=True,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.kept)})
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        report = json.loads(done.stdout)
        found = [(one["location"]["line"], one["key"]) for one in report["findings"] if one["suppressed"] is None]
        return found, report, any(one["parse_seconds"] > 0 for one in report["files"])

    def test_the_second_run_reads_nothing_and_says_the_same(self):
        first, report, was_read = self.lint("a.cu")
        self.assertTrue(was_read)
        self.assertEqual(first, [(3, "thread_synchronization_in_divergent_region")])
        again, kept, was_read = self.lint("a.cu")
        self.assertFalse(was_read)
        self.assertEqual(again, first)
        self.assertEqual(kept["findings"], report["findings"])
        self.assertEqual([one["barriers"] for one in kept["files"]], [one["barriers"] for one in report["files"]])
        self.assertTrue(self.lint("--no-cache", "a.cu")[2])

    def test_what_the_result_depends_on(self):
        self.lint("a.cu")
        for arguments in (["a.cu", "--", "-DNDEBUG"], ["--arch=sm_80", "a.cu"], ["--set", "severity=error", "a.cu"]):
            self.assertTrue(self.lint(*arguments)[2], arguments)
            self.assertFalse(self.lint(*arguments)[2], arguments)
        self.assertFalse(self.lint("a.cu")[2])
        (self.path / "limit.h").write_text("#define LIMIT 4\n")  # of the same size
        self.assertTrue(self.lint("a.cu")[2])
        self.assertFalse(self.lint("a.cu")[2])
        (self.path / "a.cu").write_text(SOURCE.replace("threadIdx.x <", "blockIdx.x <"))
        found, _, was_read = self.lint("a.cu")
        self.assertEqual((found, was_read), ([], True))

    def test_a_comment_that_suppresses_counts(self):
        self.lint("a.cu")
        (self.path / "a.cu").write_text(SOURCE.replace("__syncthreads();", "__syncthreads(); // NOLINT(cuda-1.14): one warp"))
        self.assertEqual(self.lint("a.cu")[0], [])
        self.assertEqual(self.lint("a.cu")[0], [])
        (self.path / ".heddle-lint").write_text("rules:\n  CUDA-1.14:\n    disabled: true\n")
        self.assertTrue(self.lint("a.cu")[2])

    def test_a_file_with_errors_is_read_again(self):
        (self.path / "limit.h").unlink()
        for _ in range(2):
            _, report, was_read = self.lint("a.cu")
            self.assertTrue(was_read)
            self.assertNotEqual(report["files"][0]["parse_errors"], 0)
        (self.path / "limit.h").write_text(SOME)
        self.assertEqual(len(self.lint("a.cu")[0]), 1)

    def test_the_same_command_elsewhere_is_another(self):
        other = self.path / "other"
        other.mkdir()
        (self.path / "sub").mkdir()
        (other / "sub").mkdir()
        (self.path / "a.cu").write_text(SOURCE.replace('"limit.h"', "<limit.h>"))
        (self.path / "limit.h").unlink()
        (self.path / "sub/limit.h").write_text(SOME)
        (other / "sub/limit.h").write_text("#define LIMIT 0 && blockIdx.x\n")
        file = str(self.path / "a.cu")
        self.assertEqual(len(self.lint(file, "--", "-Isub")[0]), 1)
        self.assertTrue(self.lint(file, "--", "-Isub", cwd=other)[2])

    def test_what_lies_in_the_cache_and_is_no_result_is_made_again(self):
        self.lint("a.cu")
        for manifest in (self.kept / "heddle/lint").glob("*.manifest"):
            name = manifest.read_text().splitlines()[-1].split()[1]
            (self.kept / "heddle/lint" / name).write_text('{"findings": 1}')
        found, _, was_read = self.lint("a.cu")
        self.assertTrue(was_read)
        self.assertEqual(len(found), 1)


if __name__ == "__main__":
    LINT = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()

#!/usr/bin/env python3
"""The programs of tests/run with lockstep warps: the same output, or, where a thread waits for another
one of its warp, a hang that names the branch. A sample of them, and of the published progress tests;
at night (tests/support/night.py) all."""
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

RUN = pathlib.Path(__file__).resolve().parent.parent / "run"
sys.path.insert(0, str(RUN))
sys.path.insert(0, str(RUN.parent / "check"))
sys.path.insert(0, str(RUN.parent / "support"))
import test_axb  # noqa: E402
from program import Compiler, Program  # noqa: E402
from night import night, some  # noqa: E402

HEDDLE = os.environ.get("HEDDLE", "./heddle")
CACHE = os.environ.get("HEDDLE_CACHE", "build/dev/tests/programs")
COMPILER = Compiler(os.environ.get("HEDDLE_NVCC", "nvcc"), os.path.abspath(CACHE))
FULL = night() is not None
SAMPLE = """
    async_copy atomics_cas bitonic_sort block_barriers block_reduce block_scan cg_coalesced cub_block cub_sort
    curand_device function_pointers graph_algorithms histogram language matmul_tiled nbody recursion
    separate_compilation stencil virtual_functions warp_divergence warp_shuffle warp_vote
    progress/look_back_scan progress/partners execution_model/device_0
""".split()
# Threads that wait for threads of their own warp.
HANG = ["progress/lanes", "progress/work_queue"]
HANG_FULL = ["progress/locks", "progress/hash_table", "progress/wait_notify"]


def run(name, *arguments):
    program = Program(RUN / f"{name}.cu")
    executable = COMPILER.compile(program.sources, program.flag_sets[0])
    command = [HEDDLE, "run", "--warps=lockstep", *arguments, *program.heddle_arguments, executable]
    done = subprocess.run(command + program.arguments, capture_output=True, timeout=180, stdin=subprocess.DEVNULL)
    return program, done


class Lockstep(unittest.TestCase):
    def test_same_output(self):
        names = SAMPLE
        if FULL:
            every = (p.relative_to(RUN).with_suffix("").as_posix() for p in RUN.rglob("*.cu"))
            names = sorted(n for n in every if not n.startswith(("parts/", "faults/")) and n not in HANG + HANG_FULL)
        for name in names:
            with self.subTest(name):
                program, done = run(name)
                if program.gap is not None:
                    continue
                self.assertEqual(done.returncode, program.exit_code, done.stderr.decode())
                self.assertEqual(done.stdout, program.expected_output())

    def test_any_order_of_sides_and_lanes(self):
        for name in ["warp_divergence", "recursion", "graph_algorithms", "histogram"]:
            for seed in "1", "2":
                with self.subTest(name, seed=seed):
                    program, done = run(name, "--seed", seed)
                    self.assertEqual(done.returncode, 0, done.stderr.decode())
                    self.assertEqual(done.stdout, program.expected_output())

    def test_waiting_within_a_warp_hangs(self):
        for name in HANG + (HANG_FULL if FULL else []):
            with self.subTest(name):
                report = run(name)[1].stderr.decode()
                self.assertIn("error[livelock]", report)
                self.assertIn("[SIMT-LIVENESS]", report)

    def check(self, source, *options):
        """heddle check of a program of tests/simt/check."""
        path = str(RUN.parent / "simt/check" / source)
        words = options[options.index("--") :] if "--" in options else ()
        flags = options[: len(options) - len(words)]
        command = [HEDDLE, "check", *flags, path, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)

    def test_check_both_compares(self):
        """heddle check --warps=both: a hang in lockstep only, none, and the branch in the report."""
        for source, words, hangs in [
            ("spin_lock_of_two.cu", [], True),
            ("flag.cu", ["--", "waiting-first"], True),
            ("two_sides.cu", [], False),
        ]:
            with self.subTest(source):
                done = self.check(source, "--warps=both", *words)
                self.assertEqual(done.returncode, 1 if hangs else 0, done.stdout + done.stderr)
                self.assertRegex(done.stdout, r"\d states, and \d+ with lockstep warps, exhaustive")
                if hangs:
                    self.assertIn("hang: lockstep only", done.stdout)
                    self.assertIn("Habermaier", done.stdout)
                    self.assertRegex(done.stdout, r"since the branch at|reconvergence point of the branch at")
                never = "no order of sides, lanes and warps lets the program end" in done.stdout
                self.assertEqual(never, source.startswith("spin_lock"))

    def test_replay_of_a_hang_in_lockstep(self):
        found = json.loads(self.check("flag.cu", "--warps=lockstep", "--format=json", "--", "waiting-first").stdout)
        self.assertEqual(found["verdict"], "may-hang")
        schedule = found["findings"][0]["replay"]
        for options, status in [([], 1), (["--warps=lockstep", "--trace"], 1), (["--warps=independent"], 2)]:
            done = subprocess.run([HEDDLE, "replay", *options, schedule], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
            if "--trace" in options:
                self.assertIn("warp 0 of block (0,0,0)", done.stdout)
                self.assertIn("the lanes part, 0x00000001 first", done.stdout)

    def test_published_progress_tests(self):
        """tests/check/axb.cu as nvcc compiles it: its lanes meet at the end of each round of the loop, so
        each gets a turn, and all ends as with independent threads. (The shared loop of axb.csv, where
        lanes jump back from where they are, hangs: it is the layout that decides.)"""
        with (RUN.parent / "simt/axb.csv").open(encoding="utf-8") as table:
            rows = {row["id"]: row for row in csv.DictReader(table)}
        tests = json.loads((RUN.parent / "check/axb.json").read_text())
        tests = some(tests, 3)
        test_axb.heddle([[]], "block", "cuda", "--max-states=16")  # compiles, once
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            answers = list(pool.map(lambda t: test_axb.heddle(t["threads"], "block", "cuda", "--warps=lockstep"), tests))
        for test, answer in zip(tests, answers):
            with self.subTest(test["id"]):
                self.assertEqual(answer["verdict"], rows[test["id"]]["independent"])

    def test_page_shows_the_trace(self):
        """docs/lockstep.md holds the trace and the report as they are printed."""
        root = RUN.parent.parent
        program = Program(RUN.parent / "simt/spin_lock.cu")
        executable = COMPILER.compile(program.sources, program.flag_sets[0])
        command = [HEDDLE, "run", "--warps=lockstep", "--warp-trace=11", executable]
        done = subprocess.run(command, capture_output=True, timeout=180, stdin=subprocess.DEVNULL)
        printed = re.split(r"^\S*: error", done.stderr.decode(), flags=re.M)[0].rstrip()
        page = (root / "docs/lockstep.md").read_text(encoding="utf-8")
        begin = page.index("<!-- trace -->\n```\n") + len("<!-- trace -->\n```\n")
        if os.environ.get("BLESS"):
            page = page[:begin] + printed + page[page.index("\n```", begin) :]
            (root / "docs/lockstep.md").write_text(page, encoding="utf-8")
        self.assertEqual(page[begin : page.index("\n```", begin)], printed)


if __name__ == "__main__":
    unittest.main()

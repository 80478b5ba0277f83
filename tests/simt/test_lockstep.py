#!/usr/bin/env python3
"""The programs of tests/run with lockstep warps: the same output, or, where a thread waits for another
one of its warp, a hang that names the branch. HEDDLE_SIMT_FULL=1 runs all of them, otherwise a sample."""
import os
import pathlib
import subprocess
import sys
import unittest

RUN = pathlib.Path(__file__).resolve().parent.parent / "run"
sys.path.insert(0, str(RUN))
from program import Compiler, Program  # noqa: E402

HEDDLE = os.environ.get("HEDDLE", "./heddle")
CACHE = os.environ.get("HEDDLE_CACHE", "build/dev/tests/programs")
COMPILER = Compiler(os.environ.get("HEDDLE_NVCC", "nvcc"), os.path.abspath(CACHE))
FULL = os.environ.get("HEDDLE_SIMT_FULL") == "1"
SAMPLE = """
    async_copy atomics_cas bitonic_sort block_barriers block_reduce block_scan cg_coalesced cub_block cub_sort
    curand_device function_pointers graph_algorithms histogram language matmul_tiled nbody recursion
    separate_compilation stencil virtual_functions warp_divergence warp_shuffle warp_vote
    progress/look_back_scan progress/partners execution_model/device_0
""".split()
# Threads that wait for threads of their own warp.
HANG = ["progress/lanes", "progress/work_queue"]
HANG_FULL = ["progress/locks", "progress/hash_table"]


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

    def test_check_both_compares(self):
        """heddle check --warps=both: a hang in lockstep only, none, and the branch in the report."""
        for source, arguments, hangs in [
            ("spin_lock_of_two.cu", [], True),
            ("flag.cu", ["waiting-first"], True),
            ("two_sides.cu", [], False),
        ]:
            with self.subTest(source):
                path = str(RUN.parent / "simt/check" / source if source != "flag.cu" else RUN.parent / "simt/flag.cu")
                command = [HEDDLE, "check", "--warps=both", path, "--", *arguments]
                done = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 1 if hangs else 0, done.stdout + done.stderr)
                if hangs:
                    self.assertIn("hang: lockstep only", done.stdout)
                    self.assertRegex(done.stdout, r"since the branch at|reconvergence point of the branch at")
                else:
                    self.assertIn("lockstep warps: 4 of 4 orders tried have ended", done.stdout)

    def test_page_shows_the_trace(self):
        """docs/lockstep.md holds the trace and the report as they are printed."""
        root = RUN.parent.parent
        program = Program(RUN.parent / "simt/spin_lock.cu")
        executable = COMPILER.compile(program.sources, program.flag_sets[0])
        command = [HEDDLE, "run", "--warps=lockstep", "--warp-trace=11", executable]
        done = subprocess.run(command, capture_output=True, timeout=180, stdin=subprocess.DEVNULL)
        printed = done.stderr.decode().split("heddle: error")[0].rstrip()
        page = (root / "docs/lockstep.md").read_text(encoding="utf-8")
        begin = page.index("<!-- trace -->\n```\n") + len("<!-- trace -->\n```\n")
        if os.environ.get("BLESS"):
            page = page[:begin] + printed + page[page.index("\n```", begin) :]
            (root / "docs/lockstep.md").write_text(page, encoding="utf-8")
        self.assertEqual(page[begin : page.index("\n```", begin)], printed)


if __name__ == "__main__":
    unittest.main()

"""`mpirun heddle check`: the same reports as on one machine, printed once; ranks that differ, or die."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from programs import HANG, LONG, without_times

HEDDLE = os.environ["HEDDLE"]
MPIRUN = os.environ["HEDDLE_MPIRUN"].split()

RACE = """
__global__ void k(int* p) { p[blockIdx.x & 1] = threadIdx.x + blockIdx.x; }
int main() {
  int* p;
  cudaMalloc(&p, 8);
  k<<<4, 2>>>(p);
  return cudaDeviceSynchronize();
}
"""
SUITE = "programs:\n" + "".join(f"  - program: hang.cu\n    name: h{i}\n    expect: may-hang\n" for i in range(4)) + \
    "".join(f"  - program: race.cu\n    name: r{i}\n" for i in range(3))
# Some thousand states; blocks that hold one lock each wait for each other for ever.
LOCKS = """
__device__ int lock[2], sum;
__global__ void k() {
  for (int i = 0; i < 2; ++i) {
    while (atomicExch(&lock[(blockIdx.x + i) & 1], 1) != 0) {
    }
    atomicAdd(&sum, i);
  }
  atomicExch(&lock[0], 0);
  atomicExch(&lock[1], 0);
}
int main() {
  k<<<3, 1>>>();
  return cudaDeviceSynchronize();
}
"""
SLOW = "options: --max-time=60 --max-states=100000000\nprograms:\n  - program: hang.cu\n    expect: may-hang\n" + \
    "".join(f"  - program: long.cu\n    name: l{i}\n" for i in range(4))


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-ranks-"))
        for name, text in {"race.cu": RACE, "hang.cu": HANG, "long.cu": LONG, "locks.cu": LOCKS, "suite.yaml": SUITE, "slow.yaml": SLOW}.items():
            (cls.folder / name).write_text(text)
        for name in ["race.cu", "hang.cu", "long.cu", "locks.cu"]:  # compiled once, for all tests
            subprocess.run([HEDDLE, "check", "--max-states=16", "--schedules=0", name], cwd=cls.folder, capture_output=True, timeout=120)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def alone(self, *words, status):
        done = subprocess.run([HEDDLE, "check", *words], cwd=self.folder, capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def ranks(self, count, *words, status, each=(), phases=False):
        environment = {**os.environ, "HEDDLE_PHASES": "1"} if phases else None
        done = subprocess.run([*MPIRUN, "-n", str(count), *each, HEDDLE, "check", *words], cwd=self.folder,
                              capture_output=True, text=True, timeout=200, env=environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_suite(self):
        one = without_times(self.alone("--suite=suite.yaml", "--format=json", status=0))
        for count in 2, 4:
            with self.subTest(count):
                self.assertEqual(without_times(self.ranks(count, "--suite=suite.yaml", "--format=json", status=0).stdout), one)

    def test_one_program(self):
        self.assertEqual(self.ranks(4, "hang.cu", status=1).stdout, self.alone("hang.cu", status=1))

    def test_one_search_is_divided(self):
        """From the first state on, so that small programs are, too."""
        for program, flags, status in ("hang.cu", [], 1), ("locks.cu", ["--no-symmetry", "--no-eager", "--no-sums"], 1), \
                ("locks.cu", [], 1):
            words = ["--format=json", "--schedules=0", "--states-alone=0", *flags, program]
            one = without_times(self.alone("-j1", *words, status=status))
            self.assertTrue(one["complete"] or one["findings"])
            for count in 2, 4:
                with self.subTest(program=program, flags=flags, ranks=count):
                    done = self.ranks(count, "-j1", *words, status=status, phases=True)
                    self.assertEqual(without_times(done.stdout), one)
                    pieces = [int(n) for n in re.findall(r"claims, (\d+) pieces of work", done.stderr)]
                    self.assertTrue(pieces, done.stderr)
                    if one["states"] > 1000:
                        self.assertGreater(max(pieces), 0, done.stderr)

    def test_single_schedules(self):
        words = ["--races=6", "race.cu"]
        self.assertIn("data-race", self.alone(*words, status=1))
        self.assertEqual(self.ranks(4, *words, status=1).stdout, self.alone(*words, status=1))

    def test_errors_are_said_once(self):
        done = self.ranks(3, "gone.cu", status=2)
        self.assertEqual(done.stderr.count("heddle: error"), 1, done.stderr)

    def test_ranks_that_differ_are_refused(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "race.cu").write_text(HANG)
        script = self.folder / "elsewhere"
        script.write_text('#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && cd other\nexec "$@"\n')
        script.chmod(0o755)
        done = self.ranks(2, "race.cu", status=2, each=[str(script)])
        self.assertRegex(done.stderr, "rank 1 on .* has another program than rank 0")

    def setUp(self):
        (self.folder / "slow.yaml").write_text(SLOW)

    def kill_a_rank(self, *options, check=("--suite=slow.yaml",)):
        (self.folder / "pids").unlink(missing_ok=True)
        script = self.folder / "noted"
        script.write_text('#!/bin/sh\necho "${OMPI_COMM_WORLD_RANK:-$PMI_RANK} $$" >> pids\nexec "$@"\n')
        script.chmod(0o755)
        job = subprocess.Popen([*MPIRUN, *options, "-n", "3", str(script), HEDDLE, "check", *check, "--format=json", "-j1",
                                "-o", "killed.json"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            for _ in range(600):
                time.sleep(0.1)
                lines = (self.folder / "pids").read_text().split("\n") if (self.folder / "pids").exists() else []
                pids = dict(line.split() for line in lines if line)
                if len(pids) == 3 and children(int(pids["2"])):
                    break
            time.sleep(2)
            below = [p for pid in pids.values() for p in descendants(int(pid))]
            os.kill(int(pids["2"]), signal.SIGKILL)
            job.communicate(timeout=100)
        finally:
            job.kill()
        time.sleep(1)
        self.assertEqual([p for p in below if alive(p)], [], "processes were left behind")
        return job.returncode, json.loads((self.folder / "killed.json").read_text())

    @unittest.skipIf("mpich" in MPIRUN[0], "MPICH's launcher ends all ranks at once, without a signal that they notice")
    def test_a_rank_that_dies_leaves_a_partial_report_and_no_orphan(self):
        code, report = self.kill_a_rank()
        self.assertNotEqual(code, 0)
        self.assertEqual(len(report["programs"]), 5)
        self.assertTrue(report["programs"][0]["as_expected"])
        self.assertIn("interrupted", report["programs"][4]["error"])

    @unittest.skipIf("mpich" in MPIRUN[0], "MPICH's launcher ends all ranks at once, without a signal that they notice")
    def test_a_rank_that_dies_in_one_search_leaves_a_partial_verdict_and_no_orphan(self):
        code, report = self.kill_a_rank(check=("--max-time=60", "--max-states=100000000", "--states-alone=0", "long.cu"))
        self.assertNotEqual(code, 0)
        self.assertEqual(report["verdict"], "unknown")
        self.assertFalse(report["complete"])
        self.assertTrue(any("interrupted" in limit for limit in report["limits"]), report)

    @unittest.skipIf("mpich" in MPIRUN[0], "MPICH's launcher ends all ranks")
    def test_rank_0_searches_alone_where_the_launcher_lets_it(self):
        _, report = self.kill_a_rank("--enable-recovery",
                                     check=("--max-time=25", "--schedules=0", "--max-states=100000000", "--states-alone=0", "long.cu"))
        self.assertEqual(report["verdict"], "unknown")
        self.assertTrue(any("--max-time" in limit for limit in report["limits"]), report)

    @unittest.skipIf("mpich" in MPIRUN[0], "MPICH's launcher ends all ranks")
    def test_the_others_go_on_where_the_launcher_lets_them(self):
        (self.folder / "slow.yaml").write_text(SLOW.replace("--max-time=60", "--max-time=3"))
        _, report = self.kill_a_rank("--enable-recovery")
        self.assertEqual([p["verdict"] for p in report["programs"]], ["may-hang"] + ["unknown"] * 4)


def children(pid):
    try:
        return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def descendants(pid):
    return [q for p in children(pid) for q in [p, *descendants(p)]]


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()

"""`mpirun heddle check`: the same reports as on one machine, printed once; ranks that differ, or die.

Ranks of one machine lend their processors to one of them. --ranks-per-machine=1 is as if each had a machine of its own, so that
one search is divided; with 2, four ranks are two machines, and each searches with several processes."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from programs import HANG, LONG, SameFolder, without_times

HEDDLE = os.environ["HEDDLE"]
MPIRUN = os.environ["HEDDLE_MPIRUN"].split()
MOVERS = str(pathlib.Path(__file__).resolve().parents[1] / "check" / "idioms" / "movers.cu")

RACE = """
__global__ void k(int* p) { p[blockIdx.x & 1] = threadIdx.x + blockIdx.x; }
int main() {
  int* p;
  cudaMalloc(&p, 8);
  k<<<4, 2>>>(p);
  return cudaDeviceSynchronize();
}
"""
# The same for ranks that divide it: the host allocates nothing.
WIDE = """
__device__ int p[4];
__global__ void k() {
  int x = threadIdx.x + 100 * blockIdx.x;
  for (int i = 0; i < 50; ++i) x = atomicAdd(p + (x & 3), x + 1);
}
int main() {
  k<<<2, 16>>>();
  return cudaDeviceSynchronize();
}
"""
SUITE = "programs:\n" + "".join(f"  - program: hang.cu\n    name: h{i}\n    expect: may-hang\n" for i in range(4)) + \
    "".join(f"  - program: race.cu\n    name: r{i}\n    expect: [data-race]\n" for i in range(3))
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
# The same with five of each, 149,209 states, in one search without shorter ones before it.
KEPT = """
__device__ int lock[5], sum;
__global__ void k() {
  for (int i = 0; i < 5; ++i) {
    while (atomicExch(&lock[(blockIdx.x + i) % 5], 1) != 0) {
    }
    atomicAdd(&sum, i);
  }
  for (int i = 0; i < 5; ++i) atomicExch(&lock[i], 0);
}
int main() {
  k<<<5, 1>>>();
  return cudaDeviceSynchronize();
}
"""
ONE_SEARCH = ["--no-straight", "--no-symmetry", "--no-eager", "--no-sums", "--no-data-order"]
# Launches of one kernel in three streams: reports tell them apart by numbers.
STREAMS = """
__device__ int flag[4];
__global__ void step(int me, int before) {
  for (int r = 1; r <= 2; ++r) {
    while (before >= 0 && atomicAdd(&flag[before], 0) < r) {
    }
    atomicAdd(&flag[me], 1);
  }
}
int main() {
  cudaStream_t s[3];
  for (int i = 0; i < 3; ++i) cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking);
  for (int i = 0; i < 3; ++i) step<<<2, 1, 0, s[i]>>>(i, i - 1);
  return cudaDeviceSynchronize();
}
"""
SLOW = "options: --max-time=60 --max-states=100000000\nprograms:\n  - program: hang.cu\n    expect: may-hang\n" + \
    "".join(f"  - program: long.cu\n    name: l{i}\n" for i in range(4))


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        written = SameFolder("cli.ranks")
        cls.addClassCleanup(written.cleanup)
        cls.folder = written.path
        for name, text in {"race.cu": RACE, "hang.cu": HANG, "long.cu": LONG, "locks.cu": LOCKS, "streams.cu": STREAMS, "wide.cu": WIDE, "kept.cu": KEPT, "suite.yaml": SUITE, "slow.yaml": SLOW}.items():
            (cls.folder / name).write_text(text)
        for name in ["race.cu", "hang.cu", "long.cu", "locks.cu", "streams.cu", "wide.cu", "kept.cu"]:  # compiled once, for all tests
            subprocess.run([HEDDLE, "check", "--max-states=16", "--schedules=0", name], cwd=cls.folder, capture_output=True, timeout=120)

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

    def script(self, name, text):
        """What each rank executes; it becomes its arguments."""
        path = self.folder / name
        path.write_text(f'#!/bin/sh\n{text}exec "$@"\n')
        path.chmod(0o755)
        return str(path)

    def test_the_search_does_not_wait_for_mpi_and_the_report_does(self):
        words = ["--format=json", "--schedules=0", "--progress-file=progress.json", "hang.cu"]
        one = without_times(self.alone(*words, status=1))
        (self.folder / "progress.json").unlink()
        late = self.script("late", '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && for i in $(seq 300); do\n'
                           "  grep -q '\"last\":true' progress.json && break\n  sleep 0.1\ndone\ncp progress.json before.json\n"
                           'ls report.json >> before.json\n')
        self.ranks(2, *words, "-o", "report.json", status=1, each=[late])
        self.assertIn('"last":true', (self.folder / "before.json").read_text())
        self.assertNotIn("report.json", (self.folder / "before.json").read_text())
        self.assertEqual(without_times((self.folder / "report.json").read_text()), one)

    @unittest.skipIf("mpich" in MPIRUN[0], "MPICH believes it, too")
    def test_what_the_launcher_said_was_wrong(self):
        misled = self.script("misled", "export OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2\n")
        self.assertEqual(self.ranks(3, "hang.cu", status=1, each=[misled]).stdout, self.alone("hang.cu", status=1))

    def test_on_one_machine_nothing_is_divided(self):
        words = ["--format=json", "--schedules=0", "--states-alone=0", "--no-symmetry", "--no-eager", "--no-sums", "locks.cu"]
        one = without_times(self.alone("-j1", *words, status=1))
        for each in ["-j1"], []:
            with self.subTest(each):
                done = self.ranks(4, *each, *words, status=1, phases=True)
                self.assertEqual(without_times(done.stdout), one)
                self.assertIn("start of a search", done.stderr)
                self.assertNotIn("all ranks have sent", done.stderr)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor")
    def test_ranks_lend_their_processors(self):
        """Launchers bind each rank to some processors; the one that searches has those of all."""
        mine = sorted(os.sched_getaffinity(0))[:2]
        bound = self.script("bound", "if [ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 0 ]; then cpu=%d; else cpu=%d; fi\n"
                            "taskset -pc $cpu $$ > bound.log\n" % tuple(mine))
        pids, job = self.start_noted(2, ["long.cu", "--max-time=60", "--max-states=100000000", "--schedules=0"], before=[bound])
        try:
            self.wait_for(lambda: descendants(pids["0"]))
            self.wait_for(lambda: all(os.sched_getaffinity(p) == set(mine) for p in descendants(pids["0"])))
            # Rank 1 may not have come further than the script so far.
            self.wait_for(lambda: not descendants(pids["1"]) and len(os.sched_getaffinity(pids["1"])) == 1)
        finally:
            job.terminate()
            job.communicate(timeout=60)

    def test_one_search_is_divided(self):
        """From the first state on, so that small programs are, too. Four ranks are also two machines, where two processes search.

        One process decides after --straight-after states whether blocks are to start at once, so those are never divided."""
        for program, flags, status in ("hang.cu", [], 1), ("locks.cu", ["--no-symmetry", "--no-eager", "--no-sums"], 1), \
                ("locks.cu", [], 1), ("streams.cu", [], 1):
            words = ["--format=json", "--schedules=0", "--states-alone=0", "--straight-after=0", *flags, program]
            one = without_times(self.alone("-j1", *words, status=status))
            self.assertTrue(one["complete"] or one["findings"])
            for count, each in (2, 1), (4, 1), (4, 2):
                with self.subTest(program=program, flags=flags, ranks=count, each=each):
                    done = self.ranks(count, "-j1", f"--ranks-per-machine={each}", *words, status=status, phases=True)
                    self.assertEqual(without_times(done.stdout), one)
                    pieces = [int(n) for n in re.findall(r"claims, (\d+) pieces of work", done.stderr)]
                    self.assertTrue(pieces, done.stderr)
                    if one["states"] > 1000:
                        self.assertGreater(max(pieces), 0, done.stderr)

    def test_what_a_search_learns_before_it_is_cut_short_does_not_depend_on_ranks(self):
        """Where the beginning of a search has found a hang, no other kind of search follows, and the replay says which it was."""
        words = ["--format=json", "--schedules=0", "--states-alone=0", "--one-order-after=1", MOVERS, "--", "store-last", "plain", "2"]
        one = without_times(self.alone("-j1", *words, status=1))
        self.assertEqual(without_times(self.alone("-j4", *words, status=1)), one)
        self.assertEqual(without_times(self.ranks(3, "-j1", "--ranks-per-machine=1", *words, status=1).stdout), one)

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
        elsewhere = self.script("elsewhere", '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && cd other\n')
        done = self.ranks(2, "race.cu", status=2, each=[elsewhere])
        self.assertRegex(done.stderr, "rank 1 on .* has another program than rank 0")
        self.assertEqual(done.stdout, "")

    def setUp(self):
        (self.folder / "slow.yaml").write_text(SLOW)

    def start_noted(self, count, check, options=(), before=(), output=("-o", "killed.json")):
        """A job and the process of each of its ranks."""
        (self.folder / "pids").unlink(missing_ok=True)
        noted = self.script("noted", 'echo "${OMPI_COMM_WORLD_RANK:-$PMI_RANK} $$" >> pids\n')
        job = subprocess.Popen([*MPIRUN, *options, "-n", str(count), noted, *before, HEDDLE, "check", *check, "--format=json",
                                "-j1", *output], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def pids():
            lines = (self.folder / "pids").read_text().split("\n") if (self.folder / "pids").exists() else []
            return {rank: int(pid) for rank, pid in (line.split() for line in lines if line)}
        self.wait_for(lambda: len(pids()) == count, between=0.001)
        return pids(), job

    def end_of(self, job, processes, to_file):
        """What a job printed that ends now; none of the processes is left, and the report is in its file."""
        out, end, alone = "", time.monotonic() + 60, 0
        while True:
            try:
                out, _ = job.communicate(timeout=1)
                break
            except subprocess.TimeoutExpired:
                # Open MPI's launcher may wait for a mutex of its own forever, also with programs that do
                # nothing: then all ranks must have ended, and the report is in its file.
                left = [p for p in processes if alive(p)]
                alone = 0 if left or not (self.folder / "killed.json").exists() else alone + 1
                if "mpich" not in MPIRUN[0] and to_file and alone == 10:
                    job.kill()
                    job.communicate(timeout=10)  # nobody else has its output
                    break
                if time.monotonic() > end:
                    self.fail("left after 60 s: " + (", ".join(map(command_of, left)) or "the launcher only"))
        self.wait_for(lambda: not any(alive(p) for p in processes))
        if to_file:
            self.wait_for((self.folder / "killed.json").exists)
        return out

    def wait_for(self, what, between=0.05):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if what():
                return
            time.sleep(between)
        self.fail("it takes too long")

    def kill_a_rank(self, *options, check=("--suite=slow.yaml",), rank="2", searches="2", below=1):
        """`searches`: a rank that has something to do then, with so many processes below it."""
        pids, job = self.start_noted(3, check, options)
        try:
            self.wait_for(lambda: len(descendants(pids[searches])) >= below)
            time.sleep(1)
            processes = [p for pid in pids.values() for p in descendants(pid)]
            os.kill(pids[rank], signal.SIGKILL)
            _, self.said = job.communicate(timeout=100)
            self.wait_for(lambda: not any(alive(p) for p in processes))
        finally:
            job.kill()
        return job.returncode, json.loads((self.folder / "killed.json").read_text())

    def interrupt_rank_0(self, stopped):
        """The report of three ranks that search when rank 0 is told to end; `stopped`: one of them stands still."""
        # One long search, without shorter ones before it.
        check = ["--ranks-per-machine=1", "--states-alone=0", "--max-time=200", "--schedules=0", "--max-states=100000000",
                 "--no-straight", "--straight-after=100000000", "--no-data-order", "--one-order-after=100000000",
                 "--progress-file=progress.json", "wide.cu"]
        (self.folder / "progress.json").unlink(missing_ok=True)
        pids, job = self.start_noted(3, check)
        try:
            progress = self.folder / "progress.json"
            self.wait_for(lambda: progress.exists() and any(
                line["processes"] == 3 and line["states"] > 3000 for line in map(json.loads, progress.read_text().splitlines())))
            if stopped:
                os.kill(pids["2"], signal.SIGSTOP)
            os.kill(pids["0"], signal.SIGINT)
            try:
                self.wait_for(lambda: not alive(pids["0"]))
            finally:
                if stopped and alive(pids["2"]):
                    os.kill(pids["2"], signal.SIGCONT)
            job.communicate(timeout=60)
        finally:
            job.kill()
        report = json.loads((self.folder / "killed.json").read_text())
        self.assertEqual(report["verdict"], "unknown")
        self.assertTrue(any("interrupted" in limit for limit in report["limits"]), report)
        lines = [json.loads(line) for line in (self.folder / "progress.json").read_text().splitlines()]
        return report, lines

    def test_the_limit_of_states_is_that_of_all_ranks_together(self):
        words = ["--format=json", "--schedules=0", "--states-alone=0", "--max-states=20000", "--no-straight", "--straight-after=100000000",
                 "--no-data-order", "wide.cu"]
        one = without_times(self.alone("-j1", *words, status=4))
        done = self.ranks(3, "-j1", "--ranks-per-machine=1", "--progress-file=progress.json", *words, status=4)
        self.assertEqual(without_times(done.stdout), one)
        lines = [json.loads(line) for line in (self.folder / "progress.json").read_text().splitlines()]
        # Ranks that never hear of the limit find 20,000 each. What one finds before it hears of it comes on top: on a busy machine as many.
        self.assertLess(max(line["states"] for line in lines), 58000)

    def test_what_others_have_found_is_taken_in_on_ctrl_c(self):
        for _ in range(5):  # rank 0 waits for 0.7 s, which a busy machine may need for something else
            report, lines = self.interrupt_rank_0(stopped=False)
            if not any("missing" in limit for limit in report["limits"]):
                break
        self.assertFalse(any("missing" in limit for limit in report["limits"]), report)
        # The last lines are of searches that were interrupted at once.
        self.assertGreaterEqual(report["states"], max((line["states"] for line in lines[-3:] if not line["last"]), default=0) * 0.9)

    def test_what_is_missing_on_ctrl_c_is_said(self):
        report, _ = self.interrupt_rank_0(stopped=True)
        # That of rank 1 may be late on a busy machine.
        self.assertTrue(any(re.fullmatch("what [12] of 3 ranks have found is missing", limit) for limit in report["limits"]), report)

    def test_a_program_that_ends_at_once(self):
        (self.folder / "ends.cu").write_text("int main() { int* p; return cudaMalloc(&p, 4); }\n")
        words = ["--format=json", "--states-alone=0", "ends.cu"]
        one = without_times(self.alone("-j1", *words, status=0))
        done = self.ranks(2, "-j1", "--ranks-per-machine=1", *words, status=0)
        self.assertEqual(without_times(done.stdout), one)
        self.assertLess(json.loads(done.stdout)["seconds"], 9)  # nobody is waited for who has nothing to say

    def tables_kept(self):
        """How many ranks' tables are in the checkpoint."""
        with open(self.folder / "kept", "rb") as kept:
            begins = [kept.readline() for _ in range(8)]  # lines; then come tables
        sizes = [line.split()[2:] for line in begins if line.startswith(b"other ranks:")]
        self.assertEqual(len(sizes), 1, begins)
        return 1 + sum(size != b"0" for size in sizes[0])

    def test_a_divided_search_stops_at_a_limit_and_goes_on_with_any_number_of_ranks(self):
        words = ["-j1", "--format=json", "--schedules=0", "--states-alone=0", *ONE_SEARCH, "kept.cu"]
        keep = ["--checkpoint=kept", "--checkpoint-every=0.05"]
        one = without_times(self.alone(*words, status=1))

        def check(count, *more, status):
            if count == 1:
                return without_times(self.alone(*more, *keep, *words, status=status))
            return without_times(self.ranks(count, "--ranks-per-machine=1", *more, *keep, *words, status=status).stdout)
        for before, after in (3, 2), (2, 1), (1, 3):
            with self.subTest(before=before, after=after):
                (self.folder / "kept").unlink(missing_ok=True)
                self.assertLess(check(before, f"--max-states={one['states'] // 2}", status=1)["states"], one["states"])
                # Up to a million states one process makes a search again that several took to the limit: that one is kept.
                self.assertEqual(self.tables_kept(), 1)
                self.assertEqual(check(after, "--resume", status=1), one)

    def test_a_divided_search_is_killed_and_goes_on(self):
        words = ["--format=json", "--schedules=0", "--states-alone=0", *ONE_SEARCH, "kept.cu"]
        one = without_times(self.alone("-j1", *words, status=1))
        keep = ["--ranks-per-machine=1", "--states-alone=0", "--schedules=0", *ONE_SEARCH, "--checkpoint=kept", "--checkpoint-every=0.02"]
        for who in "everything", "1":
            with self.subTest(who):
                (self.folder / "kept").unlink(missing_ok=True)
                for resume in [], ["--resume"]:
                    pids, job = self.start_noted(3, [*keep, *resume, "kept.cu"])
                    try:
                        self.wait_for((self.folder / "kept").exists, between=0.005)
                        time.sleep(0.2)
                        processes = [p for pid in [job.pid, *pids.values()] for p in [pid, *descendants(pid)]]
                        for process in processes if who == "everything" else [pids[who]]:
                            if alive(process):
                                os.kill(process, signal.SIGKILL)
                        job.communicate(timeout=60)
                        self.wait_for(lambda: not any(alive(p) for p in processes))
                    finally:
                        job.kill()
                done = self.ranks(2, "-j1", *keep, "--resume", "--format=json", "kept.cu", status=1)
                self.assertEqual(without_times(done.stdout), one)

    @unittest.skipIf("mpich" in MPIRUN[0], "MPICH's launcher ends all ranks at once, without a signal that they notice")
    def test_a_rank_that_dies_leaves_a_partial_report_and_no_orphan(self):
        code, report = self.kill_a_rank()
        self.assertNotEqual(code, 0)
        self.assertEqual(len(report["programs"]), 5)
        self.assertTrue(report["programs"][0]["as_expected"])
        self.assertIn("interrupted", report["programs"][4]["error"])

    def test_a_rank_that_dies_in_one_search_leaves_a_partial_verdict_and_no_orphan(self):
        check = ("--max-time=60", "--max-states=100000000", "--states-alone=0", "--schedules=0", "wide.cu")
        # It searches, it has lent its processors, it has done so and MPI is over.
        for each, searches in (["--ranks-per-machine=1"], "2"), (["--ranks-per-machine=3"], "0"), ([], "0"):
            with self.subTest(each):
                code, report = self.kill_a_rank(check=(*each, *check), searches=searches, below=3 if searches == "0" else 1)
                self.assertNotEqual(code, 0)
                self.assertEqual(report["verdict"], "unknown")
                self.assertFalse(report["complete"])
                # When MPI is over, MPICH's launcher may let the others go on; rank 0 needs them no more.
                self.assertRegex(" ".join(report["limits"]), "interrupted" if each else "interrupted|--max-time")
                self.assertIn("rank 2 ended before the check did", " ".join(report["limits"] + report.get("warnings", [])))

    def test_whoever_is_killed_the_others_report_and_nobody_is_left(self):
        """One search that ranks divide."""
        for who, number, said in ("0", signal.SIGKILL, "rank 0 was killed"), ("launcher", signal.SIGKILL, "ended before the check did|rank 0 was killed"), \
                ("launcher", signal.SIGINT, "interrupted"), ("launcher", signal.SIGTERM, "interrupted"), ("1", signal.SIGTERM, "interrupted"), \
                ("lender", signal.SIGTERM, "interrupted"), \
                ("check", signal.SIGKILL, "the process that checks for rank 0 was ended by: Killed"):
            for to_file in [True, False] if (who, number) == ("0", signal.SIGKILL) and "mpich" not in MPIRUN[0] else [True]:
                with self.subTest(who=who, signal=number.name, to_file=to_file):
                    (self.folder / "killed.json").unlink(missing_ok=True)
                    apart = [] if who == "lender" else ["--ranks-per-machine=1"]
                    check = [*apart, "--max-time=60", "--max-states=100000000", "--states-alone=0", "--schedules=0", "wide.cu"]
                    pids, job = self.start_noted(2, check, output=["-o", "killed.json"] if to_file else [])
                    try:
                        self.wait_for(lambda: len(descendants(pids["0"])) > 2)
                        processes = [p for pid in pids.values() for p in [pid, *descendants(pid)]]
                        os.kill({"launcher": job.pid, "check": children(pids["0"])[0], "lender": pids["1"], **pids}[who], number)
                        out = self.end_of(job, processes, to_file=to_file)
                    finally:
                        job.kill()
                    if "mpich" not in MPIRUN[0]:  # its launcher sometimes says 0
                        self.assertNotEqual(job.returncode, 0)
                    report = json.loads((self.folder / "killed.json").read_text() if to_file else out)
                    self.assertEqual(report["verdict"], "unknown")
                    self.assertRegex(" ".join(report["limits"]), said)

    def test_killed_before_there_is_a_search(self):
        for rank, said in ("0", "rank 0 was killed"), ("1", "interrupted"):
            with self.subTest(rank):
                (self.folder / "killed.json").unlink(missing_ok=True)
                pids, job = self.start_noted(2, ["--ranks-per-machine=1", "long.cu"])
                try:
                    self.wait_for(lambda: children(pids["0"]), between=0.001)
                    processes = [p for pid in pids.values() for p in [pid, *descendants(pid)]]
                    os.kill(pids[rank], signal.SIGKILL)
                    self.end_of(job, processes, to_file=True)
                finally:
                    job.kill()
                report = json.loads((self.folder / "killed.json").read_text())
                self.assertEqual((report["verdict"], report["complete"]), ("unknown", False))
                self.assertIn(said, " ".join(report["limits"]))

    @unittest.skipIf("mpich" in MPIRUN[0], "MPICH's launcher ends all ranks")
    def test_rank_0_searches_alone_where_the_launcher_lets_it(self):
        _, report = self.kill_a_rank("--enable-recovery",
                                     check=("--ranks-per-machine=1", "--max-time=18", "--schedules=0", "--max-states=100000000",
                                            "--states-alone=0", "wide.cu"))
        self.assertEqual(report["verdict"], "unknown")
        self.assertTrue(any("--max-time" in limit for limit in report["limits"]), report)
        self.assertIn("rank 2 does not answer any more: rank 0 searches alone", self.said)
        self.assertIn("rank 2 does not answer any more: rank 0 searches alone", report["warnings"])

    @unittest.skipIf("mpich" in MPIRUN[0], "MPICH's launcher ends all ranks")
    def test_nobody_waits_for_the_rest_of_a_message(self):
        done = subprocess.run([*MPIRUN, "--enable-recovery", "-n", "3", *os.environ["HEDDLE_DYING_RANK"].split()],
                              capture_output=True, text=True, timeout=60)
        self.assertRegex(done.stdout, "got [01] 1", done.stderr)

    @unittest.skipIf("mpich" in MPIRUN[0], "MPICH's launcher ends all ranks")
    def test_a_rank_that_has_lent_its_processors_is_not_missed(self):
        """Where the launcher lets the others go on: nothing is lost, nobody waits for it, and a warning says so."""
        check = ["--max-time=8", "--schedules=0", "--max-states=100000000", "long.cu"]
        _, report = self.kill_a_rank("--enable-recovery", check=check, searches="0")
        self.assertEqual(report["verdict"], "unknown")
        self.assertTrue(any("--max-time" in limit for limit in report["limits"]), report)
        self.assertFalse(any("interrupted" in limit for limit in report["limits"]), report)
        self.assertNotIn("does not answer", self.said)
        self.assertRegex(" ".join(report["warnings"]), "rank 2 ended before the check did; it had only lent its processors")

    def signal_rank_0(self, number, count, check, options=(), launcher=False):
        """Once it searches; afterwards nothing is left of any rank. `launcher`: that gets the signal instead."""
        pids, job = self.start_noted(count, ["--max-time=60", "--max-states=100000000", *check, "long.cu"], options)
        try:
            self.wait_for(lambda: len(descendants(pids["0"])) > 2)
            time.sleep(1)
            below = [p for pid in pids.values() for p in [pid, *descendants(pid)]]
            os.kill(job.pid if launcher else pids["0"], number)
            job.communicate(timeout=60)
            self.wait_for(lambda: not any(alive(p) for p in below))
        finally:
            job.kill()

    def test_an_interrupted_rank_0_says_what_it_has_found(self):
        self.signal_rank_0(signal.SIGINT, 2, ["--schedules=0"])
        report = json.loads((self.folder / "killed.json").read_text())
        self.assertIn("the check was interrupted (SIGINT)", report["limits"])

    @unittest.skipIf("mpich" in MPIRUN[0], "MPICH's launcher ends all ranks")
    def test_rank_0_dies_and_leaves_nobody_behind(self):
        """The process that searches for it says what it has found."""
        (self.folder / "killed.json").unlink(missing_ok=True)
        self.signal_rank_0(signal.SIGKILL, 3, ["--schedules=0"], ["--enable-recovery"])
        report = json.loads((self.folder / "killed.json").read_text())
        self.assertEqual(report["verdict"], "unknown")
        self.assertGreater(report["states"], 0)
        self.assertIn("rank 0 was killed", report["limits"])

    def test_the_launcher_dies_and_leaves_nobody_behind(self):
        (self.folder / "killed.json").unlink(missing_ok=True)
        self.signal_rank_0(signal.SIGKILL, 2, ["--schedules=0"], launcher=True)
        report = json.loads((self.folder / "killed.json").read_text())
        self.assertIn("the check was interrupted (SIGTERM)", report["limits"])

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


def command_of(pid):
    return f"{pid} " + pathlib.Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


if __name__ == "__main__":
    unittest.main()

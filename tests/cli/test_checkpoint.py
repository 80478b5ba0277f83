"""`heddle check --checkpoint`: a search that is stopped, or killed, goes on and reports what one that was not does.

    test_checkpoint.py                           what each commit runs
    test_checkpoint.py --slices=10               each night, beside the above: each kind of attempt as a chain of at least ten slices, each of
                                                 which goes on from the one before; the last one has the report of one run. The search itself
                                                 counts how long a slice is (--stop-after), so there are as many on each machine
"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from programs import SameFolder, without_times
from night import late, mixed  # noqa: E402, after what programs adds to the path

HEDDLE = os.environ["HEDDLE"]
IDIOMS = pathlib.Path(__file__).resolve().parents[1] / "check" / "idioms"
PLAIN = ["--no-symmetry", "--no-eager"]
DINERS = (IDIOMS / "locks.cu", ["philosophers-ordered", "plain", "6"], PLAIN)
# A search whose assumptions hold: the file of one that is void has its beginning only.
WHOLE = (IDIOMS / "locks.cu", ["philosophers-ordered", "plain", "6"], [*PLAIN, "--no-sums", "--no-orderly"])
HANG = (IDIOMS / "grids.cu", ["barrier", "plain", "9"], PLAIN)
THREADS = (IDIOMS / "host_threads.cu", ["two-launchers"], ["--states-alone=0"])
# No state comes back: nine searches one after the other, each without what the ones before have refuted.
STRAIGHT = """
__global__ void k(int* p) {
  int x = blockIdx.x;
  for (int i = 0; i < 4; ++i) x = atomicAdd(p + (x & 1), x + 1);
}
int main() {
  int* p;
  cudaMalloc(&p, 8);
  cudaMemset(p, 0, 8);
  k<<<3, 1>>>(p);
  return cudaDeviceSynchronize();
}
"""
# A lock that each block takes twice: no small search ends, and many states come back.
LOCK = """
#include <cuda/atomic>
__device__ cuda::atomic<int, cuda::thread_scope_device> m{0};
__device__ int n, order[16], who, seen[16];
__global__ void k() {
  %s
  for (int r = 0; r < 2; r++) {
    while (m.exchange(1, cuda::memory_order_acquire)) {}
    if (who != blockIdx.x) seen[blockIdx.x]++;
    who = blockIdx.x;
    m.store(0, cuda::memory_order_release);
  }
}
int main() {
  k<<<7, 1>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""
MIDDLE_STRAIGHT = STRAIGHT.replace("i < 4", "i < 5")
# Many threads meet at many places, a few at each.
PAIRS = """
__global__ void k(int* p) {
  if (atomicCAS(p + threadIdx.x, 0, 1) == 1) atomicCAS(p + threadIdx.x, 1, 1);
}
int main() {
  int* p;
  cudaMalloc(&p, 128);
  cudaMemset(p, 0, 128);
  k<<<3, 24>>>(p);
  return cudaDeviceSynchronize();
}
"""
LONG_STRAIGHT = STRAIGHT.replace("i < 4", "i < 6")
SLICES_FLAG = "--slices="
SLICES = int(next((word.removeprefix(SLICES_FLAG) for word in sys.argv if word.startswith(SLICES_FLAG)), 0))
NO_LESS = ["--no-cone", "--no-data-order"]
# Kinds of attempts: what the file says of one, in its lines of where it stands and of options; the program, and flags.
KINDS = {
    "every order": (r"fair=false.*\n(?!.*at-once)", LONG_STRAIGHT,
                    ["--straight-after=60000", "--one-order-after=1000000", "--no-straight", "--max-states=70000"]),
    "every order, after a look at one fair schedule": (r"fair=true.*\n(?!.*at-once)", LONG_STRAIGHT,
                    ["--one-order-after=1000000", "--no-straight", "--max-states=150000"]),
    "every order, which is the last one": (r"\|.*fair=true.*\n(?!.*at-once)", LONG_STRAIGHT, [*NO_LESS, "--no-straight", "--max-states=150000"]),
    "blocks start at once, every order": (r"\n.*starts=at-once(?!.*by-decisions)", MIDDLE_STRAIGHT, ["--one-order-after=100000"]),
    "blocks start at once, by decisions": (r"\n.*by-decisions.*starts=at-once", LONG_STRAIGHT, ["--max-states=50000"]),
    "blocks start at once, in groups, every order": (r"\n.*starts=in-groups", PAIRS, []),
    "by decisions": (r"\n.*by-decisions(?!.*(unordered|at-once))", LOCK % "", ["--max-states=150000"]),
    "one order": (r"\n.*unordered=", LOCK % "order[atomicAdd(&n, 1)] = blockIdx.x;", ["--no-cone", "--max-states=150000"]),
    "by decisions, by one process": (r"true true.*\n.*by-decisions|true false.*\n.*by-decisions", LOCK % "", ["-j2", "--states-alone=100", "--max-states=150000"]),
}


class Checkpoints(unittest.TestCase):
    def setUp(self):
        written = SameFolder(f"cli.checkpoint.{self._testMethodName}")
        self.addCleanup(written.cleanup)
        self.folder = written.path
        self.file = self.folder / "kept"

    def command(self, case, *options):
        program, words, own = case
        usual = [f"{flag}={value}" for flag, value in (("--max-time", 100), ("--max-states", 2000000))
                 if not any(o.startswith(flag + "=") for o in [*own, *options])]
        return [HEDDLE, "check", "--format=json", "--schedules=0", *usual, *own, *options, str(program), "--", *words]

    def keep(self, *options):
        every = [] if any(o.startswith("--checkpoint-every") for o in options) else ["--checkpoint-every=0.05"]
        return [f"--checkpoint={self.file}", *every, *options]

    def whole(self, case, *options):
        done = subprocess.run(self.command(case, *options), capture_output=True, text=True, timeout=200, check=False)
        self.assertIn(done.returncode, (0, 1, 4), done.stderr)
        return without_times(done.stdout)

    def resume(self):
        return ["--resume"] if self.file.exists() else []

    def killed_and_resumed(self, case, *options):
        """Until it comes to its end by itself; how often it was killed."""
        source = random.Random(24)
        seconds = 0.2
        for kills in range(60):
            every = ["--checkpoint-every=0.01"] if kills == 0 else []
            child = subprocess.Popen(self.command(case, *options, *self.keep(*every), *self.resume()), stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
            while kills == 0 and child.poll() is None and not self.file.exists():
                time.sleep(0.001)  # the first time it is killed as soon as something is kept, however fast the machine is
            try:
                out, err = child.communicate(timeout=0 if kills == 0 else seconds + source.random() * seconds)
                self.assertIn(child.returncode, (0, 1), err)
                return without_times(out), kills
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL if kills % 3 else signal.SIGINT)
                child.communicate()
                seconds *= 1.1
        self.fail("it does not get on")

    def check(self, case, *options, times=1):
        whole = self.whole(case, *options)
        killed = 0
        for _ in range(times):
            self.file.unlink(missing_ok=True)
            again, kills = self.killed_and_resumed(case, *options)
            killed += kills
            self.assertEqual(again, whole)
        return killed

    def test_killed_at_any_time(self):
        self.assertGreater(self.check(DINERS, "-j2", times=2), 1)

    def test_one_process(self):
        self.assertGreater(self.check(DINERS, "-j1"), 0)

    def test_what_is_found(self):
        self.assertGreater(self.check(HANG, "-j2"), 0)

    def test_host_threads(self):
        self.assertGreater(self.check(THREADS, "-j3"), 0)

    def test_several_searches(self):
        source = self.folder / "straight.cu"
        source.write_text(STRAIGHT)
        self.assertGreater(self.check((source, [], ["--states-alone=500"]), "-j2"), 0)

    def head(self):
        """Where the file stands, and the options of its search; empty: it is being replaced, or there is none."""
        try:
            with open(self.file, "rb") as file:
                lines = [file.readline().decode() for _ in range(4)]
                return lines[2] + lines[3], os.fstat(file.fileno()).st_size
        except (FileNotFoundError, UnicodeDecodeError):
            return "", 0

    def kill_in(self, case, stands):
        """As soon as the file has a part of the search that is meant. False: it was over before that."""
        self.file.unlink(missing_ok=True)
        child = subprocess.Popen(self.command(case, *self.keep("--checkpoint-every=0.01")), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        large = 1 << 17
        try:
            while child.poll() is None:
                text, size = self.head()
                if size > large and re.search(stands, text):
                    return True
                time.sleep(0.001)
        finally:
            child.kill()
            child.wait()
        return False

    def test_each_kind_of_attempt(self):
        """Each goes on where it was stopped, with the flags of a user, and the report is that of one run."""
        for kind, (stands, text, flags) in KINDS.items():
            with self.subTest(kind):
                source = self.folder / (re.sub(r"\W+", "-", kind) + ".cu")
                source.write_text(text)
                case = (source, [], flags)
                whole = self.whole(case)
                self.assertTrue(any(self.kill_in(case, stands) for _ in range(5)), "it is never in the file")
                done = subprocess.run(self.command(case, *self.keep("--resume")), capture_output=True, text=True, timeout=200, check=False)
                said = re.fullmatch(r"heddle: resumed: attempt \d+ \((.*)\), ([\d,]+) states\n", done.stderr)
                self.assertTrue(said, done.stderr)
                self.assertTrue(kind.startswith(said[1]), said[1])
                self.assertGreater(int(said[2].replace(",", "")), 500)
                self.assertEqual(without_times(done.stdout), whole)

    def test_a_slice_by_the_clock(self):
        """As an impatient job has it, and then one without a limit. How many of them a search takes depends on the machine: chains are counted."""
        source = self.folder / "lock.cu"
        source.write_text(LOCK % "order[atomicAdd(&n, 1)] = blockIdx.x;")
        case = (source, [], ["--max-states=300000"])
        whole = self.whole(case)
        part = self.whole(case, "--max-time=0.4", *self.keep("--checkpoint-every=60"))
        self.assertTrue(any("--max-time" in reached for reached in part["limits"]))
        self.assertEqual(self.whole(case, *self.keep("--checkpoint-every=60", *self.resume())), whole)

    def test_counted_slices(self):
        """Of one process, wherever they end: searches that come to their end, to the limit of states, and to what they look for."""
        lock, straight = self.folder / "lock.cu", self.folder / "straight.cu"
        lock.write_text(LOCK % "")
        straight.write_text(STRAIGHT)
        for case, states, least in (((lock, [], ["--max-states=5000"]), 1100, 5), ((straight, [], []), 170, 4), (THREADS, 37, 4),
                                    ((*HANG[:2], [*PLAIN, "--max-states=2000"]), 450, 4)):
            with self.subTest(case):
                self.assertGreaterEqual(self.slices((*case[:2], [*case[2], "-j1"]), f"--stop-after={states}"), least)

    def test_slices_of_memory(self):
        """When the memory is looked at for the first time it is too much. A quick search is through before that: then there is one slice."""
        source = self.folder / "lock.cu"
        source.write_text(LOCK % "")
        self.slices((source, [], ["-j1", "--max-states=60000"]), "--max-memory=1")

    @unittest.skipIf(SLICES == 0, "--slices=N")
    def test_many_slices_of_each_kind(self):
        for kind, (_, text, flags) in mixed(KINDS.items()):
            if late():
                print(f"left for another night: {kind}", flush=True)
                continue
            with self.subTest(kind):
                source = self.folder / (re.sub(r"\W+", "-", kind) + ".cu")
                source.write_text(text)
                case = (source, [], flags)
                whole = self.whole(case)
                states = whole["states"] // (SLICES + 1)  # several processes go on for some states more
                for jobs in "-j1", "-j2":
                    if not any(flag.startswith("-j") for flag in flags) or jobs in flags:
                        count = self.slices((source, [], [*flags, jobs]), f"--stop-after={states}", whole=whole)
                        print(f"{kind}, {jobs}: {count} slices of {states} states", flush=True)
                        self.assertGreaterEqual(count, SLICES)

    def slices(self, case, limit, most=200, whole=None):
        """How many it took, each of which comes to that limit, but the last one."""
        whole = whole or self.whole(case)
        flag = limit.split("=")[0]
        self.file.unlink(missing_ok=True)
        for count in range(1, most):
            done = subprocess.run(self.command(case, limit, *self.keep("--checkpoint-every=60"), *self.resume()),
                                  capture_output=True, text=True, timeout=200, check=False)
            report = without_times(done.stdout)
            if not any(flag in reached for reached in report.get("limits", [])):
                if any("--max-time" in note for note in report.get("notes", [])):  # what explains the verdict goes on nowhere
                    report = self.whole(case, *self.keep("--resume"))
                self.assertEqual(report, whole)
                return count
            self.assertFalse(report["complete"])
        self.fail("it does not get on")

    def test_another_limit_of_states(self):
        """Where no search has come to it before, the plan is the same; else it begins anew, and says so."""
        source = self.folder / "lock.cu"
        source.write_text(LOCK % "")
        for less, said in ("--max-states=30000", r"heddle: resumed: attempt [2-9] .* states\n"), ("--max-states=10000", ".*the plan .* begins anew"):
            case = (source, [], ["-j1"])
            self.file.unlink(missing_ok=True)
            subprocess.run(self.command(case, less, *self.keep()), capture_output=True, timeout=200, check=False)
            done = subprocess.run(self.command(case, "--max-states=60000", *self.keep("--resume")), capture_output=True, text=True, timeout=200, check=False)
            self.assertRegex(done.stderr, said)
            self.assertEqual(without_times(done.stdout), self.whole(case, "--max-states=60000"))

    def test_more_states_than_were_allowed(self):
        stopped = self.whole(DINERS, "-j2")
        less = subprocess.run(self.command(DINERS, "-j2", "--max-states=50000", *self.keep()), capture_output=True, text=True,
                              timeout=200, check=False)
        self.assertIn("the limit of states was reached", json.loads(less.stdout)["limits"])
        self.assertEqual(self.whole(DINERS, "-j2", *self.keep("--resume")), stopped)

    def test_a_full_disk_leaves_the_file_as_it_was(self):
        subprocess.run(self.command(WHOLE, "-j2", "--max-states=30000", *self.keep()), capture_output=True, timeout=200, check=False)
        before = self.file.read_bytes()
        # A file system of its own, in a name space of its own: what is in there afterwards is copied out.
        small = self.folder / "small"
        small.mkdir()
        bytes_ = (len(before) + (64 << 10)) // 4096 * 4096
        script = (f'set -e; mount -t tmpfs -o size={bytes_} none {small}; cp {self.file} {small}/kept; '
                  f'"$@" || true; ls {small} >{self.folder}/listed; cmp {small}/kept {self.file} >&2')
        inside = [word.replace(str(self.file), str(small / "kept"))
                  for word in self.command(WHOLE, "-j2", "--max-states=100000", "--progress-file=/dev/full",
                                           *self.keep("--resume", "--checkpoint-every=1000"))]
        new_space = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        if subprocess.run([*new_space, "mount", "-t", "tmpfs", "none", small], capture_output=True, check=False).returncode != 0:
            self.skipTest("no file system can be mounted here")
        done = subprocess.run([*new_space, "sh", "-c", script, "sh", *inside], capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = self.folder / "listed"
        self.assertEqual(listed.read_text().split(), ["kept"])
        listed.unlink()
        small.rmdir()
        warnings = " ".join(json.loads(done.stdout)["warnings"])
        self.assertRegex(warnings, "kept could not be written: No space left on device")
        self.assertIn("not all of the progress could be written to '/dev/full': No space left on device", warnings)
        self.assertEqual(self.file.read_bytes(), before)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["kept"])
        self.assertEqual(self.whole(WHOLE, "-j3", *self.keep("--resume")), self.whole(WHOLE, "-j2"))

    def test_of_another_program(self):
        subprocess.run(self.command(DINERS, "--max-states=1000", *self.keep()), capture_output=True, timeout=200, check=False)
        for case in (DINERS[0], ["philosophers-ordered", "plain", "5"], PLAIN), THREADS:
            done = subprocess.run(self.command(case, *self.keep("--resume")), capture_output=True, text=True, timeout=200, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("is of another program", done.stderr)

    def test_from_another_folder(self):
        """A program is what its file holds, wherever it lies now and however long its path is. (A source that is compiled elsewhere is another one:
        nvcc writes its path into the program.)"""
        source, binary = self.folder / "lock.cu", self.folder / "lock"
        moved = self.folder / "a much longer name of a folder" / "moved"
        moved.parent.mkdir()
        source.write_text(LOCK % "")
        subprocess.run([os.environ["HEDDLE_NVCC"], "-cudart", "shared", "-arch", "sm_90", "-o", str(binary), str(source)], check=True, timeout=200)
        shutil.copy(binary, moved)
        flags = ["-j1", "--max-states=60000"]
        whole = self.whole((moved, [], flags))
        part = self.whole((binary, [], flags), "--stop-after=9000", *self.keep("--checkpoint-every=60"))
        self.assertFalse(part["complete"])
        done = subprocess.run(self.command((moved, [], flags), *self.keep("--resume", "--checkpoint-every=60")), capture_output=True, text=True,
                              timeout=200, check=False)
        self.assertRegex(done.stderr, r"heddle: resumed: attempt \d+ .* [\d,]+ states\n")
        again = without_times(done.stdout)
        self.assertFalse(any("began anew" in warning for warning in again.get("warnings", [])), again)
        self.assertEqual(again, whole)

    def test_no_checkpoint(self):
        for text in b"", b"something else\n", b"heddle search checkpoint 1\n":
            self.file.write_bytes(text)
            done = subprocess.run(self.command(DINERS, *self.keep("--resume")), capture_output=True, text=True, timeout=200, check=False)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn("--resume: ", done.stderr)

    def test_a_damaged_table(self):
        subprocess.run(self.command(DINERS, "-j2", "--max-states=20000", *self.keep()), capture_output=True, timeout=200, check=False)
        whole = self.file.read_bytes()
        for part in whole[:len(whole) // 2], whole[:300]:
            self.file.write_bytes(part)
            done = subprocess.run(self.command(DINERS, *self.keep("--resume")), capture_output=True, text=True, timeout=200, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("damaged", done.stderr)

    def test_the_program_does_something_else(self):
        """What it reads has changed since: nothing of the file is believed."""
        data = self.folder / "data"
        data.write_text("1")
        source = self.folder / "reads.cu"
        source.write_text("""
#include <cstdio>
__global__ void k(int* p, int n) { for (int i = 0; i < n; ++i) { atomicAdd(p, threadIdx.x + i); __threadfence(); if (atomicAdd(p + 1, 1) == 99) return; } }
int main(int, char** argv) {
  int n = 0;
  if (FILE* f = fopen(argv[1], "r")) { if (fscanf(f, "%d", &n) != 1) return 3; fclose(f); }
  int* p;
  cudaMalloc(&p, 8);
  cudaMemset(p, 0, 8);
  k<<<3, 1>>>(p, n + 2);
  k<<<2, 1>>>(p, n);
  return cudaDeviceSynchronize();
}
""")
        case = (source, [str(data)], PLAIN)
        subprocess.run(self.command(case, "--max-states=300", *self.keep()), capture_output=True, timeout=200, check=False)
        data.write_text("2")
        again = self.whole(case, *self.keep("--resume"))
        self.assertRegex(" ".join(again.pop("warnings")), "began anew")
        whole = self.whole(case)
        whole.pop("warnings", None)
        self.assertEqual(again, whole)


if __name__ == "__main__":
    unittest.main(argv=[word for word in sys.argv if not word.startswith(SLICES_FLAG)])

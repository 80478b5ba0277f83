"""`heddle check --checkpoint`: a search that is stopped, or killed, goes on and reports what one that was not does."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from programs import without_times

HEDDLE = os.environ["HEDDLE"]
IDIOMS = pathlib.Path(__file__).resolve().parents[1] / "check" / "idioms"
PLAIN = ["--no-symmetry", "--no-eager"]
DINERS = (IDIOMS / "locks.cu", ["philosophers-ordered", "plain", "6"], PLAIN)
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


class Checkpoints(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-checkpoint-"))
        self.file = self.folder / "kept"
        self.addCleanup(shutil.rmtree, self.folder)

    def command(self, case, *options):
        program, words, own = case
        return [HEDDLE, "check", "--format=json", "--schedules=0", "--max-time=100", "--max-states=2000000", *own, *options, str(program), "--", *words]

    def keep(self, *options):
        every = [] if any(o.startswith("--checkpoint-every") for o in options) else ["--checkpoint-every=0.05"]
        return [f"--checkpoint={self.file}", *every, *options]

    def whole(self, case, *options):
        done = subprocess.run(self.command(case, *options), capture_output=True, text=True, timeout=200, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
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

    def test_more_states_than_were_allowed(self):
        stopped = self.whole(DINERS, "-j2")
        less = subprocess.run(self.command(DINERS, "-j2", "--max-states=50000", *self.keep()), capture_output=True, text=True,
                              timeout=200, check=False)
        self.assertIn("the limit of states was reached", json.loads(less.stdout)["limits"])
        self.assertEqual(self.whole(DINERS, "-j2", *self.keep("--resume")), stopped)

    def test_a_full_disk_leaves_the_file_as_it_was(self):
        subprocess.run(self.command(DINERS, "-j2", "--max-states=20000", *self.keep()), capture_output=True, timeout=200, check=False)
        before = self.file.read_bytes()
        # A file system of its own, in a name space of its own: what is in there afterwards is copied out.
        small = self.folder / "small"
        small.mkdir()
        bytes_ = (len(before) + (64 << 10)) // 4096 * 4096
        script = (f'set -e; mount -t tmpfs -o size={bytes_} none {small}; cp {self.file} {small}/kept; cd {self.folder}; '
                  f'"$@" || true; ls {small} >listed; cmp {small}/kept {self.file} >&2')
        inside = [word.replace(str(self.file), str(small / "kept"))
                  for word in self.command(DINERS, "-j2", "--max-states=100000", "--progress-file=/dev/full",
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
        self.assertEqual(self.whole(DINERS, "-j3", *self.keep("--resume")), self.whole(DINERS, "-j2"))

    def test_of_another_program(self):
        subprocess.run(self.command(DINERS, "--max-states=1000", *self.keep()), capture_output=True, timeout=200, check=False)
        for case in (DINERS[0], ["philosophers-ordered", "plain", "5"], PLAIN), THREADS:
            done = subprocess.run(self.command(case, *self.keep("--resume")), capture_output=True, text=True, timeout=200, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("is of another program", done.stderr)

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
    unittest.main()

"""`heddle app.cu` on class-room programs: each mistake is found, by name and line, within ten seconds; the right twin
(-DRIGHT) is silent.

A line of a program that ends with `//~ CODE` is where the finding must be. Seconds are the processor's, which other
work on the machine changes little, and those of nvcc do not count: the program is compiled by `heddle run` before."""
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from same_folder import SameFolder  # noqa: E402

HEDDLE = os.environ["HEDDLE"]
PROGRAMS = pathlib.Path(__file__).parent / "classroom"
SECONDS = 10
# A program of its own, which needs LLVM, and is not everywhere where a night runs.
LINT = pathlib.Path(HEDDLE).with_name("heddle-lint").exists()


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
        findings = [(file, line, code or "lint") for file, line, code in
                    re.findall(r"(?m)^(\S+\.cu):(\d+):\d+: (?:error|warning)\[?([\w.-]*)", text)]
        if right:
            self.assertEqual((status, findings), (0, []), text)
            self.assertIn(f"{program.name}: nothing found\n", text)
            return
        wanted = [(line, code) for line, code in expected(program) if LINT or code != "lint"]
        for line, code in wanted:
            self.assertIn((program.name, str(line), code), findings, text)
        self.assertEqual(len(findings), len(wanted), text)
        self.assertLess(seconds, SECONDS, text)
        self.assertRegex(text, r"  looked at\n(.*\n)+  not looked at\n")
        if len(wanted) < len(expected(program)):
            self.skipTest("heddle-lint is not beside heddle: what it says of the source is not looked at")


class Words(unittest.TestCase):
    """What a reader needs to mend the program is in the report."""

    def test_who_holds_which_lock(self):
        text = look("lock_order.cu")[1]
        self.assertIn("may hang: each of 2 threads holds a lock and waits for another one, forever", text)
        for block in (0, 1):
            self.assertIn(f"thread (0,0,0) of block ({block},0,0) of kernel 'transfer<<<2,1>>>' holds the lock that it took "
                          "at lock_order.cu:22, and waits at lock_order.cu:23", text)
        self.assertIn("help: take the locks in one order in all threads", text)

    def test_where_the_memory_was_allocated(self):
        for name, line in (("off_by_one", 15), ("no_atomics", 20), ("no_synchronisation", 10), ("grid_too_small", 13)):
            program = PROGRAMS / f"{name}.cu"
            with self.subTest(name):
                text = look(program.name)[1]
                self.assertRegex(text, rf" {line} \|.*(cudaMalloc|cudaMallocManaged).*\n +\| +\^~+ allocated here", text)


class AfterDefect(unittest.TestCase):
    """A search that would take minutes ends soon once a defect is certain, whoever has found it."""

    RACE = """__global__ void k(int* order, int* next, int* sum) {
  order[atomicAdd(next, 1)] = threadIdx.x + 100 * blockIdx.x;
#ifdef RIGHT
  atomicAdd(sum, 1);
#else
  *sum += 1;
#endif
}
int main() {
  int *order, *next, *sum;
  cudaMalloc(&order, 4 * 64);
  cudaMalloc(&next, 4);
  cudaMalloc(&sum, 4);
  cudaMemset(next, 0, 4);
  cudaMemset(sum, 0, 4);
  k<<<4, 16>>>(order, next, sum);
  int h[64], late = 0;
  cudaMemcpy(h, order, 4 * 64, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) late += h[i] > i;
  return late > 100;
}
"""

    def look(self, source, *arguments):
        with SameFolder("users.after_defect") as folder:
            program = folder.path / "long.cu"
            program.write_text(source)
            look("check", "--max-states=1", "--schedules=0", "--races=0", str(program))  # compiles it
            return look(*arguments, str(program))

    def test_a_race_ends_the_search(self):
        status, text, _ = self.look(self.RACE)
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"long.cu:6:\d+: error\[data-race\]")
        self.assertRegex(text, r"the other schedules +heddle check --after-defect=60 --max-time=600 \S*long.cu "
                               r"\(a defect is certain, and the search went on for 5 s \(--after-defect\)\)")

    def test_check_looks_for_a_race_first(self):
        status, text, _ = self.look(self.RACE, "check", "--after-defect=1")
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"long.cu:6:\d+: error\[data-race\]")
        self.assertIn("ended early: a defect is certain, and the search went on for 1 s (--after-defect)", text)

    def test_a_fault_of_the_search_ends_it(self):
        wrong = self.RACE.replace("order[atomicAdd(next, 1)] =", "int mine = atomicAdd(next, 1); order[mine] =")
        wrong = wrong.replace("*sum += 1;", "if (mine == 0 && blockIdx.x == 0) order[1 << 20] = 1;")
        status, text, _ = self.look(wrong, "check", "--races=0", "--after-defect=1")
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"long.cu:6:\d+: error\[out-of-bounds\]")
        self.assertIn("a defect is certain, and the search went on for 1 s (--after-defect)", text)

    def test_without_a_defect_the_time_is_used(self):
        status, text, _ = self.look("#define RIGHT\n" + self.RACE, "--max-time=8")
        self.assertEqual(status, 4, text)
        self.assertNotIn("--after-defect", text)


class Reports(unittest.TestCase):
    """Rules that a source breaks are in the reports for programs, too."""

    SOURCE = """__global__ void k(int* flag, int* out) {
  if (blockIdx.x == 0) atomicExch(flag, 1);
  else while (*(volatile int*)flag == 0) {}
  *out = 1;
}
int main() { return 0; }
"""

    def reports(self, form):
        with SameFolder("users.everything") as folder:
            source = folder.path / "broken.cu"
            source.write_text(self.SOURCE)
            file = folder.path / "report"
            status, text, _ = look(f"--format={form}", "-o", str(file), str(source))
            self.assertEqual(status, 1, text)
            return file.read_text()

    @unittest.skipUnless(LINT, "heddle-lint is not beside heddle")
    def test_of_lint(self):
        lint = json.loads(self.reports("json"))["lint"]
        self.assertTrue(lint and lint[0]["location"]["line"], lint)
        (run,) = json.loads(self.reports("sarif"))["runs"]
        self.assertIn(lint[0]["key"], [result["ruleId"] for result in run["results"]])
        self.assertEqual(run["tool"]["driver"]["name"], "heddle")
        self.assertIn(f'type="{lint[0]["key"]}"', self.reports("junit"))

    def test_page(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.html"
            look(f"--html={page}", "missing_barrier.cu")
            self.assertIn("races with", page.read_text())


if __name__ == "__main__":
    unittest.main()

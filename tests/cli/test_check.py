"""`heddle check` and `heddle replay` as processes: limits, the progress line, what stays behind when the
tool is killed, programs built elsewhere, and programs that are not the same twice."""
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import time
import unittest

from programs import HANG, LONG, SECOND, SameFolder

HEDDLE = os.environ["HEDDLE"]
NVCC = os.environ["HEDDLE_NVCC"]

FAULT = """
__global__ void k(int* p, int i) { p[i] = 1; }
int main() {
  int* p;
  cudaMalloc(&p, 4);
  k<<<1, 1>>>(p, 1000);
  return cudaDeviceSynchronize();
}
"""
# Sixteen calls of two kinds, chosen by random numbers that come from the system call itself.
RANDOM = """
#include <sys/syscall.h>
int main() {
  unsigned short bits = 0; long got = SYS_getrandom;
  asm volatile("syscall" : "+a"(got) : "D"(&bits), "S"(sizeof bits), "d"(0) : "rcx", "r11", "memory");
  int* p = nullptr;
  cudaMalloc(&p, 64);
  for (int i = 0; i < 16; ++i) {
    if (bits >> i & 1) {
      cudaMemset(p, 0, 4);
    } else {
      cudaDeviceSynchronize();
    }
  }
  return 0;
}
"""
ADDRESSES = """
#include <cstdint>
int main() {
  int local = 0;
  auto bits = reinterpret_cast<std::uintptr_t>(&local) >> 8;
  int* p = nullptr;
  cudaMalloc(&p, 64);
  for (int i = 0; i < 16; ++i) {
    if (bits >> i & 1) {
      cudaMemset(p, 0, 4);
    } else {
      cudaDeviceSynchronize();
    }
  }
  return 0;
}
"""
# The same, and 64,000 states.
LARGE = ADDRESSES.replace("int main", """__device__ int p[3];
__global__ void k() {
  for (int i = 0; i < 39; ++i) {
    if (atomicAdd(p + i % 3, 1) < 0) p[0] = 1;
  }
}
int main""").replace("return 0;", "k<<<3, 1>>>();\n  return cudaDeviceSynchronize();")

# Which block comes first decides how the program ends.
WINNER = """
__device__ int turns, winner;
__global__ void first_wins() {
  if (atomicAdd(&turns, 1) == 0) winner = blockIdx.x;
}
int main() {
  first_wins<<<2, 1>>>();
  int block = 0;
  cudaMemcpyFromSymbol(&block, winner, sizeof block);
  return block;
}
"""
# A self test that fails after a kernel that did nothing wrong.
ENDS = """
#include <cstdlib>
#include <cstring>
#include <unistd.h>
__global__ void k() {}
int main(int count, char** words) {
  k<<<1, 1>>>();
  cudaDeviceSynchronize();
  if (count == 1) return 3;
  if (std::strcmp(words[1], "exit") == 0) std::exit(260);
  if (std::strcmp(words[1], "_exit") == 0) _exit(5);
  if (std::strcmp(words[1], "quick_exit") == 0) std::quick_exit(6);
  return 0;
}
"""
NO_KERNEL = """
int main() {
  int* p;
  return cudaMalloc(&p, 4);
}
"""


def processes_with(mark):
    """Ids of processes that inherited HEDDLE_TEST_MARK=mark."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if f"HEDDLE_TEST_MARK={mark}".encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def said_of(process):
    """Its command and its environment; nothing once it has ended."""
    try:
        folder = pathlib.Path("/proc", str(process))
        return ((folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()).decode(errors="replace")
    except OSError:
        return ""


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


class Checked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = SameFolder("cli.check")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = cls.folder.path
        programs = {"long": LONG, "hang": HANG, "fault": FAULT, "random": RANDOM, "addresses": ADDRESSES, "large": LARGE,
                    "winner": WINNER, "ends": ENDS, "no_kernel": NO_KERNEL, "second": SECOND}
        for name, text in programs.items():
            (cls.root / f"{name}.cu").write_text(text)

    def heddle(self, *arguments, status=None, cwd=None):
        done = subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, cwd=cwd or self.root, timeout=120)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def replay_of(self, file):
        """The schedule in the report about a program with a defect, and the report."""
        result = json.loads(self.heddle("check", "--format=json", file, status=1).stdout)
        return result["findings"][0]["replay"], result

    def test_limits_are_named(self):
        done = self.heddle("check", "--max-time=1", "long.cu", status=4)
        self.assertIn("ended early: the limit of 1 s was reached (--max-time)", done.stdout)
        done = self.heddle("check", "--max-states=20", "--schedules=20", "--format=json", "long.cu", status=4)
        result = json.loads(done.stdout)
        self.assertEqual((result["verdict"], result["complete"]), ("unknown", False))
        self.assertTrue(result["limits"])
        done = self.heddle("check", "--max-memory=1", "long.cu", status=4)
        self.assertIn("the limit of 1 MiB was reached (--max-memory)", done.stdout)

    def test_progress_is_shown_on_a_terminal_and_nowhere_else(self):
        done = self.heddle("check", "--max-time=4", "long.cu")
        self.assertEqual(done.stderr, "")
        master, slave = pty.openpty()
        subprocess.run([HEDDLE, "check", "--max-time=4", "long.cu"], cwd=self.root, stderr=slave,
                       stdout=subprocess.DEVNULL, timeout=120)
        os.close(slave)
        shown = b""
        try:
            while piece := os.read(master, 4096):
                shown += piece
        except OSError:  # the other end is closed
            pass
        os.close(master)
        self.assertRegex(shown.decode(), r"\r[\d,]+ states, [\d,]+ states/s, .*% explored, 00:0[1-9]")
        self.assertTrue(shown.endswith(b"\r\x1b[K"))

    def test_progress_goes_to_a_file(self):
        self.heddle("check", "--max-time=3", "--schedules=0", "--progress-file=progress.jsonl", "long.cu", status=4)
        lines = [json.loads(line) for line in (self.root / "progress.jsonl").read_text().splitlines()]
        self.assertGreaterEqual(len(lines), 3)
        last = lines[-1]
        self.assertEqual([line["last"] for line in lines if line["what"] == "search"][-1], True)
        for line in lines:
            self.assertEqual(line["what"], "search")
            self.assertGreater(line["processes"] + line["last"], 0)
            self.assertGreaterEqual(line["executions_explored"], 0)
        self.assertLess(last["executions_explored"], 1)  # it does not end
        self.assertGreater(last["memory_bytes"], 0)
        self.assertGreater(last["states_per_second"], 0)
        # One that is complete says so; the file is begun again.
        self.heddle("check", "--progress-file=progress.jsonl", "hang.cu", status=1)
        lines = [json.loads(line) for line in (self.root / "progress.jsonl").read_text().splitlines()]
        self.assertEqual({(line["last"], line["executions_explored"]) for line in lines}, {(True, 1)})
        done = self.heddle("check", "--progress-file=no/such/folder", "hang.cu", status=2)
        self.assertIn("--progress-file: cannot write 'no/such/folder'", done.stderr)

    def test_killing_the_tool_leaves_no_process(self):
        self.heddle("check", "--max-time=1", "long.cu")  # compiled by now
        for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal.Signals(number).name):
                mark = f"{os.getpid()}-{number}"
                tool = subprocess.Popen([HEDDLE, "check", "--max-time=60", "long.cu"], cwd=self.root,
                                        env=dict(os.environ, HEDDLE_TEST_MARK=mark), stdout=subprocess.DEVNULL)
                self.assertTrue(wait_until(lambda: len(processes_with(mark)) >= 2, 30))
                time.sleep(0.3)
                tool.send_signal(number)
                tool.wait(10)
                self.assertTrue(wait_until(lambda: not processes_with(mark), 10), processes_with(mark))

    def test_killing_a_run_with_a_report_leaves_no_process(self):
        script = self.root / "sleeps"
        script.write_text("#!/bin/sh\nexec sleep 60\n")
        script.chmod(0o755)
        for number in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(signal.Signals(number).name):
                mark = f"run-{os.getpid()}-{number}"
                tool = subprocess.Popen([HEDDLE, "run", "-o", "report", "./sleeps"], cwd=self.root,
                                        env=dict(os.environ, HEDDLE_TEST_MARK=mark), stderr=subprocess.DEVNULL)
                self.assertTrue(wait_until(lambda: len(processes_with(mark)) >= 2, 30))
                time.sleep(0.3)
                tool.send_signal(number)
                tool.wait(10)
                self.assertTrue(wait_until(lambda: not processes_with(mark), 10), processes_with(mark))

    def test_an_interrupted_check_says_what_it_has_seen(self):
        self.heddle("check", "--max-time=1", "long.cu")  # compiled by now
        for number, arguments in ((signal.SIGINT, []), (signal.SIGTERM, ["--format=json"]), (signal.SIGINT, ["--races=40"])):
            with self.subTest(signal.Signals(number).name, arguments=arguments):
                mark = f"{os.getpid()}-{number}-interrupted"
                tool = subprocess.Popen([HEDDLE, "check", "--max-time=60", *arguments, "long.cu"], cwd=self.root, text=True,
                                        env=dict(os.environ, HEDDLE_TEST_MARK=mark), stdout=subprocess.PIPE)
                self.assertTrue(wait_until(lambda: len(processes_with(mark)) >= 2, 30))
                time.sleep(0.5)
                tool.send_signal(number)
                time.sleep(0.05)
                tool.send_signal(number)  # as `timeout` does, to the process and to its group: no second wish
                said, _ = tool.communicate(timeout=10)
                self.assertEqual(tool.returncode, 128 + number, said)
                if arguments == ["--format=json"]:
                    result = json.loads(said)
                    self.assertEqual((result["verdict"], result["complete"]), ("unknown", False))
                    self.assertIn("the check was interrupted (SIGTERM)", result["limits"])
                    self.assertGreater(result["states"], 10)
                else:
                    self.assertIn("no defect found, but not everything was looked at", said)
                    self.assertIn("ended early: the check was interrupted (SIGINT)", said)
                self.assertTrue(wait_until(lambda: not processes_with(mark), 10), processes_with(mark))

    def interrupt(self, *arguments, doing):
        """Ctrl-C as soon as one of the check's processes has the word `doing` in its environment or its command."""
        mark = f"{os.getpid()}-{len(doing)}-busy"  # which does not have the word itself
        environment = dict(os.environ, HEDDLE_TEST_MARK=mark, XDG_CACHE_HOME=str(self.root / "early"))
        tool = subprocess.Popen([HEDDLE, "check", "--format=json", *arguments], cwd=self.root, text=True, env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.assertTrue(wait_until(lambda: any(doing in said_of(process) for process in processes_with(mark)), 30))
        os.killpg(tool.pid, signal.SIGINT)
        said, errors = tool.communicate(timeout=10)
        self.assertEqual(tool.returncode, 130, errors)
        result = json.loads(said)
        self.assertFalse(result["complete"])
        if not result["findings"]:  # which one fair schedule may just have shown
            self.assertEqual(result["verdict"], "unknown")
            self.assertIn("the check was interrupted (SIGINT)", result["limits"])

    def test_a_check_is_interrupted_while_it_compiles_and_while_one_schedule_runs(self):
        self.interrupt("hang.cu", doing="cicc")
        # The loop counts, so no state comes back, and one fair schedule is run beside the search.
        (self.root / "counts.cu").write_text(
            "__global__ void wait(int* flag) {\n"
            "  while (atomicAdd(flag, 0) == 0) {\n    atomicAdd(flag + 1, 1);\n  }\n}\n"
            "int main() {\n  int* flag;\n  cudaMalloc(&flag, 8);\n  wait<<<1, 2>>>(flag);\n  cudaDeviceSynchronize();\n}\n")
        subprocess.run([NVCC, "-cudart", "shared", "-arch=sm_90", "counts.cu", "-o", "counts"], cwd=self.root, check=True)
        started = time.monotonic()
        self.interrupt("./counts", doing="HEDDLE_REPORT_TO=")
        self.assertLess(time.monotonic() - started, 8)

    def test_host_code_that_is_not_instrumented_is_named(self):
        subprocess.run([NVCC, "-cudart", "shared", "-arch=sm_90", "-lineinfo", "hang.cu", "-o", "hang"],
                       cwd=self.root, check=True)
        done = self.heddle("check", "./hang", status=1)
        self.assertIn("hang.cu:5", done.stdout)
        self.assertIn("host code seen only at API calls (not compiled with -fsanitize=thread)", done.stdout)
        schedule = re.search(r"heddle replay (v1:\S+)", done.stdout)[1]
        self.heddle("replay", schedule, status=1)

    def test_programs_whose_kernels_cannot_be_read(self):
        def nvcc(*flags):
            subprocess.run([NVCC, *flags, "hang.cu", "-o", "unreadable"], cwd=self.root, check=True)

        nvcc("-arch=sm_90", "-Xlinker", "-s")  # the runtime library inside, and no names of functions
        self.assertIn("-cudart shared", self.heddle("check", "./unreadable", status=2).stderr)
        nvcc("-cudart", "shared", "-gencode", "arch=compute_90,code=sm_90")
        done = self.heddle("check", "./unreadable", status=3)
        self.assertIn("only SASS", done.stdout)
        self.assertIn("no verdict", done.stdout)

    def test_a_replay_shows_the_hang(self):
        schedule, result = self.replay_of("hang.cu")
        self.assertEqual(result["verdict"], "may-hang")
        done = self.heddle("replay", schedule, status=1)
        self.assertRegex(done.stdout, r"^\d+ steps: steps? .* forever\n$")
        text = self.heddle("replay", "--trace", schedule, status=1).stdout
        self.assertRegex(text, r"(?m)^  A = the host thread$")
        self.assertRegex(text, r"hang\.cu:5 +a volatile read: reads 0 +while \(flag == 0\)")
        self.assertLess(text.index("from here on forever"), text.index("again from step"))
        # The launch is where it is written, and what nvcc generates for it is left out.
        launch = next(n for n, line in enumerate((self.root / "hang.cu").read_text().split("\n"), 1) if "<<<" in line)
        self.assertRegex(text, rf"hang\.cu:{launch} +inside a kernel launch")
        self.assertIn(f"hang.cu:{launch}  launched from here", text)
        self.assertEqual(text.count("a volatile write"), 0)
        trace = json.loads(self.heddle("replay", "--format=json", schedule, status=1).stdout)
        self.assertEqual(trace["end"], "loop")
        self.assertLess(trace["loop_from"], len(trace["steps"]))
        self.assertEqual({step["line"] for step in trace["steps"][trace["loop_from"]:]}, {5})

    def test_a_search_from_a_kernel_on(self):
        """By its name alone, with its namespace, or as the linker knows it."""
        for kernel in ("in_turn", "scans::in_turn", "_ZN5scans7in_turnIiEEvPT_b"):
            done = self.heddle("check", f"--kernel={kernel}", "second.cu", status=1)
            self.assertRegex(done.stdout, r"second\.cu:6:\d+: error\[starvation\]")
        schedule = re.search(r"v1:[A-Za-z0-9_-]+", done.stdout).group()
        self.assertRegex(self.heddle("replay", schedule, status=1).stdout, r"^\d+ steps: steps? .* forever\n$")
        done = self.heddle("check", "--kernel=in_turn", "second.cu", "--", "1", status=0)
        self.assertRegex(done.stdout, r"terminates under every schedule: .*, from the launch of kernel 'in_turn' on")
        # What comes before is searched as well where nobody says so.
        done = self.heddle("check", "--max-states=2000", "--schedules=0", "second.cu", "--", "1", status=4)
        self.assertNotIn("from the launch", done.stdout)

    def test_a_search_from_a_kernel_that_is_not_launched(self):
        done = self.heddle("check", "--kernel=turn", "second.cu", status=2)
        self.assertIn("before any launch of a kernel 'turn'", done.stderr)

    def test_sarif(self):
        run = json.loads(self.heddle("check", "--format=sarif", "hang.cu", status=1).stdout)["runs"][0]
        self.assertEqual(run["tool"]["driver"]["name"], "heddle check")
        (finding,) = run["results"]
        self.assertEqual((finding["ruleId"], finding["level"]), ("starvation/CLUSTER", "error"))
        self.assertIn("heddle replay v1:", finding["message"]["text"])
        place = finding["locations"][0]["physicalLocation"]
        self.assertEqual((place["artifactLocation"]["uri"], place["region"]["startLine"]), ("hang.cu", 5))
        self.assertEqual([place["message"]["text"][:25] for place in finding["relatedLocations"]],
                         ["(1) thread (0,0,0) of blo", "(1, 3) launched from here", "(2) the host thread waits", "(3) thread (0,0,0) of blo"])
        rule = run["tool"]["driver"]["rules"][finding["ruleIndex"]]
        self.assertEqual(rule["properties"]["rule"], "CLUSTER")
        run = json.loads(self.heddle("check", "--format=sarif", "--max-states=20", "--schedules=20", "long.cu", status=4).stdout)["runs"][0]
        self.assertEqual(run["results"], [])
        notes = run["invocations"][0]["toolExecutionNotifications"]
        self.assertIn("ended early", notes[0]["message"]["text"])

    def test_a_replay_shows_the_fault(self):
        schedule, result = self.replay_of("fault.cu")
        self.assertEqual(result["verdict"], "defect")
        trace = json.loads(self.heddle("replay", "--format=json", schedule, status=1).stdout)
        self.assertEqual(trace["end"], "defect")
        self.assertEqual(trace["steps"][-1]["line"], 2)

    def test_an_exit_status_that_is_not_expected_is_a_finding(self):
        schedule, result = self.replay_of("winner.cu")
        (finding,) = result["findings"]
        self.assertEqual((result["verdict"], finding["code"], finding["rule"]), ("defect", "exit-status", "EXIT"))
        self.assertEqual(finding["message"],
                         "the program ends with exit status 1 under some schedule, and with 0 under others")
        self.assertEqual(finding["locations"][0]["line"], 9)
        self.assertRegex(self.heddle("replay", schedule, status=1).stdout, "the program has ended with exit status 1")
        (finding,) = json.loads(self.heddle("check", "--format=json", "--expect-exit=1", "winner.cu", status=1).stdout)["findings"]
        self.assertIn("ends with exit status 0", finding["message"])

    def test_every_way_to_end_has_its_exit_status(self):
        for word, status in {"": 3, "exit": 4, "_exit": 5, "quick_exit": 6}.items():
            with self.subTest(word):
                arguments = ["--", word] if word else []
                done = self.heddle("check", "ends.cu", *arguments, status=1)
                self.assertIn(f"error[exit-status]: the program ends with exit status {status} under every schedule",
                              done.stdout)
                self.assertIn(f"--expect-exit={status}", done.stdout)
                done = self.heddle("check", f"--expect-exit={status}", "ends.cu", *arguments, status=0)
                self.assertIn("terminates under every schedule", done.stdout)
        self.heddle("check", "ends.cu", "--", "well", status=0)

    def test_single_schedules_regard_the_exit_status_too(self):
        result = json.loads(self.heddle("check", "--max-states=4", "--format=json", "winner.cu", status=1).stdout)
        self.assertEqual([f["code"] for f in result["findings"]], ["exit-status"])

    def test_a_run_without_kernels_says_so(self):
        done = self.heddle("check", "no_kernel.cu", status=0)
        self.assertIn("terminates under every schedule: 1 input, no kernel ran", done.stdout)
        self.assertIn("warning: no kernel ran, so this says nothing about device code", done.stdout)
        result = json.loads(self.heddle("check", "--format=json", "no_kernel.cu", status=0).stdout)
        self.assertEqual(len(result["warnings"]), 1)
        self.assertNotIn("warnings", json.loads(self.heddle("check", "--format=json", "ends.cu", "--", "well").stdout))

    def test_a_second_program_is_no_second_check(self):
        for name in ("no_kernel", "ends"):
            subprocess.run([NVCC, "-cudart", "shared", "-arch=sm_90", f"{name}.cu", "-o", name], cwd=self.root, check=True)
        done = self.heddle("check", "./no_kernel", "./ends", status=0)
        self.assertIn("warning: './ends' was passed to './no_kernel' as an argument: heddle check takes one program",
                      done.stdout)
        self.assertIn("no kernel ran", done.stdout)

    def test_the_same_schedule_twice(self):
        self.assertEqual(self.replay_of("hang.cu")[0], self.replay_of("hang.cu")[0])

    def test_schedules_that_do_not_fit(self):
        schedule, _ = self.replay_of("hang.cu")
        self.assertIn("begins with 'v1:'", self.heddle("replay", "nonsense", status=2).stderr)
        self.assertIn("damaged", self.heddle("replay", schedule[:-9], status=2).stderr)
        elsewhere = self.root / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        done = self.heddle("replay", schedule, status=2, cwd=elsewhere)
        self.assertIn("'hang.cu', which is not here; --program=FILE", done.stderr)
        shutil.copy(self.root / "fault.cu", elsewhere / "hang.cu")
        done = self.heddle("replay", schedule, status=3, cwd=elsewhere)
        self.assertIn("'hang.cu' is not byte for byte the program", done.stderr)
        self.assertRegex(done.stdout, r"not the execution that was recorded \(step \d+ of the schedule")
        self.assertRegex(done.stdout, r"\n  = the last step that was made: .* by (the host thread|thread .* of kernel ')")

    def test_a_schedule_fits_in_another_folder(self):
        (self.root / "here").mkdir(exist_ok=True)
        shutil.copy(self.root / "hang.cu", self.root / "here/hang.cu")
        said = self.heddle("check", "--format=json", str(self.root / "here/hang.cu"), status=1).stdout
        schedule = json.loads(said)["findings"][0]["replay"]
        shutil.move(self.root / "here", self.root / "there")
        expected = self.heddle("replay", "--format=json", self.replay_of("hang.cu")[0], status=1).stdout
        for folder, more in (("there", []), (".", ["--program=there/hang.cu"])):
            done = self.heddle("replay", "--format=json", *more, schedule, status=1, cwd=self.root / folder)
            self.assertEqual([step["what"] for step in json.loads(done.stdout)["steps"]],
                             [step["what"] for step in json.loads(expected)["steps"]])
            self.assertEqual(done.stderr, "")
        # What does not matter may change.
        text = (self.root / "there/hang.cu").read_text()
        (self.root / "there/hang.cu").write_text("// a comment\n\n" + text)
        done = self.heddle("replay", schedule, status=1, cwd=self.root / "there")
        self.assertIn("is not byte for byte the program", done.stderr)

    def test_a_schedule_of_a_program_that_was_built_again_elsewhere(self):
        schedules = []
        for folder in ("first", "second-with-another-name"):
            (self.root / folder).mkdir(exist_ok=True)
            shutil.copy(self.root / "hang.cu", self.root / folder)
            subprocess.run([NVCC, "-cudart", "shared", "-arch=sm_90", "-lineinfo", str(self.root / folder / "hang.cu"),
                            "-o", "hang"], cwd=self.root / folder, check=True)
            said = self.heddle("check", "--format=json", "./hang", status=1, cwd=self.root / folder).stdout
            schedules.append(json.loads(said)["findings"][0]["replay"])
        self.heddle("replay", schedules[0], status=1, cwd=self.root / folder)

    def test_a_large_program_that_is_not_the_same_twice(self):
        """An execution is repeated while threads judge the others."""
        done = self.heddle("check", "--max-states=1000000", "--no-symmetry", "--no-sums", "--no-eager", "--no-data-order", "-j2",
                           "large.cu", status=4)
        self.assertIn("stack, heap and libraries lie at other addresses", done.stdout)

    def test_a_program_that_is_not_the_same_twice(self):
        done = self.heddle("check", "random.cu", status=3)
        self.assertRegex(done.stdout, r"random\.cu:5:1: error\[nondeterminism\]")
        self.assertIn("reads random numbers", done.stdout)
        self.assertIn("[REPLAY]", done.stdout)
        self.assertIn("no verdict: the program is not the same when it is repeated", done.stdout)

    def test_a_program_that_goes_by_addresses(self):
        said = [self.heddle("check", "--format=json", "addresses.cu", status=4).stdout for _ in range(2)]
        self.assertIn("stack, heap and libraries lie at other addresses", said[0])
        self.assertEqual(*(re.sub(r'"seconds": [0-9.]+', "", one) for one in said))

    def test_the_example_of_the_demo(self):
        example = str(pathlib.Path(__file__).parents[2] / "examples/look_back_scan.cu")
        done = self.heddle("check", example, "--", "index", status=1)
        self.assertIn("look_back_scan.cu:38:7: error[starvation]", done.stdout)
        self.assertIn("[CLUSTER]", done.stdout)
        self.assertIn("may hang: 1 finding", done.stdout)  # and its replay has come out the same
        done = self.heddle("check", example, "--", "ticket", status=0)
        self.assertIn("terminates under every schedule", done.stdout)


if __name__ == "__main__":
    unittest.main()

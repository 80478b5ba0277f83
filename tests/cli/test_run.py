"""`heddle run` as a process: reports in files, limits, exit codes, and what it says of a program that does
not look at its own errors."""
import json
import os
import pathlib
import re
import signal
import subprocess
import unittest
import xml.etree.ElementTree as xml

from programs import SameFolder

HEDDLE = os.environ["HEDDLE"]
# The search alone: single executions of a program that spins would go on for a billion instructions.
SHORT = ("--schedules=0", "--races=0", "--max-time=3")

# The argument chooses what goes wrong.
PROGRAM = """#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void store(int* p, int i) { p[i] = 1; }
__global__ void spin(volatile int* p) {
  while (*p == 0) {
  }
}
__global__ void count(int* p) {
  while (atomicAdd(p, 0) == 0) {
    atomicAdd(p + 1, 1);
  }
}
__global__ void tally(int* p) {
  int rounds = 0;
  while (atomicAdd(p, 0) == 0) {
    ++rounds;
  }
  p[1] = rounds;
}
// The last block ends the wait of the others, after it has seen them count.
__global__ void counted(int* p) {
  if (blockIdx.x == gridDim.x - 1) {
    while (*reinterpret_cast<volatile int*>(p + 1) < 3000000) {
    }
    atomicExch(p, 1);
  } else {
    while (atomicAdd(p, 0) == 0) {
      atomicAdd(p + 1, 1);
    }
  }
}
__global__ void stored(int* p) {
  int rounds = 0;
  while (atomicAdd(p, 0) == 0) *reinterpret_cast<volatile int*>(p + 1) = ++rounds;
}
// A count that is looked at decides when the wait ends.
__global__ void patient(int* p) {
  int rounds = 0;
  while (atomicAdd(p, 0) == 0 && rounds < 3000000) {
    ++rounds;
  }
  p[1] = rounds;
}
__global__ void stamps() {
  if (threadIdx.x % 32 == 0) std::printf("%u at %lld\\n", threadIdx.x / 32, clock64());
}
__global__ void busy(int* p) {
  for (unsigned i = 0, k = threadIdx.x; i < 12; ++i) k = atomicExch(&p[k % 16], k + i) + threadIdx.x;
}
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int* p;
  cudaMalloc(&p, 64);
  cudaMemset(p, 0, 64);
  std::printf("the program speaks\\n");
  if (std::strcmp(what, "fault") == 0) store<<<1, 1>>>(p, 1000);
  if (std::strcmp(what, "spin") == 0) spin<<<1, 1>>>(p);
  if (std::strcmp(what, "count") == 0) count<<<1, 32>>>(p);
  if (std::strcmp(what, "tally") == 0) tally<<<1, 32>>>(p);
  if (std::strcmp(what, "counted") == 0) counted<<<3, 1>>>(p);
  if (std::strcmp(what, "stamps") == 0) stamps<<<2, 128>>>();
  if (std::strcmp(what, "busy") == 0) busy<<<8, 128>>>(p);
  if (std::strcmp(what, "stored") == 0) stored<<<1, 32>>>(p);
  if (std::strcmp(what, "patient") == 0) patient<<<1, 32>>>(p);
  if (std::strcmp(what, "handles") == 0) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaEvent_t events[2];
    for (cudaEvent_t& event : events) cudaEventCreate(&event);
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    cudaEventDestroy(events[1]);
  }
  if (std::strcmp(what, "host") == 0) for (volatile int i = 0;; i = i + 1) {}
  if (std::strncmp(what, "refused", 7) == 0) store<<<1, 2048>>>(p, 0);
  if (std::strcmp(what, "refused-seen") == 0) cudaGetLastError();
  if (std::strcmp(what, "refused-told") == 0) return 3;
  if (std::strcmp(what, "abort") == 0) std::abort();
  if (std::strcmp(what, "term") == 0) std::raise(SIGTERM);
  if (std::strcmp(what, "copy") == 0) cudaMemset(p, 0, 128);
  cudaDeviceSynchronize();
  if (std::strcmp(what, "leak") != 0) cudaFree(p);
  return 0;
}
"""
# Host code with lines: where each call is made.
CALLS = """
#include <cstring>
__device__ void put(int* p, int i) { p[i] = 1; }
__global__ void store(int* p, int i) { put(p, i); } __global__ void branch(int* p) { if (p[0] > 0) p[1] = 1; }
__global__ void pair(volatile int* p) {
  while (p[threadIdx.x] == 0) {
  }
}
static void helper(int* p, const char* what) {
  if (std::strcmp(what, "fault") == 0) store<<<1, 32>>>(p, 1000);      // line 10
  if (std::strcmp(what, "refused") == 0) store<<<1, 2048>>>(p, 0);     // line 11
  if (std::strcmp(what, "pair") == 0) pair<<<1, 2>>>(p);               // line 12
  if (std::strcmp(what, "twice") == 0) cudaFree(p);                    // line 13
  if (std::strcmp(what, "host") == 0) *p = 1;                          // line 14
  if (std::strcmp(what, "race") == 0) store<<<1, 64>>>(p, 0);          // line 15
  if (std::strcmp(what, "garbage") == 0) branch<<<1, 1>>>(p);          // line 16
}
int main(int argc, char** argv) {
  int* p;
  cudaMalloc(&p, 64);
  if (std::strcmp(argv[1], "garbage") != 0) cudaMemset(p, 0, 64);
  helper(p, argv[1]);  // line 22
  cudaDeviceSynchronize();
  cudaFree(p);
  return 0;
}
"""
FLAGS = """
__global__ void first(volatile int* p) {
  while (p[0] == 0) {
  }
}
__global__ void second(volatile int* p) {
  while (p[1] == 0) {
  }
}
int main(int argc, char**) {
  int *p, *other;
  cudaMallocHost(&p, 64);
  p[0] = p[1] = 0;
  first<<<1, 1>>>(p);
  cudaMalloc(&other, 64);
  *static_cast<volatile int*>(p) = 1;
  if (argc == 1) second<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  return 0;
}
"""
# What becomes of the code that a refused call returns: the comment says whether it is dropped.
ERRORS = """
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
__global__ void k(int* p) { p[0] = 1; }
cudaError_t kept;
static cudaError_t pass_on(int* p) { return cudaMemset(p, 2, 4096); }
static bool failed(cudaError_t code) { return code != cudaSuccess; }
static void look(const cudaError_t* code) { if (*code != cudaSuccess) std::puts("failed"); }
int main(int, char** argv) {
  int* p;
  if (cudaMalloc(&p, 64) != cudaSuccess) return 2;
  switch (std::atoi(argv[1])) {
  case 1: cudaSetDevice(99); break;                                        // dropped
  case 2: { int* q; cudaMalloc(&q, size_t{1} << 50); break; }              // dropped
  case 3: cudaMemset(p, 0, 4096); break;                                   // dropped
  case 4: cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(0x1234)); break; // dropped
  case 5: pass_on(p); break;                                               // dropped
  case 6: { cudaError_t code = cudaMemset(p, 1, 4096); (void)code; break; } // dropped
  case 7: k<<<1, 4096>>>(p); break;                                        // dropped
  case 8: cuMemsetD8(reinterpret_cast<CUdeviceptr>(p), 0, 4096); break;    // dropped
  case 9: if (cudaMemset(p, 0, 4096) != cudaSuccess) std::puts("failed"); break;
  case 10: if (failed(cudaMemset(p, 0, 4096))) std::puts("failed"); break;
  case 11: { cudaError_t code = cudaMemset(p, 0, 4096); if (code) std::puts("failed"); break; }
  case 12: std::printf("%d", cudaMemset(p, 0, 4096)); break;
  case 13: kept = cudaMemset(p, 0, 4096); break;
  case 14: if (pass_on(p) == cudaErrorInvalidValue) std::puts("failed"); break;
  case 15: { cudaError_t code = cudaMemset(p, 0, 4096); look(&code); break; }
  case 16: cudaSetDevice(99); std::puts(cudaGetErrorString(cudaGetLastError())); break;
  case 17: { int* q; if (cudaMalloc(&q, size_t{1} << 50) == cudaErrorMemoryAllocation) break; return 3; }
  case 18: if (cuMemsetD8(reinterpret_cast<CUdeviceptr>(p), 0, 4096) != CUDA_SUCCESS) std::puts("failed"); break;
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""
# A thread that belongs to nobody, and a pool whose workers have nothing to do, beside a kernel that hangs.
THREADS = """
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>
#include <unistd.h>
__global__ void spin(volatile int* p) {
  while (*p == 0) {
  }
}
int main(int argc, char**) {
  int* p;
  cudaMallocManaged(&p, 64);
  *p = 0;
  std::mutex mutex;
  std::condition_variable work;
  std::thread([] { for (;;) pause(); }).detach();
  std::vector<std::thread> pool;
  for (int i = 0; i < 2; ++i)
    pool.emplace_back([&] {
      std::unique_lock lock(mutex);
      work.wait(lock, [] { return false; });
    });
  if (argc > 2) std::thread([] { for (;;) usleep(1000); }).detach();
  else if (argc > 1)  // this one acts, after a while
    pool.emplace_back([p] {
      sleep(4);
      *reinterpret_cast<volatile int*>(p) = 1;
    });
  spin<<<1, 1>>>(p);
  const cudaError_t code = cudaDeviceSynchronize();
  _exit(code == cudaSuccess ? 0 : 1);
}
"""
# The end of a program that waits for its work, or does not: a number says which.
PENDING = """
#include <cstdlib>
__global__ void store(int* p, int i) { p[i] = 1; }
__global__ void spin(int* p) {
  while (atomicAdd(p, 0) == 0) {
  }
}
int main(int, char** argv) {
  int *p, value;
  cudaMalloc(&p, 64);
  cudaMemset(p, 0, 64);
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaEvent_t done;
  cudaEventCreate(&done);
  cudaDeviceSynchronize();
  const int what = std::atoi(argv[1]);
  if (what == 2) spin<<<1, 1, 0, s>>>(p);
  else store<<<1, 1, 0, s>>>(p, what == 1 ? 1000 : 0);
  switch (what) {
  case 3: cudaDeviceSynchronize(); break;
  case 4: cudaFree(p); break;
  case 5: cudaStreamSynchronize(s); break;
  case 6: cudaEventRecord(done, s); cudaEventSynchronize(done); break;
  case 7: while (cudaStreamQuery(s) == cudaErrorNotReady) {} break;
  case 8: cudaEventRecord(done, s); cudaStreamWaitEvent(0, done); cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost); break;
  case 9: cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost); break;
  }
  return what == 10;
}
"""


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = SameFolder("cli.run")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = cls.folder.path
        (cls.root / "app.cu").write_text(PROGRAM)
        (cls.root / "threads.cu").write_text(THREADS)
        (cls.root / "calls.cu").write_text(CALLS)
        (cls.root / "calls_and_flags.cu").write_text(FLAGS)
        (cls.root / "errors.cu").write_text(ERRORS)
        (cls.root / "pending.cu").write_text(PENDING)

    def heddle(self, *arguments, status, command="run", flags=None):
        environment = dict(os.environ, **({"HEDDLE_FLAGS": flags} if flags else {}))
        done = subprocess.run([HEDDLE, command, *arguments], capture_output=True, text=True, cwd=self.root,
                              timeout=120, env=environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def report(self, *arguments, status, format="json"):
        self.heddle(f"--format={format}", "-o", "report", *arguments, status=status)
        return (self.root / "report").read_text()

    def test_a_report_goes_to_a_file_and_the_output_stays_the_programs(self):
        done = self.heddle("--format=json", "-o", "report.json", "app.cu", "--", "fault", status=1)
        self.assertEqual(done.stdout, "the program speaks\n")
        self.assertIn("error[out-of-bounds]", done.stderr)
        result = json.loads((self.root / "report.json").read_text())
        self.assertEqual((result["verdict"], result["exit_status"]), ("defect", 0))  # the program's own
        (finding,) = result["findings"]
        self.assertEqual((finding["code"], finding["severity"], finding["locations"][0]["line"]), ("out-of-bounds", "error", 5))
        clean = json.loads(self.report("app.cu", status=0))
        self.assertEqual((clean["verdict"], clean["findings"]), ("clean", []))
        done = self.heddle("--format=json", "app.cu", "--", "fault", status=1)
        self.assertEqual(done.stdout, "the program speaks\n")
        self.assertEqual(json.loads(done.stderr)["findings"], result["findings"])
        self.assertIn('"verdict": "clean"', self.heddle("--format=json", "-o", "-", "app.cu", status=0).stdout)

    def test_programs_that_monitors_once_spoilt(self):
        """Calls in destructors of static objects (both commands crashed), and memory that is mapped elsewhere with its contents."""
        folder = pathlib.Path(__file__).resolve().parents[1] / "run"
        for name in ("static_objects", "driver_graphs_and_memory"):
            with self.subTest(name):
                done = self.heddle("--races", "--uninitialised", str(folder / f"{name}.cu"), status=0)
                self.assertEqual((done.stdout, re.findall(r"(?:error|warning)\[.*", done.stderr)), ((folder / f"{name}.out").read_text(), []))
        self.assertIn(": terminates under every schedule", self.heddle("--max-time=60", str(folder / "static_objects.cu"), command="check", status=0).stdout)

    def test_the_other_forms(self):
        run = json.loads(self.report("app.cu", "--", "fault", status=1, format="sarif"))["runs"][0]
        self.assertEqual((run["tool"]["driver"]["name"], len(run["results"])), ("heddle run", 1))
        suite = xml.fromstring(self.report("app.cu", "--", "fault", status=1, format="junit")).find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("1", "1", "0"))
        self.assertEqual(suite.find("testcase/failure").get("type"), "out-of-bounds")
        self.assertIn("app.cu:5", suite.find("testcase/failure").text)
        suite = xml.fromstring(self.report("app.cu", status=0, format="junit")).find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "0"))
        text = self.report("app.cu", "--", "fault", status=1, format="text")
        self.assertIn("app.cu: defect: 1 finding in one execution, exit status 0", text)

    def test_check_writes_files_too(self):
        self.heddle("--format=junit", "-o", "junit.xml", "app.cu", command="check", status=0)
        suite = xml.parse(self.root / "junit.xml").getroot().find("testsuite")
        self.assertEqual((suite.get("name"), suite.get("failures")), ("heddle check", "0"))
        self.heddle(*SHORT, "--max-states=50", "--no-cone", "--format=junit", "-o", "junit.xml", "app.cu", "--",
                    "stored", command="check", status=4)
        suite = xml.parse(self.root / "junit.xml").getroot().find("testsuite")
        self.assertEqual((suite.get("failures"), suite.get("errors")), ("0", "1"))
        self.assertIn("cannot write", self.heddle("-o", "no/such/folder", "app.cu", command="check", status=2).stderr)

    def test_a_program_is_called_as_nvcc_would_have_named_it(self):
        (self.root / "usage.cu").write_text("""#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>
int main(int, char** argv) {
  char own[4096];
  const long bytes = readlink("/proc/self/exe", own, sizeof own);
  printf("usage: %s N\\n", argv[0]);
  cudaFree(nullptr);
#ifdef STARTS
  if (getenv("AGAIN") == nullptr) {
    setenv("AGAIN", "1", 1);
    fflush(stdout);
    execv(argv[0], argv);
  }
#endif
  return bytes < 8 || own[0] != '/' || strcmp(argv[0], program_invocation_name) != 0;
}
""")
        self.assertEqual(self.heddle("usage.cu", status=0).stdout, "usage: ./usage N\n")
        self.assertEqual(self.heddle("--format=json", "-o", "report", "usage.cu", status=0).stdout, "usage: ./usage N\n")
        self.heddle("usage.cu", command="check", status=0)
        self.assertTrue(self.heddle("usage.cu", command="test", status=0).stdout.startswith("usage: ./usage N\n"))
        # It may start itself again by that name, so it keeps the one that leads there.
        again = self.heddle("--nvcc=-DSTARTS", "usage.cu", status=0).stdout.splitlines()
        self.assertEqual((len(again), len(set(again))), (2, 1), again)
        self.assertRegex(again[0], r"^usage: /.* N$")

    def test_a_limit_on_addresses_is_the_environments(self):
        self.heddle("app.cu", status=0)  # compiled
        for command in ("run", "check"):
            limited = ["bash", "-c", 'ulimit -v 40000000; exec "$@"', "bash", HEDDLE, command, "app.cu"]
            done = subprocess.run(limited, capture_output=True, text=True, cwd=self.root, timeout=120, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("this process may use 40000000 KiB of addresses (ulimit -v)", done.stderr)
            self.assertNotIn("defect", done.stderr)
            self.assertEqual(done.stderr.count("heddle: error:"), 1)

    def test_races_that_the_compiler_has_removed(self):
        (self.root / "dead.cu").write_text("""
__global__ void k(int* p, int* out) {
  int unused = p[threadIdx.x];
  if (threadIdx.x == 0) p[1] = 5;
  out[threadIdx.x] = 1;
}
int main() {
  int* p;
  cudaMalloc(&p, 512);
  cudaMemset(p, 0, 512);
  k<<<1, 64>>>(p, p + 64);
  cudaDeviceSynchronize();
}
""")
        self.assertEqual(self.heddle("--races", "dead.cu", status=0).stderr.count("error["), 0)
        done = self.heddle("--races", "--source", "dead.cu", status=1)
        self.assertEqual(done.stderr.count("error[data-race]"), 1)
        self.assertIn("dead.cu:4", done.stderr)
        self.assertIn("seen in the build without optimisation only (nvcc -G)", done.stderr)
        self.assertRegex(done.stderr, r"11 \|   k<<<1, 64>>>\(p, p \+ 64\);\n.*launched from here")
        self.assertIn("needs --races and a .cu file", self.heddle("--source", "dead.cu", status=2).stderr)

    def test_the_death_of_the_program_is_told(self):
        found = json.loads(self.report("app.cu", "--", "abort", status=134))
        self.assertEqual((found["verdict"], found["exit_status"]), ("defect", 134))
        self.assertEqual([(f["code"], f["rule"]) for f in found["findings"]], [("host-crash", "CRASH")])
        self.assertIn("ended by signal 6 (Aborted)", found["findings"][0]["message"])
        self.heddle("app.cu", "--", "term", status=143)
        found = json.loads(self.report("app.cu", "--", "term", status=143))
        self.assertNotEqual(found["verdict"], "clean")

    def test_a_report_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            for arguments in (["check", "app.cu"], ["check", "--format=json", "app.cu"], ["--help"]):
                done = subprocess.run([HEDDLE, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, cwd=self.root, timeout=120, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn("cannot write to standard output", done.stderr)
            done = subprocess.run([HEDDLE, "run", "--format=json", "app.cu"], stdout=subprocess.DEVNULL, stderr=full, cwd=self.root, timeout=120, check=False)
            self.assertEqual(done.returncode, 2)
        done = self.heddle("-o", "/dev/full", "app.cu", command="check", status=2)
        self.assertIn("cannot write '/dev/full': No space left on device; the result is on standard output", done.stderr)
        self.assertIn("terminates under every schedule", done.stdout)
        self.assertIn("is not a file", self.heddle("--write-baseline=/dev/full", "app.cu", "--", "fault", status=2).stderr)

    def test_a_seed_makes_time_virtual(self):
        for seed in ("--seed=0", "--seed=3"):
            first, second = (self.heddle(seed, "app.cu", "--", "stamps", status=0).stdout for _ in range(2))
            self.assertEqual(first, second)
            self.assertRegex(first, r"3 at \d+\n")

    def test_work_that_is_left_at_the_end(self):
        """[EXIT-PENDING]: it is carried out before the report, and one warning names it."""
        said = self.heddle("pending.cu", "--", "0", status=0).stderr
        self.assertIn("warning[unawaited]: the program ends without waiting for kernel 'store<<<1,1>>>'", said)
        self.assertIn("launched from here", said)
        self.assertRegex(self.heddle("pending.cu", "--", "1", status=1).stderr, r"^pending\.cu:3:\d+: error\[out-of-bounds\]")
        self.assertIn("it did not end either", self.heddle("pending.cu", "--", "2", status=0).stderr)
        for waits in range(3, 9):
            with self.subTest(waits):
                self.assertEqual(self.heddle("pending.cu", "--", str(waits), status=0).stderr, "")
        # The copy is in the default stream, for which a stream that does not block does not wait.
        said = self.heddle("pending.cu", "--", "9", status=1).stderr
        self.assertIn("error[data-race]", said)
        self.assertIn("warning[unawaited]", said)
        # It says by itself that something is wrong.
        self.assertEqual(self.heddle("pending.cu", "--", "10", status=1).stderr,
                         "heddle: exit status 1; data races, uninitialised memory and other schedules were not looked at: "
                         "heddle pending.cu -- 10\n")

    def test_a_heap_that_is_destroyed_before_the_first_call(self):
        """malloc ends the program inside of Heddle: one line of the C library, and its exit status."""
        (self.root / "corrupt.cu").write_text(
            "#include <cstdlib>\n#include <cstring>\n"
            "int main() {\n  char* volatile a = (char*)std::malloc(24);\n  std::memset(a, 0xff, 4096);\n  int* d;\n  cudaMalloc(&d, 4);\n}\n")
        said = self.heddle("corrupt.cu", status=-signal.SIGABRT).stderr.splitlines()
        self.assertRegex(said.pop(), "^malloc")
        self.assertFalse([line for line in said if line.startswith("malloc")], said)

    def test_fences_of_compiled_code_that_two_monitors_watch(self):
        """A barrier of the grid by fences and volatile reads orders, whichever monitors watch it."""
        program = pathlib.Path(__file__).resolve().parents[1] / "check/idioms/cone.cu"
        for monitors in (["--races"], ["--uninitialised"], ["--races", "--uninitialised"]):
            for seed in range(3):
                self.heddle(*monitors, "--jit=always", f"--seed={seed}", str(program), "--", "exchange", "64", status=0)

    def test_leaks(self):
        done = self.heddle("--leaks", "app.cu", "--", "leak", status=1)
        self.assertRegex(done.stderr, r"app\.cu:\d+:\d+: error\[leak\]: 64 bytes in 1 allocation were not freed")
        self.assertRegex(done.stderr, r"\| +cudaMalloc\(&p, 64\);\n.*device memory is allocated here")
        done = self.heddle("--leaks", "app.cu", "--", "handles", status=0)
        self.assertIn("warning[leak]: not destroyed before the program ended: 1 stream, 1 event, 1 graph\n", done.stderr)
        self.assertEqual(self.heddle("--leaks", "app.cu", status=0).stderr, "")
        self.assertEqual(self.heddle("app.cu", "--", "leak", status=0).stderr, "")

    def test_a_time_limit_says_who_spins_where(self):
        done = self.heddle("--max-time=1", "app.cu", "--", "stored", status=4)
        self.assertIn("warning[time-limit]", done.stderr)
        self.assertRegex(done.stderr, r"app\.cu:36: thread .* spins")
        self.assertRegex(done.stderr, r"kernel 'stored<<<1,32>>>'")
        done = self.heddle("--max-time=1", "--seed=1", "app.cu", "--", "stored", status=4)
        self.assertRegex(done.stderr, r"app\.cu:36: thread .* spins")
        self.assertIn("no device work is under way", self.heddle("--max-time=1", "app.cu", "--", "host", status=4).stderr)
        self.assertEqual(json.loads(self.report("--max-time=1", "app.cu", "--", "stored", status=4))["verdict"], "unknown")
        self.heddle("--max-time=50", "app.cu", status=0)

    def test_a_livelock_that_counts_its_rounds(self):
        for more in ([], ["--seed=1"]):
            # A count in a register decides nothing, unless it is looked at.
            done = self.heddle(*more, "app.cu", "--", "tally", status=1)
            self.assertRegex(done.stderr, r"app\.cu:1[67]:\d+: error\[livelock\]: the program hangs")
            self.assertEqual(self.heddle(*more, "app.cu", "--", "patient", status=0).stderr, "")
            done = self.heddle(*more, "app.cu", "--", "count", status=1)
            self.assertRegex(done.stderr, r"app\.cu:1[1-3]:\d+: error\[livelock\]: the program hangs")
            self.assertIn("thread (0,0,0) of block (0,0,0) of kernel 'count<<<1,32>>>' and 31 more: spins", done.stderr)
            # Not if somebody looks at the count.
            self.assertEqual(self.heddle(*more, "app.cu", "--", "counted", status=0).stderr, "")

    def test_a_hang_is_told_although_other_host_threads_exist(self):
        done = self.heddle("threads.cu", status=1)
        self.assertRegex(done.stderr, r"threads\.cu:8:\d+: error\[livelock\]")
        # Not while one of them may still write what the kernel waits for.
        self.assertEqual(self.heddle("threads.cu", "--", "acts", status=0).stderr, "")
        # What only one that does something now and then could end is a warning.
        done = self.heddle("--max-time=9", "threads.cu", "--", "sleeps", "often", status=4)
        self.assertRegex(done.stderr, r"threads\.cu:8:\d+: warning\[livelock\]: no device thread can advance by itself: unless a host thread acts")
        self.assertIn("launched from here", done.stderr)

    def test_an_error_that_nobody_has_looked_at_is_a_defect(self):
        done = self.heddle("app.cu", "--", "refused", status=1)
        self.assertIn("warning[api-misuse]: a launch of store(int*, int) does not take place", done.stderr)
        self.assertIn("error[api-misuse]: a launch of store(int*, int) does not take place", done.stderr)
        self.assertIn("without having asked for the error code", done.stderr)
        # The rest is told once: at the end, a line says what the warning has become.
        self.assertEqual(done.stderr.count("the launch returns cudaErrorInvalidValue"), 1)
        self.assertEqual(done.stderr.count("called here"), 1)
        self.assertRegex(done.stderr, r"app\.cu:\d+:1: error\[api-misuse\]: a launch of store\(int\*, int\) does not take place, as warned of above: "
                                      r"the program has ended without having asked for the error code\n  = help: .*\n$")
        strict = self.heddle("--warnings-as-errors", "app.cu", "--", "refused", status=1)
        self.assertEqual(strict.stderr.count("error["), 1)
        self.assertEqual(len(json.loads(self.report("--warnings-as-errors", "app.cu", "--", "refused", status=1))["findings"]), 1)
        findings = json.loads(self.report("app.cu", "--", "refused", status=1))["findings"]
        self.assertEqual([f["severity"] for f in findings], ["error"])
        self.assertNotIn("error[", self.heddle("app.cu", "--", "refused-seen", status=0).stderr)
        self.assertNotIn("error[", self.heddle("app.cu", "--", "refused-told", status=3).stderr)
        self.assertIn("error[out-of-bounds]", self.heddle("app.cu", "--", "copy", status=1).stderr)
        done = self.heddle("app.cu", "--", "refused", command="check", status=1)
        self.assertRegex(done.stdout, r"app\.cu:\d+:\d+: error\[api-misuse\]: a launch of store")
        self.heddle("app.cu", "--", "refused-seen", command="check", status=0)

    def test_a_livelock_that_counts_its_rounds_is_named_by_check(self):
        for arguments in ((), ("--max-states=300",)):
            done = self.heddle(*arguments, "app.cu", "--", "count", command="check", status=1)
            self.assertRegex(done.stdout, r"app\.cu:1[12]:\d+: error\[livelock\]: the program hangs")
            self.assertRegex(done.stdout, r"thread .* of kernel 'count<<<1,32>>>'.* spin")
            self.assertIn("seen by: heddle run --seed=1", done.stdout)
            again = self.heddle(*arguments, "app.cu", "--", "count", command="check", status=1)
            self.assertEqual(done.stdout, again.stdout)
        # A register that counts decides nothing: without it the states come back.
        done = self.heddle("--max-states=300", "app.cu", "--", "tally", command="check", status=1)
        self.assertRegex(done.stdout, r"app\.cu:1[67]:\d+: error\[livelock\]: kernel 'tally<<<1,32>>>' may hang(.|\n)*heddle replay v1:")
        # A count that is stored makes them all different, those of a fair schedule too: this is no proof.
        arguments = ("--max-states=300", "--schedules=18", "--no-cone", "app.cu", "--", "stored")
        done = self.heddle(*arguments, command="check", status=4)
        self.assertRegex(done.stdout, r"app\.cu:36:\d+: warning\[livelock\]: every schedule still spins at line 36: 18 were tried")
        self.assertRegex(done.stdout, r"thread .* of kernel 'stored<<<1,32>>>'.* spin")
        self.assertIn("no defect found, but not everything was looked at", done.stdout)
        # Schedules that are cut off because there is much to do say nothing about spinning.
        done = self.heddle(*arguments[:-1], "busy", command="check", status=4)
        self.assertNotIn("livelock", done.stdout)
        self.assertIn("18 of them were cut off", done.stdout)

    def test_a_hang_without_the_api_assumption_comes_first(self):
        # The first kernel waits for a host that may stay inside a call; the second one for nobody.
        done = self.heddle("calls_and_flags.cu", command="check", status=1)
        first = done.stdout.split("error[")[1]
        self.assertIn("livelock]: kernel 'second<<<1,1>>>' may hang", first)
        self.assertIn("(--api=prompt)", first)
        self.assertIn("starvation]: kernel 'first<<<1,1>>>' may hang: it waits for the host thread", done.stdout.split("error[")[2])
        # Each hang by itself.
        done = self.heddle("calls_and_flags.cu", "--", "1", command="check", status=1)
        self.assertEqual(done.stdout.count("error["), 1)
        self.assertIn("= rule: [API]", done.stdout)

    def test_the_code_that_a_call_returns_is_looked_at_or_dropped(self):
        lines = ERRORS.splitlines()
        for optimised in ("-O0", "-O2"):
            for number in range(1, 100):
                at = next((i for i, line in enumerate(lines, 1) if f"case {number}:" in line), None)
                if at is None:
                    break
                dropped = "dropped" in lines[at - 1]
                done = self.heddle(f"--nvcc={optimised} -lcuda", "errors.cu", "--", str(number), status=1 if dropped else 0)
                if dropped:
                    self.assertRegex(done.stderr, rf"(?m)^ +{at} \|   case {number}:", number)
                    self.assertRegex(done.stderr, r"(?m)^errors\.cu:\d+:\d+: error\[", number)
                    self.assertIn("the program has ended without having asked for the error code", done.stderr)
                else:
                    self.assertNotIn("error[", done.stderr, number)
            self.assertGreater(number, 15)
        done = self.heddle("--nvcc=-lcuda", "errors.cu", "--", "1", command="check", status=1)
        self.assertRegex(done.stdout, r"errors\.cu:\d+:\d+: error\[api-misuse\]: cudaSetDevice fails")
        self.heddle("--nvcc=-lcuda", "errors.cu", "--", "9", command="check", status=0)
        done = self.heddle("--nvcc=-lcuda", "errors.cu", "--", "3", command="check", status=1)
        self.assertRegex(done.stdout, r"errors\.cu:\d+:\d+: error\[out-of-bounds\]: cudaMemset")

    def test_a_reused_mbarrier_is_one_finding(self):
        # Others still wait on it where thread 0 initialises it again. That its words race as well is no news.
        (self.root / "reused.cu").write_text("""#include <cuda/barrier>
using Barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void again(int* out) {
  __shared__ alignas(Barrier) char room[sizeof(Barrier)];
  Barrier& barrier = *reinterpret_cast<Barrier*>(room);
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    barrier.arrive_and_wait();
  }
}
// Not behind a barrier of the block: nobody waits yet, and it is a race.
__global__ void early(int* out) {
  __shared__ alignas(Barrier) char room[sizeof(Barrier)];
  Barrier& barrier = *reinterpret_cast<Barrier*>(room);
  if (threadIdx.x == 0) init(&barrier, 32);
  if (threadIdx.x >= 32) barrier.arrive();
}
int main(int argc, char**) {
  if (argc > 1) early<<<1, 64>>>(nullptr); else again<<<1, 64>>>(nullptr);
  return cudaDeviceSynchronize() != cudaSuccess;
}
""")
        finding, note = json.loads(self.report("--races", "reused.cu", status=1))["findings"]
        self.assertEqual((finding["code"], finding["severity"], note["severity"]), ("barrier-reused", "error", "note"))
        self.assertRegex(note["message"], r"\d data races? on the mbarrier that is reused (is|are) part of that finding")
        codes = [finding["code"] for finding in json.loads(self.report("--races", "reused.cu", "--", "early", status=1))["findings"]]
        self.assertIn("data-race", codes)
        self.assertNotIn("barrier-reused", codes)

    def test_exit_codes_that_ci_chooses(self):
        self.heddle("--error-exitcode=9", "app.cu", "--", "fault", status=9)
        self.heddle("--error-exitcode=9", "app.cu", "--", "refused", command="check", status=9)
        self.heddle("--warnings-as-errors", "app.cu", "--", "refused-seen", status=1)

    def lines(self, *arguments):
        """The places of the one finding of a run, as line and words."""
        (finding,) = json.loads(self.report("calls.cu", "--", *arguments, status=1))["findings"]
        return [(place["line"], place["text"]) for place in finding["locations"]]

    def test_each_finding_says_how_it_came_about(self):
        self.assertEqual(self.lines("fault"), [
            (3, "thread (0,0,0) of block (0,0,0) of kernel store<<<1,32>>>, with 31 more threads of its warp"),
            (4, "inlined from here"), (10, "launched from here"), (22, "called from here"), (20, "allocated here")])
        self.assertIn((24, "called here"), self.lines("twice"))
        self.assertEqual(self.lines("host"), [(14, "host code is here"), (22, "called from here"), (20, "allocated here")])
        self.assertIn("calls.cu:11:1: error[api-misuse]", self.heddle("calls.cu", "--", "refused", status=1).stderr)

    def test_monitors_say_where_kernels_are_launched(self):
        # The threads write the same value.
        (finding,) = json.loads(self.report("--races", "--same-value=error", "calls.cu", "--", "race", status=1))["findings"]
        self.assertEqual([(place["line"], place["text"]) for place in finding["locations"] if "launched" in place["text"]],
                         [(15, "launched from here")])
        (finding,) = json.loads(self.report("--uninitialized", "calls.cu", "--", "garbage", status=1))["findings"]
        self.assertIn((16, "launched from here"), [(place["line"], place["text"]) for place in finding["locations"]])

    def test_a_few_threads_that_wait_have_a_line_each(self):
        places = self.lines("pair")
        for thread in ("(0,0,0)", "(1,0,0)"):
            self.assertRegex(str(places), rf"\(6, .thread {re.escape(thread)} of block \(0,0,0\) of kernel 'pair<<<1,2>>>': spins")
        self.assertIn((12, "launched from here"), places)

    def test_flags_from_the_environment(self):
        done = self.heddle("app.cu", "--", "leak", status=7, flags="--leaks --error-exitcode=7 --max-states=5 --color=always")
        self.assertIn("\033[", done.stderr)
        self.assertNotIn("\033[", self.heddle("--color=never", "app.cu", "--", "fault", status=1, flags="--color=always").stderr)
        self.heddle(*SHORT, "app.cu", "--", "stored", command="check", status=4,
                    flags="--leaks --no-cone --max-states=50")
        done = self.heddle("app.cu", status=2, flags="--nonsense")
        self.assertIn("HEDDLE_FLAGS: '--nonsense'", done.stderr)

    def test_both_spellings(self):
        for word in ("--uninitialised", "--uninitialized"):
            self.heddle(word, "app.cu", status=0)


if __name__ == "__main__":
    unittest.main()

"""Compiled code in `heddle run`: when it takes the interpreter's place, where it is kept, and what happens when it
cannot be made. A kernel that runs long is enough for all of it. No result may depend on any of this."""
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import unittest

HEDDLE = pathlib.Path(os.environ["HEDDLE"])
NVCC = os.environ["HEDDLE_NVCC"]
LIBRARIES = HEDDLE.parent.parent / "lib"

PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
__global__ void spin(unsigned* out, int rounds) {
  unsigned h = threadIdx.x;
  for (int i = 0; i < rounds; ++i) {
    h = h * 0x85ebca6bu + (h >> 13);
    if (h % 3 == 0) { h ^= i; }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = h;
}
int main(int argc, char** argv) {
  unsigned* p;
  cudaMalloc(&p, 512);
  spin<<<1, 128>>>(p, argc > 1 ? atoi(argv[1]) : 3000000);
  unsigned host[128], sum = 0;
  cudaMemcpy(host, p, 512, cudaMemcpyDeviceToHost);
  for (unsigned value : host) { sum = sum * 31 + value; }
  printf("%u %d\n", sum, (int)cudaGetLastError());
}
"""


# Rows of 33 columns: in most warps lanes are in two rows.
ROWS = r"""
#include <cstdio>
__global__ void rows(unsigned* out, const unsigned* in, int width) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = i / width, column = i % width;
  unsigned sum = 0;
  for (int k = 0; k < 200; ++k) sum += in[(row + k) % 64 * 64 + column % 64] * k;
  out[i] = sum;
}
int main() {
  unsigned *in, *out;
  cudaMallocManaged(&in, 64 * 64 * 4);
  cudaMallocManaged(&out, 1 << 18);
  for (int i = 0; i < 64 * 64; ++i) in[i] = i * 2654435761u;
  for (int width = 33; width < 36; ++width) {
    for (int round = 0; round < 3; ++round) rows<<<256, 256>>>(out, in, width);
    cudaDeviceSynchronize();
    unsigned sum = 0;
    for (int i = 0; i < 1 << 16; ++i) sum = sum * 31 + out[i];
    printf("%u\n", sum);
  }
}
"""


# A kernel and launches: BLOCKS COLUMNS ROWS ROUNDS …
LAUNCHES = r"""
#include <cstdio>
#include <cstdlib>
__global__ void spin(unsigned* out, int rounds) {
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  unsigned h = thread;
  for (int i = 0; i < rounds; ++i) h = h * 0x85ebca6bu + (h >> 13);
  atomicAdd(&out[thread], h + threadIdx.y);
}
int main(int argc, char** argv) {
  unsigned* p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  for (int n = 1; n + 3 < argc; n += 4) {
    spin<<<atoi(argv[n]), dim3(atoi(argv[n + 1]), atoi(argv[n + 2]))>>>(p, atoi(argv[n + 3]));
  }
  unsigned host[1024], sum = 0;
  cudaMemcpy(host, p, 4096, cudaMemcpyDeviceToHost);
  for (unsigned value : host) { sum = sum * 31 + value; }
  printf("%u %d\n", sum, (int)cudaGetLastError());
}
"""


# Two kernels that run long, the second queued behind the first.
QUEUED = r"""
#include <cstdio>
template <int N> __global__ void spin(unsigned* out) {
  unsigned h = threadIdx.x;
  for (int i = 0; i < 400; ++i) h = h * 0x85ebca6bu + (h >> N);
  atomicAdd(&out[N], h);
}
int main() {
  unsigned* p;
  cudaMallocManaged(&p, 64);
  spin<3><<<1 << 15, 256>>>(p);
  spin<5><<<1 << 15, 256>>>(p);
  spin<7><<<1, 32>>>(p);
  cudaDeviceSynchronize();
  printf("%u %u %u\n", p[3], p[5], p[7]);
}
"""


class Compiled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        source = pathlib.Path(cls.folder.name) / "spin.cu"
        source.write_text(PROGRAM)
        cls.program = source.with_suffix("")
        subprocess.run([NVCC, "-cudart", "shared", "-arch=sm_90", "-o", cls.program, source], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        launches = source.with_name("launches.cu")
        launches.write_text(LAUNCHES)
        cls.launches = launches.with_suffix("")
        subprocess.run([NVCC, "-cudart", "shared", "-arch=sm_90", "-o", cls.launches, launches], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        queued = source.with_name("queued.cu")
        queued.write_text(QUEUED)
        cls.queued = queued.with_suffix("")
        subprocess.run([NVCC, "-cudart", "shared", "-arch=sm_90", "-o", cls.queued, queued], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.expected = cls.run_tool(cls.folder.name, "--jit=never").stdout

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_tool(cls, cache, *flags, arguments=(), program=None, **options):
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "HEDDLE_JIT_SHOW": "tiers"}
        environment.pop("HEDDLE_JIT", None)
        return subprocess.run([HEDDLE, "run", *flags, program or cls.program, *arguments], env=environment, capture_output=True,
                              text=True, timeout=120, **options)

    def run_with(self, cache, compiler, **options):
        """The program by itself, with a compiler of our own."""
        environment = {**os.environ, "LD_LIBRARY_PATH": str(LIBRARIES), "HEDDLE_JIT": "hot", "HEDDLE_JIT_SHOW": "tiers",
                       "HEDDLE_JIT_CACHE": str(cache), "HEDDLE_JIT_COMPILER": str(compiler)}
        return subprocess.run([self.program], env=environment, capture_output=True, text=True, timeout=120, **options)

    def script(self, text):
        path = pathlib.Path(tempfile.mkdtemp(dir=self.folder.name)) / "compiler"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    def new_cache(self):
        return tempfile.mkdtemp(dir=self.folder.name)

    def test_takes_over_while_the_kernel_runs_and_is_found_again(self):
        cache = self.new_cache()
        rounds = ("20000000",)  # far longer than it takes to compile the kernel, on a machine with other work, too
        expected = self.run_tool(self.new_cache(), "--jit=always", arguments=rounds).stdout
        first = self.run_tool(cache, "--jit=hot", arguments=rounds)
        self.assertEqual(first.stdout, expected)
        self.assertIn("requested", first.stderr)
        self.assertIn("installed", first.stderr)
        second = self.run_tool(cache, "--jit=hot", arguments=rounds)
        self.assertEqual(second.stdout, expected)
        self.assertIn("installed", second.stderr)
        self.assertNotIn("requested", second.stderr)

    @staticmethod
    def on_one_processor():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    def test_what_is_to_come_decides_on_one_processor(self):
        little = "40 128 1 4000".split()  # about 80 million instructions: more than half of what compiling costs
        for name, arguments, requested in (("little", little, False), ("much", "400 128 1 20000".split(), True),
                                           ("launches", little * 30, True)):
            with self.subTest(name):
                done = self.run_tool(self.new_cache(), arguments=arguments, program=self.launches, preexec_fn=self.on_one_processor)
                self.assertEqual("requested" in done.stderr, requested, done.stderr)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "a kernel waits for its image on one processor")
    def test_what_is_queued_is_compiled_meanwhile(self):
        cache = self.new_cache()
        done = self.run_tool(cache, program=self.queued)
        expected = self.run_tool(self.new_cache(), "--jit=never", program=self.queued)
        self.assertEqual((done.stdout, done.returncode), (expected.stdout, 0))
        told = re.findall(r"heddle-jit: \w*spinILi(\d)E\w*: (.*)", done.stderr)
        # The second before the first, which takes far longer than its image, has its own; the third is not worth it.
        self.assertEqual(told[:2], [("3", "requested"), ("5", "requested")])
        self.assertNotIn("7", [kernel for kernel, _ in told])
        again = self.run_tool(cache, program=self.queued)
        self.assertEqual(again.stdout, expected.stdout)
        told = re.findall(r"heddle-jit: \w*spinILi(\d)E\w*: (.*)", again.stderr)
        self.assertEqual(sorted(told), [("3", "installed"), ("5", "installed")])

    def test_blocks_of_several_shapes(self):
        arguments = "3 256 1 50 3 16 9 50 2 100 1 50 2 20 3 50 2 64 2 50".split()
        results = {}
        for jit in ("--jit=never", "--jit=always"):
            results[jit] = self.run_tool(self.new_cache(), jit, arguments=arguments, program=self.launches)
        self.assertEqual(results["--jit=always"].stdout, results["--jit=never"].stdout)
        self.assertEqual(results["--jit=always"].stderr.count("has blocks of another shape"), 2)
        self.assertEqual(results["--jit=always"].stderr.count("installed"), 3)

    def test_one_processor_is_left_to_the_compiler(self):
        for name, text, said in (("waits", ': > "$2.new"; mv "$2.new" "$2"\n', "has waited"),
                                 ("not for ever", "exit 1\n", "takes too long")):
            with self.subTest(name):
                done = self.run_with(self.new_cache(), self.script(text), preexec_fn=self.on_one_processor)
                self.assertEqual((done.stdout, done.returncode), (self.expected, 0))
                self.assertIn("requested", done.stderr)
                self.assertIn(said, done.stderr)

    def test_always_waits_for_the_compiler(self):
        done = self.run_tool(self.new_cache(), "--jit=always")
        self.assertEqual(done.stdout, self.expected)
        self.assertIn("installed", done.stderr)

    def test_a_schedule_with_a_seed_is_the_same_compiled(self):
        cache = self.new_cache()
        for jit in ("--jit=never", "--jit=always"):
            self.assertEqual(self.run_tool(cache, "--seed=3", jit).stdout, self.expected)

    def test_code_that_guesses_badly_is_replaced(self):
        source = pathlib.Path(self.folder.name) / "rows.cu"
        source.write_text(ROWS)
        results = {}
        for jit in ("never", "always"):
            done = subprocess.run([HEDDLE, "run", f"--jit={jit}", source], capture_output=True, text=True, timeout=120,
                                  env={**os.environ, "XDG_CACHE_HOME": self.new_cache(), "HEDDLE_JIT_SHOW": "tiers"})
            self.assertEqual(done.returncode, 0, done.stderr)
            results[jit] = done
        self.assertEqual(results["always"].stdout, results["never"].stdout)
        self.assertRegex(results["always"].stderr, r"(?s)installed.*guesses badly.*installed")

    def test_two_processes_at_once(self):
        cache = self.new_cache()
        results = []
        threads = [threading.Thread(target=lambda: results.append(self.run_tool(cache, "--jit=hot"))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([result.stdout for result in results], [self.expected] * 2)
        left = [name.name for name in pathlib.Path(cache).rglob("*") if "image." in name.name]
        self.assertEqual(left, [], "nothing but images stays in the cache")

    def test_a_cache_that_cannot_be_written(self):
        cache = pathlib.Path(self.new_cache()) / "file"
        cache.write_text("")
        done = self.run_with(cache / "kernels", HEDDLE.parent / "heddle-jit")
        self.assertEqual((done.stdout, done.returncode), (self.expected, 0))
        self.assertNotIn("installed", done.stderr)

    def test_compilers_that_fail(self):
        for name, compiler in (("missing", "/nonexistent/heddle-jit"),
                               ("killed", self.script("kill -9 $$\n")),
                               ("rubbish", self.script('echo rubbish > "$2.new"; mv "$2.new" "$2"\n')),
                               ("nothing", self.script(': > "$2"\n'))):
            with self.subTest(name):
                done = self.run_with(self.new_cache(), compiler)
                self.assertEqual((done.stdout, done.returncode), (self.expected, 0))
                self.assertNotIn("installed", done.stderr)


if __name__ == "__main__":
    unittest.main()

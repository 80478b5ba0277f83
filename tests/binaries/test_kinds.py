"""Binaries as they come out of ordinary builds: a runtime library inside the program, inside a shared
library that it is linked with or loads, inside several at a time; stripped; without -lineinfo.

HEDDLE is the program under test, CC a C compiler, HEDDLE_NVCC nvcc (without it the tests that compile
CUDA are skipped). What needs no kernel is made of C with NVIDIA's names, for runtime libraries that the
toolkit does not have (CUDA 12, CUDA 11).
"""
import os
import pathlib
import subprocess
import tempfile
import unittest

HEDDLE = os.environ["HEDDLE"]
CC = os.environ.get("CC", "cc")
NVCC = os.environ.get("HEDDLE_NVCC")

# What a program looks like to whoever finds NVIDIA's archive in it. Each function must be replaced, or
# else the program says 99; cudaCheck is the program's own, and must not.
FAKE_RUNTIME = """
#include <stdio.h>
__attribute__((noinline, aligned(16), used)) static int libcudart_static_0123(void) { return 1; }
#define API __attribute__((noinline, aligned(16), used))
volatile int not_replaced = 99;  /* which no compiler puts into the callers */
API int %(version_name)s(void* p) { return p == 0 ? not_replaced : 1; }
API static int cudaRuntimeGetVersion(int* version) { return *version = not_replaced; }
API static int cudaLaunchKernel(void) { return not_replaced; }
API static int cudaCheck(void) { return not_replaced - 57; }
int main(void) {
  int version = 0;
  int code = cudaRuntimeGetVersion(&version);
  printf("%%d %%d %%d\\n", code, version / 1000, cudaCheck());
  return 0;
}
"""

KERNEL = """
#include <cstdio>
__global__ void twice(int* p) { p[threadIdx.x] *= 2; }
extern "C" __attribute__((visibility("default"))) int %(function)s(int value) {
  int* p;
  if (cudaMallocManaged(&p, 32 * sizeof(int)) != cudaSuccess) return -1;
  for (int i = 0; i < 32; ++i) p[i] = value;
  twice<<<1, 32>>>(p);
  int code = cudaDeviceSynchronize();
  int result = code == 0 ? p[31] : -code;
  cudaFree(p);
  return result;
}
"""


class Kinds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")
        return name

    def run_tool(self, *command):
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")

    def heddle(self, *arguments):
        return subprocess.run([HEDDLE, *arguments], cwd=self.root, capture_output=True, text=True, timeout=120)

    def expect(self, done, output, code=0):
        self.assertEqual((done.stdout, done.returncode), (output, code), done.stderr)


class Names(Kinds):
    """Which runtime library stands in for which."""

    def fake(self, version_name, *flags):
        self.write("app.c", FAKE_RUNTIME % {"version_name": version_name})
        self.run_tool(CC, "-O1", *flags, "app.c", "-o", "app")

    def test_version_13(self):
        for flags in (["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]):
            self.fake("cudaGetDeviceProperties", *flags)
            self.expect(self.heddle("run", "./app"), "0 13 42\n")

    def test_version_12(self):
        self.fake("cudaGetDeviceProperties_v2")
        self.expect(self.heddle("run", "./app"), "0 12 42\n")

    def test_older_ones_are_refused(self):
        self.fake("cudaBindTexture")
        done = self.heddle("run", "./app")
        self.assertEqual(done.returncode, 3)
        self.assertIn("CUDA 11", done.stderr)

    def test_a_program_of_its_own_names_is_left_alone(self):
        self.write("app.c", (FAKE_RUNTIME % {"version_name": "cudaGetDeviceProperties"})
                   .replace("libcudart_static_0123", "other"))
        self.run_tool(CC, "-O1", "app.c", "-o", "app")
        self.expect(self.heddle("run", "./app"), "99 0 42\n")


@unittest.skipUnless(NVCC, "needs nvcc")
class Compiled(Kinds):
    def expect_all_but_host(self, done):
        """The search has ended, but nobody has watched what host code does with managed memory."""
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 4, said)
        left_out = [line for line in said.splitlines() if "= not looked at: " in line or "= ended early: " in line]
        self.assertEqual(len(left_out), 1, said)
        self.assertIn("accesses of host code that is not instrumented", left_out[0])

    def nvcc(self, *arguments):
        self.run_tool(NVCC, "-arch=sm_90", *arguments)

    def library(self, name, function):
        self.write(f"{name}.cu", KERNEL % {"function": function})
        self.nvcc("-shared", "-Xcompiler", "-fPIC", f"{name}.cu", "-o", f"lib{name}.so")

    def test_run_and_check(self):
        self.write("app.cu", KERNEL % {"function": "f"} + 'int main() { printf("%d\\n", f(21)); }')
        self.nvcc("app.cu", "-o", "app")
        self.expect(self.heddle("run", "./app"), "42\n")
        self.expect_all_but_host(self.heddle("check", "./app"))

    def test_a_library_that_the_program_is_linked_with(self):
        self.library("one", "one")
        self.write("app.c", '#include <stdio.h>\nint one(int);\nint main(void) { printf("%d\\n", one(4)); return 0; }')
        self.run_tool(CC, "app.c", "-L.", "-lone", "-Wl,-rpath,$ORIGIN", "-o", "app")
        self.expect(self.heddle("run", "./app"), "8\n")

    def test_several_libraries_that_it_loads(self):
        self.library("one", "one")
        self.library("two", "two")
        self.write("app.c", r"""
            #include <dlfcn.h>
            #include <stdio.h>
            int main(void) {
              void* first = dlopen("./libone.so", RTLD_NOW | RTLD_LOCAL);
              void* second = dlopen("./libtwo.so", RTLD_NOW | RTLD_LOCAL);
              int (*one)(int) = (int (*)(int))dlsym(first, "one");
              int (*two)(int) = (int (*)(int))dlsym(second, "two");
              printf("%d %d\n", one(1), two(2));
              return 0;
            }""")
        self.run_tool(CC, "app.c", "-ldl", "-o", "app")
        self.expect(self.heddle("run", "./app"), "2 4\n")
        # The search begins where the first library's constructor registers its kernel, below dlopen; and the
        # second one is loaded in each of its processes.
        self.expect_all_but_host(self.heddle("check", "--max-time=100", "./app"))

    def test_stripped(self):
        self.write("app.cu", KERNEL % {"function": "f"} + 'int main() { printf("%d\\n", f(21)); }')
        self.nvcc("app.cu", "-o", "app")
        self.run_tool("strip", "-g", "app")
        self.expect(self.heddle("run", "./app"), "42\n")
        self.run_tool("strip", "app")
        done = self.heddle("run", "./app")
        self.assertEqual(done.returncode, 2)
        for part in ("stripped", "strip -g", "-cudart shared"):
            self.assertIn(part, done.stderr)

    def test_the_driver_alone(self):
        """A linker that leaves out what is not needed (--as-needed) leaves no runtime library."""
        self.write("app.c", r"""
            #include <stdio.h>
            int cuInit(unsigned);
            int cuDeviceGetCount(int*);
            __asm__(".section .nv_fatbin, \"a\"\n.quad 0\n.text");
            int main(void) {
              int count = 0;
              printf("%d", cuInit(0));
              printf("%d ", cuDeviceGetCount(&count));
              printf("%d\n", count);
              return 0;
            }""")
        stubs = pathlib.Path(NVCC).resolve().parents[1] / "lib64/stubs"
        self.run_tool(CC, "app.c", "-Wl,--as-needed", f"-L{stubs}", "-lcuda", "-s", "-o", "app")
        self.expect(self.heddle("run", "./app"), "00 1\n")

    def test_a_stripped_library(self):
        self.library("one", "one")
        self.run_tool("strip", "libone.so")
        self.write("app.c", '#include <stdio.h>\nint one(int);\nint main(void) { printf("%d\\n", one(4)); return 0; }')
        self.run_tool(CC, "app.c", "-L.", "-lone", "-Wl,-rpath,$ORIGIN", "-o", "app")
        done = self.heddle("run", "./app")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        for part in ("libone.so", "strip", "-cudart shared"):
            self.assertIn(part, done.stderr)

    def test_a_crash_that_follows_from_a_refusal(self):
        """The exit code is that of what was reported, however the program ends."""
        ends = {"a managed variable that is not there": "count = 3;", "abort": "if (code != 0) abort();",
                "a division": "volatile int zero = 0; return 100 / zero;"}
        for end in ends.values():
            self.write("app.cu", "#include <cstdlib>\n__managed__ int count;\n__global__ void k() { count = 1; }\n"
                       f"int main() {{ k<<<1, 1>>>(); int code = cudaGetLastError(); {end} return code == 0; }}")
            self.run_tool(NVCC, "-gencode", "arch=compute_90,code=sm_90", "app.cu", "-o", "app")
            done = self.heddle("run", "./app")
            self.assertEqual(done.returncode, 2, end + done.stderr)
            self.assertIn("only SASS", done.stderr)
            self.assertIn("crashed after what is reported above", done.stderr)
            self.assertEqual(self.heddle("check", "./app").returncode, 3, end)
        self.write("app.cu", "#include <cstdlib>\nint main() { cudaFree(0); abort(); }")
        self.nvcc("app.cu", "-o", "app")
        self.assertEqual(self.heddle("run", "./app").returncode, -6)  # nothing was refused

    def test_line_information_is_asked_for(self):
        self.write("app.cu", "__global__ void k(int* p) { p[1 << 20] = 1; }\n"
                   "int main() { int* p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); return cudaDeviceSynchronize() == 0; }")
        self.nvcc("app.cu", "-o", "app")
        done = self.heddle("run", "./app")
        self.assertEqual(done.returncode, 1)
        self.assertIn("-lineinfo", done.stderr)
        self.write("hang.cu", "__device__ volatile int flag;\n__global__ void k() { while (flag == 0) {} }\n"
                   "int main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }")
        self.nvcc("hang.cu", "-o", "hang")
        for command in ("run", "check"):
            done = self.heddle(command, "./hang")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("-lineinfo", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

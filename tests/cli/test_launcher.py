"""heddle-cc and the CMake package, from an installation, on a project that knows nothing of Heddle's
sources: one setting, its own build, its own ctest."""
import os
import pathlib
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["HEDDLE_BUILD"])
CMAKE = os.environ.get("CMAKE", "cmake")
NVCC = os.environ["HEDDLE_NVCC"]
PROJECT = pathlib.Path(__file__).parent / "project"


class OutsideProject(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = pathlib.Path(cls.folder.name)
        cls.prefix = cls.root / "prefix"
        cls.run_tool(CMAKE, "--install", BUILD, "--prefix", cls.prefix)
        cls.launcher = cls.prefix / "bin/heddle-cc"
        cls.run_tool(CMAKE, "-G", "Ninja", "-S", PROJECT, "-B", cls.root / "build",
                     f"-DCMAKE_PREFIX_PATH={cls.prefix}", f"-DCMAKE_CUDA_COMPILER={NVCC}",
                     "-DCMAKE_CUDA_ARCHITECTURES=90-real",  # no PTX, unless somebody asks for it
                     f"-DCMAKE_CUDA_COMPILER_LAUNCHER={cls.launcher}",
                     f"-DCMAKE_CXX_COMPILER_LAUNCHER={cls.launcher}",
                     # what starts the project's own tests, before and from CMake 3.29 on
                     f"-DCMAKE_CROSSCOMPILING_EMULATOR={cls.prefix}/bin/heddle;run",
                     f"-DCMAKE_TEST_LAUNCHER={cls.prefix}/bin/heddle;run")
        cls.run_tool(CMAKE, "--build", cls.root / "build")

    @classmethod
    def run_tool(cls, *command, status=0):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              env=dict(os.environ, XDG_CACHE_HOME=str(cls.root / "cache")))
        if done.returncode != status:
            raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def test_its_own_ctest_passes(self):
        done = self.run_tool("ctest", "--test-dir", self.root / "build", "--output-on-failure")
        self.assertIn("100% tests passed, 0 tests failed out of 6", done.stdout)

    def test_the_built_program_is_fully_seen(self):
        done = self.run_tool(self.prefix / "bin/heddle", "check", self.root / "build/app", "crossed", status=1)
        self.assertIn("main.cu:8", done.stdout)
        self.assertNotIn("not compiled with -fsanitize=thread", done.stdout)

    def test_it_runs_and_says_how_it_wants_to_be_started(self):
        self.run_tool(self.prefix / "bin/heddle", "run", self.root / "build/app", "ordered")
        done = self.run_tool(self.root / "build/app", "ordered", status=2)
        self.assertIn("compiled with heddle-cc", done.stderr)

    def test_separate_device_code_and_one_step(self):
        def nvcc(*arguments):
            self.run_tool(self.launcher, NVCC, "-arch=sm_90", *arguments)

        sources = [PROJECT / "main.cu", PROJECT / "library/signal.cu"]
        include = f"-I{PROJECT / 'library'}"
        for source in sources:
            nvcc("-dc", include, source, "-o", self.root / f"{source.stem}.o")
        self.run_tool(self.launcher, "g++", "-c", PROJECT / "wait.cpp", "-o", self.root / "wait.o")
        nvcc("-o", self.root / "separate", *[self.root / f"{name}.o" for name in ("main", "signal", "wait")])
        nvcc(include, "-o", self.root / "one_step", *sources, PROJECT / "wait.cpp")
        for program in ("separate", "one_step"):
            done = self.run_tool(self.prefix / "bin/heddle", "check", self.root / program, "ordered")
            self.assertIn("terminates under every schedule", done.stdout)
            self.run_tool(self.prefix / "bin/heddle", "check", self.root / program, "host", status=1)

    def test_instructions_have_answers_of_a_search(self):
        source = self.root / "instructions.cu"
        source.write_text("""
#include <x86intrin.h>
__global__ void k() {}
int main(int arguments, char**) {
  unsigned word = 0;
  while (arguments == 1 && __builtin_ia32_rdrand32_step(&word) == 0) {}
  const auto begin = arguments > 1 ? __rdtsc() : 0;
  const bool late = arguments > 1 && __rdtsc() - begin > 100'000'000'000;
  k<<<1 + word % 2 + late, 1>>>();
  return cudaDeviceSynchronize();
}
""", encoding="utf-8")
        program = self.root / "instructions"
        self.run_tool(self.launcher, NVCC, "-arch=sm_90", "-Xcompiler", "-mrdrnd", "-c", source, "-o", f"{program}.o")
        self.run_tool(NVCC, "-o", program, f"{program}.o")
        for arguments, words in ([], "other random numbers"), (["late"], "if other times pass"):
            done = self.run_tool(self.prefix / "bin/heddle", "check", program, *arguments, status=4)
            self.assertIn(words, done.stdout)

    def test_objects_of_cuda_12_get_its_library(self):
        toolkit = self.root / "cuda-12"
        (toolkit / "bin").mkdir(parents=True)
        (toolkit / "include").mkdir()
        (toolkit / "include/cuda_runtime_api.h").write_text("#define CUDART_VERSION  12080\n")
        nvcc = toolkit / "bin/nvcc"  # as far as the launcher can see
        nvcc.write_text(f'#!/bin/sh\nexec {NVCC} "$@"\n')
        nvcc.chmod(0o755)
        source = self.root / "version.cu"
        source.write_text("""#include <cstdio>
int main() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  std::printf("CUDA %d\\n", version / 1000);
}
""")
        for compiler, version in ((nvcc, 12), (NVCC, 13)):
            program = self.root / f"version_{version}"
            self.run_tool(self.launcher, compiler, "-arch=sm_90", "-c", source, "-o", f"{program}.o")
            self.run_tool(self.launcher, compiler, "-arch=sm_90", f"{program}.o", "-o", program)
            done = self.run_tool(self.prefix / "bin/heddle", "run", program)
            self.assertEqual(done.stdout, f"CUDA {version}\n", done.stderr)


if __name__ == "__main__":
    unittest.main()

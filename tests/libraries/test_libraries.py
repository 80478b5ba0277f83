"""Programs that call NVIDIA's libraries: the stand-ins for cuBLAS and cuRAND, and what the others say.

HEDDLE is the program under test, HEDDLE_NVCC nvcc, HEDDLE_LIBRARIES the folder of Heddle's libraries. The
toolkit must have the libraries to link with; a test whose library it does not have is skipped.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
HEDDLE = os.environ["HEDDLE"]
NVCC = os.environ["HEDDLE_NVCC"]
OURS = pathlib.Path(os.environ["HEDDLE_LIBRARIES"])
TOOLKIT = pathlib.Path(os.path.realpath(shutil.which(NVCC))).parent.parent / "lib64"

IGNORES = {
    "cufft": """
  cufftHandle plan;
  cufftPlan1d(&plan, 64, CUFFT_C2C, 1);  // here
  cufftExecC2C(plan, (cufftComplex*)p, (cufftComplex*)p, CUFFT_FORWARD);
  cufftDestroy(plan);""",
    "cusparse": """
  cusparseHandle_t handle = nullptr;  // what stands there is passed on below
  cusparseCreate(&handle);  // here
  cusparseDnVecDescr_t x;
  cusparseCreateDnVec(&x, 4, p, CUDA_R_32F);
  cusparseDestroyDnVec(x);
  cusparseDestroy(handle);""",
    "cublasLt": """
  cublasLtHandle_t handle;
  cublasLtCreate(&handle);  // here
  abort();  // as a library does that is given what is no handle""",
    "cublas_v2": """
  cublasHandle_t handle;
  cublasCreate(&handle);
  float one = 1;
  cublasStrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 4, 4, &one, p, 4, p, 4);  // here
  cublasDestroy(handle);""",
}


def has(library):
    return unittest.skipUnless(list(TOOLKIT.glob(f"lib{library}.so")), f"the toolkit has no lib{library}")


class Libraries(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def compile(self, source, *flags):
        program = self.root / "app"
        done = subprocess.run([NVCC, "-std=c++17", "-arch=sm_90", "-cudart", "shared", "-g", "-lineinfo", "-o", program,
                               source, *flags], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return program

    def write(self, header, body, before=""):
        path = self.root / "app.cu"
        path.write_text(f"#include <{header}.h>\n#include <cstdio>\n{before}int main() {{\n  float* p;\n  cudaMalloc(&p, 1024);"
                        f"{body}\n  cudaDeviceSynchronize();\n  puts(\"end\");\n  return 0;\n}}\n")
        return path

    def heddle(self, command, program, *options, status=0):
        environment = dict(os.environ, LD_LIBRARY_PATH=str(TOOLKIT))
        done = subprocess.run([HEDDLE, command, *options, program], capture_output=True, text=True, timeout=300,
                              env=environment, cwd=self.root)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def line_of(self, mark):
        lines = (self.root / "app.cu").read_text().splitlines()
        return 1 + next(i for i, line in enumerate(lines) if mark in line)

    @has("cublas")
    def test_cublas(self):
        expected = (["sgemm"] * 4 + ["dgemm"] * 4 + ["hgemm"] * 4 + ["gemmEx"] * 4
                    + ["strided", "batched", "dot 1", "nrm2 1", "asum 1", "axpy", "scal", "amax 2", "gemv",
                       "gemvBatched", "HSSgemvStridedBatched",
                       "cdot 3+7i 1-1i", "cgemm 1-1i", "wrong 7 1"])
        done = self.heddle("run", self.compile(HERE / "blas.cu", "-lcublas"))
        self.assertEqual(done.stdout.splitlines(), expected)
        self.assertEqual(done.stderr, "")

    @has("curand")
    def test_curand(self):
        expected = ["uniform 1 1", "goes on 1", "the same 1", "uniform double 1 1", "normal 1 1", "log-normal 1 1",
                    "poisson 1 1"] * 3
        done = self.heddle("run", self.compile(HERE / "random.cu", "-lcurand"))
        self.assertEqual(done.stdout.splitlines(), expected)
        self.assertEqual(done.stderr, "")

    @has("cublas")
    def test_every_name_is_there(self):
        def names(path):
            text = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
            return set(re.findall(r" T (cu\w+)", text))

        for library in ("libcublas.so.13", "libcurand.so.10"):
            if (TOOLKIT / library).exists():
                self.assertEqual(names(TOOLKIT / library) - names(OURS / library), set())

    def ignores(self, header, library, end="end\n"):
        """A program that ignores every status: exit code 3 with its line, however it ends."""
        self.write(header, IGNORES[header])
        done = self.heddle("run", self.compile(self.root / "app.cu", f"-l{library}"), status=3)
        self.assertIn(end, done.stdout)
        self.assertRegex(done.stderr, rf"app\.cu:{self.line_of('// here')}:\d+: error\[unsupported\]")
        return done.stderr

    @has("cufft")
    def test_cufft_names_the_line(self):
        self.assertIn("libcufft.so", self.ignores("cufft", "cufft"))

    @has("cusparse")
    def test_cusparse_names_the_line(self):
        self.assertIn("libcusparse.so", self.ignores("cusparse", "cusparse"))

    @has("cublasLt")
    def test_a_crash_behind_it(self):
        self.assertIn("crashed after what is reported above", self.ignores("cublasLt", "cublasLt", end=""))

    @has("cublas")
    def test_a_call_that_the_stand_in_does_not_have(self):
        self.assertIn("cublasStrsm_v2", self.ignores("cublas_v2", "cublas"))

    @has("cublas")
    def test_a_matrix_that_is_too_small(self):
        self.write("cublas_v2", """
  cublasHandle_t handle;
  cublasCreate(&handle);
  float one = 1;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 100, &one, p, 4, p, 100, &one, p, 4);  // here""")
        done = self.heddle("run", self.compile(self.root / "app.cu", "-lcublas"), status=1)
        self.assertRegex(done.stderr, rf"app\.cu:{self.line_of('// here')}:\d+: error\[out-of-bounds\]: cublasSgemm reads 1600 "
                         "bytes of A at")

    @has("cublas")
    def test_races_and_schedules(self):
        kernel = "__global__ void fill(float* p) { p[threadIdx.x] = 1; }\n"
        body = """
  cublasHandle_t handle;
  cublasCreate(&handle);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cublasSetStream(handle, stream);
  %s
  float two = 2;
  cublasSscal(handle, 32, &two, p, 1);"""
        self.write("cublas_v2", body % "fill<<<1, 32>>>(p);", kernel)
        done = self.heddle("run", self.compile(self.root / "app.cu", "-lcublas"), "--races", status=1)
        self.assertIn("error[data-race]", done.stderr)
        self.write("cublas_v2", body % "fill<<<1, 32, 0, stream>>>(p);", kernel)
        program = self.compile(self.root / "app.cu", "-lcublas")
        self.heddle("run", program, "--races")
        self.assertIn("terminates under every schedule", self.heddle("check", program).stdout)


if __name__ == "__main__":
    unittest.main()

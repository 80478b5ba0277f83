"""Python under `heddle run`: scripts, modules, programs on PATH; numba-cuda, cuda-python, CuPy, Triton.

HEDDLE is the program under test. HEDDLE_PYTHON_CUDA is an environment with the packages of
tools/python-cuda-requirements.txt, which `./dev` makes; without it the tests that need them are skipped.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
HEDDLE = os.environ["HEDDLE"]
PACKAGES = os.environ.get("HEDDLE_PYTHON_CUDA")
PYTHON = HERE.parent.parent / "python"
TOOLKIT = pathlib.Path(os.path.realpath(shutil.which(os.environ["HEDDLE_NVCC"]))).parent.parent


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def heddle(self, *arguments, status=0, command="run", **variables):
        path = os.environ["PATH"] if PACKAGES is None else f"{PACKAGES}/bin:{os.environ['PATH']}"
        environment = dict(os.environ, PATH=path, CUDA_PATH=str(TOOLKIT), CUDA_HOME=str(TOOLKIT),
                           XDG_CACHE_HOME=str(self.root / "cache"), CUPY_CACHE_DIR=str(self.root / "cupy"), **variables)
        environment.pop("PYTHONPATH", None)
        done = subprocess.run([HEDDLE, command, *arguments], cwd=self.root, env=environment, capture_output=True,
                              text=True, timeout=400)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done


class Start(Run):
    """What needs no package."""

    def test_a_script(self):
        (self.root / "app.py").write_text("import sys\nprint(sys.argv)\nsys.exit(4)\n")
        done = self.heddle("app.py", "--seed", "x", status=4)
        self.assertEqual(done.stdout, "['app.py', '--seed', 'x']\n")
        self.assertEqual(done.stderr, "")  # no word of "no sign of CUDA"

    def test_a_module(self):
        (self.root / "mine.py").write_text("import sys\nprint(sys.argv[1:])\n")
        self.assertEqual(self.heddle("-m", "mine", "1").stdout, "['1']\n")

    def test_a_program_on_path(self):
        tool = self.root / "tool"
        tool.write_text("#!/usr/bin/env python3\nprint('a tool')\n")
        tool.chmod(0o755)
        self.assertEqual(self.heddle("tool").stdout, "a tool\n")

    def test_managed_memory_and_kernels_in_flight(self):
        script = HERE / "managed_memory.py"
        done = self.heddle(script, "wait")
        self.assertEqual((done.stdout, done.stderr), ("done 167800\n", ""))
        done = self.heddle(script, status=1)
        self.assertRegex(done.stderr, r"error\[data-race\]: read by host code races with a write by kernel 'fill<<<1,32>>>'")

    def test_check_without_a_call(self):
        (self.root / "app.py").write_text("import sys\nsys.exit(4)\n")
        done = self.heddle("app.py", command="check", status=2)
        self.assertIn("(exit code 4) before any CUDA call", done.stderr)
        (self.root / "app.py").write_text("import nothing_of_this_name\n")
        self.assertIn("ModuleNotFoundError", self.heddle("app.py", command="check", status=2).stderr)

    def test_a_library_with_machine_code_alone(self):
        """As wheels bring it: whoever built it is told how. With PTX it works."""
        (self.root / "fill.cu").write_text(
            "__global__ void fill(int* x) { x[threadIdx.x] = 7; }\n"
            'extern "C" int filled() {\n'
            "  int *x, first = 0;\n  cudaMalloc(&x, 128);\n  fill<<<1, 32>>>(x);\n"
            "  cudaMemcpy(&first, x, 4, cudaMemcpyDefault);\n  return first;\n}\n")
        (self.root / "app.py").write_text("import ctypes\nprint(ctypes.CDLL('./libfill.so').filled())\n")
        build = [os.environ["HEDDLE_NVCC"], "-shared", "-Xcompiler", "-fPIC", "-cudart", "shared", "fill.cu", "-o",
                 "libfill.so"]
        subprocess.run([*build, "-gencode", "arch=compute_90,code=sm_90"], cwd=self.root, check=True)
        self.assertRegex(self.heddle("app.py", status=3).stderr,
                         r"libfill\.so' contains only SASS .*TORCH_CUDA_ARCH_LIST=\"9\.0\+PTX\"")
        subprocess.run([*build, "-gencode", "arch=compute_90,code=compute_90"], cwd=self.root, check=True)
        self.assertEqual(self.heddle("app.py").stdout, "7\n")

    def test_a_script_that_is_not_there(self):
        self.assertIn("there is no program 'nowhere.py'", self.heddle("nowhere.py", status=2).stderr)


class Merged(unittest.TestCase):
    """The report of `pytest --heddle --heddle-sarif`."""

    @staticmethod
    def log(*results):
        rules = sorted({rule for rule, _ in results})
        return json.dumps({"version": "2.1.0", "runs": [{
            "tool": {"driver": {"name": "heddle", "rules": [{"id": rule} for rule in rules]}},
            "results": [{"ruleId": rule, "ruleIndex": rules.index(rule), "message": {"text": "found"},
                         "locations": [{"line": line}]} for rule, line in results]}]})

    def merged(self, *reports):
        done = subprocess.run([sys.executable, "-B", "-c",
                               "import json, sys; from heddle import _sarif\n"
                               "print(json.dumps(_sarif.merged(json.load(sys.stdin))))"],
                              input=json.dumps(reports), env=dict(os.environ, PYTHONPATH=str(PYTHON)),
                              capture_output=True, text=True, check=True)
        runs = json.loads(done.stdout)["runs"]
        self.assertEqual(len(runs), 1)  # GitHub refuses two runs of one tool
        return runs[0]

    def test_each_result_names_its_test_and_its_rule(self):
        run = self.merged(("a", self.log(("race", 1))), ("b", self.log(("bounds", 2), ("race", 3))))
        names = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        self.assertEqual([(r["message"]["text"], names[r["ruleIndex"]]) for r in run["results"]],
                         [("in a: found", "race"), ("in b: found", "bounds"), ("in b: found", "race")])

    def test_what_two_tests_found_is_there_once(self):
        run = self.merged(("a", self.log(("race", 1))), ("b", self.log(("race", 1))), ("c", self.log(("race", 2))))
        self.assertEqual([(r["message"]["text"], r["properties"]["tests"]) for r in run["results"]],
                         [("in a, and in 1 more: found", ["a", "b"]), ("in c: found", ["c"])])

    def test_nothing(self):
        self.assertEqual(self.merged()["results"], [])
        self.assertEqual(self.merged(("ended by a signal", ""))["results"], [])


@unittest.skipUnless(PACKAGES, "the packages of tools/python-cuda-requirements.txt are not there (HEDDLE_PYTHON_CUDA)")
class Packages(Run):
    def script(self, name, **arguments):
        """Runs it as an example would be run: these scripts have no race either."""
        return self.heddle("--races", str(HERE / name), **arguments)

    def finding(self, name, line_text):
        """The script's finding names its own line, as kernel `fill`, and where it is launched."""
        lines = (HERE / name).read_text().splitlines()
        number = 1 + next(i for i, line in enumerate(lines) if line_text in line)
        launch = 1 + next(i for i, line in enumerate(lines) if line.lstrip().startswith("fill["))
        done = self.script(name, status=1)
        self.assertRegex(done.stderr, rf"{name}:{number}:\d+: error\[out-of-bounds\]")
        self.assertRegex(done.stderr, r"kernel (__main__::)?fill<<<")
        label = re.search(rf"\n *{launch} \|.*\n[^\n]*launched from here", done.stderr)
        self.assertTrue(label, done.stderr)

    def test_numba(self):
        self.assertEqual(self.script("numba_axpy.py").stdout,
                         "[1.0, 3.0, 5.0, 7.0]\n[63.0, 62.0, 61.0]\n[250, 250, 250, 250]\n4950.0\n")

    def test_a_barrier_of_the_grid(self):
        self.assertEqual(self.script("numba_grid.py").stdout, "[0]\n")

    def test_a_finding_in_a_kernel_of_numba(self):
        self.finding("numba_bounds.py", "# beyond its end")

    def test_host_code_and_work_in_flight(self):
        name = HERE / "numba_host.py"
        lines = name.read_text().splitlines()
        for case in ("managed", "mapped", "pinned_result", "pinned_refilled"):
            self.assertEqual(self.heddle(str(name), case, "wait").stderr, "")
            done = self.heddle(str(name), case, status=1)
            self.assertRegex(done.stderr, r"error\[data-race\]: (read|write) by host code races with a (read|write) by ")
            here = 1 + next(i for i, line in enumerate(lines) if line.endswith(f"# {case}: too early"))
            self.assertRegex(done.stderr, rf"numba_host.py:{here}:1\b.*")

    def test_check_and_replay(self):
        name = HERE / "numba_wait.py"
        line = 1 + next(i for i, text in enumerate(name.read_text().splitlines()) if "# the block before" in text)
        done = self.heddle("--max-time=300", str(name), command="check", status=1)
        self.assertRegex(done.stdout, rf"numba_wait.py:{line}:\d+: error\[starvation\]")
        self.assertIn("kernel '__main__::chain<<<2,1>>>'", done.stdout)
        schedule = re.search(r"v1:[A-Za-z0-9_-]+", done.stdout).group()
        done = self.heddle("--trace", schedule, command="replay", status=1)
        self.assertRegex(done.stdout, rf"numba_wait.py:{line}\b")
        self.assertIn("__main__::chain<<<2,1>>>", done.stdout)  # without numba's tags

    def test_cuda_python(self):
        self.assertEqual(self.script("cuda_python.py").stdout, "[0, 2, 4, 6, 8] 9900\n42 42 True\n")

    def test_cupy(self):
        self.assertEqual(self.script("cupy_kernels.py").stdout,
                         "[2.0, 3.0, 4.0, 5.0]\n[6.0, 9.0, 12.0, 15.0, 6.0]\n[0.0, 1.0, 4.0, 9.0, 16.0]\n18243.725\n"
                         "1001.0 499500.0 499\n[0.0, 1.0, 2.0, -1.0, -1.0] True\n")

    def test_kernels_that_cupy_brings(self):
        self.assertEqual(self.heddle(str(HERE / "cupy_library.py")).stdout,
                         "True True\nTrue True True\nTrue 300\nTrue True\n[2, 1, 0] True\nTrue [0, 1, 2, 3, 4, 5] True\n")

    def test_check_of_cupy(self):
        """CuPy registers kernels while its libraries are being loaded: the search begins below dlopen."""
        done = self.heddle("--max-time=200", str(HERE / "cupy_kernels.py"), command="check", status=4, CUPY_ACCELERATORS="")
        # Nobody watches what Python's own code does with pinned memory; all else is looked at.
        left_out = re.findall("= (?:not looked at|ended early): (.*)", done.stdout)
        self.assertEqual(len(left_out), 1, done.stdout)
        self.assertIn("accesses of host code that is not instrumented", left_out[0])
        for kernel in ("add<<<4,256>>>", "scale<float><<<1,4>>>", "square<<<8,128>>>", "length<<<1,512>>>"):
            self.assertIn(kernel, done.stdout)

    @unittest.skipUnless(os.path.exists(sysconfig.get_path("include") + "/Python.h"),
                         "Triton compiles its launcher: needs Python.h (python3-dev)")
    def test_triton(self):
        self.assertEqual(self.script("triton_sum.py").stdout, "501500.0\n[4950.0, 14950.0, 24950.0]\nTrue\n")
        self.finding("triton_bounds.py", "# no mask")


if __name__ == "__main__":
    unittest.main()

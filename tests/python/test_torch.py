"""PyTorch, and Triton, numba-cuda and extensions on its tensors: `heddle run`, `--races`, `check --kernel`, `pytest --heddle`.

HEDDLE is the program under test. HEDDLE_PYTHON_TORCH is an environment with the packages of
tools/python-torch-requirements.txt, which `./dev nightly python` makes (2.4 GB); without it all is skipped.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples" / "python"
HEDDLE = os.environ["HEDDLE"]
PACKAGES = os.environ.get("HEDDLE_PYTHON_TORCH")
TOOLKIT = pathlib.Path(os.path.realpath(shutil.which(os.environ["HEDDLE_NVCC"]))).parent.parent


def script(name):
    return next(folder / name for folder in (HERE, EXAMPLES) if (folder / name).exists())


def line_of(name, text):
    lines = script(name).read_text().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if text in line)


@unittest.skipUnless(PACKAGES, "PyTorch is not there: the packages of tools/python-torch-requirements.txt (HEDDLE_PYTHON_TORCH)")
class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # One cache for all: the module for PyTorch is compiled once.
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)

    def call(self, *command, status=0):
        path = f"{PACKAGES}/bin:{pathlib.Path(HEDDLE).parent}:{os.environ['PATH']}"
        environment = dict(os.environ, PATH=path, XDG_CACHE_HOME=str(self.root / "cache"), CUDA_HOME=str(TOOLKIT),
                           TORCH_EXTENSIONS_DIR=str(self.root / "extensions"))
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, timeout=900)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def heddle(self, command, *arguments, status=0):
        name = next(i for i, a in enumerate(arguments) if a.endswith(".py"))
        return self.call(HEDDLE, command, *arguments[:name], str(script(arguments[name])), *arguments[name + 1:],
                         status=status)

    def test_operators(self):
        done = self.heddle("run", "torch_operators.py")
        self.assertEqual(done.stdout,
                         "[1, 6] [[11, 12], [16, 17]] [11, 12, 16, 17, 8, 9]\n"
                         "[2.0, 2.0, 2.0] [1, 3]\n"
                         "[2.0, 2.0] [1.0, 1.0]\n"
                         "True\n"
                         "3000.0 10.0\n")

    def test_a_race_of_programs(self):
        done = self.heddle("run", "--races", "lost_sum.py", status=1)
        self.assertRegex(done.stderr, rf"lost_sum.py:{line_of('lost_sum.py', '# the race')}:\d+: error\[data-race\]")
        launch = line_of("lost_sum.py", "total[(4,)]")
        self.assertRegex(done.stderr, rf"\n *{launch} \|.*\n[^\n]*launched from here")

    def test_no_race_of_atomic_programs(self):
        self.assertEqual(self.heddle("run", "--races", "lost_sum.py", "atomic").stdout, "256.0\n")

    def test_a_lane_without_a_mask(self):
        done = self.heddle("run", "--uninitialised", "masked_lane.py", status=1)
        self.assertRegex(done.stderr, r"masked_lane.py:\d+:\d+: error\[uninitialised\]")
        self.assertEqual(self.heddle("run", "--uninitialised", "masked_lane.py", "masked").stdout, "100.0\n")

    def test_a_tensor_that_another_stream_uses(self):
        done = self.heddle("run", "--races", "torch_stream.py", status=1)
        line = line_of("torch_stream.py", "y = x * 2")
        self.assertRegex(done.stderr, rf"read by aten::mul.Tensor \([^ ]*torch_stream.py:{line}\) in stream 1")
        self.heddle("run", "--races", "torch_stream.py", "recorded")

    def test_what_tutorials_of_triton_teach(self):
        """All are free of races; of a kernel's configurations the first is taken, with a word."""
        done = self.heddle("run", "--races", "triton_tutorials.py")
        self.assertEqual(done.stdout.split(), ["addition", "softmax", "product", "dropout", "layer_norm", "attention",
                                               "library", "grouped_products", "persistent_product", "scaled_products"])
        self.assertEqual(done.stderr.count("triton.autotune: kernel 'product_kernel' runs in the first of 2"), 1)

    @unittest.skipUnless(PACKAGES and any(pathlib.Path(PACKAGES).glob("lib/python*/site-packages/tilelang")), "tilelang")
    def test_tilelang(self):
        self.assertEqual(self.heddle("run", "--races", "torch_tilelang.py").stdout.splitlines()[-1], "6.0")
        done = self.heddle("run", "--races", "torch_tilelang.py", "plain", status=1)
        self.assertRegex(done.stderr, r"tvm_kernels\.cu:\d+:\d+: error\[data-race\]: read of 4 bytes")
        self.assertRegex(done.stderr, rf"\n *{line_of('torch_tilelang.py', 'total(4, ')} \|.*\n[^\n]*launched from here")

    def test_flashinfer(self):
        self.assertEqual(self.heddle("run", "--races", "--uninitialised", "torch_flashinfer.py").stdout.splitlines()[-1], "True")
        done = self.heddle("run", "--uninitialised", "torch_flashinfer.py", "unset", status=1)
        self.assertRegex(done.stderr, r"vec_dtypes\.cuh:\d+:\d+: error\[uninitialised\]: read of memory that was never written")
        self.assertIn("kernel 'flashinfer::", done.stderr)

    def test_numba_on_tensors(self):
        self.assertEqual(self.heddle("run", "--races", "torch_numba.py").stdout, "0.0\n")
        done = self.heddle("run", "--races", "torch_numba.py", "early", status=1)
        self.assertIn("error[data-race]", done.stderr)
        self.assertRegex(done.stderr, rf"\n *{line_of('torch_numba.py', '# the read')} \|")

    def test_an_extension_that_is_compiled_on_the_spot(self):
        self.assertEqual(self.heddle("run", "--races", "torch_extension.py").stdout, "39601.0\n")
        done = self.heddle("run", "torch_extension.py", "wide", status=1)
        self.assertRegex(done.stderr, r"cuda\.cu:\d+:\d+: error\[out-of-bounds\]")
        self.assertIn("y[i] = x[i] + x[i + 1];  // the access", done.stderr)

    def waits(self, *arguments, status):
        return self.heddle("check", "--kernel=heddle.search", "--max-time=600", "triton_waits.py", *arguments,
                           status=status).stdout

    def test_a_lock_and_a_scan_that_end(self):
        for arguments in (("split",), ("scan", "ticket")):
            self.assertIn("terminates under every schedule", self.waits(*arguments, status=0))

    def test_a_lock_and_a_scan_that_wait_for_a_program_that_need_not_begin(self):
        for arguments, line in ((("split", "first"), "# the lock"), (("scan",), "# the look back")):
            self.assertRegex(self.waits(*arguments, status=1),
                             rf"triton_waits.py:{line_of('triton_waits.py', line)}:\d+: error\[starvation\]")

    def test_programs_that_wait_for_each_other(self):
        """Nothing says that the program with the smaller number has begun."""
        for kernel in ("heddle.search", "in_turn"):
            done = self.heddle("check", f"--kernel={kernel}", "--max-time=300", "torch_lock.py", status=1)
            line = line_of("torch_lock.py", "# the wait")
            self.assertRegex(done.stdout, rf"torch_lock.py:{line}:\d+: error\[starvation\]")
        schedule = re.search(r"v1:[A-Za-z0-9_-]+", done.stdout).group()
        self.assertRegex(self.call(HEDDLE, "replay", schedule, status=1).stdout, r"^\d+ steps: steps? .* forever\n$")

    def test_programs_that_wait_for_those_before(self):
        done = self.heddle("check", "--kernel=heddle.search", "--max-time=300", "torch_lock.py", "ticket")
        self.assertIn("terminates", done.stdout)

    def test_a_kernel_that_is_not_launched(self):
        done = self.heddle("check", "--kernel=nobody", "--max-time=300", "lost_sum.py", status=2)
        self.assertIn("before any launch of a kernel 'nobody'", done.stderr)

    def test_pytest(self):
        (self.root / "test_two.py").write_text(
            "import pytest, subprocess, sys, torch\n"
            "if not torch.cuda.is_available():\n    pytest.skip('no GPU', allow_module_level=True)\n"
            f"sys.path.insert(0, {str(EXAMPLES)!r})\n"
            "def test_sum():\n    assert torch.ones(4, device='cuda').sum().item() == 4\n"
            "@pytest.mark.heddle_races\n"
            "def test_race():\n    sys.argv = ['x']\n    import lost_sum\n"
            "@pytest.mark.heddle_skip('no GPU')\n"
            "def test_skipped():\n    assert False\n")
        python = pathlib.Path(HEDDLE).parent.parent / "lib" / "python"
        done = self.call("env", f"PYTHONPATH={python}", f"{PACKAGES}/bin/python3", "-m", "pytest", "-p",
                         "heddle.pytest_plugin", "--heddle", "--heddle-sarif=all.sarif", "test_two.py", status=1)
        self.assertRegex(done.stdout, r"1 failed, 1 passed, 1 skipped")
        self.assertIn("error[data-race]", done.stdout)
        self.assertTrue(re.search(r"in test_two.py::test_race: ", (self.root / "all.sarif").read_text()))


if __name__ == "__main__":
    unittest.main()

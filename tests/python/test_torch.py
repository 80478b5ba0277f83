"""PyTorch, and Triton on its tensors: `heddle run`, `--races`, `check --kernel`, `pytest --heddle`.

HEDDLE is the program under test. HEDDLE_PYTHON_TORCH is an environment with the packages of
tools/python-torch-requirements.txt, which `./dev nightly python` makes (2.4 GB); without it all is skipped.
"""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples" / "python"
HEDDLE = os.environ["HEDDLE"]
PACKAGES = os.environ.get("HEDDLE_PYTHON_TORCH")


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
        environment = dict(os.environ, PATH=path, XDG_CACHE_HOME=str(self.root / "cache"))
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, timeout=600)
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
        self.assertIn("aten::mul", done.stderr)
        self.heddle("run", "--races", "torch_stream.py", "recorded")

    def test_programs_that_wait_for_each_other(self):
        """Nothing says that the program with the smaller number has begun."""
        for kernel in ("heddle.search", "in_turn"):
            done = self.heddle("check", f"--kernel={kernel}", "--max-time=300", "torch_lock.py", status=1)
            line = line_of("torch_lock.py", "# the wait")
            self.assertRegex(done.stdout, rf"torch_lock.py:{line}:\d+: error\[starvation\]")
        schedule = re.search(r"v1:[A-Za-z0-9_-]+", done.stdout).group()
        self.assertRegex(self.call(HEDDLE, "replay", schedule, status=1).stdout, r"^\d+ steps: steps? .* for ever\n$")

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
        self.assertTrue(re.search(r"test_two.py::test_race: ", (self.root / "all.sarif").read_text()))


if __name__ == "__main__":
    unittest.main()

"""tools/unchanged.py: a test runs again if something changes that it depends on, and only then."""
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
sys.dont_write_bytecode = True

import unchanged  # noqa: E402

FILES = {
    "src/lint/a.cpp": "", "README.md": "", "docs/a.md": "", "examples/e.cu": "", "tests/support/night.py": "",
    "tests/cli/test_a.py": "import helper\nopen('../check/x.cu')\nCASES = ROOT / \"check\"\n", "tests/cli/helper.py": "",
    "tests/cli/test_l.py": "import lints\n", "tests/cli/lints.py": "run('heddle', 'lint')\n",
    "tests/check/x.cu": "__global__ void splint() {}", "tests/found/test_f.py": "read('FOUND.md')", "tests/map/m.cu": "",
    "tests/unit/base/a_test.cpp": "#include \"map/m.h\"", "tests/unit/cli/b_test.cpp": "HEDDLE_BINARY_DIR", "tests/unit/base/data.ptx": "",
    "build/bin/heddle": "1", "build/bin/heddle-lint": "1", "build/lib/libcudart.so": "1", "build/tests/unit/base/unit_base": "1",
    "build/tests/unit/cli/unit_cli": "1",
}


class Keys(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def key(self, name, *command, environment=()):
        names = [n for n in FILES if not n.startswith("build/")]
        test = {"name": name, "command": [str(self.root / word) if "/" in word else word for word in command], "environment": list(environment)}
        return unchanged.Inputs(self.root, self.root / "build", names).key(test)

    def changes(self, *test, **more):
        """Which files the key depends on."""
        before, found = self.key(*test, **more), set()
        for name, text in FILES.items():
            self.write(name, text + "\n// changed")
            if self.key(*test, **more) != before:
                found.add(name)
            self.write(name, text)
        self.assertEqual(self.key(*test, **more), before)
        return found

    def test_a_script(self):
        self.assertEqual(self.changes("cli.a", "python3", "tests/cli/test_a.py"), {
            "examples/e.cu", "tests/support/night.py", "tests/cli/test_a.py", "tests/cli/helper.py", "tests/cli/test_l.py", "tests/cli/lints.py",
            "tests/check/x.cu", "build/bin/heddle", "build/lib/libcudart.so"})

    def test_a_script_that_lints(self):
        self.assertIn("build/bin/heddle-lint", self.changes("cli.l", "python3", "tests/cli/test_l.py"))

    def test_pages_matter_to_a_script_that_names_one(self):
        self.assertTrue({"README.md", "docs/a.md"} <= self.changes("found", "python3", "tests/found/test_f.py"))

    def test_a_program_alone(self):
        self.assertEqual(self.changes("unit.base", "build/tests/unit/base/unit_base"),
                         {"build/tests/unit/base/unit_base", "examples/e.cu", "tests/support/night.py", "tests/unit/base/data.ptx", "tests/map/m.cu"})

    def test_a_program_that_looks_for_what_is_built(self):
        found = self.changes("unit.cli", "build/tests/unit/cli/unit_cli")
        self.assertTrue({"build/bin/heddle", "build/lib/libcudart.so", "build/tests/unit/cli/unit_cli"} <= found)
        self.assertNotIn("build/tests/unit/base/unit_base", found)

    def test_the_sources_themselves(self):
        self.assertTrue({"src/lint/a.cpp", "README.md", "tests/map/m.cu"} <= self.changes("static.files", "python3", "tools/check_files.py"))

    def test_what_surrounds_it(self):
        ask = ("cli.a", "python3", "tests/cli/test_a.py")
        before = self.key(*ask)
        self.assertNotEqual(self.key(*ask, "more"), before)
        self.assertNotEqual(self.key(*ask, environment=["A=1"]), before)
        with mock.patch.dict(os.environ, {"HEDDLE_FLAGS": "-j2"}):
            self.assertNotEqual(self.key(*ask), before)
        with mock.patch.dict(os.environ, {"HEDDLE_JOBS": "2"}):
            self.assertEqual(self.key(*ask), before)

    def test_one_with_the_build_folder_to_itself_always_runs(self):
        self.assertIsNone(self.key("cli.package", "python3", "tests/cli/test_a.py", environment=["HEDDLE_BUILD=/b"]))
        self.assertEqual(unchanged.unchanged({"a": None, "b": "1", "c": "2"}, {"b": "1", "c": "3"}), ["b"])


class After(unittest.TestCase):
    def test_what_is_known(self):
        before = {"passed": "1", "failed": "2", "skipped": "3", "moved": "4", "other": "6", "always": None}
        now = {**before, "moved": "5"}
        states = {"passed": "run", "failed": "fail", "skipped": "notrun", "moved": "run", "always": "run"}
        known = {"failed": "2", "skipped": "3", "moved": "4", "other": "0", "removed": "9"}
        self.assertEqual(unchanged.after(known, before, now, states), {"passed": "1", "other": "0"})


if __name__ == "__main__":
    unittest.main()

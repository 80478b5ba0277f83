"""tools/check_commits.py: subjects and formats of a small repository; .clang-format knows the layers."""
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True

import check_commits  # noqa: E402
import check_layers  # noqa: E402


class Subjects(unittest.TestCase):
    def test_good_and_bad(self):
        for subject in ("explore: a", "tests, docs: b", "heddle lint: c", "tests/check: d", "src/cli/elf.cpp: e", 'Revert "x"', "a: " + "x" * 69):
            self.assertIsNone(check_commits.problem_of(subject), subject)
        for subject in ("Fix it", "explore", "explore:a", "a: " + "x" * 70, ": x"):
            self.assertIsNotNone(check_commits.problem_of(subject), subject)


class Repository(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.git("init", "-q")
        self.commit("src/old.cpp", "int  old ;\n", "src: old and not formatted")

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], check=True, capture_output=True)

    def commit(self, name, text, subject):
        pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(name).write_text(text, encoding="utf-8")
        self.git("add", name)
        self.git("commit", "-qm", subject)

    def outcome(self, *words):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            return check_commits.main(["check_commits", *words]), out.getvalue()

    def test_only_the_commits_since(self):
        self.commit("a", "", "no area")
        self.assertEqual(self.outcome("subjects")[0], 1)
        self.commit("b", "", "src: fine")
        self.assertEqual(self.outcome("subjects")[0], 0)
        self.assertEqual(self.outcome("--since=HEAD~2", "subjects")[0], 1)

    def test_the_first_commit(self):
        self.assertEqual(self.outcome("subjects"), (0, "subjects: fine\n"))

    @unittest.skipIf(shutil.which("clang-format-22") is None, "clang-format-22 is not installed")
    def test_only_what_has_changed_is_formatted(self):
        self.commit("src/new.cpp", "int a;\n", "src: new")
        self.assertEqual(self.outcome("format")[0], 0)
        self.assertEqual(self.outcome("changed")[1], "src/new.cpp\n")
        pathlib.Path("src/other.cpp").write_text("int  b ;\n", encoding="utf-8")  # not committed yet
        status, out = self.outcome("format")
        self.assertEqual((status, out), (1, "src/other.cpp: not as ./dev fmt has it\n"))


    @unittest.skipIf(shutil.which("clang-tidy-22") is None, "clang-tidy-22 is not installed")
    def test_clang_tidy_on_changed_lines(self):
        shutil.copy(ROOT / ".clang-tidy", ".")
        pathlib.Path("build/dev").mkdir(parents=True)
        command = {"directory": os.getcwd(), "file": "src/bad.cpp", "command": "clang++ -std=c++20 -c src/bad.cpp"}
        pathlib.Path("build/dev/compile_commands.json").write_text(json.dumps([command]), encoding="utf-8")
        bad = "long long area(int a, int b) {\n  return a * b;\n}\n"  # bugprone-implicit-widening-of-multiplication-result
        self.commit("src/bad.cpp", bad, "src: bad")
        status, out = self.outcome("tidy")
        self.assertEqual(status, 1)
        self.assertIn("src/bad.cpp:2:", out)
        self.commit("src/bad.cpp", bad + "int fine();\n", "src: other lines")
        self.assertEqual(self.outcome("tidy"), (0, "tidy: fine\n"))


class Format(unittest.TestCase):
    def test_include_categories_name_the_layers(self):
        text = (ROOT / ".clang-format").read_text(encoding="utf-8")
        named = re.search(r"Regex: '\^\"\(([a-z|]+)\)/'", text)[1].split("|")
        self.assertEqual(named, sorted(check_layers.LAYERS))


if __name__ == "__main__":
    unittest.main()

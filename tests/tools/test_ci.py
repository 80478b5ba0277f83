"""The files that other projects use in their CI: they parse, their shell is shell, their flags exist."""
import pathlib
import re
import subprocess
import sys
import unittest

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import nightly  # noqa: E402

FLAGS = (ROOT / "docs" / "reference" / "flags.md").read_text(encoding="utf-8")


@unittest.skipIf(yaml is None, "python3-yaml is not installed")
class Templates(unittest.TestCase):
    def load(self, name):
        text = (ROOT / name).read_text(encoding="utf-8")
        return yaml.safe_load(text.replace("!!python/name:", ""))  # a function that mkdocs calls

    def check_shell(self, script):
        done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        commands = [line for line in script.splitlines() if line.lstrip().startswith("heddle ")]
        for flag in re.findall(r"(?<=\s)--[a-z-]+", "\n".join(commands)):
            self.assertIn(f"`{flag}", FLAGS)

    def test_action(self):
        action = self.load("ci/action.yml")
        self.assertEqual(action["runs"]["using"], "composite")
        for step in action["runs"]["steps"]:
            self.assertEqual(step["shell"], "bash")
            self.check_shell(step["run"])
            # What a user gives must not become code: it comes by variables.
            self.assertNotIn("${{", step["run"])

    def test_gitlab(self):
        job = self.load("ci/gitlab.yml")[".heddle"]
        self.check_shell("\n".join(job["before_script"] + job["script"]))
        self.assertEqual(job["artifacts"]["reports"]["junit"], "heddle.xml")

    def test_nightly(self):
        """Each part of tools/nightly.py is a job."""
        job = self.load("ci/nightly.yml")["jobs"]["part"]
        self.assertEqual(job["strategy"]["matrix"]["part"], [part.name for part in nightly.PARTS])
        for step in job["steps"]:
            self.assertNotIn("${{", step.get("run", ""))

    def test_pre_commit(self):
        (hook,) = self.load(".pre-commit-hooks.yaml")
        self.assertEqual(hook["entry"], "heddle lint")
        self.assertTrue(re.search(hook["files"], "a/b.cu") and re.search(hook["files"], "c.cuh"))
        self.assertFalse(re.search(hook["files"], "a.cpp"))

    def test_site(self):
        def pages(nav):
            for entry in nav:
                for value in entry.values():
                    yield from pages(value) if isinstance(value, list) else [value]

        for page in pages(self.load("mkdocs.yml")["nav"]):
            self.assertTrue((ROOT / page).is_file(), page)


if __name__ == "__main__":
    unittest.main()

"""Each `heddle …` command that templates and documents show has the form that `heddle` takes.

A command is read as the tool's parser would, by the tables of docs/reference/flags.md, which another test
compares with the tool: flags of this subcommand, values where values belong, and those that are allowed.
Nothing is run but the shell of the templates, in which `heddle` is a function that writes its arguments.
"""
import importlib.util
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest
import unittest.mock

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("heddle_site", ROOT / "tools/site.py")
site = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(site)
PLACEHOLDER = re.compile(r"^(…|\$.*|[A-Z][A-Z0-9_]*|.*…)$")  # what stands for something else


def reference():
    """Subcommand ("" for none) -> flag -> what its value may be, None if it has none."""
    tables, table = {}, None
    for line in (ROOT / "docs/reference/flags.md").read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"## heddle ?(\w*)$", line):
            table = tables.setdefault(heading.group(1), {})
        elif row := re.match(r"\| `(-\S+)(?: ([^`]+))?` \|", line):
            for name in row.group(1).split(","):
                table[name] = row.group(2)
    return tables


TABLES = reference()


def wrong_value(kind, value):
    if PLACEHOLDER.match(value):
        return False
    if words := re.search(r"\{(.*)\}", kind):
        return value not in words.group(1).split(",")
    if bounds := re.search(r"INT in \[(\d+) - (\d+)\]", kind):
        return not (value.isdigit() and int(bounds.group(1)) <= int(value) <= int(bounds.group(2)))
    return False


def problem(words):
    """What the tool would say against the arguments `words`; "" if nothing."""
    if words and (words[0].endswith((".cu", ".py")) or "/" in words[0]):
        words = ["test", *words]  # which a program without a command means
    words = list(words)
    command = words.pop(0) if words and not words[0].startswith("-") else ""
    if command not in TABLES:
        return f"no command '{command}'"
    table = TABLES[command]
    while words:
        word = words.pop(0)
        if word == "--":
            return ""
        if not word.startswith("-") or word == "-":
            if command in ("test", "run", "check") and not word.endswith((".cu", "…")):
                return ""  # a program: what follows is for it
            continue
        if word == "-m" and command in ("test", "run", "check"):
            return ""
        name, equals, value = word.partition("=")
        if not word.startswith("--") and len(name) > 2 and table.get(name[:2]):
            name, equals, value = word[:2], "=", word[2:]
        if name not in table:
            return f"{command} has no {name}"
        kind = table[name]
        if kind is None:
            if equals:
                return f"{command} {name} takes no value"  # which the tool ignores
            continue
        if not equals:
            if not words or (words[0].startswith("-") and kind != "FLAGS"):
                return f"{command} {name} needs a value"
            value = words.pop(0)
        if wrong_value(kind, value):
            return f"{command} {name}: {value} is not in {kind}"
    return ""


def commands_of_page(text):
    """Of code blocks (fenced or indented) and of code in the text."""
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        found = []
        if fenced or line.startswith("    "):
            found = re.findall(r"^\s*(?:\$ )?(?:\./)?heddle (\S.*)", line)
        else:
            found = re.findall(r"`(?:\./)?heddle ([^`]+)`", line)
        for words in found:
            words = re.split(r"\s{2,}|\s#|\s[|>&]|;", words)[0]  # remarks, and what the shell takes
            yield re.sub(r"\[(.*?)\]", r"\1", words).replace("(", " ").replace(")", " ")


PAGES = [page for pattern in ("README*.md", "docs/*.md", "docs/zh/*.md", "docs/lint/*.md", "docs/gallery/*.md", "ci/*.md")
         for page in sorted(ROOT.glob(pattern))]


class Commands(unittest.TestCase):
    def test_what_is_refused(self):
        for line in ("lint --html a.html b.cu", "lint --format=junit b.cu", "check --perfetto f b.cu", "check b.cu --html",
                     "check --device sm_70 b.cu", "check --leaks b.cu", "look b.cu", "run --leaks=1 b.cu", "check -j 0 b.cu",
                     "replay --trace --seed 1 v1:…", "--suite a.yaml"):
            self.assertNotEqual(problem(shlex.split(line)), "", line)
        for line in ("lint -Iinclude -DA=1 b.cu -- -std=c++20", "run b.cu --races -- --html", "check ./app --html", "--reference",
                     "run -m a --seed", "check -j4 --html=x b.cu", "check --nvcc -O2 b.cu", "run --device sm_90 b.cu", "replay v1:… --trace"):
            self.assertEqual(problem(shlex.split(line)), "", line)

    def test_documents(self):
        number = 0
        for page in PAGES:
            for command in commands_of_page(page.read_text(encoding="utf-8")):
                number += 1
                with self.subTest(page=page.name, command=command):
                    self.assertEqual(problem(shlex.split(command)), "")
        self.assertGreater(number, 50)


class Pages(unittest.TestCase):
    def test_each_finding_is_explained(self):
        codes = re.findall(r'^HEDDLE_FINDING\(\w+, "([\w-]+)"', (ROOT / "src/report/finding.def").read_text(), re.M)
        self.assertGreater(len(codes), 30)
        for name in ("docs/findings.md", "docs/zh/findings.md"):
            page = (ROOT / name).read_text(encoding="utf-8")
            self.assertEqual([code for code in codes if f"`{code}`" not in page], [], name)

    def test_user_pages_are_there_in_chinese(self):
        """The page that a user reads first has its translation, and each page of the site's Chinese part is in it."""
        navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
        for page in ("checking", "findings", "concepts", "pages", "python", "ci", "everything", "suppressions", "limits",
                     "from-miri", "from-compute-sanitizer"):
            for name in (f"docs/{page}.md", f"docs/zh/{page}.md"):
                self.assertTrue((ROOT / name).exists(), name)
                self.assertIn(f": {name}\n", navigation + "\n")

    def test_each_page_is_on_the_site(self):
        navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
        pages = [page for folder in ("docs", "spec") for page in (ROOT / folder).rglob("*.md")]
        self.assertEqual([str(page) for page in pages if f": {page.relative_to(ROOT)}\n" not in navigation + "\n"], [])

    def test_links_to_headings(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "a.md"
            page.write_text("# Some title\n\n```\n# no title\n```\n\n## `--races`: 数据 竞争\n", encoding="utf-8")
            self.assertEqual(site.headings(page), {"some-title", "-races-数据-竞争"})
            page.write_text("[a](a.md#there) [b](#here) [c](b.md)\n# Here\n", encoding="utf-8")
            with unittest.mock.patch.object(site, "ROOT", pathlib.Path(folder)):
                self.assertEqual(list(site.broken_links([pathlib.Path("a.md")])), ["a.md: a.md#there", "a.md: b.md"])

    def test_options_in_chinese_pages_are_those_of_the_english_ones(self):
        """A long option in a Chinese page stands on the English page that it translates, or in the reference."""
        reference = (ROOT / "docs/reference/flags.md").read_text(encoding="utf-8")
        for page in sorted((ROOT / "docs/zh").glob("*.md")):
            english = ROOT / "docs" / page.name
            known = reference + (english.read_text(encoding="utf-8") if english.exists() else "")
            for option in re.findall(r"`(--[a-z-]+)", page.read_text(encoding="utf-8")):
                self.assertTrue(option in known, f"{page.name}: {option}")


@unittest.skipIf(yaml is None, "python3-yaml is not installed")
class Templates(unittest.TestCase):
    def load(self, name):
        return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))

    def calls(self, script, **variables):
        """The arguments with which the script calls heddle."""
        recorder = "heddle() { printf '%s\\n' \"$*\" >&2; }\n"
        done = subprocess.run(["bash", "-e", "-c", recorder + script], text=True, capture_output=True,
                              env={"PATH": "/usr/bin:/bin", "GITHUB_OUTPUT": "/dev/null", **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.splitlines()

    def check(self, script, command, **variables):
        calls = self.calls(script, **variables)
        self.assertTrue(any(call.startswith(f"{command} ") and call.endswith(" a.cu -- 4") for call in calls), calls)
        for call in calls:
            self.assertEqual(problem(shlex.split(call)), "")

    def test_action(self):
        (step,) = [step for step in self.load("ci/action.yml")["runs"]["steps"] if step.get("id") == "run"]
        for command in ("check", "run", "lint"):
            self.check(step["run"], command, COMMAND=command, ARGUMENTS="a.cu -- 4", SARIF="a.sarif", HTML="a.html")

    def test_gitlab(self):
        script = "\n".join(self.load("ci/gitlab.yml")[".heddle"]["script"])
        for command in ("check", "run", "lint"):
            self.check(script, command, HEDDLE_COMMAND=command, HEDDLE_ARGUMENTS="a.cu -- 4")

    def test_container_and_hook(self):
        container = (ROOT / "ci/Containerfile").read_text(encoding="utf-8")
        self.assertIn('ENTRYPOINT ["heddle"]', container)
        (hook,) = self.load(".pre-commit-hooks.yaml")
        (usage,) = re.findall(r"podman run .* heddle (check .*)", container)  # the image, then its arguments
        for line in (usage, hook["entry"].removeprefix("heddle ") + " a.cu b.cuh"):
            self.assertEqual(problem(shlex.split(line)), "", line)


if __name__ == "__main__":
    unittest.main()

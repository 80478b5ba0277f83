#!/usr/bin/env python3
"""Which tests need not run again, because what they depend on is what it was when they passed last: for ./dev test without --all.

    unchanged.py plan BUILD RESULTS [--all]     RESULTS/keys.json: of each test; RESULTS/unchanged/NAME where it need not run (--all: none)
    unchanged.py keep BUILD RESULTS             after the tests: BUILD/passed.json has the keys of those that have passed
    unchanged.py show BUILD [NAME…]             what these tests, or all, depend on

A key is made of contents, not of times: of
  - the command, its environment, and the files that these name; programs outside of this tree by their time and size;
  - built programs and libraries: all of BUILD/bin and BUILD/lib for a script, without those of `heddle lint` if no word of it or of its folder is
    "lint"; a built program alone needs the libraries that it loads, or all if its sources look for them;
  - the folder of the test below tests/, those that it names, and what belongs to all: tests/support, include, examples, … Pages (*.md) only
    where a script names one, or a program knows where the sources are; C++ below tests/ never, since it is compiled.
Tests of the sources (static.*) depend on all files, and one that has the build folder to itself (HEDDLE_BUILD) always runs. It may be wrong for
a test that reads what it does not name; so CI runs all, with --all.
"""
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINT = re.compile(r"(?i)(?<![a-z])lint(?![a-z])")
OF_LINT = {"bin/heddle-lint", "lib/heddle_clang_tidy.so"}
ENVIRONMENT = re.compile(r"^(HEDDLE_(?!RESULTS|JOBS|NO_INSTALL|BUDGET)|NVCC_|CUDA|PYTHONPATH$|LD_|OMP_)")
NO_INPUT = re.compile(r"^(src|bench|ci|tools|spec)/|^\.|\.md$|^tests/.*\.(cpp|hpp)$|^tests/(unit|reduce|memory|fuzz)/.*\.h$")
BUILD_IN_SOURCES = re.compile(r"HEDDLE_BINARY_DIR|\bgetenv\b|\bdlopen\b|\bexecv")


def digest(parts):
    all_of_them = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        all_of_them.update(len(data).to_bytes(8, "little") + data)
    return all_of_them.hexdigest()


class Contents:
    """Each file is read once."""

    def __init__(self):
        self._known = {}

    def of(self, path):
        if path not in self._known:
            self._known[path] = digest([path.read_bytes()]) if path.is_file() else "none"
        return self._known[path]

    @functools.cache
    def of_all(self, root, names):
        return digest(part for name in sorted(names) for part in (name, self.of(root / name)))


def tracked(root):
    listing = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True, check=True)
    return sorted(set(listing.stdout.splitlines()))


class Inputs:
    def __init__(self, root, build, names=None):
        self.root, self.build = root, build
        self.contents = Contents()
        self.names = tracked(root) if names is None else names
        self.folders = sorted({name.split("/")[1] for name in self.names if name.startswith("tests/") and name.count("/") > 1})
        self.texts = {folder: self.text_of(folder) for folder in self.folders}
        self.built = sorted(str(path.relative_to(build)) for top in ("bin", "lib") for path in (build / top).rglob("*") if path.is_file())
        self.libraries = {}

    def text_of(self, folder):
        files = [self.root / name for name in self.names if name.startswith(f"tests/{folder}/") and name.endswith((".py", ".sh", ".cu", ".h", ".cpp", ".txt"))]
        return "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file())

    @functools.cache
    def named_folders(self, folder):
        """This one and those that it names, and those that these name."""
        found, pending = set(), [folder]
        while pending:
            of = pending.pop()
            if of not in found and of in self.texts:
                found.add(of)
                pending += [other for other in self.folders if re.search(rf"""["'/]{re.escape(other)}["'/]""", self.texts[of])]
        return found

    def folder_of(self, test):
        """Below tests/: of a script or a program that the command names."""
        for word in test["command"]:
            for base in (self.root / "tests", self.build / "tests"):
                if word.startswith(f"{base}/") and "support" not in word and pathlib.Path(word).is_file():
                    return word[len(str(base)) + 1:].split("/")[0]
        return None

    def sources(self, test, folder):
        """Files of the repository."""
        if test["name"].startswith("static.") or folder is None:
            return tuple(self.names)
        pages = (".md" in self.texts[folder] or "HEDDLE_SOURCE_DIR" in self.texts[folder] or any(".md" in word for word in test["command"]))
        return self.sources_of(folder, pages)

    @functools.cache
    def sources_of(self, folder, pages):
        folders = self.named_folders(folder) | {"support"}

        def matters(name):
            if name.endswith(".md"):
                return pages
            if name.startswith("tests/") and name.count("/") > 1 and name.split("/")[1] not in folders:
                return False
            return not NO_INPUT.search(name)
        return tuple(name for name in self.names if matters(name))

    def libraries_of(self, program):
        if program not in self.libraries:
            text = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
            paths = [pathlib.Path(path) for path in re.findall(r"=> (/\S+)", text)]
            self.libraries[program] = [str(path.relative_to(self.build)) for path in paths if self.build in path.parents]
        return self.libraries[program]

    def outputs(self, test, folder):
        """Built files, below the build folder."""
        named = {str(pathlib.Path(path).relative_to(self.build)) for path in re.findall(rf"{re.escape(str(self.build))}/[^\s;:=\"']+", " ".join(
            [*test["command"], *test["environment"]])) if pathlib.Path(path).is_file()}
        program = pathlib.Path(test["command"][0])
        if self.build in program.parents and not test["environment"]:
            sources = [self.root / name for name in self.names if folder and name.startswith(f"tests/{folder}/") and name.endswith((".cpp", ".h"))]
            if folder == "unit":  # a folder for each
                layer = program.name.removeprefix("unit_")
                sources = [path for path in sources if f"/unit/{layer}/" in str(path)]
            if not any(BUILD_IN_SOURCES.search(path.read_text(encoding="utf-8", errors="replace")) for path in sources if path.is_file()):
                return tuple(sorted(named | set(self.libraries_of(str(program)))))
        lints = folder is None or self.programs_lint(folder) or self.scripts_lint(tuple(test["command"]))
        return tuple(sorted(named | {name for name in self.built if lints or name not in OF_LINT}))

    @functools.cache
    def scripts_lint(self, command):
        """Scripts that the command names, and what they import from here."""
        seen, pending = {}, [pathlib.Path(word) for word in command if word.endswith((".py", ".sh")) and not word.endswith("cost.sh")]
        pending = [path if path.is_absolute() else self.root / path for path in pending]
        while pending:
            path = pending.pop()
            if path in seen or not path.is_file():
                continue
            seen[path] = path.read_text(encoding="utf-8", errors="replace")
            for name in re.findall(r"^\s*(?:from|import) (\w+)", seen[path], re.MULTILINE):
                pending += [path.with_name(f"{name}.py"), *self.root.glob(f"tests/*/{name}.py"), self.root / f"tests/{name}.py"]
        return any(LINT.search(text) for text in [*seen.values(), *command])

    @functools.cache
    def programs_lint(self, folder):
        files = [self.root / name for name in self.names if name.startswith(f"tests/{folder}/") and name.endswith(".cu")]
        return any(LINT.search(file.read_text(encoding="utf-8", errors="replace")) for file in files if file.is_file())

    def tools(self, test):
        """Programs and files outside of this tree."""
        for word in re.findall(r"/[^\s;=\"']+", " ".join([*test["command"], *test["environment"]])):
            path = pathlib.Path(word)
            if self.root not in path.parents and path.is_file():
                status = path.stat()
                yield f"{word} {status.st_size} {status.st_mtime_ns}"

    def key(self, test):
        """None: it always runs."""
        if any(line.startswith("HEDDLE_BUILD=") for line in test["environment"]):
            return None
        folder = self.folder_of(test)
        around = sorted(f"{name}={value}" for name, value in os.environ.items() if ENVIRONMENT.match(name))
        return digest([json.dumps(test, sort_keys=True), *around, *self.tools(test), self.contents.of_all(self.root, self.sources(test, folder)),
                       self.contents.of_all(self.build, self.outputs(test, folder))])


def tests_of(build):
    """Name, command without the word that notes what it costs, environment."""
    asked = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True, check=True)
    for test in json.loads(asked.stdout)["tests"]:
        command = test.get("command", [])
        command = command[2:] if command and command[0].endswith("cost.sh") else command
        if command:
            environment = next((p["value"] for p in test["properties"] if p["name"] == "ENVIRONMENT"), [])
            yield {"name": test["name"], "command": command, "environment": environment}


def keys_of(build):
    inputs = Inputs(ROOT, build)
    return {test["name"]: inputs.key(test) for test in tests_of(build)}


def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def unchanged(keys, passed):
    return sorted(name for name, key in keys.items() if key is not None and passed.get(name) == key)


def plan(build, results, everything):
    keys = keys_of(build)
    results.mkdir(parents=True, exist_ok=True)
    (results / "keys.json").write_text(json.dumps(keys), encoding="utf-8")
    if everything:
        return
    names = unchanged(keys, read(build / "passed.json"))
    (results / "unchanged").mkdir(exist_ok=True)
    for name in names:
        (results / "unchanged" / name.replace("/", ":")).touch()
    if names:
        print(f"{len(names)} of {len(keys)} tests need not run again: nothing that they depend on has changed since they passed (./dev test --all runs them)")


def after(passed, before, now, states):
    """What is known of each test: `before` and `now` are its keys, before and after the tests; what changed meanwhile is not known."""
    known = {name: key for name, key in passed.items() if name in now}
    for name, state in states.items():
        if state != "run" or before.get(name) != now.get(name):
            known.pop(name, None)
        elif now.get(name) is not None:
            known[name] = now[name]
    return known


def keep(build, results):
    if not (results / "ctest.xml").exists():
        return
    cases = ET.parse(results / "ctest.xml").getroot().iter("testcase")
    states = {case.get("name"): "skipped" if case.find("skipped") is not None else case.get("status") for case in cases}
    known = after(read(build / "passed.json"), read(results / "keys.json"), keys_of(build), states)
    (build / "passed.json").write_text(json.dumps(known, indent=0), encoding="utf-8")


def show(build, names):
    inputs = Inputs(ROOT, build)
    for test in tests_of(build):
        if not names or test["name"] in names:
            folder = inputs.folder_of(test)
            outputs = inputs.outputs(test, folder)
            print(test["name"], inputs.key(test), f"{len(inputs.sources(test, folder))} sources of {', '.join(sorted(inputs.named_folders(folder))) or 'all'};",
                  "all that is built" if set(inputs.built) <= set(outputs) else "all but lint" if len(outputs) >= len(inputs.built) - len(OF_LINT) else " ".join(outputs))


def main(argv):
    what, build = argv[1], pathlib.Path(argv[2]).resolve()
    if what == "plan":
        plan(build, pathlib.Path(argv[3]), "--all" in argv)
    elif what == "keep":
        keep(build, pathlib.Path(argv[3]))
    elif what == "show":
        show(build, argv[3:])
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

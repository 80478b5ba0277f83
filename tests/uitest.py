"""A lit test format: one .cu file is one test, and the file itself says what must happen.

    //@ command: run                 the heddle command (default: check)
    //@ args: --seed 3               options for that command
    //@ program-args: 4 128          what comes after "--"
    //@ revisions: cuda fair         run once per name
    //@[fair] args: --progress=fair  a directive for one revision
    //@ compare: no                  no golden output (it depends on the CUDA toolkit)
    //@ exit: 3                      exit code (default: from the folder: pass 0, fail 1, unsupported 3)
    //~ ERROR starvation text        this line must get that error, its message containing the text
    //~^ NOTE …                      the same for the line above (one ^ per line)
    //~[fair] ERROR …                in one revision only

An error on a line that does not announce it fails the test, and so does any directive that is not
in this list: a typo cannot switch a check off. Beside the test, NAME[.revision].stderr and .stdout
hold the whole normalised output where they exist; BLESS=1 writes them.
"""
import os
import re
import subprocess

import lit.formats
import lit.Test

DIRECTIVES = {"command", "args", "program-args", "revisions", "exit", "compare", "timeout"}
EXIT_BY_FOLDER = {"pass": 0, "fail": 1, "unsupported": 3}

DIRECTIVE = re.compile(r"//@(?:\[([\w-]+)\])?\s*([\w-]+):\s*(.*?)\s*$")
EXPECTATION = re.compile(r"//~(?:\[([\w-]+)\])?(\^*)\s*(ERROR|WARNING|NOTE)\s+([\w-]+)\s*(.*?)\s*$")
DIAGNOSTIC = re.compile(r"^(?P<file>[^:\s]+):(?P<line>\d+):\d+: (?P<kind>error|warning|note)\[(?P<code>[\w-]+)\]: (?P<message>.*)$")
# What differs between two runs of the same test without meaning anything.
NORMALISE = [
    (re.compile(r"\S*/heddle/programs/[0-9a-f]{32}\+0x[0-9a-f]+"), "PROGRAM"),
    (re.compile(r"0x[0-9a-f]{6,}"), "0x…"),
    (re.compile(r"(= PTX: [\w.:]+) .*"), r"\1 …"),  # which registers is nvcc's business
    (re.compile(r"\b\d+(\.\d+)? ?(ns|us|ms|s|seconds)\b"), "… s"),
    (re.compile(r"\bv1:\S+"), "v1:…"),
]


class Malformed(Exception):
    pass


class Expectations:
    """What one file asks for, in one revision."""

    def __init__(self, path):
        self.path = path
        self.directives = []
        self.expected = []
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                self._read(number, line.rstrip("\n"))

    def _read(self, number, line):
        if "//@" in line:
            match = DIRECTIVE.search(line)
            if not match or match[2] not in DIRECTIVES:
                raise Malformed(f"{self.path}:{number}: unknown directive: {line.strip()}")
            self.directives.append((match[1], match[2], match[3]))
        if "//~" in line:
            match = EXPECTATION.search(line)
            if not match:
                raise Malformed(f"{self.path}:{number}: malformed expectation: {line.strip()}")
            self.expected.append((match[1], number - len(match[2]), match[3].lower(), match[4], match[5]))

    def revisions(self):
        for _, name, value in self.directives:
            if name == "revisions":
                return value.split()
        return [None]

    def value(self, name, revision, default=""):
        found = [v for r, n, v in self.directives if n == name and r in (None, revision)]
        return " ".join(found) if found else default

    def announced(self, revision):
        return [e[1:] for e in self.expected if e[0] in (None, revision)]


class UiTest(lit.formats.FileBasedTest):
    def execute(self, test, lit_config):
        path = test.getSourcePath()
        try:
            wanted = Expectations(path)
        except Malformed as problem:
            return lit.Test.FAIL, str(problem)
        problems = []
        for revision in wanted.revisions():
            label = f"[{revision}] " if revision else ""
            problems += [label + p for p in self._run(test, path, wanted, revision)]
        return (lit.Test.FAIL, "\n".join(problems)) if problems else (lit.Test.PASS, "")

    def _run(self, test, path, wanted, revision):
        folder = next((f for f in test.path_in_suite if f in EXIT_BY_FOLDER), "pass")
        expected_exit = int(wanted.value("exit", revision, EXIT_BY_FOLDER[folder]))
        command = [test.config.heddle, wanted.value("command", revision, "check")]
        command += wanted.value("args", revision).split() + [os.path.basename(path)]
        program_args = wanted.value("program-args", revision).split()
        if program_args:
            command += ["--"] + program_args
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                  cwd=os.path.dirname(path),  # so that places are short
                                  timeout=float(wanted.value("timeout", revision, "120")))
        except subprocess.TimeoutExpired as late:
            return [f"no result after {late.timeout} s: {' '.join(command)}"]
        problems = []
        if done.returncode != expected_exit:
            problems.append(f"exit code {done.returncode}, expected {expected_exit}: {' '.join(command)}\n{done.stderr}{done.stdout}")
        problems += self._compare_places(path, wanted.announced(revision), done.stderr + done.stdout)
        base = os.path.splitext(path)[0] + (f".{revision}" if revision else "")
        for suffix, text in ((".stderr", done.stderr), (".stdout", done.stdout)):
            if wanted.value("compare", revision) == "no":
                break
            problems += self._compare_text(base + suffix, self._normalise(path, text))
        return problems

    @staticmethod
    def _compare_places(path, announced, output):
        found = []
        for match in filter(None, map(DIAGNOSTIC.match, output.splitlines())):
            if os.path.basename(match["file"]) == os.path.basename(path):
                found.append((int(match["line"]), match["kind"], match["code"], match["message"]))
        problems = []
        for line, kind, code, text in announced:
            hit = next((f for f in found if f[:3] == (line, kind, code) and text in f[3]), None)
            if hit:
                found.remove(hit)
            else:
                problems.append(f"{path}:{line}: no {kind}[{code}] containing {text!r}")
        problems += [f"{path}:{line}: not announced: {kind}[{code}]: {message}"
                     for line, kind, code, message in found if kind == "error"]
        return problems

    @staticmethod
    def _normalise(path, text):
        text = text.replace(os.path.dirname(path) + os.sep, "")
        for pattern, replacement in NORMALISE:
            text = pattern.sub(replacement, text)
        return text

    @staticmethod
    def _compare_text(golden, text):
        if os.environ.get("BLESS"):
            if text:
                with open(golden, "w", encoding="utf-8") as out:
                    out.write(text)
            elif os.path.exists(golden):
                os.remove(golden)
            return []
        if not os.path.exists(golden):
            return []
        with open(golden, encoding="utf-8") as stored:
            if stored.read() == text:
                return []
        return [f"output differs from {golden} (BLESS=1 accepts it):\n{text}"]

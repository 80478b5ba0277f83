"""Programs that say themselves what `heddle check` must answer, and the comparison with what it answers.

A program is a .cu file; lines of the form `//@ word: text` state what is expected:

    //@ case: NAME [ARG…]      one run of the program; the words are its arguments. Expectations that
                               follow belong to this case, up to the next one; what stands before the
                               first case holds for all of them. A program without any is run once.
    //@ verdict: WORD          terminates, may-hang, defect, unknown (required)
    //@ finding: CODE [RULE]   a finding and the rule it cites; the set of these must be the whole answer
    //@ names: TEXT            a part of the source line that the (only) finding names first, second, …
    //@ rests-on: RULE…        rules without which it might not end, among others
    //@ bound: TEXT            a part of what the verdict says that it holds for
    //@ clause: WORD…          clauses of the execution model that the case turns on
    //@ flags: …               flags of `heddle check`
    //@ nvcc: …                flags of nvcc
    //@ env: NAME=VALUE…       environment of the checked program
    //@ incomplete: reason     not everything can be looked at
    //@ coverage: WORD         how much is looked at: exhaustive, one-order, bounded, cut (default: exhaustive; with
                               `incomplete` any other)
    //@ warning: code         a finding that is a warning, so no part of the verdict
    //@ polls: reason          host code polls: whether a round of its loop leads to the same state depends on what the
                               build of Heddle leaves on its stack. Besides what is expected, `bounded` will do, with
                               the verdict unknown in the place of terminates
    //@ gap: reason            known not to hold yet, because Heddle lacks what the reason names. The
                               case must fail: when the gap is closed, the line has to go
    //@ large: reason          left out of the comparison of reductions: too slow without them
    //@ timeout: SECONDS       of heddle check (default 60)

A word that is not in this list is an error, so a typing mistake cannot switch a check off.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import time

HEDDLE = os.environ.get("HEDDLE", "./heddle")
DIRECTIVE = re.compile(r"^\s*//@ ([a-z-]+): *(.*?)\s*$")
ONCE = {"verdict", "incomplete", "coverage", "polls", "gap", "large", "timeout"}
COVERAGES = {"exhaustive", "one-order", "bounded", "cut"}
MANY = {"finding", "warning", "names", "rests-on", "bound", "clause", "flags", "nvcc", "env"}
HANGS = {"starvation", "livelock", "deadlock", "no-progress-loop"}
VERDICTS = {"terminates": 0, "may-hang": 1, "defect": 1, "unknown": None}
CLAUSES = {
    "host-threads", "host.threads.1", "host.threads.2", "host.threads.3", "host.threads.4",
    "host.threads.5", "host.threads.6", "device-threads", "cluster", "cooperative-grid",
    "device.threads.1", "device.threads.2", "device.threads.3", "device.threads.4", "api", "query",
    "dependencies", "events", "graphs",
}


class BadCase(Exception):
    """The expectations of a program are malformed."""


class Case:
    def __init__(self, path, words, values):
        self.path, self.words, self.values = pathlib.Path(path), words, values
        assumptions = [*values.get("flags", []), *values.get("env", [])]
        self.name = " ".join([self.path.stem, *words, *assumptions])
        for name in ONCE:
            if len(values.get(name, [])) > 1:
                raise BadCase(f"{path}: {self.name}: '{name}' is given twice")
        self.verdict = self.one("verdict")
        if self.verdict not in VERDICTS:
            raise BadCase(f"{path}: {self.name}: verdict '{self.verdict}'")
        self.coverage = self.one("coverage")
        if self.coverage not in COVERAGES | {None}:
            raise BadCase(f"{path}: {self.name}: coverage '{self.coverage}'")
        self.findings = sorted({tuple(text.split()) for text in values.get("finding", [])})
        if (self.verdict in ("may-hang", "defect")) != bool(self.findings):
            raise BadCase(f"{path}: {self.name}: '{self.verdict}' with {self.findings}")
        self.findings = sorted({*self.findings, *(tuple(text.split()) for text in values.get("warning", []))})
        self.gap = self.one("gap")
        self.clauses = " ".join(values.get("clause", [])).split()
        if not set(self.clauses) <= CLAUSES:
            raise BadCase(f"{path}: {self.name}: clauses {set(self.clauses) - CLAUSES}")

    def one(self, name):
        return (self.values.get(name) or [None])[0]

    def many(self, name):
        return [word for text in self.values.get(name, []) for word in shlex.split(text)]

    def command(self, *options):
        nvcc = " ".join(self.values.get("nvcc", []))
        return [HEDDLE, "check", "--format=json", *self.many("flags"), *options,
                *([f"--nvcc={nvcc}"] if nvcc else []), str(self.path), *(["--", *self.words] if self.words else [])]

    def run(self, *options):
        """heddle's answer, with its exit code and what it wrote to stderr."""
        began = time.monotonic()
        try:
            done = subprocess.run(
                self.command(*options), capture_output=True, text=True,
                timeout=float(self.one("timeout") or 60) + 60,
                env=self.environment(),
            )
        except subprocess.TimeoutExpired:
            return {"verdict": None, "exit": None, "stderr": "still running", "findings": []}
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            answer = {"verdict": None, "findings": []}
        return {**answer, "exit": done.returncode, "stderr": done.stderr, "wall": time.monotonic() - began}

    def replay_problems(self, answer):
        """Each finding has a schedule, and that leads into what the finding says; a data race has a seed, and so has a
        hang that one fair schedule shows."""
        found = []
        for finding in answer["findings"]:
            single = any(note.startswith("seen by: heddle run --seed=1") for note in finding.get("notes", []))
            if finding["severity"] == "warning" or finding["code"] == "data-race" or single:
                continue
            done = subprocess.run([HEDDLE, "replay", "--format=json", finding.get("replay", "")],
                                  capture_output=True, text=True, env=self.environment())
            try:
                end = json.loads(done.stdout)["end"]
            except ValueError:
                end = done.stderr.strip()
            wanted = ("loop", "blocked") if finding["code"] in HANGS else ("defect",)
            if end not in wanted or done.returncode != 1:
                found.append(f"replay of {finding['code']}: exit {done.returncode}, {end}: {finding.get('replay')}")
        return found

    def environment(self):
        return {**os.environ, **dict(word.split("=", 1) for word in self.many("env"))}

    def differences(self, answer):
        """What of the answer is not as expected, in words."""
        found = []

        def compare(what, expected, actual):
            if expected != actual:
                found.append(f"{what}: expected {expected}, got {actual}")

        bounded = self.one("polls") is not None and answer.get("coverage") == "bounded"
        verdict = "unknown" if bounded and self.verdict == "terminates" else self.verdict
        compare("verdict", verdict, answer["verdict"])
        if VERDICTS[verdict] is not None:
            compare("exit code", VERDICTS[verdict], answer["exit"])
        codes = sorted({(f["code"], f["rule"]) for f in answer["findings"]})
        with_rules = all(len(f) == 2 for f in self.findings)
        compare("findings", self.findings, codes if with_rules else sorted({(c,) for c, _ in codes}))
        if self.coverage is not None:
            compare("coverage", self.coverage, answer.get("coverage"))
        elif not bounded:
            compare("complete", self.one("incomplete") is None, answer.get("complete"))
        if (answer["verdict"], answer.get("coverage")) == ("unknown", "exhaustive") or (
                answer["verdict"] == "terminates" and answer.get("coverage") != "exhaustive"):
            found.append(f"verdict {answer['verdict']} with coverage {answer.get('coverage')}")
        missing = set(self.many("rests-on")) - set(answer.get("rests_on", []))
        compare("rules it rests on, missing", set(), missing)
        compare("bounds, missing", [], [b for b in self.values.get("bound", []) if b not in answer.get("bounds", "")])
        if self.values.get("names") and len(answer["findings"]) == 1:
            source = self.path.read_text().splitlines()
            named = [source[place["line"] - 1].strip() for place in answer["findings"][0]["locations"]
                     if not place["text"].endswith(" from here")]  # who has called that
            wanted = self.values["names"]
            if len(named) != len(wanted) or not all(w in n for w, n in zip(wanted, named)):
                found.append(f"lines named: expected {wanted}, got {named}")
        if found and answer["stderr"]:
            found.append("stderr: " + answer["stderr"][-600:].strip())
        if found:
            found.append("command: " + shlex.join(self.command()))
        return found


def read_cases(path):
    """The cases of one program, in the order of the file."""
    common, cases, current = {}, [], None
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if not re.match(r"^\s*//\s*@", line):
            continue
        match = DIRECTIVE.match(line)
        name, text = match.groups() if match else (None, None)
        if name == "case":
            current = (text.split(), {})
            cases.append(current)
        elif name in ONCE | MANY:
            (current[1] if current else common).setdefault(name, []).append(text)
        else:
            raise BadCase(f"{path}:{number}: unknown or malformed: {line.strip()}")
    merged = []
    for words, values in cases or [([], {})]:
        both = {name: list(texts) for name, texts in values.items()}
        for name, texts in common.items():
            both[name] = texts + values.get(name, []) if name in MANY else values.get(name, texts)
        merged.append(Case(path, words, both))
    return merged


def programs(*folders):
    here = pathlib.Path(__file__).parent
    root = here.parent.parent
    return sorted(p for folder in folders for p in (root / folder).glob("*.cu"))


def problems_of(case, answer):
    """Empty if the case is as it should be. A gap must still be open."""
    found = case.differences(answer) or case.replay_problems(answer)
    if case.gap is not None:
        return [] if found else [f"the gap is closed, remove '//@ gap: {case.gap}'"]
    return found

#!/usr/bin/env python3
"""Random programs: the same verdict with every reduction of the search off as with all on, and the same report
whoever searches.

    HEDDLE=./heddle random_programs.py [--kind=KIND]… [--seed=N] [--programs=N] [--off="FLAGS"]… [--keep=FOLDER]

What there is at random says KINDS; the grammars are in random_kernels.py (device code), random_alike.py, random_queues.py and random_hosts.py (host
code around kernels), random_weak.py (weak memory). Each program is searched
- as a user does it,
- with every reduction off; with one of them off; as if it were large (blocks at once, one order of data): the same
  verdict and the same kinds of findings,
- if that is with --memory=ptx, without it: nothing is found that was not found with it,
- by two and by four processes: the same bytes but for the time,
and each finding is replayed. A program whose search is not complete either way is counted and left out: what one of
two searches has found is real even then. Some programs hang where the data are what the random numbers say, so that an
outcome that a reduction loses shows as a lost hang.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys

import random_alike
import random_hosts
import random_kernels
import random_queues
import random_weak

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from night import in_time, night, seed  # noqa: E402
from same_folder import SameFolder  # noqa: E402

HEDDLE = os.environ.get("HEDDLE", "heddle")
EACH = ("--no-symmetry", "--no-sums", "--no-orderly", "--no-places", "--no-movers", "--no-data-order", "--no-straight", "--no-phases", "--no-host-first",
        "--no-allocations", "--no-cone", "--no-eager")
EACH_OF_WEAK = ("--no-early-writes", "--no-settled", "--no-places", "--no-straight", "--no-host-first", "--no-orderly", "--no-eager")
WEAK = "--memory=ptx"
LARGE = (["--straight-after=1"], ["--one-order-after=1"], ["--straight-after=1", "--one-order-after=1"])
KINDS = {**random_kernels.KINDS, **random_hosts.KINDS, **random_alike.KINDS, **random_queues.KINDS, **random_weak.KINDS}
LIMITS = {"hosts": 1500, "queues": 3000, "weak_hosts": 1500}  # states: each is a process
# Instructions of one kind without a line are one place to a report, which takes hangs at different ones for one. So there are
# lines, and each statement is on one of its own.
NVCC = "-arch=compute_90 -std=c++17 -lineinfo"


class Answer:
    """What heddle says of one program, and the ways to compare it."""

    def __init__(self, done, seconds):
        self.seconds = seconds
        self.code, self.text = done.returncode, done.stdout + done.stderr
        try:
            self.report = json.loads(done.stdout)
        except ValueError:
            self.report = None

    def verdict(self):
        """Warnings are seen in single schedules: how many are made is no part of the verdict."""
        return (self.report["verdict"], *sorted({f["code"] for f in self.report["findings"] if f["severity"] == "error"}))

    def complete(self):
        return self.report["complete"]

    def same(self, other):
        """None: time has decided something (a search of every order has a twentieth of it)."""
        if None in (self.report, other.report):
            return False
        if not (self.complete() and other.complete()) or max(self.report["seconds"], other.report["seconds"]) > self.seconds / 20:
            return None
        return {**self.report, "seconds": 0} == {**other.report, "seconds": 0}

    def problem(self):
        """What no program at all may lead to."""
        if self.report is None or self.code not in (0, 1, 4):
            return f"exit code {self.code}"
        if "internal error" in self.text or {"nondeterminism", "host-crash"} & {f["code"] for f in self.report["findings"]}:
            return "an answer that no such program can have"
        return None


class Programs:
    """One file of random programs, each chosen by its number."""

    def __init__(self, kind, seed, count, folder, seconds):
        source = random.Random(f"{kind} {seed}")
        self.head, make = KINDS[kind]
        self.states, self.seconds = LIMITS.get(kind, 12_000), seconds
        self.name, self.path = f"{kind} {seed}", pathlib.Path(folder) / f"{kind}_{seed}.cu"
        self.all = [make(source, number) for number in range(count)]
        self.path.write_text(self.text(self.all), encoding="utf-8")

    def text(self, programs):
        cases = "".join(f"  if (n == {p.number}) {{\n{p.main}  }}\n" for p in programs)
        functions = "".join(p.functions for p in programs).replace("; ", ";\n").replace("{ ", "{\n")
        return (self.head + functions
                + f"int main(int, char** argv) {{\n  const int n = atoi(argv[1]);\n{cases}"
                + "  return cudaDeviceSynchronize() != cudaSuccess;\n}\n")

    def command(self, program, flags):
        return [HEDDLE, "check", "--format=json", f"--max-time={self.seconds}", f"--max-states={self.states}", "--schedules=0", *program.flags, *flags,
                f"--nvcc={NVCC}", str(self.path), "--", str(program.number)]

    def ask(self, program, *flags, at_most=None):
        try:
            return Answer(subprocess.run(self.command(program, flags), capture_output=True, text=True,
                                         timeout=at_most or 60 + 4 * self.seconds, check=False), self.seconds)
        except subprocess.TimeoutExpired:
            return Answer(subprocess.CompletedProcess([], 124, "", "still running"), self.seconds)


    def reference(self, program):
        """What the reference says of the kernels (heddle check --reference), in lines; empty: it has not searched all of them."""
        command = [HEDDLE, "check", "--reference", "--max-states=20000", f"--nvcc={NVCC}", str(self.path), "--", str(program.number)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return []
        lines = [line for line in done.stdout.splitlines() if line.startswith("reference: ")]
        return [] if any("not searched" in line for line in lines) else lines


def differ(plain, other):
    """None: cannot be compared."""
    if plain.complete() and other.complete():
        return plain.verdict() != other.verdict()
    if not plain.complete() and not other.complete():
        return None
    full, part = (plain, other) if plain.complete() else (other, plain)
    # A program with a defect may hang besides; a hang's kind is told of all that has been searched. Data races are
    # looked for in single executions, and not where something hangs.
    found = {code for code in part.verdict()[1:] if code != "data-race" or full.report["verdict"] != "may-hang"}
    return (part.report["verdict"] in ("may-hang", "defect") and full.report["verdict"] != part.report["verdict"]
            and not found <= set(full.verdict()[1:]))


def is_more(weak, strong):
    """Does a search of interleavings find what that of weak memory does not? None: cannot be compared. Behind a data race nothing is looked for."""
    if not weak.complete() or not (strong.complete() or strong.report["verdict"] in ("may-hang", "defect")) or "data-race" in weak.verdict():
        return None
    return not set(strong.verdict()[1:]) <= set(weak.verdict()[1:])


class Tally:
    def __init__(self):
        self.programs = self.hangs = self.compared = self.left_out = self.replays = self.same = self.included = self.reference = 0
        self.wrong = []


def look(programs, program, source, options, tally):
    """Everything about one program; what is wrong goes to tally.wrong."""
    def wrong(why, flags=()):
        if len(tally.wrong) == 20:
            sys.exit("too much is wrong")
        tally.wrong.append(f"{programs.name} {program.number}: {why}\n  "
                           + shlex.join(programs.command(program, flags)) + f"\n{program.functions}{program.main}")
        print("WRONG " + tally.wrong[-1], flush=True)

    plain = programs.ask(program, "-j1")
    tally.programs += 1
    if plain.problem():
        wrong(f"{plain.problem()}: {plain.text}", ["-j1"])
        return
    tally.hangs += plain.report["verdict"] != "terminates"
    told = plain.complete() or plain.report["verdict"] in ("may-hang", "defect")
    if program.verdict and told and plain.report["verdict"] != program.verdict:
        wrong(f"{plain.verdict()}, but the oracle says: {program.verdict}", ["-j1"])
    if options.reference and not program.flags and plain.complete():
        lines = programs.reference(program)
        tally.reference += bool(lines)
        hangs = [line for line in lines if ": defect: " in line and "a data race" not in line]
        if hangs and plain.report["verdict"] == "terminates":
            wrong(f"{plain.verdict()}, but the reference says: {hangs[0]}", ["-j1"])
    if WEAK in program.flags:
        off = [list(EACH_OF_WEAK), *([flag] for flag in source.sample(EACH_OF_WEAK, 2))]
        others = dataclasses.replace(program, flags=[flag for flag in program.flags if flag != WEAK])
        strong = programs.ask(others, "-j1")
        more = is_more(plain, strong) if not strong.problem() else True
        tally.included += more is not None
        if more:
            wrong(f"{plain.verdict()}, but without {WEAK}: {strong.text}", ["-j1"])
    else:
        off = [list(EACH), source.choice(LARGE), [source.choice(EACH)]]
    off = [shlex.split(o) for o in options.off or []] or off
    for flags in off:
        other = programs.ask(program, "-j1", *flags)
        if other.problem():
            wrong(f"{other.problem()}: {other.text}", ["-j1", *flags])
            continue
        different = differ(plain, other)
        if different is None:
            tally.left_out += 1
        else:
            tally.compared += 1
        if different:
            wrong(f"{plain.verdict()} but with {' '.join(flags)}: {other.verdict()}", ["-j1", *flags])
    if source.random() < options.also:
        # Where several may take part, witnesses are looked for anew: another report, the same for any number of them.
        at_once = ["--states-alone=0"]
        for one, flags in ((plain, ["-j2"]), (programs.ask(program, "-j1", *at_once), ["-j4", *at_once])):
            other = programs.ask(program, *flags)
            same = one.same(other)
            tally.same += same is not None
            if same is False:
                wrong(f"another report with {' '.join(flags)}:\n{one.text}\n{other.text}", flags)
    if source.random() < options.also:
        for finding in plain.report["findings"]:
            if not finding.get("replay"):  # one fair schedule shows it: heddle run --seed=1
                continue
            tally.replays += 1
            done = subprocess.run([HEDDLE, "replay", "--format=json", finding["replay"]], capture_output=True,
                                  text=True, check=False)
            if done.returncode != 1:
                wrong(f"replay: exit code {done.returncode}: {done.stdout}{done.stderr}")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--kind", action="append", choices=list(KINDS))
    options.add_argument("--seed", type=int, default=seed(1), help="by default 1, at night its number (tests/support/night.py)")
    options.add_argument("--files", type=int, default=1, help="so many seeds, from --seed on")
    options.add_argument("--programs", type=int, default=40, help="of each kind and seed")
    options.add_argument("--only", type=int, action="append", help="the program of that number")
    options.add_argument("--also", type=float, default=0.15, help="the part whose reports and replays are compared")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--max-time", type=float, default=60, help="seconds; what takes longer is left out")
    options.add_argument("--off", action="append")
    options.add_argument("--keep")
    options.add_argument("--reference", action="store_true", default=night() is not None, help="compare with heddle check --reference, too")
    options = options.parse_args()
    failed = 0
    for number in range(options.seed, options.seed + options.files):
        for kind in options.kind or KINDS:
            with SameFolder(f"random.{kind}.{number}") as folder:
                programs = Programs(kind, number, options.programs, options.keep or folder.path, options.max_time)
                chosen = [p for p in programs.all if options.only is None or p.number in options.only]
                programs.ask(chosen[0], at_most=1200)  # compiles once
                tally = Tally()
                with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                    list(pool.map(in_time(lambda p: look(programs, p, random.Random(f"{programs.name} {p.number}"), options, tally)), chosen))
            failed += len(tally.wrong)
            print(f"{programs.name}: {tally.programs} programs, {tally.hangs} with findings, {tally.compared} comparisons, "
                  f"{tally.left_out} left out, {tally.included} with interleavings, {tally.reference} with the reference, {tally.same} reports of several processes compared, {tally.replays} replays, {len(tally.wrong)} wrong", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

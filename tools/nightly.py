#!/usr/bin/env python3
"""What takes too long for each commit: `./dev nightly` (docs/nightly.md).

    nightly.py [PART…]           all parts, or these; one that is done for this night and commit is not done again
    nightly.py --list            the parts, and which of them are done
    nightly.py --night=N …       the night of that number, from which random choices begin; the date (20261128) by default
    nightly.py --again …         what is done is done again
    nightly.py --jobs=N …        on so many processors ($HEDDLE_JOBS, or all)
    nightly.py --minutes=M …     tests that look for something new end after M minutes, not after those of their part; the row says so

Leaves build/nightly/N/PART: log, results (as ./dev test's), and "done", a row for the table of docs/nightly.md. Status 1: something failed.
"""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
import tests as costs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77


@dataclasses.dataclass(frozen=True)
class Part:
    """Tests of ctest with the label nightly.NAME, unless there is a command.

    `minutes` by the clock is what it takes on two processors, about. Tests that look for something new as long as they are given
    time (tests/support/night.py) end then, however many processors they have. `wide`: each test uses all of these by itself.
    """
    name: str
    about: str
    minutes: int
    command: tuple = ()
    wide: bool = False


PARTS = (
    Part("enumeration", "samples of all bounds of micro-programs, with and without reductions", 15),
    Part("random", "random programs of each kind, random progress tests", 25),
    Part("reductions", "every small program of tests/check with each reduction switched off: verdicts, and reports", 35, wide=True),
    Part("litmus", "the memory model: larger samples, random programs, the same through heddle check", 25),
    Part("map", "the concurrent map: all pairs of operations, all memory orders", 25, wide=True),
    Part("programs", "all of tests/run with static libraries and in lockstep; PTX for all targets and flags", 15),
    Part("mpi", "searches by several processes through the second MPI", 2),
    Part("reports", "the same report, however many processes search", 15, wide=True),
    Part("resume", "searches that are stopped and continued", 15),
    Part("differ", "random programs in PTX, by the reference and by the search", 8),
    Part("fuzz", "each fuzz target for 20 seconds", 3),
    Part("python", "numba, CuPy, Triton, cuda-python, PyTorch", 5),
    Part("code", "heddle lint on code of others: what parses, what is found, how long it takes", 15),
    Part("coq", "the proofs of spec/coq", 1),
    Part("packages", "wheel, .deb and tarball, each on a bare system", 10, ("./dev", "package", "TEST")),
    Part("nvcc", "programs compiled by other versions of nvcc", 10, ("tools/other_nvcc.sh",)),
    Part("asan", "tests that need no nvcc, with the sanitizers of addresses and of undefined behaviour", 25, ("./dev", "asan")),
    Part("gcc", "tests that need no nvcc, compiled by gcc", 25, ("./dev", "gcc")),
    Part("tidy", "clang-tidy on all of src", 25, ("./dev", "tidy")),
    Part("format", "the formatter on all sources", 1, ("./dev", "check-format")),
)


@dataclasses.dataclass
class Done:
    status: str
    minutes: float
    figures: str


def count(results):
    """What ctest says about each entry."""
    states = [case.get("status") for case in ET.parse(results / "ctest.xml").getroot().iter("testcase")]
    failed, skipped = states.count("fail"), sum(state in ("notrun", "disabled") for state in states)
    return len(states) - failed - skipped, failed, skipped


def tests_of(part, build):
    """What ctest knows of each."""
    asked = ["ctest", "--test-dir", str(build), "-C", "nightly", "-L", rf"^nightly\.{part.name}$", "--show-only=json-v1"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return json.loads(done.stdout).get("tests", []) if done.returncode == 0 and done.stdout else []


def share(part, seconds, tests, jobs):
    """How many tests at once, and for how long each may look for something new if all are to end in time."""
    lanes = 1 if part.wide else max(1, min(jobs, tests))
    return lanes, seconds * lanes / max(tests, lanes)


def run_tests(part, night, folder, log, options):
    results, build = folder / "results", ROOT / "build/dev"
    (results / "gtest").mkdir(parents=True)
    lanes, seconds = share(part, 60 * (options.minutes or part.minutes), len(tests_of(part, build)), options.jobs)
    environment = {**os.environ, "HEDDLE_NIGHT": str(night), "HEDDLE_NIGHT_SECONDS": f"{seconds:.0f}", "HEDDLE_RESULTS": str(results),
                   "GTEST_OUTPUT": f"xml:{results}/gtest/"}
    status = subprocess.run(
        ["ctest", "--test-dir", str(build), "-C", "nightly", "-L", rf"^nightly\.{part.name}$", "-j", str(lanes),
         "--no-tests=ignore", "--output-on-failure", "-V", "--output-junit", str(results / "ctest.xml")],
        stdout=log, stderr=subprocess.STDOUT, env=environment, check=False).returncode
    if not (results / "ctest.xml").exists():
        return "skipped", "no such test in this build"
    passed, failed, skipped = count(results)
    minutes = costs.total(costs.read_costs(results)) / 60
    if passed + failed == 0:
        return "skipped", "no such test in this build" if skipped == 0 else f"{skipped} tests skipped"
    figures = f"{passed} tests passed, {failed} failed, {skipped} skipped, {minutes:.1f} processor minutes"
    if options.minutes and options.minutes < part.minutes:
        figures += f"; a share, {options.minutes:g} minutes of {part.minutes}"
    return "failed" if failed or status else "passed", figures


def run_command(part, _night, _folder, log, options):
    environment = {**os.environ, "HEDDLE_JOBS": str(options.jobs)}
    status = subprocess.run(part.command, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT, env=environment, check=False).returncode
    log.flush()
    lines = pathlib.Path(log.name).read_text(encoding="utf-8", errors="replace").splitlines()
    return {0: "passed", SKIPPED: "skipped"}.get(status, "failed"), (lines or ["nothing was said"])[-1].strip()[:100]


def run_part(part, night, folder, options):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began = time.monotonic()
    with open(folder / "log", "w", encoding="utf-8") as log:
        status, figures = (run_command if part.command else run_tests)(part, night, folder, log, options)
    return Done(status, (time.monotonic() - began) / 60, figures)


def commit():
    done = subprocess.run(["git", "rev-parse", "--short=10", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def row(part, now, done):
    return f"| `{part.name}` | {now:%Y-%m-%d} | {done.status} | {done.minutes:.0f} | {done.figures} |"


def read_done(folder, version):
    """The row of a part that has passed or was skipped in this version."""
    file = folder / "done"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return lines[1] if lines[:1] == [version] else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", metavar="PART")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--night", type=int, default=int(f"{datetime.date.today():%Y%m%d}"))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("HEDDLE_JOBS") or len(os.sched_getaffinity(0))))
    parser.add_argument("--minutes", type=float)
    options = parser.parse_args()
    unknown = set(options.part) - {part.name for part in PARTS}
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}; --list names them")
    place, version, rows, failed = ROOT / "build/nightly" / str(options.night), commit(), [], []
    for part in PARTS:
        folder = place / part.name
        known = read_done(folder, version)
        if options.list:
            print(f"{part.name:12} {'done' if known else '    '} {part.minutes:3} min  {part.about}")
            continue
        if options.part and part.name not in options.part:
            continue
        if known is None or options.again:
            print(f"== {part.name}: {part.about}", flush=True)
            done = run_part(part, options.night, folder, options)
            known = row(part, datetime.datetime.now(), done)
            if done.status == "failed":
                failed.append(f"{part.name}: {folder / 'log'}")
            else: # what has failed is done again
                (folder / "done").write_text(f"{version}\n{known}\n", encoding="utf-8")
        rows.append(known)
        print(known, flush=True)
    if not options.list:
        print(f"\nnight {options.night}, commit {version}", *rows, *(f"failed: {text}" for text in failed), sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

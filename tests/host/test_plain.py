#!/usr/bin/env python3
"""Plain `heddle run`: host code that touches memory of work in flight (plain/managed.cu), and what only looks so
(plain/twins.cu). As a source, and as finished programs with either kind of runtime library.

    HEDDLE=build/dev/bin/heddle HEDDLE_NVCC=nvcc test_plain.py
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HEDDLE = os.environ.get("HEDDLE", "heddle")
NVCC = os.environ.get("HEDDLE_NVCC", "nvcc")
HERE = pathlib.Path(__file__).parent / "plain"
MESSAGE = re.compile(r"(?:^|\n)(?:\S*managed\.cu:\d+:\d+|heddle): error\[data-race\]: (?:read|write) by host code races with a "
                     r"(?:read|write) by ")


def cases(source):
    return re.findall(r'\bis\("([a-z-]+)"\)', (HERE / source).read_text())


def run(words):
    done = subprocess.run([HEDDLE, "run", *words], capture_output=True, text=True, timeout=120, check=False)
    return done, f"heddle run {' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}"


def racy(flags, program, case):
    done, text = run([*flags, program, "--", case])
    return None if done.returncode == 1 and MESSAGE.search(done.stderr) else text


def silent(words):
    done, text = run(words)
    return None if done.returncode == 0 and not done.stderr and done.stdout.splitlines()[-1].startswith("done") else text


def main():
    bad, twins = cases("managed.cu"), cases("twins.cu")
    with tempfile.TemporaryDirectory() as folder:
        finished = []
        for kind in ("shared", "static"):
            finished.append(pathlib.Path(folder) / kind)
            subprocess.run([NVCC, "-arch=sm_90", f"-cudart={kind}", "-o", finished[-1], HERE / "managed.cu"], check=True)
        for source in ("managed.cu", "twins.cu"):  # compiles once
            run([HERE / source, "--", "none"])
        work = [lambda c=c, f=f: racy(f, HERE / "managed.cu", c) for c in bad for f in ([], ["--seed=3"])]
        work += [lambda c=c, p=p: racy([], p, c) for c in bad for p in finished]
        work += [lambda c=c, f=f: silent([*f, HERE / "managed.cu", "--", c, "wait"]) for c in bad for f in ([], ["--seed=3"])]
        work += [lambda c=c, f=f: silent([*f, HERE / "twins.cu", "--", c]) for c in twins for f in ([], ["--seed=3"])]
        with ThreadPoolExecutor(2) as pool:
            problems = [text for text in pool.map(lambda w: w(), work) if text]
    print("\n".join(problems))
    print(f"{len(work)} programs, {len(problems)} wrong answers")
    return 1 if problems or len(bad) < 10 or len(twins) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Records what the programs print on a real GPU, and stores it beside them.

Two steps, because the GPU is usually on another machine:

    record_hardware.py run --out result.json --jobs 16 [NAME…]     on the machine with the GPU
    record_hardware.py store result.json                           in the repository

`run` compiles every program (spin loops bounded, see patience.h) with each of its flag sets, runs it
twice natively, and notes output and exit code. `store` writes NAME.out for programs that gave the same
output every time and ended with the exit code they should; it lists the others and stores nothing for
them. Programs with a `//@ hardware:` line are left out.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import time

from program import BadProgram, Compiler, Program

# Names are relative to the folder of all tests: run/vector_add, libcudacxx/together.
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ["run", "libcudacxx"]
LEFT_OUT = {"parts", "faults", "refused"}


def programs(names):
    found = []
    for top in FOLDERS:
        for folder, folders, files in os.walk(os.path.join(TESTS, top)):
            folders[:] = sorted(set(folders) - LEFT_OUT)
            for file in sorted(files):
                path = os.path.join(folder, file)
                name = os.path.relpath(path, TESTS)[:-3]
                if file.endswith(".cu") and (not names or any(part in name for part in names)):
                    found.append((name, path))
    return found


def run(options):
    os.makedirs(options.cache, exist_ok=True)
    compiler = Compiler(options.nvcc, os.path.abspath(options.cache))
    results = {}

    def build(item):
        name, path = item
        program = Program(path)
        bound = ["-DSPIN_SECONDS=2"] if program.uses_patience() else []
        built = []
        for flags in program.flag_sets:
            try:
                built.append(compiler.compile(program.sources, flags + bound))
            except BadProgram as error:
                built.append(None)
                results.setdefault(name, {}).setdefault("problems", []).append(str(error)[:6000])
        return name, program, built

    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        built = list(pool.map(build, programs(options.names)))
    print(f"built {len(built)} programs in {time.monotonic() - began:.0f} s", flush=True)

    def execute(job):
        name, program, executable, variant = job
        try:
            done = subprocess.run([executable, *program.arguments], capture_output=True, timeout=20, stdin=subprocess.DEVNULL)
            return name, variant, done.stdout.decode("latin-1"), done.stderr.decode("latin-1")[:2000], done.returncode
        except subprocess.TimeoutExpired as expired:
            return name, variant, (expired.stdout or b"").decode("latin-1"), "timeout", -1

    jobs = []
    for name, program, executables in built:
        results.setdefault(name, {})["expected_exit"] = program.exit_code
        results[name]["hardware"] = program.no_hardware
        for variant, executable in enumerate(executables):
            if executable and program.no_hardware is None:
                jobs += [(name, program, executable, variant)] * (2 if variant == 0 else 1)
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for name, variant, stdout, stderr, code in pool.map(execute, jobs):
            results[name].setdefault("runs", []).append({"variant": variant, "stdout": stdout, "stderr": stderr, "exit": code})
    print(f"{len(jobs)} runs in {time.monotonic() - began:.0f} s", flush=True)
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    for name, result in results.items():
        for problem in result.get("problems", []):
            print(name, problem[:400])
    return 0


def store(options):
    with open(options.result, encoding="utf-8") as file:
        results = json.load(file)
    stored = bad = 0
    for name, result in results.items():
        if result["hardware"] is not None:
            continue
        runs = result.get("runs", [])
        problems = list(result.get("problems", []))
        if len({run["stdout"] for run in runs}) > 1:
            problems.append("the output differs between runs or flag sets")
        problems += [f"exit code {run['exit']}: {run['stdout'][-300:]} {run['stderr'][-300:]}" for run in runs if run["exit"] != result["expected_exit"]]
        if not runs or problems:
            bad += 1
            print(f"{name}: not stored\n  " + "\n  ".join(problems or ["it did not run"]))
            continue
        with open(os.path.join(TESTS, name + ".out"), "wb") as file:
            file.write(runs[0]["stdout"].encode("latin-1"))
        stored += 1
    print(f"stored {stored}, {bad} need attention")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("run")
    verb.add_argument("--out", required=True)
    verb.add_argument("--nvcc", default="nvcc")
    verb.add_argument("--cache", default="/tmp/heddle-programs")
    verb.add_argument("--jobs", type=int, default=os.cpu_count())
    verb.add_argument("names", nargs="*")
    verb.set_defaults(do=run)
    verb = verbs.add_parser("store")
    verb.add_argument("result")
    verb.set_defaults(do=store)
    options = parser.parse_args()
    return options.do(options)


if __name__ == "__main__":
    sys.exit(main())

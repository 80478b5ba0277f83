#!/usr/bin/env python3
"""Every memory order of the mutexes, of once and of the queue, under the memory model of PTX.

    orders.py            each pair of operations is right as it is, under `heddle check --memory=ptx`; and each acquire
                         and release that becomes relaxed is found by a pair, or stands in UNNEEDED with its reason

All are compiled into one program: each weakened order gets a copy of the headers in a namespace of its own."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "run")]
import mutants  # noqa: E402
from program import Compiler  # noqa: E402

HEDDLE = os.environ.get("HEDDLE", "./heddle")
CACHE = pathlib.Path(os.environ.get("HEDDLE_CACHE", "build/dev/tests/programs"))
TEMPLATE = HERE / "check" / "orders.cu.in"
ORDER = re.compile(r"cuda::memory_order_(?:acquire|release|acq_rel|seq_cst)\b")
LOCKS = ["empty lock lock", "empty lock try_lock", "empty try_lock try_lock"]
QUEUE = [f"empty {pair}" for pair in ("push pop", "push push", "push try_pop", "push try_push", "try_push pop",
                                      "try_push try_push", "try_push try_pop", "try_pop try_pop")] + [
    f"full {pair}" for pair in ("push pop", "pop pop", "pop try_push", "pop try_pop", "try_push try_pop",
                                "try_pop try_pop")]
# What is defined in which header, and the pairs of operations that it is used by.
TYPES = {
    "mutex": ("mutex.cuh", "mutex<>", "under_lock", LOCKS),
    "ticket_mutex": ("mutex.cuh", "ticket_mutex<>", "under_lock", LOCKS),
    "once": ("once.cuh", "once<>", "once", ["empty call call", "empty call done"]),
    "queue": ("mpmc_queue.cuh", "mpmc_queue<int, 2>", "queue", QUEUE),
}
# By header and text of the line: no pair of operations of device threads tells the order from a relaxed one.
UNNEEDED = {
    # Only what a call has done that threw comes before a later call: that is the host's.
    ("once.cuh", "cuda::memory_order_acquire, // a call that threw"),
}


def orders():
    """(namespace, header, number of the order, its line)"""
    for header in sorted({header for header, *_ in TYPES.values()}):
        text = (mutants.HEADERS / header).read_text(encoding="utf-8")
        for number, match in enumerate(ORDER.finditer(text)):
            line = text[:match.start()].count("\n")
            yield f"{header.split('.')[0]}_{number}", header, number, text.splitlines()[line].strip()


def copy(folder, name, weakened=None, number=0):
    """All headers in the namespace heddle_<name>; the order of that number in `weakened` is relaxed."""
    for path in sorted(mutants.HEADERS.rglob("*.cuh")):
        relative = path.relative_to(mutants.HEADERS)
        text = path.read_text(encoding="utf-8")
        if str(relative) == weakened:
            match = list(ORDER.finditer(text))[number]
            text = text[:match.start()] + "cuda::memory_order_relaxed" + text[match.end():]
        target = folder / name / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(re.sub(r"\bheddle(?=::|\s*\{)", f"heddle_{name}", text), encoding="utf-8")


def write(folder):
    """The program with all of them."""
    includes, cases = [], []
    for name, header, number in [("right", None, 0), *((n, h, k) for n, h, k, _ in orders())]:
        copy(folder, name, header, number)
        used = {kind: row for kind, row in TYPES.items() if header in (None, row[0])}
        includes += [f'#include "{name}/{file}"' for file in sorted({row[0] for row in used.values()})]
        for kind, (_, spelled, use, _) in used.items():
            full = f"heddle_{name}::{spelled}"
            run = (f"run_queue<{full}>(argv)" if use == "queue" else
                   f"run<{full}, {use}<{full}>>(make<{full}>(), argv)")
            cases.append(f'  if (which == "{name}.{kind}") {{\n    return {run};\n  }}')
    text = TEMPLATE.read_text(encoding="utf-8")
    program = folder / "orders.cu"
    program.write_text(text.replace("@INCLUDES@", "\n".join(includes)).replace("@CASES@", "\n".join(cases)),
                       encoding="utf-8")
    return program


def answer(program, arguments):
    done = subprocess.run([HEDDLE, "check", "--memory=ptx", "--max-time=60", "--schedules=0", program, *arguments.split()],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def problem_of_right(program, kind, pair):
    status, output = answer(program, f"right.{kind} {pair}")
    return [] if status == 0 and "exhaustive" in output else [f"{kind} {pair}: exit code {status}\n{output[-1500:]}"]


def problem_of_weakened(program, name, header, line):
    found = next((f"{kind} {pair}" for kind, (file, _, _, pairs) in TYPES.items() if file == header
                  for pair in pairs if answer(program, f"{name}.{kind} {pair}")[0] == 1), None)
    print(f"{name}: {line}: {found or 'not found'}", flush=True)
    if (found is None) != ((header, line) in UNNEEDED):
        return [f"{name}: {line}: {'relaxed, no pair tells' if found is None else f'{found} tells: not unneeded'}"]
    return []


def main():
    folder = CACHE.resolve() / "map-orders"
    compiler = Compiler(os.environ.get("HEDDLE_NVCC", "nvcc"), str(CACHE.resolve()))
    program = compiler.compile([str(write(folder))], ["-arch=compute_90"])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(problem_of_right, program, kind, pair) for kind, row in TYPES.items() for pair in row[3]]
        jobs += [pool.submit(problem_of_weakened, program, name, header, line) for name, header, _, line in orders()]
        problems = [problem for job in jobs for problem in job.result()]
    print("\n".join(problems) or f"{len(jobs)} checks: as they should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Heddle beside what else runs such kernels on a CPU: processor time of four kernels, and ratios.

  bench/peers/peers.py [--heddle HEDDLE] [--work FOLDER] [--rounds N] [--no-install]

Peers: the same by hand with OpenMP (g++ -O3), Intel's OpenCL for CPUs (PyPI: intel-opencl-rt,
intel-cmplr-lib-rt, tbb, into a virtual environment in FOLDER), PoCL (Debian: pocl-opencl-icd). What is
missing is installed (Debian packages need root), unless --no-install; what cannot be had is left out, and
the table says so. All of them run on one and the same core, one after the other, ROUNDS rounds each; the
best round counts. Every program checks its results.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
KERNELS = ("vecadd", "reduce", "matmul", "nbody")
PACKAGES = ("g++", "ocl-icd-opencl-dev", "opencl-headers", "pocl-opencl-icd", "python3-venv")
WHEELS = ("intel-opencl-rt", "intel-cmplr-lib-rt", "tbb")


def install(work):
    """The Debian packages, and Intel's wheels."""
    state = subprocess.run(["dpkg-query", "-W", "-f", "${Status}\n", *PACKAGES], capture_output=True, text=True)
    if state.stdout.count("install ok installed") != len(PACKAGES):
        command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *PACKAGES]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if not (work / "venv").exists():
        subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=False)
        subprocess.run([work / "venv/bin/pip", "install", "-q", *WHEELS], check=False)


def times(command, environment, core):
    """{kernel: ms}; an empty one if it does not run."""
    done = subprocess.run(
        ["taskset", "-c", str(core), *map(str, command)],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{command[0]}: {done.stderr.strip()[:300]}", file=sys.stderr)
        return {}
    lines = [line.split() for line in done.stdout.splitlines()]
    return {line[0]: float(line[1]) for line in lines if len(line) == 2 and line[0] in KERNELS}


def build(command):
    """False: its compiler or headers are missing."""
    try:
        return subprocess.run([str(c) for c in command], check=False).returncode == 0
    except FileNotFoundError:
        return False


def vendor(work, name, library):
    """A folder in which the loader of OpenCL finds one implementation only."""
    folder = work / name
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.icd").write_text(f"{library}\n", encoding="utf-8")
    return {"OCL_ICD_VENDORS": str(folder)}


def measure(work, heddle, rounds, core):
    """[(name, {kernel: ms})], Heddle last."""
    rows = []
    if build(["g++", "-O3", "-fopenmp", HERE / "openmp.cpp", "-o", work / "openmp"]):
        rows.append(("OpenMP, g++ -O3", times([work / "openmp", rounds], {"OMP_NUM_THREADS": "1"}, core)))
    if build(["gcc", "-O2", HERE / "opencl.c", "-o", work / "opencl", "-lOpenCL", "-lm"]):
        command = [work / "opencl", HERE / "kernels.cl", rounds]
        intel = work / "venv/lib/libintelocl.so"
        if intel.exists():
            environment = {**vendor(work, "intel", intel), "LD_LIBRARY_PATH": str(intel.parent)}
            rows.append(("Intel OpenCL", times(command, environment, core)))
        pocl = next(Path("/usr/lib").glob("*/libpocl.so.2*"), None)
        if pocl:
            rows.append(("PoCL", times(command, {**vendor(work, "pocl", pocl), "POCL_MAX_PTHREAD_COUNT": "1"}, core)))
    run = [heddle, "run", HERE / "cuda.cu", "--", max(rounds, 20)]
    times(run, {}, core)  # compiles it, and fills the cache of compiled kernels
    rows.append(("heddle run", times(run, {}, core)))
    return rows


def table(rows):
    """Processor time, and Heddle's as a multiple of the best peer's."""
    lines = ["| ms of processor time | " + " | ".join(KERNELS) + " |", "|---" * (len(KERNELS) + 1) + "|"]
    for name, row in rows:
        lines.append(f"| {name} | " + " | ".join(f"{row[k]:.1f}" if k in row else "-" for k in KERNELS) + " |")
    ratios = []
    own = rows[-1][1]
    for kernel in KERNELS:
        best = min((row[kernel] for _, row in rows[:-1] if kernel in row), default=None)
        ratios.append(f"{own[kernel] / best:.2f}" if best and kernel in own else "-")
    lines.append("| heddle run / best peer | " + " | ".join(ratios) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default=str(HERE.parents[1] / "heddle"))
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "heddle-peers")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--no-install", action="store_true")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    if not arguments.no_install:
        install(arguments.work)
    core = sorted(os.sched_getaffinity(0))[-1]
    rows = measure(arguments.work, arguments.heddle, arguments.rounds, core)
    missing = {"OpenMP, g++ -O3", "Intel OpenCL", "PoCL"} - {name for name, row in rows if row}
    print(table(rows))
    for name in sorted(missing):
        print(f"not measured: {name}")
    return 0 if rows[-1][1] else 1


if __name__ == "__main__":
    sys.exit(main())

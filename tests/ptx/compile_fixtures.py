#!/usr/bin/env python3
"""Compiles fixtures/*.cu to PTX for many targets and flags, into the build tree: sm_90 with all flags, of other targets what
nvcc makes of the language by default; at night (tests/support/night.py) all.

A result is kept in --cache under the source, the flags and nvcc: the first run takes some minutes, later ones nothing. Exit code 77
(skipped) without nvcc.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from night import night  # noqa: E402

VARIANTS = {
    "O3": [],
    "G": ["-G"],
    "O0": ["-Xcicc", "-O0"],
    "O1": ["-Xcicc", "-O1"],
    "lineinfo": ["-lineinfo"],
    "rdc": ["-rdc=true"],
    "fast": ["-use_fast_math"],
}
TARGETS = ["sm_75", "sm_80", "sm_90", "sm_100"]


def wanted():
    """(source, target, variant): everything for the language, less where compiling takes long."""
    for target in TARGETS:
        for variant in VARIANTS:
            if variant != "fast":
                yield "language", target, variant
    for target in TARGETS:
        yield "arithmetic", target, "O3"
        yield "memory", target, "O3"
    for variant in ["G", "O0", "lineinfo", "rdc"]:
        yield "arithmetic", "sm_90", variant
        yield "memory", "sm_90", variant
    yield "arithmetic", "sm_75", "fast"
    yield "arithmetic", "sm_100", "fast"
    for target in ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_100a"]:
        yield "matrix", target, "O3"
    yield "matrix", "sm_90a", "G"
    for variant in ["O3", "lineinfo"]:
        yield "libraries", "sm_90", variant
    yield "libraries", "sm_75", "O3"


def is_core(source, target, variant):
    return target.startswith("sm_90") or (source, variant) == ("language", "O3")


def compile_one(nvcc, version, source, target, variant, out, cache):
    flags = [f"-arch={target}", "-std=c++17", "-diag-suppress=20054,20012,549,177", *VARIANTS[variant]]
    key = hashlib.sha256(
        "\0".join([version, *flags]).encode() + source.read_bytes()
    ).hexdigest()
    result = out / f"{source.stem}.{target}.{variant}.ptx"
    kept = cache / key[:24] / result.name
    fresh = not kept.exists()
    if fresh:
        kept.parent.mkdir(parents=True, exist_ok=True)
        scratch = cache / f"{result.name}.{os.getpid()}.tmp"
        run = subprocess.run(
            [nvcc, *flags, "-ptx", str(source), "-o", str(scratch)], capture_output=True, text=True
        )
        if run.returncode != 0:
            scratch.unlink(missing_ok=True)
            return result, True, run.stdout + run.stderr
        scratch.replace(kept)
    if fresh or not result.exists() or result.read_bytes() != kept.read_bytes():
        shutil.copyfile(kept, result)
    return result, fresh, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    options = parser.parse_args()
    try:
        version = subprocess.run(
            [options.nvcc, "--version"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: nvcc does not run ({error}), so there are no PTX fixtures")
        return 77
    options.out.mkdir(parents=True, exist_ok=True)
    sources = pathlib.Path(__file__).parent / "fixtures"
    compiled = 0
    failed = 0
    everything = list(wanted())
    now = everything if night() is not None else [which for which in everything if is_core(*which)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        jobs = [
            pool.submit(
                compile_one, options.nvcc, version, sources / f"{name}.cu", target, variant,
                options.out, options.cache,
            )
            for name, target, variant in now
        ]
        for job in jobs:
            result, fresh, error = job.result()
            compiled += fresh
            if error:
                failed += 1
                print(f"{result.name}: {error}", file=sys.stderr)
    known = {f"{name}.{target}.{variant}.ptx" for name, target, variant in everything}
    for old in options.out.glob("*.ptx"):
        if old.name not in known:
            old.unlink()
    print(f"{len(now)} fixtures, {compiled} compiled now, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

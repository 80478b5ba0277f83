#!/usr/bin/env python3
"""heddle lint over every header of the toolkit's CCCL that contains a barrier: barriers, findings, time.

    lint_cccl.py HEDDLE_LINT [TOOLKIT] [-j N] [--limit N]

Each header is the main file of its own unit, so templates that nothing instantiates are read as patterns.
"""
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

BARRIER = re.compile(r"__syncthreads|CTA_SYNC|__barrier_sync|\bbar\.sync|barrier\.cta")


def check(program, root, path):
    try:
        done = subprocess.run([program, "--format=json", "--set", "exclude_messages_in_system_headers=false", str(path), "--", f"-I{root}"],
                              capture_output=True, text=True, timeout=120)
        return path, json.loads(done.stdout) if done.returncode in (0, 1) else None, done.stderr
    except subprocess.TimeoutExpired:
        return path, None, "timeout"


def main(argv):
    program = argv[1]
    root = pathlib.Path(argv[2] if len(argv) > 2 and not argv[2].startswith("-") else "/usr/local/cuda") / "include/cccl"
    jobs = int(argv[argv.index("-j") + 1]) if "-j" in argv else 1
    limit = int(argv[argv.index("--limit") + 1]) if "--limit" in argv else None
    files = [p for p in sorted(root.rglob("*")) if p.suffix in (".cuh", ".h", ".inl", "") and p.is_file()
             and BARRIER.search(p.read_text(errors="replace"))][:limit]
    totals = {"files": 0, "failed": 0, "barriers": 0, "findings": 0, "parse": 0.0, "check": 0.0, "lines": 0, "errors": 0}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for path, result, problem in pool.map(lambda p: check(program, root, p), files):
            if result is None:
                totals["failed"] += 1
                print(f"{path.relative_to(root)}: failed: {problem.strip()[:200]}")
                continue
            totals["files"] += 1
            for file in result["files"]:
                totals["barriers"] += file["barriers"]
                totals["parse"] += file["parse_seconds"]
                totals["check"] += file["check_seconds"]
                totals["lines"] += file["lines"]
                totals["errors"] += file["parse_errors"] != 0
            for one in result["findings"]:
                totals["findings"] += 1
                print(f"{one['location']['file']}:{one['location']['line']}: {one['key']}: {one['message']}")
    print(", ".join(f"{name} {value:.1f}" if isinstance(value, float) else f"{name} {value}" for name, value in totals.items()))


if __name__ == "__main__":
    main(sys.argv)

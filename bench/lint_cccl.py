#!/usr/bin/env python3
"""heddle lint over every header of the toolkit's CCCL that contains a barrier: barriers, findings, time.

    lint_cccl.py HEDDLE_LINT [TOOLKIT] [-j N] [--limit N] [--table FILE]
    lint_cccl.py HEDDLE_LINT --files [--arch NAME] FILE…

With --files: the given sources, with the kernels that they instantiate (bench/lint_cccl/*.cu), a row for each; lines with
`// expect: key` must be found and nothing else.

Each header is the main file of its own unit, so templates that nothing instantiates are read as patterns. With --table a
row for each header is appended to FILE; headers that have one are not read again. Seconds are of processor time.
"""
import concurrent.futures
import json
import pathlib
import re
import resource
import subprocess
import sys

BARRIER = re.compile(r"__syncthreads|CTA_SYNC|__barrier_sync|\bbar\.sync|barrier\.cta")


def check(program, root, path):
    try:
        done = subprocess.run([program, "--format=json", "--set", "exclude_messages_in_system_headers=false", str(path), "--", f"-I{root}"],
                              capture_output=True, text=True, timeout=600)
        return path, json.loads(done.stdout) if done.returncode in (0, 1) else None, done.stderr
    except subprocess.TimeoutExpired:
        return path, None, "timeout"


def rows_of(table):
    if table is None or not table.exists():
        return {}
    return {line.split("|")[1].strip(" `"): line for line in table.read_text().splitlines() if line.startswith("| `")}


def check_sources(program, files, arch):
    """What sources instantiate: kernels of system headers are judged, and findings in them counted."""
    wrong = 0
    for path in files:
        done = subprocess.run([program, "--format=json", f"--arch={arch}", "--set", "exclude_messages_in_system_headers=false", path],
                              capture_output=True, text=True, timeout=900)
        result = json.loads(done.stdout)
        file, found = result["files"][0], [(one["location"]["file"], one["location"]["line"], one["key"]) for one in result["findings"]]
        wanted = [(path, number, key) for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1)
                  for key in re.findall(r"// expect: (\w+)", line)]
        for one in sorted(set(found) ^ set(wanted)):
            wrong += 1
            print(f"{'not expected' if one in found else 'missed'}: {one}", flush=True)
        print(f"| `{pathlib.Path(path).name}` | {arch} | {file['barriers']} | {len(found)} | {file['parse_errors']} | "
              f"{file['parse_seconds']:.1f} | {file['check_seconds']:.2f} |", flush=True)
    return 1 if wrong else 0


def main(argv):
    program = argv[1]
    if "--files" in argv:
        arch = argv[argv.index("--arch") + 1] if "--arch" in argv else "sm_90"
        return check_sources(program, [a for a in argv[2:] if a.endswith(".cu")], arch)
    root = pathlib.Path(argv[2] if len(argv) > 2 and not argv[2].startswith("-") else "/usr/local/cuda") / "include/cccl"
    option = lambda name: argv[argv.index(name) + 1] if name in argv else None
    table = pathlib.Path(option("--table")) if option("--table") else None
    known = rows_of(table)
    files = [p for p in sorted(root.rglob("*")) if p.suffix in (".cuh", ".h", ".inl", "") and p.is_file()
             and BARRIER.search(p.read_text(errors="replace"))][:int(option("--limit")) if option("--limit") else None]
    totals = {"files": 0, "failed": 0, "barriers": 0, "findings": 0, "check": 0.0, "lines": 0, "errors": 0}
    todo = [p for p in files if str(p.relative_to(root)) not in known]
    with concurrent.futures.ThreadPoolExecutor(int(option("-j") or 1)) as pool:
        for done in concurrent.futures.as_completed([pool.submit(check, program, root, p) for p in todo]):
            path, result, problem = done.result()
            name = path.relative_to(root)
            if result is None:
                totals["failed"] += 1
                print(f"{name}: failed: {problem.strip()[:200]}", flush=True)
                continue
            file = result["files"][0]
            totals["files"] += 1
            totals["barriers"] += file["barriers"]
            totals["findings"] += len(result["findings"])
            totals["check"] += file["check_seconds"]
            totals["lines"] += file["lines"]
            totals["errors"] += file["parse_errors"] != 0
            for one in result["findings"]:
                print(f"{one['location']['file']}:{one['location']['line']}: {one['key']}: {one['message']}", flush=True)
            if file["parse_errors"]:
                print(f"{name}: {file['parse_errors']} errors: {file['first_error']}", flush=True)
            if table is not None:
                with table.open("a") as out:
                    out.write(f"| `{name}` | {file['lines']} | {file['barriers']} | {len(result['findings'])} | "
                              f"{file['parse_errors']} | {file['check_seconds']:.2f} |\n")
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    totals["processor"] = cpu.ru_utime + cpu.ru_stime
    print(", ".join(f"{name} {value:.1f}" if isinstance(value, float) else f"{name} {value}" for name, value in totals.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

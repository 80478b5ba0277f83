#!/usr/bin/env python3
"""real_code.py on a machine with more processors and less software: Python, nvcc and g++, but no network, no LLVM and no build.

    real_elsewhere.py pack FOLDER HEDDLE_LINT [--cache=FOLDER] [--number=N] [--seed=S]      here: units, headers, program, libraries
    real_elsewhere.py run FOLDER SECONDS OUTDIR [FIRST LAST]                                there: those units, for so many seconds

A run goes on where an earlier one with the same OUTDIR ended. It leaves units.tsv (unit, file, state, processor seconds, how many findings,
first error), findings.txt (each finding with the lines around it), findings.json and nvcc.tsv (units that do not parse, and what nvcc says).
"""
import argparse
import concurrent.futures
import json
import lzma
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import time

import real_code

LIMIT, NVCC_LIMIT = 120, 240  # seconds of processor time
CONTEXT = 5
HEADERS = {".h", ".hpp", ".cuh", ".hxx", ".inl", ".inc", ".ipp", ".def", ".impl", ".icc", ""}
WHERE = "@PACK@"
LARGEST = 8 << 20


# --- Here ------------------------------------------------------------------------------------------------

def chosen(units, number, seed):
    """All packages but the largest, and of that so many that it makes N; in an order in which each part is a sample."""
    by_package = {}
    for unit in units:
        by_package.setdefault(unit.package, []).append(unit)
    largest = max(by_package, key=lambda name: len(by_package[name]))
    rest = [unit for unit in units if unit.package != largest]
    both = rest + real_code.draw(by_package[largest], max(0, number - len(rest)), seed)
    random.Random(seed).shuffle(both)
    return both[:number]


def wanted_files(units):
    files = {unit.file for unit in units}
    folders = {pathlib.Path(flag[2:]).resolve() for unit in units for flag in unit.flags if flag.startswith("-I")}
    outer = [one for one in folders if not any(other != one and other in one.parents for other in folders)]
    for folder in outer:
        files.update(one for one in folder.rglob("*") if one.suffix in HEADERS and one.is_file() and one.stat().st_size < LARGEST)
    return sorted(with_included(files), key=lambda one: (one.suffix, one.name, one.stat().st_size))


def with_included(files):
    """And what they include by a path from where they are, and so on."""
    open_ones = list(files)
    while open_ones:
        file = open_ones.pop()
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', file.read_text(errors="replace"), re.MULTILINE):
            try:
                found = (file.parent / name).resolve(strict=True)
            except OSError:
                continue
            if found.is_file() and found not in files:
                files.add(found)
                open_ones.append(found)
    return files


def pack(options):
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    cache = options.cache.resolve()
    units = chosen(list(real_code.all_units(real_code.known_folders(cache), cache / "units")), options.number, options.seed)
    resources = subprocess.run(["clang++-22", "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()
    program = options.lint.resolve()
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 512 << 20}]
    names = {}
    with lzma.open(folder / "files.tar.xz", "wb", format=lzma.FORMAT_XZ, filters=filters) as raw, tarfile.open(fileobj=raw, mode="w|") as archive:
        for file in wanted_files([real_code.Unit(unit.package, unit.file.resolve(), unit.flags) for unit in units]):
            names[str(file)] = f"files{file}"
            archive.add(file, f"files{file}", recursive=False)
        archive.add(f"{resources}/include", "lib/heddle/clang/include")
        archive.add(program, "bin/heddle-lint")
        for line in subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.splitlines():
            words = line.split()
            if len(words) > 2 and words[1] == "=>" and not words[0].startswith(("libc.", "libm.", "libdl.", "libpthread.", "ld-linux")):
                archive.add(pathlib.Path(words[2]).resolve(), f"lib/{words[0]}")
    table = [{"package": unit.package, "file": f"{WHERE}/files{unit.file.resolve()}", "flags": [moved(flag) for flag in unit.flags]} for unit in units]
    (folder / "units.json").write_text(json.dumps(table, indent=0), encoding="utf-8")
    for name in ("real_code.py", "real_packages.py", "real_elsewhere.py"):
        shutil.copy2(pathlib.Path(__file__).parent / name, folder / name)
    (folder / "run.sh").write_text('#!/bin/bash\n# run.sh SECONDS OUTDIR [FIRST LAST]\nhere=$(cd "$(dirname "$0")" && pwd)\n'
                                   'exec python3 -B "$here/real_elsewhere.py" run "$here" "$@"\n', encoding="utf-8")
    (folder / "run.sh").chmod(0o755)
    size = sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
    print(f"{len(units)} units, {len(names)} files, {size / 2**20:.0f} MiB in {folder}")


def moved(flag):
    return f"-I{WHERE}/files{pathlib.Path(flag[2:]).resolve()}" if flag.startswith("-I") else flag


# --- There -----------------------------------------------------------------------------------------------

def unpack(folder):
    """The files, beside the archive or, where that cannot be written, below /tmp."""
    at = folder / "unpacked"
    if not os.access(folder, os.W_OK):
        at = pathlib.Path("/tmp/real_code_unpacked")
    if not (at / "done").exists():
        at.mkdir(parents=True, exist_ok=True)
        for one in sorted(folder.glob("*.tar.xz")):
            with lzma.open(one) as raw, tarfile.open(fileobj=raw, mode="r|") as archive:
                archive.extractall(at)
        (at / "done").touch()
    (at / "bin/heddle-lint").chmod(0o755)
    return at


class Results:
    """What is known, in files to which each unit adds its rows at once."""

    def __init__(self, folder):
        self.folder = folder
        self.lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        table = folder / "units.tsv"
        self.known = {int(line.split("\t")[0]) for line in table.read_text().splitlines()} if table.exists() else set()

    def add(self, name, text):
        with open(self.folder / name, "a", encoding="utf-8") as file:
            file.write(text)

    def take(self, number, name, one):
        with self.lock:
            flat = one["error"].replace("\n", " ").replace("\t", " ")[:400]
            if one["error"]:
                self.add("nvcc.tsv", f"{number}\t{name}\t{one['refused']}\t{flat}\t{one['nvcc']}\n")
            for finding in one["findings"]:
                self.add("findings.json", json.dumps({"unit": number, "file": name, **finding}) + "\n")
                self.add("findings.txt", around(number, name, finding))
            state = "failed" if one["error"] else "parsed"
            self.add("units.tsv", f"{number}\t{name}\t{state}\t{one['seconds']:.2f}\t{one.get('parse', 0):.2f}\t{one.get('check', 0):.2f}\t{len(one['findings'])}\t{flat}\n")


def places_in(value, message=""):
    """All (file, line, what is said there) of a finding: its own place, its calls, what is related."""
    if isinstance(value, dict):
        message = value.get("message") or value.get("function") or message
        if "file" in value and "line" in value:
            yield value["file"], value["line"], message
        for one in value.values():
            yield from places_in(one, message)
    elif isinstance(value, list):
        for one in value:
            yield from places_in(one, message)


def around(number, name, finding):
    text = [f"== unit {number} {name}", f"{finding['key']} in {finding['function']}: {finding['message']}"]
    shown = set()
    for file, line, message in places_in({**finding, "fixes": []}):
        if (file, line) in shown or not pathlib.Path(file).is_file():
            continue
        shown.add((file, line))
        lines = pathlib.Path(file).read_text(errors="replace").splitlines()
        text.append(f"   -- {file}:{line}: {message}")
        text.extend(f"   {i + 1}{'>' if i + 1 == line else ' '} {lines[i]}" for i in range(max(0, line - 1 - CONTEXT), min(len(lines), line + CONTEXT)))
    return "\n".join(text) + "\n\n"


def look_at(unit, lint, environment):
    done = real_code.run(["env", *environment, lint, "--no-cache", "-j1", "--format=json", unit["file"], "--", *unit["flags"]], LIMIT)
    one = {"seconds": done.seconds, "error": "", "refused": "", "nvcc": "", "findings": []}
    if done.too_long:
        return {**one, "error": f"takes more than {LIMIT} s", "refused": "not asked"}
    try:
        report = json.loads(done.out)
        file = report["files"][0]
    except (json.JSONDecodeError, IndexError):
        return {**one, "error": f"exit code {done.code}: {done.err[-300:]}", "refused": "not asked"}
    share = file["check_seconds"] / max(1e-3, file["check_seconds"] + file["parse_seconds"])
    one.update(findings=report["findings"], parse=done.seconds * (1 - share), check=done.seconds * share,
               error=file["first_error"] or "errors" if file["parse_errors"] else "")
    if one["error"]:
        compiled = real_code.run(["nvcc", "-cuda", "-o", "/dev/null", *unit["flags"], unit["file"]], NVCC_LIMIT)
        errors = [line for line in compiled.err.splitlines() if "error" in line and "ptxas" not in line]
        one["refused"] = "refused" if errors else "too long" if compiled.too_long else "accepted"
        one["nvcc"] = errors[0].replace("\t", " ")[:400] if errors else ""
    return one


def run(options):
    end = time.monotonic() + options.seconds
    folder = options.folder.resolve()
    at = unpack(folder)
    units = json.loads((folder / "units.json").read_text().replace(WHERE, str(at)))
    results = Results(options.outdir)
    numbers = [number for number in range(options.first, min(options.last + 1, len(units))) if number not in results.known]
    environment = (f"LD_LIBRARY_PATH={at}/lib",)

    def one(number):
        if time.monotonic() > end - 15:
            return
        unit = units[number]
        name = unit["file"].split("/pk/")[-1].split("/units/")[-1]
        results.take(number, name, look_at(unit, str(at / "bin/heddle-lint"), environment))

    def stop():
        print("the time is over", flush=True)
        os._exit(0)
    timer = threading.Timer(max(1, end - time.monotonic()), stop)
    timer.daemon = True
    timer.start()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, numbers))
    rows = [line.split("\t") for line in (options.outdir / "units.tsv").read_text().splitlines()]
    print(f"{len(rows)} units, {sum(row[2] == 'parsed' for row in rows)} parse, {sum(int(row[6]) for row in rows)} findings")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    here = parts.add_parser("pack")
    here.add_argument("folder", type=pathlib.Path)
    here.add_argument("lint", type=pathlib.Path)
    here.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("build/real_code"))
    here.add_argument("--number", type=int, default=2000)
    here.add_argument("--seed", type=int, default=1)
    here.set_defaults(do=pack)
    there = parts.add_parser("run")
    there.add_argument("folder", type=pathlib.Path)
    there.add_argument("seconds", type=float)
    there.add_argument("outdir", type=pathlib.Path)
    there.add_argument("first", type=int, nargs="?", default=0)
    there.add_argument("last", type=int, nargs="?", default=10**9)
    there.add_argument("--jobs", type=int, default=os.cpu_count())
    there.set_defaults(do=run)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    sys.exit(main())

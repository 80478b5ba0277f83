#!/usr/bin/env python3
"""heddle lint on CUDA code of others: which translation units parse, how long it takes, and what is found.

    real_code.py HEDDLE_LINT [--cache=FOLDER] [--number=N] [--seed=S] [--only=PACKAGE] [--json=FILE] [--clang=CLANG] [--limit=SECONDS]
                 [--jobs=N]

Packages are fetched from PyPI by name and version with pip, into FOLDER (default: build/real_code). Nothing of theirs is kept
in this repository. N units are drawn, each family of files (a folder, names without hashes) in turn. A unit that does not
parse is compiled by nvcc with the same flags: where nvcc refuses it too, it counts as right. With --clang every unit is also
timed with `clang -fsyntax-only`; where Clang stops at errors it has not done the same work, and the times are not compared. A
run with --json goes on where an earlier one with the same file has ended. Times are processor time: other work on the machine
does not count. Fails if fewer than
99 % are right, a unit takes more than twice Clang's time and 2 s, or a package that was fetched has no units. Skips (77) without nvcc or without the packages.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading

from real_packages import PACKAGES, fetch

SKIPPED = 77
LEAST_RIGHT = 0.99
SLOWEST, LEEWAY = 2, 2.0  # times clang -fsyntax-only, and seconds


@dataclasses.dataclass(frozen=True)
class Unit:
    package: str
    file: pathlib.Path
    flags: tuple

    def family(self):
        name = re.sub(r"[0-9a-f]{8,}.*", "", self.file.stem)
        return self.package, self.file.parent, name[:10]


def architecture(file):
    """What the names of folders and files and the instructions in the file say."""
    text = file.read_text(encoding="utf-8", errors="replace")
    name = str(file).replace("sm10x", "sm_100a").replace("sm12x", "sm_120a").replace("blackwell_geforce", "sm_120a")
    found = re.findall(r"sm_?(\d{2,3})([af]?)", name)
    if found:
        number, kind = found[-1]
        return number + (kind or ("a" if int(number) >= 90 else ""))
    if "blackwell" in name or "tcgen05" in text:
        return "100a"
    return "90a"


def known_folders(cache):
    folders = {}
    for package in PACKAGES:
        if package.name not in folders:
            folders[package.name] = fetch(package, cache)
    return folders


def units_of(package, folder, flags, scratch):
    for file in sorted({file for one in package.units for file in folder.glob(one)}):
        if not any(part in str(file.relative_to(folder)) for part in package.without):
            yield Unit(package.name, file, (*flags, f"-arch=sm_{architecture(file)}", f"-I{file.parent}"))
    for file in sorted(folder.glob(package.headers)) if package.headers else ():
        include = next(at for at in file.parents if at.name in package.below)
        at = scratch / package.name / f"{'_'.join(file.relative_to(include).parts)}.cu"
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(f"#include <{file.relative_to(include)}>\n", encoding="utf-8")
        extra = tuple(f"-I{one}" for one in sorted({p.parent for p in include.rglob("thrust")} | {include}))
        yield Unit(package.name, at, (*flags, "-arch=sm_90a", *extra))


def all_units(folders, scratch):
    names = {**{name: at for name, at in folders.items() if at}, "python": sysconfig.get_paths()["include"]}
    for package in PACKAGES:
        folder = folders.get(package.name)
        needed = {name for flag in package.flags for name in re.findall(r"{(.*?)}", flag)}
        if folder is not None and needed <= names.keys():
            flags = tuple(flag.format(**names) for flag in package.flags)
            yield from units_of(package, folder, flags, scratch)


def draw(units, number, seed):
    """N of them: one of each family in turn."""
    order = list(units)
    random.Random(seed).shuffle(order)
    families = collections.defaultdict(list)
    for unit in order:
        families[unit.family()].append(unit)
    turns = itertools.zip_longest(*families.values())
    return list(itertools.islice((unit for turn in turns for unit in turn if unit), number))


@dataclasses.dataclass
class Ended:
    code: int
    out: str
    err: str
    seconds: float   # of processor time
    too_long: bool = False


def run(command, limit=None):
    """Runs a command with a limit of processor time, and says how much it took."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(command, stdout=out, stderr=err)
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if limit and processor_seconds(child.pid) > limit:
                child.send_signal(signal.SIGKILL)
            threading.Event().wait(0.05)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Ended(child.returncode, out.read().decode(errors="replace"), err.read().decode(errors="replace"),
                     used.ru_utime + used.ru_stime, child.returncode == -signal.SIGKILL)


def processor_seconds(pid):
    try:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def clang_seconds(clang, unit, toolkit):
    """None: Clang by itself does not read the unit to its end."""
    dropped = ("--expt", "-arch", "-extended-lambda", "-use_fast_math")
    translated = [flag for flag in unit.flags if not flag.startswith(dropped)]
    arch = next(flag for flag in unit.flags if flag.startswith("-arch"))[6:]
    done = run([clang, "-xcuda", "-fsyntax-only", "--cuda-device-only", f"--cuda-gpu-arch={arch}", "-nocudalib", "-w", "-ferror-limit=0",
                f"--cuda-path={toolkit}", f"-isystem{toolkit}/include/cccl", "-D__NVCC__", *translated, str(unit.file)])
    return done.seconds if done.code == 0 else None


def look_at(unit, options):
    done = run([options.lint, "--no-cache", "--format=json", str(unit.file), "--", *unit.flags], options.limit)
    result = {"file": str(unit.file), "package": unit.package, "flags": unit.flags, "seconds": done.seconds, "error": "", "nvcc": "",
              "findings": []}
    if done.too_long:
        return {**result, "error": f"takes more than {options.limit} s"}
    try:
        report = json.loads(done.out)
    except json.JSONDecodeError:
        return {**result, "error": f"exit code {done.code}: {done.err[-300:]}"}
    one = report["files"][0]
    share = one["check_seconds"] / max(1e-3, one["check_seconds"] + one["parse_seconds"])
    result.update(findings=report["findings"], parse=done.seconds * (1 - share), check=done.seconds * share,
                  error=one["first_error"] if one["parse_errors"] else "")
    if result["error"]:
        compiled = run(["nvcc", "-cuda", "-o", "/dev/null", *unit.flags, str(unit.file)])
        errors = [line for line in compiled.err.splitlines() if "error" in line and "ptxas" not in line]
        result["nvcc"] = errors[0] if errors else ""
    if options.clang:
        result["clang"] = clang_seconds(options.clang, unit, options.toolkit)
    return result


def summarise(results):
    slow, wrong = [], []
    rows = collections.defaultdict(collections.Counter)
    keys = collections.Counter()
    for one in results:
        row = rows[one["package"]]
        row["units"] += 1
        row["parse"] += not one["error"]
        row["nvcc refuses too"] += bool(one["error"] and one.get("nvcc"))
        row["findings"] += len(one["findings"])
        keys.update(finding["key"] for finding in one["findings"])
        if one["error"] and not one.get("nvcc"):
            wrong.append(one)
        if one.get("clang") is not None and one["seconds"] > SLOWEST * one["clang"] + LEEWAY:
            slow.append(one)
    for package, row in sorted(rows.items()):
        print(f"{package}: {', '.join(f'{count} {name}' for name, count in row.items())}")
    for one in wrong:
        print(f"does not parse: {one['file']}: {one['error'][:300]}")
    for one in slow:
        print(f"slow: {one['file']}: {one['seconds']:.1f} s, clang {one['clang']:.1f} s (parse {one.get('parse', 0):.1f}, check {one.get('check', 0):.1f})")
    for key, count in keys.most_common():
        print(f"{count:5} {key}")
    right = 1 - len(wrong) / max(1, len(results))
    print(f"{len(results)} units, {100 * right:.1f} % parse or are refused by nvcc too, {len(slow)} slow")
    return right >= LEAST_RIGHT and not slow


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lint")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("build/real_code"))
    parser.add_argument("--number", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("HEDDLE_NIGHT", "1")))
    parser.add_argument("--only")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--clang")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=900, help="seconds of processor time for a unit")
    options = parser.parse_args()
    options.lint = str(pathlib.Path(options.lint).resolve())
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        print("skipped: no nvcc on PATH")
        return SKIPPED
    options.toolkit = pathlib.Path(nvcc).resolve().parent.parent
    options.cache = options.cache.resolve()
    folders = known_folders(options.cache)
    if not any(folders.values()):
        print("skipped: no package can be fetched")
        return SKIPPED
    units = [unit for unit in all_units(folders, options.cache / "units") if options.only in (None, unit.package)]
    for package in PACKAGES:
        has_units = package.units or package.headers
        if folders[package.name] and has_units and options.only in (None, package.name) and not any(
                unit.package == package.name for unit in units):
            print(f"{package.name}: no unit of it was found")
            return 1
    results = json.loads(options.json.read_text()) if options.json and options.json.exists() else []
    known = {one["file"] for one in results}
    drawn = [unit for unit in draw(units, options.number, options.seed) if str(unit.file) not in known]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for one in pool.map(lambda unit: look_at(unit, options), drawn):
            results.append(one)
            if options.json:
                options.json.write_text(json.dumps(results))
    return 0 if summarise(results) else 1


if __name__ == "__main__":
    sys.exit(main())

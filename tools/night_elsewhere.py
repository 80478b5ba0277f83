#!/usr/bin/env python3
"""Parts of a night (docs/nightly.md) on a machine with more processors and less software: Python, nvcc and g++, but no build.

    night_elsewhere.py pack FOLDER PART…     here, behind ./dev build: what the tests of these parts need
    night_elsewhere.py run FOLDER --seconds=S [--jobs=N] [--night=N] [--log=TO] PART…
                                             there, in a copy of the sources with FOLDER: all parts at once, for S seconds; status 1: one failed

Each part has some of the processors for itself. A test that has not ended in time is stopped, and says "cut". FOLDER is laid out as the
build folder is; tests.json in it has what ctest knows. TO keeps what each test has printed.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent))
import nightly  # noqa: E402

ROOT = nightly.ROOT
SYSTEM = ("ld-linux", "linux-vdso", "libc.", "libm.", "libdl.", "librt.", "libpthread.", "libstdc++", "libgcc_s.", "libasan", "libubsan")
TIDY_UP = 20  # seconds at the end, for those that notice themselves that their time is over


def parts_of(names):
    known = {part.name: part for part in nightly.PARTS if not part.command}
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        sys.exit(f"no part with tests: {', '.join(unknown) or 'none is named'}")
    return [known[name] for name in names]


# --- Here ------------------------------------------------------------------------------------------------

def strip(source, target):
    """A copy without debug information."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        return
    if source.suffix == ".o" or subprocess.run(["strip", "-S", "-o", target, source], capture_output=True, check=False).returncode != 0:
        shutil.copy2(source, target)


def libraries_of(program):
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) > 2 and words[1] == "=>" and not words[0].startswith(SYSTEM):
            yield pathlib.Path(words[2])


def programs_of(test, build):
    paths = {pathlib.Path(word) for word in test["command"] if word.startswith(f"{build}/")}
    return {path for path in paths if path.is_file()}


def needs_llvm(program):
    return any(library.name.startswith("libLLVM") for library in libraries_of(program))


def pack(folder, names):
    build = ROOT / "build/dev"
    tests = {part.name: nightly.tests_of(part, build) for part in parts_of(names)}
    without = [name for name in tests if not tests[name]]
    if without:
        sys.exit(f"this build has no tests of {', '.join(without)}")
    for name, some in tests.items():
        tests[name] = [test for test in some if not any(map(needs_llvm, programs_of(test, build)))]
        if len(tests[name]) < len(some):
            print(f"{name}: {len(some) - len(tests[name])} of {len(some)} tests are left out, they need LLVM")
    programs = {path for some in tests.values() for test in some for path in programs_of(test, build)}
    programs |= {build / "bin/heddle", build / "bin/heddle-cc"}
    for path in sorted(programs):
        strip(path, folder / path.relative_to(build))
        for library in libraries_of(path):
            strip(library, folder / "lib" / library.name)
    for path in sorted((build / "lib").iterdir()):
        if path.is_symlink() and path.suffix == ".so":
            continue  # made again there: they may not survive the way
        if path.is_file() and not path.name.startswith(("heddle_clang_tidy", "libheddle_mpi")):
            strip(path, folder / "lib" / path.name)
    text = json.dumps(tests, indent=1)
    nvcc = next((value for some in tests.values() for test in some for value in environment_of(test) if value.startswith("HEDDLE_NVCC=")), "=")
    for word, name in ((str(build), "@BUILD@"), (str(ROOT), "@ROOT@"), (nvcc.split("=", 1)[1], "@NVCC@"), (sys.executable, "@PYTHON@")):
        text = text.replace(word, name) if word else text
    (folder / "tests.json").write_text(text, encoding="utf-8")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{sum(map(len, tests.values()))} tests, {size / 2**20:.0f} MiB in {folder}")


def properties(test):
    return {entry["name"]: entry["value"] for entry in test.get("properties", [])}


def environment_of(test):
    return properties(test).get("ENVIRONMENT", [])


# --- There -----------------------------------------------------------------------------------------------

def prepare(folder, nvcc):
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name != "lib":
            path.chmod(0o755)
    for name, target in (("libtsan.so", "libtsan.so.2"), ("libcuda.so", "libcuda.so.1")):
        link = folder / "lib" / name
        if (folder / "lib" / target).exists() and not link.exists():
            link.symlink_to(target)
    text = (folder / "tests.json").read_text(encoding="utf-8")
    for name, word in (("@BUILD@", str(folder)), ("@ROOT@", str(ROOT)), ("@NVCC@", nvcc), ("@PYTHON@", sys.executable)):
        text = text.replace(name, word)
    return json.loads(text)


def divide(parts, jobs):
    """Processors of each part: in proportion to its minutes, and one at least."""
    mine = sorted(os.sched_getaffinity(0))[:jobs]
    together = sum(part.minutes for part in parts)
    counts = [max(1, round(len(mine) * part.minutes / together)) for part in parts]
    shares, at = [], 0
    for count in counts:
        shares.append({mine[i % len(mine)] for i in range(at, at + count)})
        at += count
    return shares


def run_test(test, processors, environment, seconds, end, log):
    """How it ended."""
    asked = properties(test)
    left = end - time.monotonic()
    if left < TIDY_UP:
        return "not begun"
    own = dict(value.split("=", 1) for value in environment_of(test))
    own["XDG_CACHE_HOME"] = environment["XDG_CACHE_HOME"]
    own["HEDDLE_NIGHT_SECONDS"] = f"{min(seconds, max(1, left - TIDY_UP)):.0f}"
    command = test["command"]
    if command[0].endswith("/cost.sh"):
        command = command[2:]
    place = pathlib.Path(asked.get("WORKING_DIRECTORY", ROOT))
    place.mkdir(parents=True, exist_ok=True)
    with open(log, "w", encoding="utf-8") as file:
        child = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env={**environment, **own},
                                 cwd=place, start_new_session=True,
                                 preexec_fn=lambda: os.sched_setaffinity(0, processors))
        try:
            status = child.wait(left)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return "cut"
    return "passed" if status == 0 else "skipped" if status == nightly.SKIPPED else f"failed ({status})"


def last_line(log):
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return next((line.strip()[:160] for line in reversed(lines) if line.strip() and not line.startswith(("OK", "Ran ", "---"))), "")


def run(options):
    folder = options.folder.resolve()
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    tests = prepare(folder, nvcc)
    parts = parts_of(options.part)
    logs = options.log.resolve()
    logs.mkdir(parents=True, exist_ok=True)
    # Folders of the copy may be open to others, and then Heddle keeps no programs there.
    private = tempfile.TemporaryDirectory(prefix="heddle-night-")
    environment = {**os.environ, "HEDDLE_NIGHT": str(options.night), "HEDDLE": str(folder / "bin/heddle"),
                   "HOME": private.name, "XDG_CACHE_HOME": f"{private.name}/cache",
                   "LD_LIBRARY_PATH": f"{folder}/lib", "PATH": f"{pathlib.Path(nvcc).parent}:{os.environ['PATH']}"}
    end = time.monotonic() + options.seconds
    failed = False

    def all_of(part, processors):
        lanes, seconds = nightly.share(part, options.seconds - TIDY_UP, len(tests[part.name]), len(processors))
        (logs / part.name).mkdir(exist_ok=True)
        ordered = sorted(tests[part.name], key=lambda test: -float(properties(test).get("COST", 0)))
        with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
            def one(test):
                log = logs / part.name / f"{test['name'].replace('/', ':')}.log"
                return test["name"], run_test(test, processors, environment, seconds, end, log), last_line(log)
            return list(pool.map(one, ordered))

    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        for part, outcomes in zip(parts, pool.map(all_of, parts, divide(parts, options.jobs))):
            states = [state for _, state, _ in outcomes]
            print(f"== {part.name}: {states.count('passed')} of {len(states)} passed, {states.count('cut')} cut, {states.count('not begun')} not begun")
            for name, state, said in outcomes:
                print(f"{state:12} {name}: {said}")
            failed |= any(state.startswith("failed") for state in states)
    private.cleanup()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{(used.ru_utime + used.ru_stime) / 60:.1f} processor minutes")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["pack", "run"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("part", nargs="+", metavar="PART")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--night", type=int, default=int(time.strftime("%Y%m%d")))
    parser.add_argument("--log", type=pathlib.Path, default=pathlib.Path("night-logs"))
    options = parser.parse_args()
    if options.what == "pack":
        options.folder.mkdir(parents=True, exist_ok=True)
        pack(options.folder.resolve(), options.part)
        return 0
    return run(options)


if __name__ == "__main__":
    sys.exit(main())

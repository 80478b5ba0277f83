#!/usr/bin/env python3
"""Programs that tests have compiled, between a build folder and a cache that outlives it: ./dev test takes them from there before
the tests, and leaves them there behind them. CI may keep the cache; a machine without one compiles everything.

    test_cache.py take|keep BUILD [CACHE]      CACHE: ${XDG_CACHE_HOME:-~/.cache}/heddle/tests

Each entry is named after the contents of its sources, its flags and nvcc (tests/run/program.py, src/cli/compile/compile.cpp), and who finds one
compares these again, so an old one is never used for something else. Only what nvcc has made: images that Heddle has
compiled are not named after the compiler in this tree. At most LIMIT bytes are kept, those used last.
"""
import os
import pathlib
import shutil
import sys
import time

LIMIT = 1 << 30
FOLDERS = ("tests/programs", "cache/heddle/programs")  # below a build folder; they are users' caches as well: 0700


def default_cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "heddle" / "tests"


def entries(folder):
    """What is complete: temporary files have a dot in their names, or are empty folders."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.is_dir() and any(path.iterdir()) or path.is_file() and path.suffix in ("", ".manifest"):
            yield path


def size(path):
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) if path.is_dir() else path.stat().st_size


def copy_new(source, target):
    copied = 0
    for path in entries(source):
        to = target / path.name
        if not to.exists():
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
            aside = target / f"{path.name}.{os.getpid()}.tmp"
            shutil.copytree(path, aside) if path.is_dir() else shutil.copy2(path, aside)
            os.utime(aside)
            aside.rename(to)
            copied += 1
    return copied


def touch(source, target):
    """What the build has used is used."""
    now = time.time()
    for path in entries(source):
        if (target / path.name).exists():
            os.utime(target / path.name, (now, now))


def shrink(cache, limit):
    kept = sorted((path for folder in cache.iterdir() if folder.is_dir() for path in entries(folder)), key=lambda path: path.stat().st_mtime, reverse=True)
    used = removed = 0
    for path in kept:
        used += size(path)
        if used > limit:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            removed += 1
    return removed


def main(argv):
    what, build = argv[1], pathlib.Path(argv[2])
    cache = pathlib.Path(argv[3]) if len(argv) > 3 else default_cache()
    if what not in ("take", "keep"):
        sys.exit(__doc__)
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    copied = 0
    for folder in FOLDERS:
        here, there = build / folder, cache / folder.replace("/", "-")
        copied += copy_new(there, here) if what == "take" else copy_new(here, there)
        if what == "keep":
            touch(here, there)
    removed = shrink(cache, LIMIT) if what == "keep" else 0
    if copied or removed:
        print(f"compiled programs: {copied} {'from' if what == 'take' else 'to'} {cache}" + (f", {removed} removed there" if removed else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

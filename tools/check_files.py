#!/usr/bin/env python3
"""Fails on source files that are too long, do not say what they are, or name this machine.

    check_files.py [ROOT]        ctest runs it as static.files
"""
import pathlib
import re
import subprocess
import sys

LONGEST = 800
# Tables and data may be long: they are read a row at a time.
LONG_ALLOWED = {".def", ".tsv", ".json", ".ptx", ".golden"}
SOURCES = {".h", ".cpp", ".cu", ".py", ".cmake", ".sh"}
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|root)/\w")


def tracked_files(root):
    listing = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
                             capture_output=True, text=True)
    if listing.returncode == 0:
        return [root / name for name in listing.stdout.splitlines()]
    # An unpacked archive: everything but build outputs.
    return [p for p in root.rglob("*") if p.is_file() and "build" not in p.relative_to(root).parts]


def main(argv):
    root = pathlib.Path(argv[1] if len(argv) > 1 else ".").resolve()
    problems = []
    for path in tracked_files(root):
        if path.suffix not in SOURCES or not path.is_file():
            continue
        name = path.relative_to(root).as_posix()
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        if len(lines) > LONGEST and path.suffix not in LONG_ALLOWED:
            problems.append(f"{name}:{LONGEST}: error: {len(lines)} lines; split it (limit {LONGEST})")
        # A .cpp beside its header is explained there.
        explained = path.suffix == ".cpp" and path.with_suffix(".h").exists()
        if name.startswith("src/") and path.suffix in {".h", ".cpp"} and not explained:
            first = next((line for line in lines if line.strip()), "")
            if not first.startswith("//"):
                problems.append(f"{name}:1: error: a source file opens with a comment that says what it does")
        for number, line in enumerate(lines, 1):
            if MACHINE_PATH.search(line):
                problems.append(f"{name}:{number}: error: path of one machine")
    print("\n".join(problems) or "files: fine")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

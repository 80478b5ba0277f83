#!/usr/bin/env python3
"""Fails on source files that are too long, do not say what they are, or name this machine.

Also on lines of prose in Markdown that are too long (wrap_prose.py), and on classes of model/ and reduce/ that are too
large. Members are what the formatter leaves: lines of a class that end with a name_ (or several) and ';', with a value
or without.

    check_files.py [ROOT]        ctest runs it as static.files
"""
import pathlib
import re
import subprocess
import sys

import wrap_prose

LONGEST = 800
# Tables and data may be long: they are read a row at a time.
LONG_ALLOWED = {".def", ".tsv", ".json", ".ptx", ".golden"}
SOURCES = {".h", ".cpp", ".cu", ".py", ".cmake", ".sh"}
LARGEST_CLASS = (600, 20)  # lines, members
# Larger ones, which may only shrink.
LARGER: dict[str, tuple[int, int]] = {}
CLASS = re.compile(r"^(?:template <[^\n]*> )?class ([\w:]+)[^;]*\{$.*?^\};$", re.M | re.S)
MEMBER = re.compile(r"^  [\w:<][^()\n]*?\b(\w+_(?:, \w+_)*)(?: = [^;]*|\{[^;]*\})?;", re.M)


def large_classes(name, text):
    for found in CLASS.finditer(text):
        lines = found[0].count("\n") + 1
        members = sum(m[1].count(",") + 1 for m in MEMBER.finditer(found[0]))
        most = LARGER.get(f"{name}:{found[1]}", LARGEST_CLASS)
        if lines > most[0] or members > most[1]:
            number = text[:found.start()].count("\n") + 1
            yield (f"{name}:{number}: error: class {found[1]} has {lines} lines and {members} members; "
                   f"split it (limit {most[0]} and {most[1]})")


# Each file that includes it takes three seconds to compile.
ONLY_IN = {"#include <regex>": "src/base/regular_expression.cpp"}
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|root)/\w")


def tracked_files(root):
    listing = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
                             capture_output=True, text=True)
    if listing.returncode == 0:
        return [root / name for name in listing.stdout.splitlines()]
    # An unpacked archive: everything but build outputs.
    return [p for p in root.rglob("*") if p.is_file() and "build" not in p.relative_to(root).parts]


def problems_of_page(name, text):
    for number in wrap_prose.long_lines(text):
        yield f"{name}:{number}: error: more than {wrap_prose.LONGEST} characters; tools/wrap_prose.py breaks such lines"
    if len(re.findall(r"^ *```", text, re.M)) % 2:
        yield f"{name}:1: error: a block of code (```) has no end or no beginning"


def main(argv):
    root = pathlib.Path(argv[1] if len(argv) > 1 else ".").resolve()
    problems = []
    for path in tracked_files(root):
        if path.suffix == ".md" and path.is_file():
            problems += problems_of_page(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
        if path.suffix not in SOURCES or not path.is_file():
            continue
        name = path.relative_to(root).as_posix()
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        if len(lines) > LONGEST and path.suffix not in LONG_ALLOWED:
            problems.append(f"{name}:{LONGEST}: error: {len(lines)} lines; split it (limit {LONGEST})")
        if name.startswith(("src/model/", "src/reduce/")) and path.suffix == ".h":
            problems += large_classes(name, "\n".join(lines))
        # A .cpp beside its header is explained there.
        explained = path.suffix == ".cpp" and path.with_suffix(".h").exists()
        if name.startswith("src/") and path.suffix in {".h", ".cpp"} and not explained:
            first = next((line for line in lines if line.strip()), "")
            if not first.startswith("//"):
                problems.append(f"{name}:1: error: a source file opens with a comment that says what it does")
        for number, line in enumerate(lines, 1):
            if MACHINE_PATH.search(line):
                problems.append(f"{name}:{number}: error: path of one machine")
            if path.suffix in {".h", ".cpp"} and name.startswith("src/") and ONLY_IN.get(line, name) != name:
                problems.append(f"{name}:{number}: error: only {ONLY_IN[line]} does that, which takes long to compile; "
                                "use its header")
    print("\n".join(problems) or "files: fine")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

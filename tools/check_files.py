#!/usr/bin/env python3
"""Fails on source files that are too long, do not say what they are, or name this machine.

Also on `mutable` and `const_cast` without a reason, on lines of prose in Markdown that are too long (wrap_prose.py), and on classes and functions of src/ that are too
large (class_sizes.py says how that is measured) and have no line in larger.txt.

    check_files.py [ROOT]          ctest runs it as static.files
    check_files.py [ROOT] --lower  writes today's numbers into larger.txt where they are smaller than there, and removes what is no longer large
"""
import pathlib
import re
import subprocess
import sys

import class_sizes
import wrap_prose

LONGEST = 800
# Tables and data may be long: they are read a row at a time.
LONG_ALLOWED = {".def", ".tsv", ".json", ".ptx", ".golden"}
SOURCES = {".h", ".cpp", ".cu", ".py", ".cmake", ".sh"}
CLASS_LIMITS = (600, 20, 40)  # lines, members, functions: see class_sizes.py
LONGEST_FUNCTION = 100
# What is larger, a line each: "class src/LAYER NAME LINES MEMBERS FUNCTIONS", "function FILE NAME LINES". Numbers may only fall.
LARGER = "tools/larger.txt"


def read_larger(text):
    """{(kind, place, name): numbers}"""
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {tuple(row[:3]): tuple(map(int, row[3:])) for row in rows}


def function_name(head):
    """"Result<int> A::f(" is A::f."""
    return re.sub(r"\s*\($", "", head).split()[-1].lstrip("*&")


def measured(files):
    """{(kind, place, name): (numbers, where)} of all classes and functions."""
    classes, functions = class_sizes.sizes(files)
    found = {("class", layer, name): ((size.lines, size.members, size.functions), size.where) for (layer, name), size in classes.items()}
    for file, line, head, lines in functions:
        key = ("function", file, function_name(head))
        found[key] = max(found.get(key, ((0,), "")), ((lines,), f"{file}:{line}"))  # the longest of one name
    return found


def limits_of(key):
    return CLASS_LIMITS if key[0] == "class" else (LONGEST_FUNCTION,)


def exceeds(numbers, limits):
    return any(number > limit for number, limit in zip(numbers, limits))


def wherever(key):
    """The key of a function without the folders of its file: a file that moves keeps its numbers."""
    kind, place, name = key
    return key if kind == "class" else (kind, pathlib.PurePosixPath(place).name, name)


def too_large(found, larger, before):
    """`before`: the list of the commit before; None: it had none."""
    if before is not None:
        before = {wherever(key): numbers for key, numbers in before.items()}
    for key, (numbers, where) in found.items():
        allowed = tuple(map(max, limits_of(key), larger.get(key, limits_of(key))))
        if exceeds(numbers, allowed):
            words = ("lines", "members", "functions")
            yield (f"{where}: error: {key[0]} {key[2]} has {', '.join(f'{n} {word}' for n, word in zip(numbers, words))}; "
                   f"split it (limit {', '.join(map(str, allowed))})")
    for key in larger:
        if key not in found or not exceeds(found[key][0], limits_of(key)):
            yield f"{LARGER}: error: {' '.join(key)} is no longer large: remove the line"
        elif before is not None and (wherever(key) not in before or exceeds(larger[key], before[wherever(key)])):
            yield f"{LARGER}: error: {' '.join(key)}: numbers may only fall"


def write_lower(file, text, found, larger):
    lines = [line for line in text.splitlines() if line.startswith("#")]
    for key, numbers in larger.items():
        if key in found and exceeds(found[key][0], limits_of(key)):
            lines.append(" ".join([*key, *(str(min(pair)) for pair in zip(numbers, found[key][0]))]))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def list_before(root):
    done = subprocess.run(["git", "-C", root, "show", f"HEAD~1:{LARGER}"], capture_output=True, text=True, check=False)
    return read_larger(done.stdout) if done.returncode == 0 else None


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


# A reason is a comment on the line or right above it. None is asked for where there is only one: locks and atomics, lambdas, what takes away
# `volatile` alone, the constant twin of a function, C++20's atomic_ref, which takes no constant, and layers around an interface without const.
ASKS_FOR_REASON = re.compile(r"\bmutable\b|\bconst_cast<")
NEEDS_NO_REASON = re.compile(r"mutable\s+std::(?:\w*mutex|atomic)|\) mutable\b|const_cast<const |const_cast<volatile |\(this\)->"
                             r"|\b(?:atomic_ref|atomic_of|shared)\(")
NO_CONST_IN = ("src/runtime/", "src/libraries/", "src/jit/", "src/lint/")  # CUDA's calls, cuBLAS's, LLVM's values, Clang's


def without_reason(lines):
    """Numbers of lines."""
    for number, line in enumerate(lines, 1):
        code = line.split("//")[0]
        above = lines[number - 2].strip() if number > 1 else ""
        if above.endswith("=") and number > 2:  # the statement begins there
            above = lines[number - 3].strip()
        if ASKS_FOR_REASON.search(code) and "//" not in line and not above.startswith("//") and not NEEDS_NO_REASON.search(above + code):
            yield number


def problems_of_page(name, text):
    for number in wrap_prose.long_lines(text):
        yield f"{name}:{number}: error: more than {wrap_prose.LONGEST} characters; tools/wrap_prose.py breaks such lines"
    if len(re.findall(r"^ *```", text, re.M)) % 2:
        yield f"{name}:1: error: a block of code (```) has no end or no beginning"


def main(argv):
    lower = "--lower" in argv
    root = pathlib.Path(([word for word in argv[1:] if word != "--lower"] or ["."])[0]).resolve()
    problems, sources = [], []
    for path in tracked_files(root):
        if path.suffix == ".md" and path.is_file():
            problems += problems_of_page(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
        if path.suffix not in SOURCES or not path.is_file():
            continue
        name = path.relative_to(root).as_posix()
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        if len(lines) > LONGEST and path.suffix not in LONG_ALLOWED:
            problems.append(f"{name}:{LONGEST}: error: {len(lines)} lines; split it (limit {LONGEST})")
        if name.startswith("src/") and path.suffix in {".h", ".cpp"}:
            sources.append((name, "\n".join(lines)))
            problems += [f"{name}:{number}: error: why mutable, or a const_cast? Say so in a comment" for number in without_reason(lines)
                         if not ("const_cast" in lines[number - 1] and name.startswith(NO_CONST_IN))]
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
    file = root / LARGER
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    found, larger = measured(sources), read_larger(text)
    if lower:
        write_lower(file, text, found, larger)
        larger = read_larger(file.read_text(encoding="utf-8"))
    problems += too_large(found, larger, list_before(root))
    print("\n".join(problems) or "files: fine")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

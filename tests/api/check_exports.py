#!/usr/bin/env python3
"""Fails unless a library of ours exports exactly the names in a list, under the right soname and version.

    check_exports.py LIBRARY LIST --soname libcudart.so.13 [--toolkit DIR]

The list was made from NVIDIA's library; where the toolkit has the library (of libcuda the stub that programs
are linked with), the list is compared with it too, so that a newer toolkit shows what is missing.
"""
import argparse
import pathlib
import re
import subprocess
import sys


OURS = "HEDDLE"  # the version node of what our libraries tell each other


def exported(library):
    """{name: version node} of the functions that a shared library defines."""
    listing = subprocess.run(["readelf", "--dyn-syms", "--wide", library], capture_output=True, text=True, check=True)
    names = {}
    for line in listing.stdout.splitlines():
        fields = line.split()
        if len(fields) < 8 or fields[3] != "FUNC" or fields[6] == "UND":
            continue
        name, _, version = fields[7].partition("@@")
        if version != OURS:
            names[name] = version
    return names


def difference(what, expected, actual):
    problems = [f"{what}: missing {name}" for name in sorted(expected - actual)]
    return problems + [f"{what}: not expected {name}" for name in sorted(actual - expected)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("list")
    parser.add_argument("--soname", required=True)
    parser.add_argument("--toolkit")
    options = parser.parse_args()
    soname = options.soname
    versioned = soname.startswith("libcudart")  # the driver's names have no versions
    expected = set(pathlib.Path(options.list).read_text().split())
    ours = exported(options.library)
    problems = difference("exports", expected, set(ours))
    problems += [f"{name} has version '{version}', not '{soname}'"
                 for name, version in sorted(ours.items()) if version != (soname if versioned else "")]
    dynamic = subprocess.run(["readelf", "-d", options.library], capture_output=True, text=True, check=True).stdout
    if not re.search(rf"SONAME.*\[{re.escape(soname)}\]", dynamic):
        problems.append(f"the soname is not {soname}")
    folder = pathlib.Path(options.toolkit or "/nonexistent") / "lib64"
    real = folder / soname if versioned else folder / "stubs" / "libcuda.so"
    if real.exists():
        problems += difference(str(real), expected, set(exported(real)))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compiles a .cu file and checks that the compiler reports an error on every line marked `// refused`
and on no other line."""
import argparse
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("source")
    options = parser.parse_args()
    with open(options.source, encoding="utf-8") as file:
        wanted = {number for number, line in enumerate(file, 1) if line.rstrip().endswith("// refused")}
    command = [options.nvcc, "-arch=sm_90", "-std=c++17", "--ptx", "-o", "/dev/null", "-Xcudafe", "--error_limit=100", options.source]
    done = subprocess.run(command, capture_output=True, text=True)
    output = done.stdout + done.stderr
    found = {int(line) for line in re.findall(re.escape(options.source) + r"\((\d+)\): error", output)}
    problems = [f"line {line} was not refused" for line in sorted(wanted - found)]
    problems += [f"line {line} was refused, but is right" for line in sorted(found - wanted)]
    if not wanted:
        problems.append("no line is marked '// refused'")
    if done.returncode == 0:
        problems.append("the file compiled")
    print("\n".join(problems) or f"{len(wanted)} lines were refused")
    if problems:
        print(output[:4000], file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

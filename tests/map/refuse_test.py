#!/usr/bin/env python3
"""Compiles every case of refused.cu and checks that the compiler says why it refuses it; the last branch
must compile, for sm_75 too. CASE 8 is compiled for sm_80, where there is no 128-bit compare-exchange."""
import argparse
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).with_name("refused.cu")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--include", required=True)
    options = parser.parse_args()
    cases = dict(re.findall(r"CASE == (\d+) // refused: (.*)", SOURCE.read_text(encoding="utf-8")))
    problems = []

    def compile_case(case, architecture):
        command = [options.nvcc, f"-arch={architecture}", "-std=c++17", "-I", options.include, f"-DCASE={case}",
                   "-cuda", "-o", "/dev/null", str(SOURCE)]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    for case, text in cases.items():
        status, output = compile_case(case, "sm_80" if case == "8" else "sm_90")
        if status == 0:
            problems.append(f"case {case} compiled")
        elif text not in output:
            problems.append(f"case {case}: the compiler does not say {text!r}:\n{output[:2000]}")
    status, output = compile_case(0, "sm_75")
    if status != 0:
        problems.append(f"the right program does not compile:\n{output[:2000]}")
    print("\n".join(problems) or f"{len(cases)} cases were refused")
    return 1 if problems or len(cases) < 8 else 0


if __name__ == "__main__":
    sys.exit(main())

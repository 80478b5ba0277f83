#!/usr/bin/env python3
"""heddle check --memory=ptx on litmus programs: exactly the outcomes that the axioms allow.

    test_engine.py LITMUS [COUNT [BOUND…]]     LITMUS: heddle_litmus; so many programs of each bound

Each program is checked twice: that no outcome is seen but those of the axioms (within the stated bound), and that
one of them, another one for each program, is seen. One with a data race must be found to have one.
"""
import json
import os
import pathlib
import subprocess
import sys

HEDDLE = os.environ.get("HEDDLE", "./heddle")
INTERPRETER = pathlib.Path(__file__).with_name("interpret.cu")
SHAPES = {"2x2-together": "together", "2x2-apart": "apart", "2x3-together": "together", "2x3-fences": "apart",
          "2x3-updates": "together", "3x2-together": "together", "3x2-sequences": "together", "3x2-two-one": "pairs",
          "2x3-equal": None}


def check(*arguments):
    command = [HEDDLE, "check", "--format=json", "--memory=ptx", str(INTERPRETER), "--", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    return report["verdict"], sorted(f["code"] for f in report["findings"]), report["complete"]


def main(argv):
    litmus, count = argv[1], int(argv[2]) if len(argv) > 2 else 5
    failures = checks = races = 0
    for bound in argv[3:] or [b for b, shape in SHAPES.items() if shape]:
        listed = subprocess.run([litmus, bound, f"--list={count}"], capture_output=True, text=True, check=True)
        for number, line in enumerate(listed.stdout.splitlines()):
            program, *outcomes = line.split()
            shape = SHAPES[bound]
            answers = [(("in", *outcomes), ("terminates", [], True))]
            if outcomes == ["race"]:
                races += 1
                answers = [(("in",), None)]
            else:
                answers.append((("not", outcomes[number % len(outcomes)]), ("defect", ["exit-status"], True)))
            for (want, *among), expected in answers:
                found = check(shape, program, want, *among)
                checks += 1
                fine = "data-race" in found[1] if expected is None else found == expected
                if not fine:
                    failures += 1
                    print(f"{bound} {shape} {program} {want} {' '.join(among)}: expected {expected or 'a race'}, got {found}")
    print(f"{checks} checks, {races} programs with a race, {failures} failures")
    return 1 if failures or not checks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

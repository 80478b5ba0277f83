#!/usr/bin/env python3
"""Runs a target of heddle_fuzz: first each input that is kept for it, then others.

    fuzz.py HEDDLE_FUZZ TARGET [--corpus=FOLDER] [FLAG…]      flags of libFuzzer: -runs=N, -max_total_time=SECONDS, …

The same inputs with each commit; at night (tests/support/night.py) others, for 20 seconds. What fails lies in the folder
where this runs, as crash-…; new inputs that reach something new are thrown away, or kept in FOLDER.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from night import night, seed as seed_of_night  # noqa: E402

# Of those that are read as YAML, one.
DICTIONARIES = {"ptx_parse": "ptx.dict", "yaml": "yaml.dict", "suite": "yaml.dict"}


def run(*command, **variables):
    print(*command, flush=True)
    return subprocess.run(command, check=False, env={**os.environ, **variables}).returncode


def main():
    fuzzer, target, *flags = sys.argv[1:]
    corpus = [flag.split("=", 1)[1] for flag in flags if flag.startswith("--corpus=")]
    flags = [flag for flag in flags if not flag.startswith("--corpus=")]
    seeds = HERE / "seeds" / target
    kept = sorted(seeds.iterdir())
    good = [seed for seed in kept if seed.name.startswith("good")]
    if not good:
        print(f"{seeds}: no input that must be accepted")
        return 1
    if run(fuzzer, target, *good, HEDDLE_FUZZ_ACCEPT="1") != 0:
        print(f"An input that {target} accepted once is refused. If the format has changed: tests/fuzz/README.md says how to make new ones.")
        return 1
    bad = [seed for seed in kept if seed not in good]
    if bad and run(fuzzer, target, *bad) != 0:
        return 1
    words = [f"-dict={HERE / DICTIONARIES[target]}"] if target in DICTIONARIES else []
    with tempfile.TemporaryDirectory() as found:
        folder = corpus[0] if corpus else found
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        if night() is not None:
            flags = [flag for flag in flags if not flag.startswith("-runs=")] + ["-max_total_time=20"]
        return run(fuzzer, target, folder, str(seeds), f"-seed={seed_of_night(1)}", "-timeout=10", "-rss_limit_mb=2048",
                   *words, *flags)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""examples/map/word_count.cu under `heddle run`: host, device and both count the words of a text alike, and rightly."""
import collections
import hashlib
import os
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "run"))
from program import Compiler  # noqa: E402

HEDDLE = os.environ.get("HEDDLE", "./heddle")
COMPILER = Compiler(os.environ.get("HEDDLE_NVCC", "nvcc"), os.environ.get("HEDDLE_CACHE", "build/dev/tests/programs"))


def main():
    root = HERE.parents[1]
    headers = hashlib.sha256()  # the example includes them as users do, which the cache does not follow
    for path in sorted((root / "include").rglob("*.cuh")):
        headers.update(path.read_bytes())
    example = COMPILER.compile([str(root / "examples" / "map" / "word_count.cu")],
                               ["-I", str(root / "include"), f"-DHEADERS={headers.hexdigest()[:12]}"])
    rng = random.Random(7)
    words = ["weave", "heddle", "loom", "warp", "weft", "shuttle", "reed"]
    text = [rng.choice(words) for _ in range(3000)]
    wanted = {word[:8]: count for word, count in collections.Counter(text).items()}
    problems = []
    for where in ("host", "device", "both"):
        done = subprocess.run([HEDDLE, "run", example, where], input=" ".join(text) + "\n", capture_output=True, text=True)
        counted = {}
        for line in done.stdout.splitlines():
            fields = line.split()
            if len(fields) == 2 and fields[0].isdigit():
                counted[fields[1]] = int(fields[0])
        if done.returncode != 0 or counted != wanted:
            problems.append(f"{where}: exit code {done.returncode}, {counted} instead of {wanted}\n{done.stderr}")
    print("\n".join(problems) or "three times the right words")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

"""Which part of a large set of programs is looked at: another one with each commit, so that a few commits see them all."""
import pathlib
import subprocess


def turn(parts):
    """A number below `parts`, the same for the same commit."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True, check=False)
    return int(done.stdout.strip() or "0", 16) % parts if done.returncode == 0 else 0

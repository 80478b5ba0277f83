#!/usr/bin/env python3
"""Makes the inputs of heddle_fuzz that depend on the layout of a format: real checkpoints of searches, and fat binaries of nvcc.

    HEDDLE=./heddle tests/fuzz/make_seeds.py          needs nvcc, gcc and ar

To be run, and its files committed, when the format of checkpoints has changed: then those that are kept are refused, and fuzz.checkpoint
fails. What else lies in seeds/ is written by hand.
"""
import os
import pathlib
import subprocess
import tempfile

HEDDLE = os.environ.get("HEDDLE", "./heddle")
SEEDS = pathlib.Path(__file__).resolve().parent / "seeds"
PROGRAM = """
__global__ void k(int* p) { while (atomicAdd(p, 0) != 1) {} }
__global__ void one(int* p) { atomicExch(p, 1); }
int main() {
  int* p;
  cudaMalloc(&p, 4);
  cudaMemset(p, 0, 4);
  k<<<2, 1>>>(p);
  one<<<1, 1>>>(p);
  return cudaDeviceSynchronize();
}
"""
KERNEL = "__global__ void k(int* p) { *p = 1; }\n"
OF_FILE = 6  # lines before the tables of a checkpoint


def run(*command, codes=(0,)):
    done = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True)
    if done.returncode not in codes:
        raise SystemExit(f"{command}: {done.stdout}{done.stderr}")


def write(target, name, *parts):
    (SEEDS / target / name).write_bytes(b"".join(parts))


def checkpoints(folder):
    source, file = folder / "few.cu", folder / "few.checkpoint"
    source.write_text(PROGRAM)
    run(HEDDLE, "check", "--schedules=0", "-j1", "--max-states=12", f"--checkpoint={file}", source, codes=(1, 4))
    *lines, tables = file.read_bytes().split(b"\n", OF_FILE)
    lines[1] = b"fuzz"  # the check that it is of
    write("checkpoint", "good_table", b"\0\0", tables)
    write("checkpoint", "good_first_of_two", b"\1\xff", tables, b"\0" * (len(tables) // 255 + 1))
    write("checkpoint", "good_two", b"\1\x80", tables, tables)
    write("checkpoint", "good_file", b"\3\0", b"\n".join([*lines, tables]))
    lines[4], lines[5] = b"kept: %d" % len(tables), b"other ranks: %d 0" % len(tables)
    write("checkpoint", "good_file_of_three", b"\3\0", b"\n".join([*lines, tables * 3]))


def fat_binaries(folder):
    source = folder / "k.cu"
    source.write_text(KERNEL)
    for mode, name in ("none", "plain"), ("size", "zstd"), ("speed", "lz4"):
        binary = folder / f"{name}.fatbin"
        run("nvcc", "-fatbin", "-gencode=arch=compute_90,code=compute_90", f"-compress-mode={mode}", source, "-o", binary)
        write("fatbin", f"good_{name}", b"\0", binary.read_bytes())
    object_, archive = folder / "k.o", folder / "libk.a"
    (folder / "k.s").write_text(f'.section .nv_fatbin,"a"\n.balign 8\n.incbin "{folder / "zstd.fatbin"}"\n')
    run("gcc", "-c", folder / "k.s", "-o", object_)
    run("strip", "--strip-all", object_)
    write("fatbin", "good_object", b"\1", object_.read_bytes())
    run("ar", "rcD", archive, object_)
    write("fatbin", "good_archive", b"\2", archive.read_bytes())
    claims = bytearray((folder / "zstd.fatbin").read_bytes())
    claims[16 + 56:16 + 64] = (1 << 30).to_bytes(8, "little")  # uncompressed size
    write("fatbin", "zstd_claims_much", b"\0", claims)


def main():
    with tempfile.TemporaryDirectory(prefix="heddle-seeds-") as name:
        checkpoints(pathlib.Path(name))
        fat_binaries(pathlib.Path(name))


if __name__ == "__main__":
    main()

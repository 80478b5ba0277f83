#!/usr/bin/env python3
"""Random kernels of up to four threads: the same verdict with every reduction of the search off as with all on.

    HEDDLE=./heddle random_kernels.py [--seed=N] [--programs=N] [--off="FLAGS"]… [--keep=FILE]

Each program is a kernel of two to four threads in one of several shapes of grid. Threads do atomic operations of
all orders and scopes on a few cells, fences, locks, waits, barriers of warp, block, cluster and grid, shuffles and plain
accesses that locks protect; what they read is dropped, becomes data, or decides. A second kernel hangs where the data
are what the random numbers say, so that an outcome that a reduction loses shows as a lost hang. Programs that take too
long without reductions are left out, and counted.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HEDDLE = os.environ.get("HEDDLE", "heddle")
EACH = ("--no-symmetry", "--no-sums", "--no-orderly", "--no-data-order", "--no-straight", "--no-phases", "--no-eager")
SHAPES = {"blocks": 1, "block": 4, "cluster": 1, "cooperative": 1, "two_by_two": 2, "pairs": 2}
SCOPES = ("block", "device", "system")
ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")

HEAD = """#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cstdlib>
#include <cstring>
namespace cg = cooperative_groups;
__device__ int cells[4], data_of_lock, out[4];
template <cuda::thread_scope S> __device__ auto cell(int n) { return cuda::atomic_ref<int, S>(cells[n]); }
__device__ void take(int n) { while (atomicCAS(&cells[n], 0, 1) != 0) ; __threadfence(); }
__device__ void give(int n) { __threadfence(); atomicExch(&cells[n], 0); }
__device__ void hang() { while (*(volatile int*)&cells[3] != 99) ; }
__global__ void judge(int a, int b) { if (out[0] == a && out[1] == b) hang(); }
"""


class Thread:
    """The statements of one thread; names of variables are its own."""

    def __init__(self, source, number, together):
        self.source, self.number, self.names, self.together = source, number, 0, together

    def name(self):
        self.names += 1
        return f"v{self.number}_{self.names}"

    def cell(self):
        return f"cell<cuda::thread_scope_{self.source.choice(SCOPES)}>({self.source.randrange(3)})"

    def order(self, allowed=ORDERS):
        return f"cuda::memory_order_{self.source.choice(allowed)}"

    def reading(self):
        """An expression that reads a cell."""
        pick, k = self.source.randrange(7), self.source.randrange(3)
        if pick == 0:
            return f"{self.cell()}.load({self.order(('relaxed', 'acquire', 'seq_cst'))})"
        if pick == 1:
            return f"{self.cell()}.exchange({k}, {self.order()})"
        if pick == 2:
            return f"{self.cell()}.fetch_{self.source.choice(('add', 'or', 'max', 'sub'))}({k}, {self.order()})"
        if pick == 3:
            return f"atomicCAS(&cells[{self.source.randrange(3)}], {k}, {self.source.randrange(3)})"
        if pick == 4:
            return f"*(volatile int*)&cells[{self.source.randrange(3)}]"
        return f"atomicAdd(&cells[{self.source.randrange(3)}], {k})"

    def effect(self):
        pick, k = self.source.randrange(5), self.source.randrange(3)
        if pick == 0:
            return f"{self.cell()}.store({k}, {self.order(('relaxed', 'release', 'seq_cst'))});"
        if pick == 1:
            return f"{self.reading()};"
        if pick == 2:
            return self.source.choice(("__threadfence_block();", "__threadfence();", "__threadfence_system();"))
        if pick == 3:
            return f"*(volatile int*)&cells[{self.source.randrange(3)}] = {k};"
        return f"atomicAdd(&cells[{self.source.randrange(3)}], {k});"

    def statement(self, depth=0):
        pick = self.source.randrange(10)
        if pick < 3:
            return self.effect()
        if pick < 6:
            v = self.name()
            use = self.source.randrange(3)
            if use == 0:
                return f"int {v} = {self.reading()}; out[{self.number}] = out[{self.number}] * 3 + {v};"
            if use == 1 and depth < 2:
                return f"int {v} = {self.reading()}; if ({v} == {self.source.randrange(3)}) {{ {self.statement(depth + 1)} }}"
            return f"int {v} = {self.reading()}; {self.effect().replace(', 1', ', ' + v, 1)}"
        if pick == 6:
            wanted = self.source.choice(("!= 1", "== 0", "< 2"))
            return f"while ({self.cell()}.load({self.order(('relaxed', 'acquire'))}) {wanted}) ;"
        if pick == 7:
            return f"take(2); data_of_lock = data_of_lock * 2 + {self.number}; {self.effect()} give(2);"
        if pick == 8:
            v = self.name()
            return (f"take(2); int {v} = ++data_of_lock; give(2); "
                    + (f"if ({v} == {self.source.randrange(1, 4)}) {{ {self.effect()} }}" if self.source.randrange(2) else f"out[{self.number}] = {v};"))
        return f"if ({self.reading()} == {self.source.randrange(1, 4)} && {self.reading()} == 1) hang();"


def program(source, number):
    shape = source.choice(list(SHAPES))
    threads = 4 if shape in ("two_by_two",) else source.choice((2, 2, 3, 3, 4))
    per_block = {"blocks": 1, "block": threads, "cluster": 1, "cooperative": 1, "two_by_two": 2, "pairs": threads}[shape]
    of = [Thread(source, t, per_block) for t in range(threads)]
    alike = source.randrange(4) == 0
    rounds = []
    for _ in range(source.choice((1, 1, 2))):
        code = [" ".join(t.statement() for _ in range(source.choice((1, 1, 2)))) for t in of]
        if alike:
            code = [code[0]] * threads
        rounds.append("  switch (rank) {\n" + "".join(f"  case {t}: {{ {c} break; }}\n" for t, c in enumerate(code)) + "  }\n")
    between = ["  __syncthreads();\n"]
    if per_block > 1:
        between.append(f"  __syncwarp({(1 << per_block) - 1});\n")
        between.append(f"  {{ int s = __shfl_xor_sync({(1 << per_block) - 1}, cells[1], 1); if (s == 2) out[0] = 7; }}\n"
                       .replace("cells[1]", "atomicAdd(&cells[1], 0)"))
    if shape == "cluster":
        between.append("  cg::this_cluster().sync();\n")
    if shape == "cooperative":
        between.append("  cg::this_grid().sync();\n")
    if shape == "blocks":
        between.append("  __threadfence();\n")
    body = source.choice(between).join(rounds)
    kernel = f"__global__ void k{number}() {{\n  const int rank = blockIdx.x * blockDim.x + threadIdx.x;\n{body}}}\n"
    blocks = threads // per_block
    return kernel, shape, blocks, per_block, source.randrange(4), source.randrange(4)


def text(programs):
    result = HEAD + "".join(p[0] for p in programs) + "int main(int, char** argv) {\n  const int n = atoi(argv[1]);\n"
    for number, (_, shape, blocks, threads, a, b) in enumerate(programs):
        result += f"  if (n == {number}) {{\n    cudaLaunchConfig_t config{{}};\n    config.gridDim = {blocks};\n    config.blockDim = {threads};\n    cudaLaunchAttribute attribute{{}};\n"
        if shape == "cluster":
            result += f"    attribute.id = cudaLaunchAttributeClusterDimension;\n    attribute.val.clusterDim = {{{blocks}, 1, 1}};\n    config.numAttrs = 1;\n"
        elif shape == "cooperative":
            result += "    attribute.id = cudaLaunchAttributeCooperative;\n    attribute.val.cooperative = 1;\n    config.numAttrs = 1;\n"
        result += f"    config.attrs = &attribute;\n    cudaLaunchKernelEx(&config, k{number});\n    judge<<<1, 1>>>({a}, {b});\n  }}\n"
    return result + "  return cudaDeviceSynchronize() != cudaSuccess;\n}\n"


def check(path, number, flags):
    done = subprocess.run([HEDDLE, "check", "--format=json", "--max-time=20", "--schedules=0", "-j1", *flags,
                           "--nvcc=-arch=sm_90 -std=c++17", str(path), "--", str(number)],
                          capture_output=True, text=True, timeout=300, check=False)
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        return f"exit code {done.returncode}: {done.stdout}{done.stderr}", [], True, 0
    return answer["verdict"], sorted({f["code"] for f in answer["findings"]}), answer["complete"], answer["states"]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--programs", type=int, default=int(os.environ.get("RANDOM_KERNELS", "24")))
    options.add_argument("--off", action="append")
    options.add_argument("--keep")
    options = options.parse_args()
    source = random.Random(options.seed)
    programs = [program(source, n) for n in range(options.programs)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(options.keep or pathlib.Path(folder) / f"random_{options.seed}.cu")
        path.write_text(text(programs), encoding="utf-8")
        check(path, 0, [])  # compiles once
        variants = [[], list(EACH), *([o.split() for o in options.off] if options.off else [["--straight-after=1"]])]
        jobs = [(n, flags) for n in range(len(programs)) for flags in variants]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = dict(zip([(n, " ".join(f)) for n, f in jobs], pool.map(lambda j: check(path, *j), jobs)))
    wrong = open_ = hangs = 0
    for number in range(len(programs)):
        plain = answers[number, ""]
        hangs += plain[0] == "may-hang"
        for flags in variants[1:]:
            other = answers[number, " ".join(flags)]
            if not (plain[2] and other[2]):
                open_ += 1
                # What one of them has found is real.
                if not (plain[2] or other[2]) or plain[0] == other[0]:
                    continue
                complete, partial = (plain, other) if plain[2] else (other, plain)
                if partial[0] == "unknown" or (partial[0] == "terminates"):
                    continue
                if complete[0] == partial[0]:
                    continue
            if plain[:2] != other[:2]:
                wrong += 1
                print(f"seed {options.seed} program {number} {programs[number][1]}: {plain} but with {' '.join(flags)}: {other}\n{programs[number][0]}")
    print(f"{len(programs)} programs, {hangs} may hang, {open_} comparisons left out, {wrong} wrong")
    return 1 if wrong or not programs else 0


if __name__ == "__main__":
    sys.exit(main())

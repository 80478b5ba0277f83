#!/usr/bin/env python3
"""Litmus programs of heddle_litmus as straight-line CUDA C++, through heddle check --memory=ptx.

    test_straight.py LITMUS COUNT FIRST [FLAG…]     so many random programs, from number FIRST on

tests/memory/interpret.cu has a loop around every access, which some reductions of the search take no part in; here each program is a
kernel of its own. Programs with barriers are left out: threads with code of their own would meet at different ones.
"""
import concurrent.futures
import pathlib
import subprocess
import sys

import test_engine

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from night import late  # noqa: E402
from same_folder import SameFolder  # noqa: E402

NVCC = "--nvcc=-arch=compute_90"
SCOPES = {"c": "cta", "l": "cluster", "g": "gpu", "s": "sys"}
ORDERS = {"r": "relaxed", "a": "acquire", "e": "release", "b": "acq_rel", "c": "sc"}
SHIFT = 28  # values have four bits, the upper ones of a word, so that additions are modulo 16

HEAD = """#include <cstdlib>
#include <cstring>
struct Memory { unsigned place[4 * 32], result[4][16]; };
struct Launch { int blocks, cluster, threads; };
using Outcome = unsigned long long;
"""
MAIN = """
template <class Kernel> Outcome run(Kernel kernel, int devices, const Launch* launches, int threads, const unsigned* reads, int places) {
  Memory* memory = nullptr;
  cudaMallocManaged(&memory, sizeof *memory);
  std::memset(memory, 0, sizeof *memory);
  for (int d = 0; d < devices; ++d) {
    cudaLaunchConfig_t config{};
    config.gridDim = launches[d].blocks;
    config.blockDim = launches[d].threads;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(launches[d].cluster), 1, 1};
    config.attrs = &attribute;
    config.numAttrs = launches[d].cluster > 1 ? 1 : 0;
    if (launches[d].blocks != 0) {
      cudaSetDevice(d);
      cudaLaunchKernelEx(&config, kernel, memory, d);
    }
  }
  for (int d = 0; d < devices; ++d) {
    cudaSetDevice(d);
    if (cudaDeviceSynchronize() != cudaSuccess) {
      exit(3);
    }
  }
  Outcome outcome = 0;
  for (int t = 0; t < threads; ++t) {
    for (int i = 0; i < 16; ++i) {
      if (reads[t] >> i & 1) {
        outcome = outcome << 4 | memory->result[t][i];
      }
    }
  }
  for (int place = 0; place < places; ++place) {
    outcome = outcome << 4 | memory->place[place * 32] >> 28;
  }
  return outcome;
}
"""


def place_of(placement):
    """(device, block of its grid, thread of its block) of each thread, and (blocks, cluster's size, block's size) of each device."""
    at = placement.split(",")
    devices = 1 + max(int(a[2]) for a in at)
    clusters, sizes, widths = [0] * devices, [0] * devices, [0] * devices
    of = []
    for t, a in enumerate(at):
        d = int(a[2])
        same_block = [o for o in range(t) if at[o][0] == a[0]]
        same_cluster = [o for o in range(t) if at[o][1] == a[1]]
        if same_cluster:
            cluster = of[same_cluster[0]][0]
        else:
            cluster = clusters[d]
            clusters[d] += 1
        block = of[same_block[0]][1] if same_block else 1 + max((of[o][1] for o in same_cluster), default=-1)
        thread = 1 + max((of[o][2] for o in same_block), default=-1)
        of.append((cluster, block, thread))
        sizes[d], widths[d] = max(sizes[d], block + 1), max(widths[d], thread + 1)
    return ([(int(a[2]), c * sizes[int(a[2])] + b, t) for a, (c, b, t) in zip(at, of)],
            [(clusters[d] * sizes[d], sizes[d], widths[d]) for d in range(devices)])


def statement(t, k, code, places):
    """Instruction k of thread t: eight letters, see litmus.cpp, code()."""
    kind, order, scope, place, value, expected, use, source = code
    number, value, expected = "xyzw".index(place), int(value, 16), int(expected, 16)
    index = int(source, 16)
    odd, there = f"(v{index} & 1)", f"v{index} != 0"
    at = f"&memory->place[({number} + {odd}) % {places} * 32]" if use == "a" else f"&memory->place[{number} * 32]"
    written = f"({value} + {odd}) << {SHIFT}" if use == "d" else f"{value}u << {SHIFT}"
    words = ("weak" if order == "w" else "volatile" if order == "v" else f"{ORDERS[order]}.{SCOPES[scope]}")
    if kind == "l":
        text = f'asm volatile("ld.{words}.global.u32 %0, [%1];" : "=r"(r) : "l"({at}) : "memory");'
    elif kind == "s":
        text = f'asm volatile("st.{words}.global.u32 [%0], %1;" :: "l"({at}), "r"({written}) : "memory");'
    elif kind == "r":
        text = f'asm volatile("red.{words}.global.or.b32 [%0], %1;" :: "l"({at}), "r"({written}) : "memory");'
    elif kind in "ua":
        name = {"u": "exch.b32", "a": "add.u32"}[kind]
        text = f'asm volatile("atom.{words}.global.{name} %0, [%1], %2;" : "=r"(r) : "l"({at}), "r"({written}) : "memory");'
    elif kind == "c":
        text = (f'asm volatile("atom.{words}.global.cas.b32 %0, [%1], %2, %3;" : "=r"(r) : "l"({at}), "r"({expected}u << {SHIFT}), '
                f'"r"({written}) : "memory");')
    else:
        text = f'asm volatile("fence.{words};" ::: "memory");'
    if kind in "luac":
        text += f" v{k} = r >> {SHIFT}; memory->result[{t}][{k}] = v{k};"
    when = {"z": f"!({there})", "n": there, "o": odd}.get(use)
    return f"if ({when}) {{ {text} }}" if when else text


def source(programs):
    text, cases = HEAD, ""
    for n, places, placement, code, _ in programs:
        threads = [[part[i:i + 8] for i in range(0, len(part), 8)] for part in code.split(",")]
        where, launches = place_of(placement)
        count = max([int(places or 1)] + ["xyzw".index(i[3]) + 1 for t in threads for i in t if i[0] not in "fb"])
        body = "".join(
            f"  if (device == {d} && blockIdx.x == {b} && threadIdx.x == {w}) {{\n    unsigned r = 0"
            + "".join(f", v{k} = 0" for k in range(len(threads[t]))) + ";\n"
            + "".join(f"    {statement(t, k, i, count)}\n" for k, i in enumerate(threads[t])) + "  }\n"
            for t, (d, b, w) in enumerate(where))
        text += f"__global__ void k{n}(Memory* memory, int device) {{\n{body}}}\n"
        reads = ", ".join(str(sum(1 << k for k, i in enumerate(t) if i[0] in "luac")) for t in threads)
        rows = ", ".join(f"{{{b}, {c}, {w}}}" for b, c, w in launches)
        cases += (f"  if (n == {n}) {{\n    const Launch launches[] = {{{rows}}};\n    const unsigned reads[] = {{{reads}}};\n"
                  f"    outcome = run(k{n}, {len(launches)}, launches, {len(threads)}, reads, {count});\n  }}\n")
    return (text + MAIN + "int main(int argc, char** argv) {\n  const int n = atoi(argv[1]);\n  Outcome outcome = 0;\n" + cases +
            "  bool among = false;\n  for (int i = 3; i < argc; ++i) {\n    among = among || strtoull(argv[i], nullptr, 16) == outcome;\n  }\n"
            "  return among == (strcmp(argv[2], \"in\") == 0) ? 0 : 1;\n}\n")


def has_barrier(code):
    return any(part[i] == "b" for part in code.split(",") for i in range(0, len(part), 8))


def problems_of(path, program, flags):
    n, _, placement, code, outcomes = program

    def ask(want, *among):
        return test_engine.search(placement, path, str(n), want, *among, flags=(NVCC, *flags))

    problems, count, large = test_engine.compare(n, outcomes, ask)
    return [f"{placement} {code} {text[:400]}" for text in problems], count, large


def main(argv):
    litmus, count, first, flags = argv[1], int(argv[2]), int(argv[3]), argv[4:]
    wrong = checks = too_large = races = tried = 0
    for begin in range(first, first + count, 100):
        if late():
            print(f"the time is over before {begin}")
            break
        some = min(100, first + count - begin)
        done = subprocess.run([litmus, f"--random-list={some}", str(begin)], capture_output=True, text=True, check=True)
        programs = [(n, *line.split()[:3], line.split()[3:]) for n, line in enumerate(done.stdout.splitlines())]
        programs = [program for program in programs if not has_barrier(program[3])]
        tried += len(programs)
        with SameFolder(f"memory.straight.{begin}") as folder:
            path = folder.path / f"straight_{begin}.cu"
            path.write_text(source(programs), encoding="utf-8")
            test_engine.search(programs[0][2], path, str(programs[0][0]), "in", flags=(NVCC, *flags))  # compiles, once
            with concurrent.futures.ThreadPoolExecutor(max_workers=2) as workers:
                for problems, of_program, large in workers.map(lambda p: problems_of(path, p, flags), programs):
                    checks, too_large, wrong = checks + of_program, too_large + large, wrong + len(problems)
                    for text in problems:
                        print(f"from {begin}: {text}", flush=True)
        races += sum(p[4] == ["race"] for p in programs)
        print(f"{tried} programs, {races} with a race, {checks} checks, {too_large} too large, {wrong} failures", flush=True)
    return 1 if wrong or too_large * 5 >= checks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

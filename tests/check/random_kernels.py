"""Random kernels of up to four threads for random_programs.py.

Threads do atomic operations of all orders and scopes on a few cells, fences, locks, waits, barriers of warp, block,
cluster and grid, barriers with a count, shuffles, mbarriers, device malloc, tickets and plain accesses that locks protect; what they read is
dropped, becomes data, or decides. A second kernel judges the data.
"""
import re
from dataclasses import dataclass

SHAPES = {"blocks": 1, "block": 4, "cluster": 1, "cooperative": 1, "two_by_two": 2, "pairs": 2}
SCOPES = ("block", "device", "system")
ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
MODELS = ("fair", "obe", "hsa", "lobe")

HEAD = """#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cstdlib>
#include <cstring>
namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
__device__ int cells[4], data_of_lock, out[6], tickets, handed, places[8], drawn[8];
__device__ unsigned long long slots[2];
template <cuda::thread_scope S> __device__ auto cell(int n) { return cuda::atomic_ref<int, S>(cells[n]); }
__device__ void take(int n) { while (atomicCAS(&cells[n], 0, 1) != 0) ; __threadfence(); }
__device__ void give(int n) { __threadfence(); atomicExch(&cells[n], 0); }
__device__ void hang() { while (*(volatile int*)&cells[3] != 99) ; }
__device__ bool over(Barrier& barrier, int parity) {
  return cuda::ptx::mbarrier_test_wait_parity(cuda::device::barrier_native_handle(barrier), parity);
}
__global__ void judge(int a, int b) { if (out[0] + out[5] == a && out[1] == b) hang(); }
"""


@dataclass
class Program:
    number: int
    functions: str  # before main()
    main: str       # its part of main()
    flags: list
    verdict: str = ""  # what an oracle says, if there is one


class Thread:
    """The statements of one thread; names of variables are its own."""

    def __init__(self, source, number):
        self.source, self.number, self.names = source, number, 0

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

    def short(self):
        """Something brief to stand beside an operation that matters."""
        v = self.name()
        return self.source.choice(("", self.effect(), self.effect(), f"int {v} = {self.reading()}; out[{self.number}] = {v};",
                                   f"if ({self.reading()} == {self.source.randrange(1, 3)}) {{ {self.effect()} }}"))

    # --- mbarriers -----------------------------------------------------------------------------------

    def arrival(self):
        """One arrival at barrier 0 or 1, mostly."""
        b, pick, v = self.source.choice((0, 0, 0, 1)), self.source.randrange(12), self.name()
        if pick < 4:
            return f"{self.short()} bar[{b}].arrive_and_wait(); {self.short()}"
        if pick < 7:
            return f"{{ auto {v} = bar[{b}].arrive(); {self.short()} bar[{b}].wait(std::move({v})); }}"
        if pick == 7:
            return f"{self.short()} (void)bar[{b}].arrive();"
        if pick == 8:
            return f"bar[{b}].arrive_and_drop(); {self.short()}"
        if pick == 9:
            return f"(void)bar[{b}].arrive(); while (!over(bar[{b}], {self.source.randrange(2)})) ; {self.short()}"
        if pick == 10:
            return f"(void)bar[{b}].arrive(); if (over(bar[{b}], {self.source.randrange(2)})) {{ {self.effect()} }}"
        return f"{self.short()} if ({self.reading()} == {self.source.randrange(2)}) bar[{b}].arrive_and_wait();"

    # --- Device malloc -------------------------------------------------------------------------------

    def allocation(self):
        v, size = self.name(), self.source.choice(("8", "8", "3 << 20", "5 << 20"))
        pick = self.source.randrange(4)
        if pick == 0:
            return (f"{{ int* {v} = (int*)malloc({size}); {self.short()} if ({v} != nullptr) {{ *{v} = {self.source.randrange(3)}; "
                    f"out[{self.number}] += *{v}; free({v}); }} else {{ {self.effect()} }} }}")
        if pick == 1:
            return f"{{ int* {v} = (int*)malloc({size}); if ({v} == nullptr) {{ {self.statement()} }} {self.short()} free({v}); }}"
        if pick == 2:
            s = self.source.randrange(2)
            return (f"{{ int* {v} = (int*)malloc({size}); if ({v} != nullptr) {{ *{v} = {self.source.randrange(1, 3)}; __threadfence(); "
                    f"{v} = (int*)atomicExch(&slots[{s}], (unsigned long long){v}); __threadfence(); "
                    f"if ({v} != nullptr) {{ out[{self.number}] = *{v}; free({v}); }} }} }}")
        return f"{{ int* {v} = new int[2]; {self.short()} delete[] {v}; }}"


def shape_of(source, kinds=tuple(SHAPES), threads=None):
    """The shape's name, how many threads, and how many of them make a block."""
    shape = source.choice(kinds)
    threads = 4 if shape == "two_by_two" else threads or source.choice((2, 2, 2, 3, 3, 4))
    return shape, threads, {"block": threads, "two_by_two": 2, "pairs": threads}.get(shape, 1)


def each(code):
    """A thread for each text."""
    return "  switch (rank) {\n" + "".join(f"  case {t}: {{ {c} break; }}\n" for t, c in enumerate(code)) + "  }\n"


def alike(text, threads):
    """One text for all: what the first thread leaves in its own word, all leave in it, so that must be no race."""
    text = re.sub(r"out\[0\] (\+?)= ([^;]*);", lambda m: f"atomic{'Add' if m[1] else 'Max'}(&out[0], {m[2].replace('out[0]', 'atomicAdd(&out[0], 0)')});", text)
    return each([text] * threads)


def launch(name, shape, blocks, per_block, indent="    "):
    lines = ["cudaLaunchConfig_t config{};", f"config.gridDim = {blocks};", f"config.blockDim = {per_block};", "cudaLaunchAttribute attribute{};"]
    if shape == "cluster":
        lines += ["attribute.id = cudaLaunchAttributeClusterDimension;", f"attribute.val.clusterDim = {{{blocks}, 1, 1}};", "config.numAttrs = 1;"]
    elif shape == "cooperative":
        lines += ["attribute.id = cudaLaunchAttributeCooperative;", "attribute.val.cooperative = 1;", "config.numAttrs = 1;"]
    lines += ["config.attrs = &attribute;", f"cudaLaunchKernelEx(&config, {name});"]
    return "".join(f"{indent}{line}\n" for line in lines)


def finished(source, number, body, shape, threads, per_block, flags=None):
    if flags is None:
        flags = [f"--progress={source.choice(MODELS)}"] if source.randrange(4) == 0 else []
        flags += ["--warps=lockstep"] if per_block > 1 and source.randrange(4) == 0 else []
    kernel = f"__global__ void k{number}() {{\n  const int rank = blockIdx.x * blockDim.x + threadIdx.x;\n{body}}}\n"
    judge = f"    judge<<<1, 1>>>({source.randrange(4)}, {source.randrange(4)});\n"
    return Program(number, kernel, launch(f"k{number}", shape, threads // per_block, per_block) + judge, flags)


def kernel(source, number):
    shape, threads, per_block = shape_of(source)
    of = [Thread(source, t) for t in range(threads)]
    equal = source.randrange(4) == 0
    rounds = []
    for _ in range(source.choice((1, 1, 2))):
        code = [" ".join(t.statement() for _ in range(source.choice((1, 1, 2)))) for t in of]
        rounds.append(alike(code[0], threads) if equal else each(code))
    between = ["  __syncthreads();\n"]
    if per_block > 1:
        every = (1 << per_block) - 1
        between.append(f"  __syncwarp({every});\n")
        between.append(f"  {{ int s = __shfl_xor_sync({every}, atomicAdd(&cells[1], 0), 1); if (s == 2) out[0] = 7; }}\n")
    if shape == "cluster":
        between.append("  cg::this_cluster().sync();\n")
    if shape == "cooperative":
        between.append("  cg::this_grid().sync();\n")
    if shape == "blocks":
        between.append("  __threadfence();\n")
    return finished(source, number, source.choice(between).join(rounds), shape, threads, per_block)


def barriers(source, number):
    """Threads of a block that arrive at mbarriers, once in each round more often than not."""
    shape, threads, per_block = shape_of(source, ("block", "two_by_two", "pairs"))
    of = [Thread(source, t) for t in range(threads)]
    equal = source.randrange(4) == 0
    counts = [per_block, source.choice((per_block, per_block, 1, 2))]
    if source.randrange(5) == 0:
        counts[0] = source.choice((1, per_block + 1))
    body = ("  __shared__ alignas(8) unsigned char memory[2 * sizeof(Barrier)];\n  Barrier* const bar = (Barrier*)memory;\n"
            f"  if (threadIdx.x == 0) {{ init(&bar[0], {counts[0]}); init(&bar[1], {counts[1]}); }}\n  __syncthreads();\n")
    for _ in range(source.choice((1, 2, 2, 3))):
        code = [t.arrival() if source.randrange(8) else t.short() for t in of]
        body += alike(code[0], threads) if equal else each(code)
    return finished(source, number, body, shape, threads, per_block)


def named(source, number):
    """Warps of a block at barriers with a count, to wait or only to arrive; their first lanes do something else."""
    count = source.choice((2, 2, 3))
    counts = [32 * source.choice((2, 2, count)) for _ in range(2)]

    def meet():
        if source.randrange(10) == 0:
            return "__syncthreads();"
        b = source.choice((1, 1, 2))
        return f'asm volatile("bar.{source.choice(("sync", "sync", "arrive"))} {b}, {counts[b - 1]};" ::: "memory");'

    def piece(t):
        pick = source.randrange(8)
        if pick < 4:
            return meet()
        if pick < 6:
            return f"if (lane == 0) {{ {t.short()} }} {meet()}"
        if pick == 6:
            return f"if (lane == 0) {{ {t.statement()} }}"
        v = t.name()
        return f"const int {v} = __shfl_sync(0xffffffff, lane == 0 ? {t.reading()} : 0, 0); if ({v} == {source.randrange(3)}) {{ {meet()} }}"

    code = [" ".join(piece(t) for _ in range(source.choice((1, 2, 2, 3)))) for t in (Thread(source, w) for w in range(count))]
    if source.randrange(4) == 0:
        code = [code[0].replace("out[0]", "out[warp]")] * count
    body = "  const int warp = rank / 32, lane = rank % 32;\n" + each(code).replace("switch (rank)", "switch (warp)")
    return finished(source, number, body, "block", 32 * count, 32 * count)


def warps(source, number):
    """Collectives of some of a warp's threads."""
    shape, threads, per_block = shape_of(source, ("block", "block", "two_by_two"))
    of = [Thread(source, t) for t in range(threads)]
    body = "  int v = rank, s = 0;\n"
    for _ in range(source.choice((1, 2, 2))):
        mask = source.randrange(1, 1 << per_block)
        if source.randrange(3) == 0:
            mask = (1 << per_block) - 1
        body += each([source.choice((t.short(), f"v = {t.reading()};", f"v = {t.reading()};")) for t in of])
        call = source.choice((
            f"__shfl_sync({mask}, v, {source.randrange(per_block)})", f"__shfl_xor_sync({mask}, v, 1)", f"__ballot_sync({mask}, v)",
            f"__any_sync({mask}, v == 1)", f"__all_sync({mask}, v)", f"__match_any_sync({mask}, v)", f"__reduce_add_sync({mask}, v)",
            f"(__syncwarp({mask}), *(volatile int*)&cells[1])", "__popc(__activemask())"))
        within = source.choice((f"if ({mask} >> threadIdx.x & 1) ", f"if ({mask} >> threadIdx.x & 1) ", f"if (v < 2 || {mask} >> threadIdx.x & 1) "))
        body += f"  {within}{{ s = {call}; if (s == {source.randrange(4)}) {{ {of[0].effect()} }} }}\n"
        if source.randrange(3) == 0:
            body += f"  if (s == {source.randrange(3)}) return;\n"
    body += "  out[rank] = s;\n"
    return finished(source, number, body, shape, threads, per_block)


def heap(source, number):
    shape, threads, per_block = shape_of(source, ("blocks", "block", "two_by_two"))
    of = [Thread(source, t) for t in range(threads)]
    equal = source.randrange(3) == 0
    body = ""
    for _ in range(source.choice((1, 1, 2))):
        code = [t.allocation() if source.randrange(5) else t.statement() for t in of]
        body += alike(code[0], threads) if equal else each(code)
    return finished(source, number, body, shape, threads, per_block)


def tickets(source, number):
    """The last one does something else; places that are handed out."""
    shape, threads, per_block = shape_of(source, ("blocks", "blocks", "blocks", "block", "two_by_two"), source.choice((3, 4, 5)))
    of = [Thread(source, "rank") for _ in range(threads)]  # whoever comes to a statement
    wrap = source.choice((threads - 1, threads - 1, threads, 1))
    take = source.choice(("atomicAdd(&tickets, 1)", f"(int)atomicInc((unsigned*)&tickets, {wrap})", "cuda::atomic_ref<int>(tickets).fetch_add(1)"))
    mine = source.choice(("rank + 1", "1", f"{of[0].reading()}"))
    body = source.choice((f"  {of[0].short()}\n", "", "", each([t.short() for t in of])))
    who = source.choice((threads - 1, threads - 1, threads - 1, threads - 2, 0))
    # Only who comes when all others have drawn may read what they have left in a plain way, and only one does.
    alone = who == threads - 1 and ("Inc" not in take or wrap >= threads - 1)
    leave, read = ("{} = {};", "{}") if alone else ("atomicExch(&{}, {});", "atomicAdd(&{}, 0)")
    body += source.choice((f"  {leave.format('places[rank]', mine)}\n", f"  {leave.format('places[atomicAdd(&handed, 1)]', mine)}\n",
                           f"  atomicAdd(&cells[0], {mine});\n", ""))
    body += source.choice(("  __threadfence();\n", "  __threadfence();\n", "")) + f"  const int ticket = {take};\n"
    first, second = read.format("places[0]"), read.format("places[1]")
    again = leave.format("tickets", "0")
    last = source.choice((leave.format("out[5]", f"{first} + 2 * {second}"), f"{leave.format('out[5]', first)} {again}", of[0].effect(), of[0].statement(),
                          f"while (atomicAdd(&cells[0], 0) < {source.randrange(3)}) ;"))
    others = source.choice(("", "", f"else {{ {of[1].effect()} }}", f"else {{ {of[1].short()} }}",
                            f"else if (ticket == 0) {{ {of[1].statement()} }}"))
    if source.randrange(5) == 0:
        body += f"  {leave.format('drawn[ticket]', mine)}\n"
    body += f"  if (ticket == {who}) {{ {last} }} {others}\n"
    return finished(source, number, body, shape, threads, per_block)


KINDS = {"kernels": (HEAD, kernel), "barriers": (HEAD, barriers), "named": (HEAD, named), "warps": (HEAD, warps), "heap": (HEAD, heap), "tickets": (HEAD, tickets)}

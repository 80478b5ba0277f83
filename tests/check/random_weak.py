"""Random programs for random_programs.py that are searched with --memory=ptx.

Up to four threads, in any placement, pass data on: by flags with an order that suffices or with one that is too weak, before or behind
fences, by locks, tickets and barriers (of a warp, a block, a cluster, a grid; split ones, with and without release), through
updates of others, through shared memory, and through the host. Some wait for what is set for ever, for what is there for a
while, or for what nobody sets. At the end somebody looks at what all have found.
"""
from random_kernels import Program, each, launch

SHAPES = ("blocks", "blocks", "block", "block", "cooperative", "cluster", "two_by_two", "two_warps", "clusters")

HEAD = """#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cstdlib>
#include <new>
namespace cg = cooperative_groups;
template <cuda::thread_scope S> using Ref = cuda::atomic_ref<int, S>;
__device__ int flags[4], data[4], out[4], turn[2];
struct Mail { int flags[2], data; };
template <cuda::thread_scope S> __device__ Ref<S> flag(int n) { return Ref<S>(flags[n]); }
__device__ void hang() { while (*(volatile int*)&flags[3] != 99) ; }
__global__ void judge(int a, int b) { if (out[0] + out[2] == a && out[1] + out[3] == b) hang(); }
static Mail* mail;
static Ref<cuda::thread_scope_system> letter(int n) { return Ref<cuda::thread_scope_system>(mail->flags[n]); }
static void prepare() { void* p = nullptr; cudaMallocHost(&p, sizeof(Mail)); mail = new (p) Mail{}; }
"""


class Style:
    """What a program is like: all of one kind says more than a bit of everything."""

    def __init__(self, source):
        self.source = source
        self.proper = source.choice((1, 1, 0.8, 0.5))  # how often orders are what they should be
        self.scope = source.choice(("device", "device", "system", None))
        self.by_fence = source.choice((0, 0.3, 1))
        self.data = source.choice((1, 2, 3))
        self.flags = source.choice((1, 2, 3))
        self.loops = source.choice((0, 0.5, 1))
        # Each thread passes data of its own on, once, by a flag of its own: else most programs have a data race.
        self.tidy = source.randrange(3) != 0

    def chance(self, part):
        return self.source.random() < part


class Thread:
    def __init__(self, source, style, number, shared):
        self.source, self.style, self.number, self.shared, self.names = source, style, number, shared, 0
        self.published = number > 2  # there are three of data

    def name(self):
        self.names += 1
        return f"v{self.number}_{self.names}"

    def scope(self):
        return self.style.scope if self.style.scope and self.style.chance(0.9) else self.source.choice(("block", "device", "system"))

    def flag(self):
        if self.style.tidy and self.published and self.source.randrange(2):
            return f"flag<cuda::thread_scope_{self.scope()}>({self.number % 3})"
        if self.shared and self.source.randrange(3) == 0:
            return f"Ref<cuda::thread_scope_{self.scope()}>(shared[{self.source.randrange(2)}])"
        return f"flag<cuda::thread_scope_{self.scope()}>({self.source.randrange(self.style.flags)})"

    def fence(self, words=("acq_rel", "acq_rel", "seq_cst", "acquire", "release")):
        return f"cuda::atomic_thread_fence(cuda::memory_order_{self.source.choice(words)}, cuda::thread_scope_{self.scope()});"

    def found(self, v):
        return f"out[{self.number}] = out[{self.number}] * 3 + {v};"

    def pair(self, own):
        """A flag, and the data that it is for."""
        if not self.style.tidy:
            return self.flag(), self.plain()
        n = self.number if own else self.source.choice([t for t in range(3) if t != self.number])
        return f"flag<cuda::thread_scope_{self.scope()}>({n % 3})", f"data[{n % 3}]"

    def plain(self):
        return f"data[{self.source.randrange(self.style.data)}]"

    def releasing(self):
        """(a fence before it, its order)"""
        if not self.style.chance(self.style.proper):
            return "", "relaxed"
        if self.style.chance(self.style.by_fence):
            return self.fence(("acq_rel", "release", "seq_cst")), "relaxed"
        return "", self.source.choice(("release", "release", "seq_cst"))

    def acquiring(self):
        """(its order, a fence behind it)"""
        if not self.style.chance(self.style.proper):
            return "relaxed", ""
        if self.style.chance(self.style.by_fence):
            return "relaxed", self.fence(("acq_rel", "acquire", "seq_cst"))
        return self.source.choice(("acquire", "acquire", "seq_cst")), ""

    def publish(self):
        if self.published and self.style.tidy:
            return self.effect()
        self.published = True
        fence, order = self.releasing()
        (flag, plain), k = self.pair(own=True), self.source.choice((1, 1, 2))
        set_it = self.source.choice((f"{flag}.store({k}, cuda::memory_order_{order});", f"{flag}.store({k}, cuda::memory_order_{order});",
                                     f"{flag}.fetch_add(1, cuda::memory_order_{order});", f"{flag}.exchange({k}, cuda::memory_order_{order});"))
        return f"{plain} = {self.source.randrange(1, 3)}; {fence} {set_it}"

    def consume(self):
        order, fence = self.acquiring()
        (flag, plain), v = self.pair(own=False), self.name()
        after = f"{fence} int {v} = {plain}; {self.found(v)}"
        if self.style.chance(self.style.loops):
            return f"while ({flag}.load(cuda::memory_order_{order}) {self.source.choice(('== 0', '== 0', '!= 1', '< 2'))}) ; {after}"
        read = self.source.choice((f"{flag}.load(cuda::memory_order_{order})", f"{flag}.load(cuda::memory_order_{order})",
                                   f"{flag}.fetch_add(1, cuda::memory_order_{order})"))
        return f"if ({read} {self.source.choice(('== 1', '!= 0', '== 2'))}) {{ {after} }}"

    def reading(self):
        flag = self.flag()
        return self.source.choice((
            f"{flag}.load(cuda::memory_order_{self.source.choice(('relaxed', 'relaxed', 'acquire', 'seq_cst'))})",
            f"{flag}.load(cuda::memory_order_relaxed)",
            f"{flag}.exchange({self.source.randrange(3)}, cuda::memory_order_{self.source.choice(('relaxed', 'acquire', 'release', 'acq_rel', 'seq_cst'))})",
            f"{flag}.fetch_{self.source.choice(('add', 'or', 'max'))}({self.source.randrange(3)}, cuda::memory_order_{self.source.choice(('relaxed', 'acq_rel'))})",
            f"atomicCAS(&flags[{self.source.randrange(self.style.flags)}], {self.source.randrange(2)}, {self.source.randrange(3)})",
            f"*(volatile int*)&flags[{self.source.randrange(self.style.flags)}]"))

    def effect(self):
        flag = self.flag()
        return self.source.choice((
            f"{flag}.store({self.source.randrange(3)}, cuda::memory_order_{self.source.choice(('relaxed', 'relaxed', 'release', 'seq_cst'))});",
            f"*(volatile int*)&flags[{self.source.randrange(self.style.flags)}] = {self.source.randrange(3)};",
            f"{flag}.fetch_add(1, cuda::memory_order_relaxed);", self.fence(), self.fence()))

    def rounds(self):
        """A flag that goes through several values, with somebody who follows or not."""
        n, v = self.source.randrange(self.style.flags), self.name()
        word = f"flag<cuda::thread_scope_{self.scope()}>({n})"
        return self.source.choice((
            f"for (int {v} = 0; {v} < 2; ++{v}) {{ {word}.fetch_add(1, cuda::memory_order_relaxed); {self.effect()} }}",
            f"for (int {v} = 0; {v} < 2; ++{v}) {{ if ({word}.load(cuda::memory_order_relaxed) == {self.source.randrange(3)}) break; {self.effect()} }}",
            f"while ({word}.load(cuda::memory_order_relaxed) != {self.source.randrange(3)}) {{ {self.effect()} }}",
            f"while ({word}.load(cuda::memory_order_acquire) < 1) ; while ({word}.load(cuda::memory_order_relaxed) < 2) ; {self.effect()}"))

    def lock(self):
        acquire, behind = self.acquiring()
        before, release = self.releasing()
        v, scope = self.name(), self.scope()
        kind = self.source.randrange(3)
        body = f"int {v} = ++data[3]; {self.source.choice(('', self.found(v), self.effect()))}"
        word = f"Ref<cuda::thread_scope_{scope}>(turn[0])"
        if kind == 0:
            return (f"while ({word}.exchange(1, cuda::memory_order_{acquire}) != 0) ; {behind} {body} {before} "
                    f"{word}.store(0, cuda::memory_order_{release});")
        if kind == 1:
            return (f"if ({word}.exchange(1, cuda::memory_order_{acquire}) == 0) {{ {behind} {body} {before} "
                    f"{word}.store(0, cuda::memory_order_{release}); }}")
        other, mine = f"Ref<cuda::thread_scope_{scope}>(turn[1])", self.name()
        return (f"int {mine} = {word}.fetch_add(1, cuda::memory_order_relaxed); while ({other}.load(cuda::memory_order_{acquire}) != {mine}) ; {behind} "
                f"{body} {before} {other}.store({mine} + 1, cuda::memory_order_{release});")

    def statement(self, depth=0):
        pick = self.source.randrange(14)
        if pick < 3:
            return self.publish()
        if pick < 6:
            return self.consume()
        if pick < 8:
            v = self.name()
            return f"int {v} = {self.reading()}; {self.found(v)}"
        if pick < 10:
            return self.effect()
        if pick == 10:
            v = self.name()
            inner = self.statement(depth + 1) if depth < 2 else self.effect()
            return f"int {v} = {self.reading()}; if ({v} == {self.source.randrange(3)}) {{ {inner} }}"
        if pick == 11:
            return self.lock()
        if pick == 12:
            return self.rounds() if self.style.loops else self.effect()
        return f"if ({self.reading()} == {self.source.randrange(3)} && {self.reading()} == {self.source.randrange(2)}) hang();"


def between(source, shape, per_block):
    """What stands between two rounds."""
    ways = ["", "  __syncthreads();\n"]
    if per_block > 1 and shape != "two_warps":
        ways += [f"  __syncwarp({(1 << per_block) - 1});\n", "  __syncthreads();\n",
                 f"  if (__any_sync({(1 << per_block) - 1}, flag<cuda::thread_scope_device>(0).load(cuda::memory_order_relaxed) == 1)) out[rank] += 1;\n"]
    if shape in ("cluster", "clusters"):
        ways += ["  cg::this_cluster().sync();\n"] * 2
        ways += ["  asm volatile(\"barrier.cluster.arrive.relaxed;\" ::: \"memory\");\n  asm volatile(\"barrier.cluster.wait.acquire;\" ::: \"memory\");\n",
                 "  asm volatile(\"barrier.cluster.arrive.release;\" ::: \"memory\");\n  @\n  asm volatile(\"barrier.cluster.wait.acquire;\" ::: \"memory\");\n"]
    if shape == "cooperative":
        ways += ["  cg::this_grid().sync();\n"] * 2
    return source.choice(ways)


def kernel_body(source, style, shape, threads, per_block):
    shared = per_block > 1 and source.randrange(3) == 0
    of = [Thread(source, style, t, shared) for t in range(threads)]
    equal = source.randrange(4) == 0
    body = ""
    if shared:
        body += "  __shared__ int shared[2];\n  if (threadIdx.x < 2) shared[threadIdx.x] = 0;\n  __syncthreads();\n"
    count = source.choice((1, 1, 1, 2))
    for n in range(count):
        code = [" ".join(t.statement() for _ in range(source.choice((1, 1, 2, 2, 3) if threads == 2 else (1, 1, 2)))) for t in of]
        if equal:
            code = [code[0].replace("out[0]", f"out[{t}]") for t in range(threads)]
        body += each(code)
        if n + 1 < count:
            body += between(source, shape, per_block).replace("@", f"if (rank == 0) {{ {of[0].effect()} }}")
    return body


def weak(source, number):
    style, shape = Style(source), source.choice(SHAPES)
    threads = {"two_by_two": 4, "clusters": 4}.get(shape) or source.choice((2, 2, 2, 3))
    if shape == "two_warps":
        threads = 2
    per_block = {"block": threads, "two_by_two": 2, "two_warps": 33}.get(shape, 1)
    blocks = {"block": 1, "two_by_two": 2, "two_warps": 1}.get(shape, threads)
    rank = "threadIdx.x / 32" if shape == "two_warps" else "blockIdx.x * blockDim.x + threadIdx.x"
    only = "  if (threadIdx.x % 32 != 0) return;\n" if shape == "two_warps" else ""
    body = kernel_body(source, style, shape, threads, per_block)
    text = f"__global__ void k{number}(Mail* mail) {{\n  const int rank = {rank};\n{only}{body}}}\n"
    call = launch(f"k{number}", shape, blocks, per_block).replace(f", k{number});", f", k{number}, mail);")
    if shape == "clusters":
        call = launch(f"k{number}", "cluster", 4, 1).replace("= {4, 1, 1}", "= {2, 1, 1}").replace(f", k{number});", f", k{number}, mail);")
    main = "    prepare();\n" + call + f"    judge<<<1, 1>>>({source.randrange(4)}, {source.randrange(4)});\n"
    return Program(number, text, main, ["--memory=ptx"])


def through_host(source, number):
    """One or two kernels of one or two threads, and a host that stands between them."""
    style = Style(source)
    word = "Ref<cuda::thread_scope_system>(mail->flags[{}])".format
    count = 0

    def name():
        nonlocal count
        count += 1
        return f"h{count}"

    def order(*proper):
        return f"cuda::memory_order_{source.choice(proper) if style.chance(style.proper) else 'relaxed'}"

    def of_device(t):
        pick, n, v = source.randrange(8), source.randrange(2), name()
        place = source.choice(("mail->data", "data[0]"))
        if pick < 2:
            return f"{place} = {t + 1}; {word(n)}.{source.choice(('store', 'fetch_add'))}(1, {order('release', 'seq_cst')});"
        if pick < 4:
            return f"while ({word(n)}.load({order('acquire', 'seq_cst')}) == 0) ; int {v} = {place}; out[{t}] = {v};"
        if pick == 4:
            return f"if ({word(n)}.load({order('acquire')}) == 1) {{ int {v} = {place}; out[{t}] = {v}; }}"
        if pick == 5:
            return f"flag<cuda::thread_scope_device>(0).store(1, {order('release')}); {word(n)}.store(1, {order('release')});"
        if pick == 6:
            return (f"while ({word(n)}.load({order('acquire')}) == 0) ; if (flag<cuda::thread_scope_device>(0).load({order('acquire')}) == "
                    f"{source.randrange(2)}) hang();")
        return f"int {v} = {word(n)}.load({order('acquire')}); out[{t}] = {v};"

    def of_host():
        pick, n = source.randrange(6), source.randrange(2)
        if pick < 2:
            return f"while (letter({n}).load({order('acquire')}) == 0) ;"
        if pick < 4:
            return f"letter({n}).store(1, {order('release')});"
        if pick == 4:
            return f"if (letter({n}).load({order('acquire')}) == 1) letter({1 - n}).fetch_add(1, {order('acq_rel')});"
        return f"letter({n}).fetch_add(1, {order('acq_rel')});"

    kernels, main = "", "    prepare();\n    cudaStream_t a, b;\n    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);\n    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);\n"
    for k, stream in enumerate(source.choice(("a", "ab", "ab"))):
        threads = source.choice((1, 1, 2))
        code = [" ".join(of_device(2 * k + t) for _ in range(source.choice((1, 1, 2)))) for t in range(threads)]
        kernels += f"__global__ void k{number}_{k}(Mail* mail) {{\n  const int rank = blockIdx.x * blockDim.x + threadIdx.x;\n{each(code)}}}\n"
        shape = source.choice((f"1, {threads}", f"{threads}, 1"))
        main += "".join(f"    {of_host()}\n" for _ in range(source.choice((0, 0, 0, 1))))
        main += f"    k{number}_{k}<<<{shape}, 0, {stream}>>>(mail);\n"
    main += "".join(f"    {of_host()}\n" for _ in range(source.choice((0, 1, 1, 2))))
    main += f"    cudaDeviceSynchronize();\n    judge<<<1, 1>>>({source.randrange(3)}, {source.randrange(3)});\n"
    return Program(number, kernels, main, ["--memory=ptx"])


KINDS = {"weak": (HEAD, weak), "weak_hosts": (HEAD, through_host)}

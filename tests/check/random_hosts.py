"""Random host code around small kernels, for random_programs.py.

One or two host threads launch kernels in three streams, record and wait for events, copy and set flags, let streams
wait for values and write them, ask what has completed, poll mapped memory, lock, and run host functions; kernels
are launched programmatically or record events by their launches, and let others begin or wait for them inside. They
set and await flags in device and mapped memory. What somebody waits for is set by somebody else more often than not.
At the end a host thread hangs where the flags are what the random numbers say.
"""
import random_kernels
from random_kernels import Program

HEAD = """#include <cuda.h>
#include <cuda/atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
struct Mail { cuda::atomic<int, cuda::thread_scope_system> a[4]; };
static Mail* mail;
static int* copied;
static cudaStream_t s[3];
static cudaEvent_t e[2], timed[2];
static std::mutex door;
__device__ cuda::atomic<int, cuda::thread_scope_device> cells[3];
static int* cell(int n) { void* p = nullptr; cudaGetSymbolAddress(&p, cells); return (int*)p + n; }
static CUdeviceptr word(int n) { return (CUdeviceptr)&mail->a[n]; }
static void prepare(bool blocking) {
  void* memory = nullptr;
  cudaMallocHost(&memory, sizeof(Mail));
  mail = new (memory) Mail{};
  cudaMallocHost(&memory, 3 * sizeof(int));
  copied = (int*)memory;
  for (int i = 0; i < 3; ++i) { copied[i] = i; cudaStreamCreateWithFlags(&s[i], blocking ? cudaStreamDefault : cudaStreamNonBlocking); }
  for (cudaEvent_t& event : e) { cudaEventCreateWithFlags(&event, cudaEventDisableTiming); }
  for (cudaEvent_t& event : timed) { cudaEventCreate(&event); }
  cell(0);
}
enum class Also { Overlaps, Begun, BlockStart, Triggered };
static void launch(void (*kernel)(Mail*), int blocks, int threads, cudaStream_t stream, Also also, cudaEvent_t event) {
  cudaLaunchAttribute attribute{};
  if (also == Also::Overlaps) {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  } else if (also == Also::Begun) {
    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    attribute.val.launchCompletionEvent.event = event;
  } else {
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = event;
    attribute.val.programmaticEvent.triggerAtBlockStart = also == Also::BlockStart;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = blocks; config.blockDim = threads; config.stream = stream;
  config.attrs = &attribute; config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, mail);
}
"""


class Flag:
    """A word that is set and awaited."""

    def __init__(self, source):
        self.mapped, self.number = source.randrange(3) != 0, source.randrange(3)
        self.device = f"m->a[{self.number}]" if self.mapped else f"cells[{self.number}]"
        self.host = f"mail->a[{self.number}]" if self.mapped else None
        self.address = f"&mail->a[{self.number}]" if self.mapped else f"cell({self.number})"


class Maker:
    def __init__(self, source, number):
        self.source, self.number = source, number
        self.kernels, self.functions, self.needs = [], [], []
        self.streams = source.choice((2, 2, 3))

    def stream(self):
        n = self.source.randrange(self.streams + 1)
        return "nullptr" if n == self.streams and self.source.randrange(3) == 0 else f"s[{n % self.streams}]"

    def order(self, *words):
        return f"cuda::memory_order_{self.source.choice(words)}"

    # --- Device code ---------------------------------------------------------------------------------

    def device_set(self, flag):
        k = self.source.choice((1, 1, 2))
        return self.source.choice((f"{flag.device}.store({k}, {self.order('relaxed', 'release')});", f"{flag.device}.fetch_add({k});",
                                   f"{flag.device}.exchange({k});"))

    def device_statement(self):
        flag, other, pick = Flag(self.source), Flag(self.source), self.source.randrange(10)
        if pick < 3:
            return self.device_set(flag)
        if pick < 5:
            self.needs.append(flag)
            return f"while ({flag.device}.load({self.order('relaxed', 'acquire')}) {self.source.choice(('== 0', '== 0', '!= 1'))}) ;"
        if pick == 5:
            return f"if ({flag.device}.load() == {self.source.randrange(2)}) {{ {self.device_set(other)} }}"
        if pick == 6:
            return f"if ({flag.device}.fetch_add(1) == {self.source.randrange(2)}) {{ {self.device_set(other)} }}"
        if pick == 7:
            return 'asm volatile("griddepcontrol.launch_dependents;" ::: "memory");'
        if pick == 8:
            return 'asm volatile("griddepcontrol.wait;" ::: "memory");'
        return "__threadfence_system();"

    def kernel(self, statements=None):
        """A kernel's name and shape."""
        threads, name = self.source.choice((1, 1, 1, 2)), f"k{self.number}_{len(self.kernels)}"
        code = statements or [" ".join(self.device_statement() for _ in range(self.source.choice((1, 1, 2)))) for _ in range(threads)]
        shape = self.source.choice((f"{len(code)}, 1", f"1, {len(code)}"))
        self.kernels.append(f"__global__ void {name}(Mail* m) {{\n  const int rank = blockIdx.x + threadIdx.x;\n{random_kernels.each(code)}}}\n")
        return name, shape

    def launch(self, statements=None):
        name, shape = self.kernel(statements)
        if self.source.randrange(4) == 0:
            also = self.source.choice(("Overlaps", "Overlaps", "Begun", "BlockStart", "Triggered"))
            return f"launch({name}, {shape}, {self.stream()}, Also::{also}, e[{self.source.randrange(2)}]);"
        return f"{name}<<<{shape}, 0, {self.stream()}>>>(mail);"

    # --- Host code -----------------------------------------------------------------------------------

    def mapped(self):
        while not (flag := Flag(self.source)).mapped:
            pass
        return flag

    def host_set(self, flag, anybody=True):
        """Sets the flag, from wherever that is possible."""
        ways = [f"cudaMemcpyAsync({flag.address}, &copied[1], 4, cudaMemcpyDefault, {self.stream()});",
                self.launch([self.device_set(flag)])]
        if flag.mapped:
            ways += [f"cuStreamWriteValue32({self.stream()}, word({flag.number}), 1, 0);",
                     f"{flag.host}.store(1, {self.order('relaxed', 'release')});",
                     f"{flag.host}.fetch_add(1);", self.host_function(f"{flag.host}.store(1);")]
        return self.source.choice(ways)

    def host_function(self, statement):
        name = f"f{self.number}_{len(self.functions)}"
        self.functions.append(f"static void {name}(void*) {{ {statement} }}\n")
        return f"cudaLaunchHostFunc({self.stream()}, {name}, nullptr);"

    def quiet(self):
        """Host code without calls."""
        flag, other, pick = self.mapped(), self.mapped(), self.source.randrange(5)
        if pick < 2:
            return f"{flag.host}.store({self.source.choice((1, 1, 2))});"
        if pick == 2:
            self.needs.append(flag)
            return f"while ({flag.host}.load({self.order('relaxed', 'acquire')}) == 0) ;"
        if pick == 3:
            return f"if ({flag.host}.load() == {self.source.randrange(2)}) {{ {other.host}.store(1); }}"
        return f"{{ std::lock_guard<std::mutex> guard(door); if ({flag.host}.fetch_add(1) == 0) {{ {other.host}.store(1); }} }}"

    def statement(self, depth=0):
        pick, stream, event, flag = self.source.randrange(26), self.stream(), self.source.randrange(2), Flag(self.source)
        if pick < 7:
            return self.launch()
        if pick == 7:
            return f"cudaEventRecord(e[{event}], {stream});"
        if pick == 8:
            return f"cudaEventRecord(e[{event}], {self.stream()}); cudaStreamWaitEvent({stream}, e[{event}], 0);"
        if pick == 9:
            return f"cudaStreamWaitEvent({stream}, e[{event}], 0);"
        if pick == 10:
            return self.source.choice((f"cudaStreamSynchronize({stream});", f"cudaEventSynchronize(e[{event}]);", "cudaDeviceSynchronize();"))
        if pick == 11:
            what = self.source.choice((f"cudaStreamQuery({stream})", f"cudaEventQuery(e[{event}])"))
            return f"while ({what} == cudaErrorNotReady) ;"
        if pick == 12 and depth < 1:
            what = self.source.choice((f"cudaStreamQuery({stream})", f"cudaEventQuery(e[{event}])"))
            return f"if ({what} == {self.source.choice(('cudaSuccess', 'cudaErrorNotReady'))}) {{ {self.statement(depth + 1)} }}"
        if pick == 20:
            return f"cudaEventRecord(timed[0], {stream}); {self.launch()} cudaEventRecord(timed[1], {self.stream()});"
        if pick == 21 and depth < 1:
            ready = self.source.choice(("cudaSuccess", "cudaErrorNotReady"))
            return f"{{ float t; if (cudaEventElapsedTime(&t, timed[0], timed[1]) == {ready}) {{ {self.statement(depth + 1)} }} }}"
        if pick == 13:
            return f"cudaMemcpyAsync({flag.address}, &copied[{self.source.randrange(3)}], 4, cudaMemcpyDefault, {stream});"
        if pick == 14:
            return f"cudaMemcpyAsync({self.mapped().address}, {flag.address}, 4, cudaMemcpyDefault, {stream});"
        if pick == 15:
            return f"cudaMemsetAsync({flag.address}, {self.source.choice((0, 1))}, 4, {stream});"
        if pick == 16:
            return self.host_function(self.quiet())
        if pick == 17:
            flag = self.mapped()
            self.needs.append(flag)
            return f"cuStreamWaitValue32({stream}, word({flag.number}), 1, {self.source.choice(('CU_STREAM_WAIT_VALUE_GEQ', 'CU_STREAM_WAIT_VALUE_EQ'))});"
        if pick == 18:
            return f"cuStreamWriteValue32({stream}, word({self.mapped().number}), {self.source.choice((1, 1, 0))}, 0);"
        if pick == 19 and depth < 1:
            return (f"while (cudaStreamQuery({stream}) == cudaErrorNotReady) {{ {self.quiet()} }}")
        return self.quiet()


def host(source, number):
    maker = Maker(source, number)
    threads = [[maker.statement() for _ in range(source.choice((1, 2, 2, 3, 4)))]]
    if source.randrange(3) == 0:
        threads.append([maker.statement() if source.randrange(2) else maker.quiet() for _ in range(source.choice((1, 1, 2)))])
    served = 0
    while served < len(maker.needs):  # a way to set a flag may not need one
        flag = maker.needs[served]
        served += 1
        if source.randrange(4):
            thread = source.choice(threads)
            thread.insert(source.randrange(len(thread) + 1), maker.host_set(flag))
    lines = [f"prepare({source.choice(('false', 'false', 'true'))});"]
    if len(threads) > 1:
        lines += ["std::thread second([] {", *("  " + line for line in threads[1]), "});"]
    lines += threads[0] + (["second.join();"] if len(threads) > 1 else [])
    if source.randrange(4):
        lines.append("cudaDeviceSynchronize();")
    if source.randrange(3):
        outcome = " && ".join(f"mail->a[{source.randrange(3)}].load() == {source.choice((0, 1, 1, 2))}" for _ in range(source.choice((1, 2))))
        lines.append(f"while ({outcome}) ;")
    flags = [f"--progress={source.choice(random_kernels.MODELS)}"] if source.randrange(5) == 0 else []
    flags += ["--api=prompt"] if source.randrange(4) == 0 else []
    return Program(number, "".join(maker.kernels + maker.functions), "".join(f"    {line}\n" for line in lines), flags)


KINDS = {"hosts": (HEAD, host)}

// What no rule decides and no thread: on which multiprocessor a block runs, in which slot a warp lies, what a clock
// shows where it decides by more than one time limit, how much time has passed for the host, how much memory is free,
// and what functions of the C library find in memory that a kernel writes meanwhile. A search gives one answer to each
// such question. If something depends on it, the search is bounded and says so; if it is only printed, nothing is left
// out.
#include "cases.h"

#include <chrono>

__device__ Atomic<int> never;
__device__ unsigned taken[512], places[64], sink;
__device__ int table[8];

__device__ void hang() {
  while (never.load(memory_order_relaxed) == 0) {
  }
}
__global__ void hangs_if(int bad) {
  if (bad != 0) {
    hang();
  }
}
__device__ unsigned multiprocessor() {
  unsigned n;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(n));
  return n;
}
__device__ unsigned slot() {
  unsigned n;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(n));
  return n;
}

// --- The device --------------------------------------------------------------------------------------------------

//@ case: smid-decides 1
//@ verdict: unknown
//@ coverage: bounded
//@ case: smid-decides 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ coverage: bounded
__global__ void smid_decides() {
  if (multiprocessor() != 0) {
    hang();
  }
}
// Who comes first on its multiprocessor goes; the second one waits forever. Only if both are on one.
//@ case: smid-places
//@ verdict: unknown
//@ coverage: bounded
__global__ void smid_places() {
  if (atomicAdd(&taken[multiprocessor() % 512], 1) != 0) {
    hang();
  }
}
//@ case: smid-in-function 1
//@ verdict: unknown
//@ coverage: bounded
__noinline__ __device__ unsigned first_place() {
  return multiprocessor();
}
__global__ void smid_in_function() {
  if (first_place() != 0) {
    hang();
  }
}
//@ case: smid-stored
//@ verdict: unknown
//@ coverage: bounded
__global__ void smid_stored() {
  places[me()] = multiprocessor();
}
//@ case: smid-sleeps
//@ verdict: terminates
__global__ void smid_sleeps() {
  __nanosleep(multiprocessor() % 16);
}
//@ case: warpid-decides
//@ verdict: unknown
//@ coverage: bounded
__global__ void warpid_decides() {
  if (slot() != 0) {
    hang();
  }
}
//@ case: own-warp 64 block
//@ verdict: terminates
__global__ void own_warp() {
  if (threadIdx.x / 32 > 1) {
    hang();
  }
}

// Where a table is read says the clock; whether that lies in the table depends on it.
//@ case: clock-indexes
//@ verdict: defect
//@ finding: out-of-bounds MEM-BOUNDS
//@ coverage: bounded
__global__ void clock_indexes() {
  sink = table[15 - (clock64() >> 21 & 15)];
}
//@ case: clock-indexes-nothing
//@ verdict: terminates
__global__ void clock_indexes_nothing() {
  places[me()] = table[me()] + static_cast<unsigned>(clock64() - clock64());
}

// A clock that says what is called and which way of a table is taken; one that is kept in a variable, and one that
// lanes are handed which stand at another instruction.
//@ case: clock-calls
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ coverage: bounded
using Function = void (*)();
__device__ void returns() {}
__device__ Function functions[2] = {returns, hang};
__global__ void clock_calls() {
  functions[clock() >> 5 & 1]();
}
//@ case: clock-branches
//@ verdict: unknown
//@ coverage: bounded
__global__ void clock_branches() {
  volatile unsigned* const out = places;
  switch (clock() >> 3 & 7) {
  case 0: out[0] = 1; break;
  case 1: out[1] = 5; out[2] = 3; break;
  case 2: out[2] = 9; out[5] = 2; break;
  case 3: hang(); break;
  case 4: out[4] = 3; break;
  case 5: out[5] = 77; out[1] = 2; break;
  case 6: out[6] = 8; out[7] = 1; break;
  case 7: out[7] = 12; out[3] = 8; out[1] = 4; break;
  }
}
//@ case: clock-kept
//@ verdict: unknown
//@ coverage: bounded
__global__ void clock_kept() {
  volatile unsigned kept[4] = {0, 0, 0, 0};
  kept[taken[0] & 3] = static_cast<unsigned>(clock());
  if ((kept[(taken[0] + 4) & 3] & 255) == 9) {
    hang();
  }
}
//@ case: clock-handed-over 2 block
//@ verdict: unknown
//@ coverage: bounded
__global__ void clock_handed_over() {
  if (threadIdx.x == 0) {
    sink = __shfl_sync(3u, static_cast<unsigned>(clock()), 0);
  } else if ((__shfl_sync(3u, threadIdx.x * 7, 0) & 255) == 9) {
    hang();
  }
}
// The same without a clock.
//@ case: calls
//@ verdict: terminates
__noinline__ __device__ unsigned number() {
  return taken[0];
}
__global__ void calls() {
  sink = number();
}

// --- The host ----------------------------------------------------------------------------------------------------

using Clock = std::chrono::steady_clock;
static int finish() { return static_cast<int>(cudaDeviceSynchronize()); }

//@ case: slow-by-clock
//@ verdict: unknown
//@ coverage: bounded
//@ case: fast-by-clock
//@ verdict: unknown
//@ coverage: bounded
//@ case: prints-clock
//@ verdict: terminates
enum class Asked { Slow, Fast, Print };
template <Asked What> static int host_clock(Setup) {
  const auto begin = Clock::now();
  hangs_if<<<1, 1>>>(0);
  const int status = finish();
  const auto passed = Clock::now() - begin;
  if (What == Asked::Slow && passed > std::chrono::seconds(10)) {
    hangs_if<<<1, 1>>>(1);
  }
  if (What == Asked::Fast && passed < std::chrono::nanoseconds(50)) {
    hangs_if<<<1, 1>>>(1);
  }
  std::printf("%lld ns\n", static_cast<long long>(std::chrono::nanoseconds(passed).count()));
  return status + finish();
}

//@ case: slow-by-event
//@ verdict: unknown
//@ coverage: bounded
//@ case: fast-by-event
//@ verdict: unknown
//@ coverage: bounded
//@ case: prints-event
//@ verdict: terminates
template <Asked What> static int elapsed(Setup) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin);
  hangs_if<<<1, 1>>>(0);
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);
  if ((What == Asked::Slow && ms > 100.0F) || (What == Asked::Fast && ms < 0.0001F)) {
    hangs_if<<<1, 1>>>(1);
  }
  std::printf("%f ms\n", ms);
  return finish();
}

//@ case: little-memory
//@ verdict: unknown
//@ coverage: bounded
//@ case: prints-memory
//@ verdict: terminates
template <bool Decides> static int free_memory(Setup) {
  std::size_t available = 0, total = 0;
  cudaMemGetInfo(&available, &total);
  hangs_if<<<1, 1>>>(Decides && available < total / 4 ? 1 : 0);
  std::printf("%zu bytes\n", available);
  return finish();
}

// Functions of the C library that look at memory which a kernel writes meanwhile.
//@ case: compares-bytes
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ coverage: bounded
//@ case: compares-text
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ coverage: bounded
//@ case: compares-bytes-later
//@ verdict: terminates
__global__ void writes_twice(int* word) {
  *static_cast<volatile int*>(word) = 1;
  __threadfence_system();
  *static_cast<volatile int*>(word) = 2;
}
enum class Compared { Bytes, Text, Later };
template <Compared What> static int mapped(Setup) {
  int* word = nullptr;
  cudaMallocHost(&word, 64);
  *word = 0;
  writes_twice<<<1, 1>>>(word);
  if (What == Compared::Later && finish() != 0) {
    return 1;
  }
  const char one[4] = {1, 0, 0, 0};
  const bool same = What == Compared::Text
                        ? std::strcmp(reinterpret_cast<const char*>(word), one) == 0
                        : std::memcmp(word, one, sizeof one) == 0;
  hangs_if<<<1, 1>>>(same ? 1 : 0);
  return finish();
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
    {"smid-decides", [](Setup s) { return run_kernel(s, smid_decides); }},
    {"smid-places", [](Setup s) { return run_kernel(s, smid_places); }},
    {"smid-in-function", [](Setup s) { return run_kernel(s, smid_in_function); }},
    {"smid-stored", [](Setup s) { return run_kernel(s, smid_stored); }},
    {"smid-sleeps", [](Setup s) { return run_kernel(s, smid_sleeps); }},
    {"warpid-decides", [](Setup s) { return run_kernel(s, warpid_decides); }},
    {"own-warp", [](Setup s) { return run_kernel(s, own_warp); }},
    {"clock-indexes", [](Setup s) { return run_kernel(s, clock_indexes); }},
    {"clock-indexes-nothing", [](Setup s) { return run_kernel(s, clock_indexes_nothing); }},
    {"clock-calls", [](Setup s) { return run_kernel(s, clock_calls); }},
    {"clock-branches", [](Setup s) { return run_kernel(s, clock_branches); }},
    {"clock-kept", [](Setup s) { return run_kernel(s, clock_kept); }},
    {"clock-handed-over", [](Setup s) { return run_kernel(s, clock_handed_over); }},
    {"calls", [](Setup s) { return run_kernel(s, calls); }},
    {"slow-by-clock", host_clock<Asked::Slow>},
    {"fast-by-clock", host_clock<Asked::Fast>},
    {"prints-clock", host_clock<Asked::Print>},
    {"slow-by-event", elapsed<Asked::Slow>},
    {"fast-by-event", elapsed<Asked::Fast>},
    {"prints-event", elapsed<Asked::Print>},
    {"little-memory", free_memory<true>},
    {"prints-memory", free_memory<false>},
    {"compares-bytes", mapped<Compared::Bytes>},
    {"compares-text", mapped<Compared::Text>},
    {"compares-bytes-later", mapped<Compared::Later>},
  });
}

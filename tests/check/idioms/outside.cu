// What no rule decides and no thread: on which multiprocessor a block runs, in which slot a warp lies, which lane
// elect.sync elects, where memory lies, what a clock shows where it decides by more than one time limit, how much time
// has passed for the host, when a signal of a timer arrives, how much memory is free, and what functions of the C
// library find in memory that a kernel writes meanwhile. A search gives one answer to each
// such question. If something depends on it, the search is bounded and says so; if it is only printed, nothing is left
// out.
#include "cases.h"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>

#include <sys/resource.h>
#include <sys/times.h>
#include <unistd.h>

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

//@ case: gridid-decides
//@ verdict: unknown
//@ coverage: bounded
__global__ void gridid_decides() {
  unsigned long long n;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(n));
  if ((n & 1) == 0) {
    hang();
  }
}
//@ case: gridid-unused
//@ verdict: terminates
__global__ void gridid_unused() {
  unsigned long long n;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(n));
  places[me()] = 1;
}
//@ case: machine-size
//@ verdict: unknown
//@ coverage: bounded
__global__ void machine_size() {
  unsigned n;
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(n));
  if (n > 500) {
    hang();
  }
}
//@ case: discarded
//@ verdict: unknown
//@ coverage: bounded
__global__ void discarded() {
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(&taken[0]) : "memory");
  if (*(volatile unsigned*)&taken[0] != 0) {
    hang();
  }
}

// Which lane is elected. If whatever that lane does any other could do as well, it does not matter.
//@ case: elected-by-number 32 block
//@ verdict: unknown
//@ coverage: bounded
//@ case: elected-number 32 block
//@ verdict: unknown
//@ coverage: bounded
//@ case: elected-anyone 32 block
//@ verdict: terminates
//@ case: elected-in-one-warp 64 block
//@ verdict: terminates
__device__ bool elected(unsigned& who) {
  unsigned yes;
  asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p; }"
               : "=r"(who), "=r"(yes));
  return yes != 0;
}
__global__ void elected_by_number() {
  unsigned who;
  if (elected(who) && threadIdx.x == 5) {
    hang();
  }
}
__global__ void elected_number() {
  unsigned who;
  elected(who);
  if (who == 5) {
    hang();
  }
}
__device__ Atomic<int> announced;
__global__ void elected_anyone() {
  unsigned who;
  if (elected(who)) {
    announced.store(1);
  }
  while (announced.load() == 0) {
  }
}
__global__ void elected_in_one_warp() {
  unsigned who;
  if (threadIdx.x < 32 && elected(who)) {
    announced.store(1);
  }
  while (announced.load() == 0) {
  }
}

// Where memory lies: addresses that are hashed, compared, or given again; and what every program may do with one.
//@ case: heap-difference
//@ verdict: unknown
//@ coverage: bounded
//@ case: heap-low-bits
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ coverage: bounded
//@ case: heap-aligned
//@ verdict: terminates
//@ case: elected-ballot block 32
//@ verdict: unknown
//@ coverage: bounded
//@ case: elected-active block 32
//@ verdict: unknown
//@ coverage: bounded
//@ case: address-order
//@ verdict: unknown
//@ coverage: bounded
//@ case: address-hash
//@ verdict: unknown
//@ coverage: bounded
//@ case: address-of-local
//@ verdict: unknown
//@ coverage: bounded
//@ case: heap-order
//@ verdict: unknown
//@ coverage: bounded
//@ case: heap-again
//@ verdict: unknown
//@ coverage: bounded
//@ case: address-uses
//@ verdict: terminates
__device__ int first_variable, second_variable;
__global__ void address_order() {
  if ((std::uintptr_t)&first_variable > (std::uintptr_t)&table[0]) {
    hang();
  }
  if ((std::uintptr_t)&first_variable == (std::uintptr_t)&table[0]) {
    hang();
  }
}
__global__ void address_hash() {
  if (((std::uintptr_t)&second_variable >> 8) % 64 == 37) {
    hang();
  }
}
__global__ void address_of_local() {
  volatile int own[4] = {0, 1, 2, 3};
  if (((std::uintptr_t)&own[0] >> 4) % 64 == 37) {
    hang();
  }
}
__global__ void heap_order() {
  char* const a = static_cast<char*>(malloc(16));
  char* const b = static_cast<char*>(malloc(16));
  if (a > b) {
    hang();
  }
  free(a);
  free(b);
}
__global__ void heap_again() {
  void* const a = malloc(16);
  free(a);
  void* const b = malloc(16);
  if (a == b) {
    hang();
  }
  free(b);
}
__global__ void heap_difference() {
  char* const a = static_cast<char*>(malloc(16));
  char* const b = static_cast<char*>(malloc(16));
  if (a - b > 0) {
    hang();
  }
}
__global__ void heap_low_bits() {
  char* const a = static_cast<char*>(malloc(16));
  if (((std::uintptr_t)a & 0xf0) != 0) {
    hang();
  }
}
__global__ void heap_aligned() {
  char* const a = static_cast<char*>(malloc(16));
  if (((std::uintptr_t)a & 15) != 0) {
    hang();
  }
}
__device__ bool is_elected() {
  unsigned is;
  asm volatile("{ .reg .pred p; .reg .b32 l; elect.sync l|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(is));
  return is != 0;
}
__global__ void elected_ballot() {
  if ((__ballot_sync(~0u, is_elected()) & 1) == 0) {
    hang();
  }
}
__global__ void elected_active() {
  if (is_elected() && (__activemask() & 1) == 0) {
    hang();
  }
}
__global__ void address_uses(int* values, int n) {
  int* const own = static_cast<int*>(malloc(16));
  if (own == nullptr || ((std::uintptr_t)values & 15) != 0) {
    hang();
  }
  int sum = 0;
  for (const int* p = values; p != values + n; ++p) {
    sum += *p;
  }
  for (const int* p = values; p < values + n; p += 2) {
    sum += *p;
  }
  own[0] = sum;
  table[me()] = own[0];
  free(own);
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

static float time_of_a_kernel() { // in milliseconds
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin);
  hangs_if<<<1, 1>>>(0);
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);
  return ms;
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
  const float ms = time_of_a_kernel();
  if ((What == Asked::Slow && ms > 100.0F) || (What == Asked::Fast && ms < 0.0001F)) {
    hangs_if<<<1, 1>>>(1);
  }
  std::printf("%f ms\n", ms);
  return finish();
}

// A time between two limits, one of which the low bits decide, one that only counts in another execution than the
// one that is repeated first; and times that only the process has used.
//@ case: between-by-clock
//@ verdict: unknown
//@ coverage: bounded
//@ case: odd-by-clock
//@ verdict: unknown
//@ coverage: bounded
//@ case: between-by-event
//@ verdict: unknown
//@ coverage: bounded
//@ case: long-by-times
//@ verdict: unknown
//@ coverage: bounded
//@ case: long-by-usage
//@ verdict: unknown
//@ coverage: bounded
//@ case: prints-usage
//@ verdict: terminates
enum class Limits { Between, Odd, Times, Usage, PrintUsage };
template <Limits limits> static int host_limits(Setup) {
  using namespace std::chrono_literals;
  const auto begin = Clock::now();
  tms used{};
  rusage usage{};
  const clock_t ticks = limits == Limits::Times ? times(&used) : 0;
  hangs_if<<<1, 1>>>(0);
  const int status = finish();
  bool hangs = false;
  if (limits == Limits::Times) {
    hangs = times(&used) - ticks > 1000;
  } else if (limits == Limits::Usage || limits == Limits::PrintUsage) {
    getrusage(RUSAGE_SELF, &usage);
    hangs = limits == Limits::Usage && usage.ru_utime.tv_sec > 10;
    std::printf("%ld s\n", static_cast<long>(usage.ru_utime.tv_sec));
  } else {
    const auto passed = Clock::now() - begin;
    hangs = limits == Limits::Odd ? passed.count() % 2 != 0 : passed > 10ms && passed < 20ms;
  }
  if (hangs) {
    hangs_if<<<1, 1>>>(1);
  }
  return status + finish();
}
static int between_by_event(Setup) {
  const float ms = time_of_a_kernel();
  hangs_if<<<1, 1>>>(ms > 10 && ms < 20 ? 1 : 0);
  return finish();
}
//@ case: slow-if-first 0
//@ verdict: unknown
//@ coverage: bounded
//@ case: slow-if-first 1
//@ verdict: unknown
//@ coverage: bounded
//@ case: prints-if-first
//@ verdict: terminates
__device__ unsigned came;
__global__ void says_who_is_first(int* first) {
  if (atomicAdd(&came, 1) == 0) {
    *first = static_cast<int>(blockIdx.x);
  }
}
static int slow_if_first(int who, bool decides) {
  int* first = nullptr;
  cudaMallocHost(&first, 64);
  says_who_is_first<<<2, 1>>>(first);
  int status = finish();
  const auto begin = Clock::now();
  hangs_if<<<1, 1>>>(0);
  status += finish();
  const auto passed = Clock::now() - begin;
  if (decides && *first == who && passed > std::chrono::seconds(100)) {
    hangs_if<<<1, 1>>>(1);
  }
  std::printf("%d\n", static_cast<int>(passed.count()));
  return status + finish();
}

// A signal of a timer, at a moment that no search chooses; and one that the program sends itself.
//@ case: alarm-stops
//@ verdict: unknown
//@ coverage: bounded
//@ case: alarm-handled-later
//@ verdict: unknown
//@ coverage: bounded
//@ case: alarm-pending
//@ verdict: unknown
//@ coverage: bounded
//@ case: alarm-ends
//@ verdict: terminates
//@ case: alarm-ignored
//@ verdict: terminates
//@ case: alarm-cancelled
//@ verdict: terminates
//@ case: raised
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: alarm-awaited
//@ verdict: unknown
//@ coverage: bounded
//@ case: alarm-taken
//@ verdict: unknown
//@ coverage: bounded
//@ case: signal-missed
//@ verdict: unknown
//@ coverage: bounded
//@ case: signal-pending
//@ verdict: terminates
static volatile std::sig_atomic_t signalled;
enum class Signal { Alarm, Cancelled, Raised, HandledLater, Ends, Ignored };
template <Signal what> static int with_signal(Setup) {
  const auto handle = [](int) { signalled = 1; };
  const bool has_handler = what != Signal::HandledLater && what != Signal::Ends;
  if (has_handler) {
    std::signal(SIGALRM, what == Signal::Ignored ? SIG_IGN : +handle);
  }
  if (what == Signal::Raised) {
    std::raise(SIGALRM);
  } else {
    alarm(what == Signal::Cancelled ? 0 : 1);
  }
  if (what == Signal::HandledLater) {
    std::signal(SIGALRM, handle);
  }
  hangs_if<<<1, 1>>>(0);
  const int status = finish();
  hangs_if<<<1, 1>>>(signalled != 0 ? 1 : 0);
  return status + finish();
}

/// Blocked, so that whoever waits for it takes it.
static sigset_t blocked_alarm() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return set;
}
static int alarm_awaited(Setup) {
  std::signal(SIGALRM, [](int) { signalled = 1; });
  alarm(1);
  pause();
  hangs_if<<<1, 1>>>(signalled == 0 ? 1 : 0);
  return finish();
}
static int alarm_taken(Setup) {
  const sigset_t set = blocked_alarm();
  alarm(1);
  int signal = 0;
  sigwait(&set, &signal);
  hangs_if<<<1, 1>>>(signal != SIGALRM ? 1 : 0);
  return finish();
}
static int alarm_pending(Setup) {
  alarm(1);
  blocked_alarm();
  sigset_t pending;
  sigpending(&pending);
  hangs_if<<<1, 1>>>(sigismember(&pending, SIGALRM));
  return finish();
}
static int signal_missed(Setup) {
  const sigset_t set = blocked_alarm();
  const timespec second{1, 0};
  const bool came = sigtimedwait(&set, nullptr, &second) == SIGALRM;
  hangs_if<<<1, 1>>>(came ? 1 : 0);
  return finish();
}
static int signal_pending(Setup) {
  const sigset_t set = blocked_alarm();
  std::raise(SIGALRM);
  const timespec second{1, 0};
  const bool came = sigtimedwait(&set, nullptr, &second) == SIGALRM;
  hangs_if<<<1, 1>>>(came ? 0 : 1);
  return finish();
}

//@ case: little-memory
//@ verdict: unknown
//@ coverage: bounded
//@ case: some-memory
//@ verdict: unknown
//@ coverage: bounded
//@ case: prints-memory
//@ verdict: terminates
enum class Memory { Little, Some, Print };
template <Memory what> static int free_memory(Setup) {
  std::size_t available = 0, total = 0;
  cudaMemGetInfo(&available, &total);
  const bool little = available < total / 4, some = available > total / 3 && available < total / 2;
  hangs_if<<<1, 1>>>((what == Memory::Little && little) || (what == Memory::Some && some) ? 1 : 0);
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
    {"gridid-decides", [](Setup s) { return run_kernel(s, gridid_decides); }},
    {"gridid-unused", [](Setup s) { return run_kernel(s, gridid_unused); }},
    {"machine-size", [](Setup s) { return run_kernel(s, machine_size); }},
    {"discarded", [](Setup s) { return run_kernel(s, discarded); }},
    {"elected-by-number", [](Setup s) { return run_kernel(s, elected_by_number); }},
    {"elected-number", [](Setup s) { return run_kernel(s, elected_number); }},
    {"elected-anyone", [](Setup s) { return run_kernel(s, elected_anyone); }},
    {"elected-in-one-warp", [](Setup s) { return run_kernel(s, elected_in_one_warp); }},
    {"heap-difference", [](Setup s) { return run_kernel(s, heap_difference); }},
    {"heap-low-bits", [](Setup s) { return run_kernel(s, heap_low_bits); }},
    {"heap-aligned", [](Setup s) { return run_kernel(s, heap_aligned); }},
    {"elected-ballot", [](Setup s) { return run_kernel(s, elected_ballot); }},
    {"elected-active", [](Setup s) { return run_kernel(s, elected_active); }},
    {"address-order", [](Setup s) { return run_kernel(s, address_order); }},
    {"address-hash", [](Setup s) { return run_kernel(s, address_hash); }},
    {"address-of-local", [](Setup s) { return run_kernel(s, address_of_local); }},
    {"heap-order", [](Setup s) { return run_kernel(s, heap_order); }},
    {"heap-again", [](Setup s) { return run_kernel(s, heap_again); }},
    {"address-uses", [](Setup) {
       int* values = nullptr;
       cudaMalloc(&values, 64 * sizeof(int));
       cudaMemset(values, 0, 64 * sizeof(int));
       address_uses<<<2, 1>>>(values, 64);
       return finish();
     }},
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
    {"between-by-clock", host_limits<Limits::Between>},
    {"odd-by-clock", host_limits<Limits::Odd>},
    {"between-by-event", between_by_event},
    {"long-by-times", host_limits<Limits::Times>},
    {"long-by-usage", host_limits<Limits::Usage>},
    {"prints-usage", host_limits<Limits::PrintUsage>},
    {"slow-if-first", [](Setup s) { return slow_if_first(s.n == 1 ? 1 : 0, true); }, 0},
    {"prints-if-first", [](Setup) { return slow_if_first(0, false); }},
    {"alarm-stops", with_signal<Signal::Alarm>},
    {"alarm-awaited", alarm_awaited},
    {"alarm-pending", alarm_pending},
    {"alarm-handled-later", with_signal<Signal::HandledLater>},
    {"alarm-ends", with_signal<Signal::Ends>},
    {"alarm-ignored", with_signal<Signal::Ignored>},
    {"alarm-taken", alarm_taken},
    {"signal-missed", signal_missed},
    {"signal-pending", signal_pending},
    {"alarm-cancelled", with_signal<Signal::Cancelled>},
    {"raised", with_signal<Signal::Raised>},
    {"little-memory", free_memory<Memory::Little>},
    {"some-memory", free_memory<Memory::Some>},
    {"prints-memory", free_memory<Memory::Print>},
    {"compares-bytes", mapped<Compared::Bytes>},
    {"compares-text", mapped<Compared::Text>},
    {"compares-bytes-later", mapped<Compared::Later>},
  });
}

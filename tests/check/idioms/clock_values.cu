// What clocks show, and what programs make of it ([CLOCK]).
//
// Whatever is made of a duration (a part of its bits, another unit, a number with a point), a loop that
// waits for it ends, and both sides of a time limit are searched. A value of a clock that decides in another
// way has more values than are tried: then the search says so and names the line, and it
// neither says "terminates" nor invents a hang.
#include "cases.h"

__device__ Atomic<int> flag, never;
__device__ long long results[64];

__device__ bool sets() { return me() == all() - 1; }
__device__ void hang() {
  while (never.load(memory_order_relaxed) == 0) {
  }
}
__device__ unsigned long long timer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
__device__ unsigned timer_low() {
  unsigned now;
  asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(now));
  return now;
}
__device__ unsigned cycles_low() {
  unsigned now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
  return now;
}
__device__ unsigned cycles_high() {
  unsigned now;
  asm volatile("mov.u32 %0, %%clock_hi;" : "=r"(now));
  return now;
}

// Each way to ask whether a time limit is over: `wait_NAME` waits for it alone, `late_NAME` stops for good behind
// it, `limit_NAME` waits for a flag or for it.
#define LIMIT(NAME, TYPE, BEGIN, IS_OVER)                                                          \
  __global__ void wait_##NAME(TYPE n) {                                                            \
    const auto begin = BEGIN;                                                                      \
    while (!(IS_OVER)) {                                                                           \
    }                                                                                              \
  }                                                                                                \
  __global__ void late_##NAME(TYPE n) {                                                            \
    if (sets()) {                                                                                  \
      flag.store(1);                                                                               \
      return;                                                                                      \
    }                                                                                              \
    const auto begin = BEGIN;                                                                      \
    while (flag.load() == 0) {                                                                     \
      if (IS_OVER) {                                                                               \
        hang();                                                                                    \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  __global__ void limit_##NAME(TYPE n) {                                                           \
    if (sets()) {                                                                                  \
      flag.store(1);                                                                               \
      return;                                                                                      \
    }                                                                                              \
    const auto begin = BEGIN;                                                                      \
    while (flag.load() == 0 && !(IS_OVER)) {                                                       \
    }                                                                                              \
  }

#define LIMITS(DO)                                                                                 \
  DO(whole, long long, clock64(), clock64() - begin >= n)                                          \
  DO(clock, clock_t, clock(), clock() - begin >= n)                                                \
  DO(int, int, clock64(), (int)(clock64() - begin) >= n)                                           \
  DO(unsigned, unsigned, (unsigned)clock(), (unsigned)clock() - begin >= n)                        \
  DO(cut_times, int, (int)clock(), (int)clock() - begin >= n)                                      \
  DO(masked, long long, clock64(), ((clock64() - begin) & 0xffffffff) >= n)                        \
  DO(low, unsigned, cycles_low(), cycles_low() - begin >= n)                                       \
  DO(timer, unsigned long long, timer(), timer() - begin >= n)                                     \
  DO(timer_low, unsigned, timer_low(), timer_low() - begin >= n)                                   \
  DO(moment, unsigned long long, (unsigned long long)clock64() + n, clock64() >= begin)            \
  DO(moment_signed, long long, clock64() + n, clock64() > begin)                                   \
  DO(moment_low, unsigned, cycles_low() + n, cycles_low() > begin)                                 \
  DO(remaining, long long, clock64(), n - (clock64() - begin) <= 0)                                \
  DO(shifted, long long, clock64(), (unsigned long long)(clock64() - begin) >> 10 >= n)            \
  DO(seconds, float, clock64(), (float)(clock64() - begin) * 1e-6f >= n)                           \
  DO(double, double, clock64(), (double)(clock64() - begin) / 1e3 >= n)
LIMITS(LIMIT)

//@ case: wait_whole block 1
//@ verdict: terminates
//@ case: wait_clock block 1
//@ verdict: terminates
//@ case: wait_int block 1
//@ verdict: terminates
//@ case: wait_unsigned block 1
//@ verdict: terminates
//@ case: wait_cut_times block 1
//@ verdict: terminates
//@ case: wait_masked block 1
//@ verdict: terminates
//@ case: wait_low block 1
//@ verdict: terminates
//@ case: wait_timer block 1
//@ verdict: terminates
//@ case: wait_timer_low block 1
//@ verdict: terminates
//@ case: wait_moment block 1
//@ verdict: terminates
//@ case: wait_moment_signed block 1
//@ verdict: terminates
//@ case: wait_moment_low block 1
//@ verdict: terminates
//@ case: wait_remaining block 1
//@ verdict: terminates
//@ case: wait_shifted block 1
//@ verdict: terminates
//@ case: wait_seconds block 1
//@ verdict: terminates
//@ case: wait_double block 1
//@ verdict: terminates
//@ case: limit_whole plain 2
//@ verdict: terminates
//@ case: limit_clock plain 2
//@ verdict: terminates
//@ case: limit_int plain 2
//@ verdict: terminates
//@ case: limit_unsigned plain 2
//@ verdict: terminates
//@ case: limit_cut_times plain 2
//@ verdict: terminates
//@ case: limit_masked plain 2
//@ verdict: terminates
//@ case: limit_low plain 2
//@ verdict: terminates
//@ case: limit_timer plain 2
//@ verdict: terminates
//@ case: limit_timer_low plain 2
//@ verdict: terminates
//@ case: limit_moment plain 2
//@ verdict: terminates
//@ case: limit_moment_signed plain 2
//@ verdict: terminates
//@ case: limit_moment_low plain 2
//@ verdict: terminates
//@ case: limit_remaining plain 2
//@ verdict: terminates
//@ case: limit_shifted plain 2
//@ verdict: terminates
//@ case: limit_seconds plain 2
//@ verdict: terminates
//@ case: limit_double plain 2
//@ verdict: terminates
//@ case: late_whole block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_clock block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_int block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_unsigned block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_cut_times block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_masked block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_low block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_timer block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_timer_low block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_moment block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_moment_signed block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_moment_low block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_remaining block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_shifted block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_seconds block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: late_double block 2
//@ verdict: may-hang
//@ finding: livelock

// --- One limit after the other -----------------------------------------------------------------

//@ case: phases block 1
//@ verdict: terminates
__global__ void phases(long long n) {
  long long begin = clock64();
  while (clock64() - begin < n) {
  }
  begin = clock64();
  while (clock64() - begin < 3 * n) {
  }
}

// The lower half of what has passed may be small again.
//@ case: turns_over block 1
//@ verdict: may-hang
//@ finding: livelock
__global__ void turns_over(int n) {
  const unsigned begin = clock();
  while ((unsigned)clock() - begin < n) {
  }
  if ((unsigned)clock() - begin < n) {
    hang();
  }
}

// All of it is not.
//@ case: stays_over block 1
//@ verdict: terminates
__global__ void stays_over(long long n) {
  const long long begin = clock64();
  while (clock64() - begin < n) {
  }
  if (clock64() - begin < n) {
    hang();
  }
}

// An int of what has passed may be negative.
//@ case: negative block 1
//@ verdict: may-hang
//@ finding: livelock
__global__ void negative(int) {
  const long long begin = clock64();
  if ((int)(clock64() - begin) < 0) {
    hang();
  }
}

//@ case: not_negative block 1
//@ verdict: terminates
__global__ void not_negative(int) {
  const long long begin = clock64();
  if (clock64() - begin < 0) {
    hang();
  }
}

// A limit that grows from round to round.
//@ case: backs_off block 2
//@ verdict: terminates
__global__ void backs_off(int n) {
  for (int limit = n; flag.exchange(1) != 0; limit *= 2) {
    const long long begin = clock64();
    while (clock64() - begin < limit) {
    }
  }
  flag.store(0);
}

// What is done from time to time.
//@ case: now_and_then plain 2
//@ verdict: may-hang
//@ finding: starvation
//@ case: now_and_then block 2
//@ verdict: terminates
__global__ void now_and_then(int n) {
  if (sets()) {
    flag.store(1);
    return;
  }
  long long last = clock64();
  while (flag.load() == 0) {
    const long long now = clock64();
    if (now - last > n) {
      last = now;
      results[me()] = 1;
    }
  }
}

// A warning, and later the end: what is between decides.
//@ case: warns plain 2
//@ verdict: unknown
//@ incomplete: values of a clock
__global__ void warns(long long n) {
  if (sets()) {
    flag.store(1);
    return;
  }
  const long long begin = clock64();
  int warned = 0;
  while (flag.load() == 0) {
    const long long passed = clock64() - begin;
    if (passed > 2 * n) {
      return;
    }
    if (passed > n) {
      warned = 1;
    }
  }
  if (warned == 1) {
    hang();
  }
}

// --- Values of clocks that decide otherwise ----------------------------------------------------

//@ case: odd block 1
//@ verdict: may-hang
//@ finding: livelock
//@ incomplete: values of a clock
//@ case: rest block 1
//@ verdict: unknown
//@ incomplete: values of a clock
//@ case: hashed block 1
//@ verdict: unknown
//@ incomplete: values of a clock
//@ case: high block 1
//@ verdict: unknown
//@ incomplete: values of a clock
//@ case: equals block 1
//@ verdict: unknown
//@ incomplete: values of a clock
//@ case: stored block 1
//@ verdict: unknown
//@ incomplete: values of a clock
//@ case: shuffled block 2
//@ verdict: may-hang
//@ finding: livelock
//@ incomplete: values of a clock
//@ case: differences block 1
//@ verdict: unknown
//@ incomplete: values of a clock
__global__ void odd(int) {
  if (clock64() & 1) {
    hang();
  }
}
__global__ void rest(int n) {
  const long long begin = clock64();
  if ((clock64() - begin) % 100 == n % 100 + 1) {
    hang();
  }
}
__global__ void hashed(int) {
  unsigned seed = clock();
  seed ^= seed << 13;
  seed ^= seed >> 17;
  flag.fetch_add(1);
  if (seed % 8 == 3) {
    hang();
  }
}
__global__ void high(int) {
  if (cycles_high() == 5) {
    hang();
  }
}
__global__ void equals(int n) {
  const long long begin = clock64();
  if (clock64() - begin == n) {
    hang();
  }
}
__global__ void stored(int) {
  results[0] = clock64();
  __threadfence();
  flag.fetch_add(1);
  if (*(volatile long long*)&results[0] % 16 == 7) {
    hang();
  }
}
__global__ void shuffled(int n) {
  const long long begin = clock64();
  const long long others = __shfl_xor_sync(3, begin, 1);
  if (begin - others > n) {
    hang();
  }
}
__global__ void differences(int n) {
  const long long a = clock64();
  const long long b = clock64();
  const long long c = clock64();
  if ((c - b) - (b - a) == n) {
    hang();
  }
}

// The same where nothing comes of it.
//@ case: odd_data block 1
//@ verdict: terminates
//@ case: stored_data block 1
//@ verdict: terminates
//@ case: printed block 1
//@ verdict: terminates
__global__ void odd_data(int) {
  results[me()] = clock64() & 1;
}
__global__ void stored_data(int) {
  const long long begin = clock64();
  flag.fetch_add(1);
  results[me()] = clock64() - begin;
  if (flag.load() == 0) {
    hang();
  }
}
__global__ void printed(int) {
  const long long begin = clock64();
  flag.fetch_add(1);
  printf("%lld\n", clock64() - begin);
}

// What the host can see, or brings to where a kernel decides by it.
//@ case: copied block 1
//@ verdict: unknown
//@ incomplete: values of a clock
//@ case: copied_between block 1
//@ verdict: unknown
//@ incomplete: values of a clock
//@ case: managed block 1
//@ verdict: unknown
//@ incomplete: values of a clock
//@ case: copied_elsewhere block 1
//@ verdict: terminates
__global__ void stored_at(long long* at) {
  *at = clock64();
}
__global__ void odd_at(const long long* at) {
  if (*at % 16 == 7) {
    hang();
  }
}
enum class By { Copy, CopyBetween, Managed, CopyElsewhere };
template <By by> int by_host(Setup setup) {
  long long *at = nullptr, seen = 0;
  int status = by == By::Managed ? cudaMallocManaged(&at, 4 * sizeof *at) : cudaMalloc(&at, 4 * sizeof *at);
  status += launch(setup, stored_at, at) + cudaDeviceSynchronize();
  if (by == By::CopyBetween) {
    status += cudaMemcpy(at + 2, at, sizeof seen, cudaMemcpyDeviceToDevice);
    status += launch(setup, odd_at, static_cast<const long long*>(at + 2));
  } else if (by == By::Managed) {
    seen = *at;
  } else {
    status += cudaMemcpy(&seen, by == By::Copy ? at : at + 2, sizeof seen, cudaMemcpyDeviceToHost);
  }
  return status + cudaDeviceSynchronize();
}

// --- Times that only say how long a thread sleeps ------------------------------------------------

// A wait that backs off by the time that it has taken, or by whatever a clock shows. All of that is one value.
//@ case: backs_off_by_time block 2
//@ verdict: terminates
//@ case: backs_off_by_time plain 2
//@ verdict: may-hang
//@ finding: starvation
//@ case: backs_off_by_bits block 2
//@ verdict: terminates
//@ case: backs_off_and_stores block 2
//@ verdict: terminates
__device__ bool waits_backing_off(unsigned long long n) {
  const unsigned long long begin = timer();
  bool slept_long = false;
  while (flag.load() == 0) {
    const unsigned long long passed = timer() - begin;
    if (passed > 100 * n) {
      __nanosleep(n);
      slept_long = true;
    } else if (passed > n) {
      __nanosleep(passed / 4);
    }
  }
  return slept_long;
}
__global__ void backs_off_by_time(int n) {
  if (sets()) {
    flag.store(1);
  } else {
    waits_backing_off(n);
  }
}
__global__ void backs_off_by_bits(int n) {
  if (sets()) {
    flag.store(1);
    return;
  }
  while (flag.load() == 0) {
    const unsigned now = clock();
    if ((now & 1) != 0) {
      __nanosleep(now % 100);
    }
  }
}
// The time of another look is stored, and only the host could read it.
__global__ void backs_off_and_stores(int n) {
  const long long begin = clock64();
  if (sets()) {
    flag.store(1);
  } else {
    waits_backing_off(n);
  }
  results[me()] = clock64() - begin;
}

// One of the ways does more than to sleep: it remembers that, or gives up.
//@ case: backs_off_and_remembers block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: backs_off_and_is_late block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: backs_off_and_leaves block 2
//@ verdict: terminates
//@ case: backs_off_by_bits_and_is_late block 2
//@ verdict: may-hang
//@ finding: livelock
//@ incomplete: values of a clock
__global__ void backs_off_and_remembers(int n) {
  if (sets()) {
    flag.store(1);
  } else if (waits_backing_off(n)) {
    hang();
  }
}
__device__ bool waits_for(unsigned long long n) {
  const unsigned long long begin = timer();
  while (flag.load() == 0) {
    const unsigned long long passed = timer() - begin;
    if (passed > n) {
      return false;
    }
    __nanosleep(passed / 4);
  }
  return true;
}
__global__ void backs_off_and_is_late(int n) {
  if (sets()) {
    flag.store(1);
  } else if (!waits_for(n)) {
    hang();
  }
}
__global__ void backs_off_and_leaves(int n) {
  if (sets()) {
    flag.store(1);
  } else if (!waits_for(n)) {
    results[me()] = 1;
  }
}
__global__ void backs_off_by_bits_and_is_late(int) {
  if (sets()) {
    flag.store(1);
    return;
  }
  while (flag.load() == 0) {
    const unsigned now = clock();
    if ((now & 1) != 0) {
      hang();
    }
    __nanosleep(now % 100);
  }
}

// --- Loops that only ask the time never hang ---------------------------------------------------

//@ case: until_odd block 1
//@ verdict: unknown
//@ incomplete: values of a clock
//@ case: until_rest block 1
//@ verdict: unknown
//@ incomplete: values of a clock
//@ case: until_between block 1
//@ verdict: unknown
//@ incomplete: values of a clock
//@ case: until_equal block 1
//@ verdict: unknown
//@ incomplete: values of a clock
//@ case: until_wrapped block 1
//@ verdict: unknown
//@ incomplete: values of a clock
//@ case: until_divided block 1
//@ verdict: terminates
//@ case: until_shared block 2
//@ verdict: unknown
//@ incomplete: values of a clock
__global__ void until_odd(int) {
  while ((clock64() & 1) == 0) {
  }
}
__global__ void until_rest(int n) {
  const long long begin = clock64();
  while ((clock64() - begin) % n != 99) {
  }
}
__global__ void until_between(int n) {
  const long long begin = clock64();
  for (;;) {
    const long long passed = clock64() - begin;
    if (passed > n && passed < 2 * n) {
      break;
    }
  }
}
__global__ void until_equal(int n) {
  const long long begin = clock64();
  while (clock64() - begin != n) {
  }
}
__global__ void until_wrapped(int n) {
  const clock_t start = clock();
  for (;;) {
    const clock_t now = clock();
    const clock_t cycles = now > start ? now - start : now + (0xffffffff - start);
    if (cycles >= n) {
      break;
    }
  }
}
__global__ void until_divided(int n) {
  const long long begin = clock64();
  while ((clock64() - begin) / 1000 < n) {
  }
}
__global__ void until_shared(int n) {
  __shared__ long long shared_time;
  if (me() == 0) {
    shared_time = clock64() + n;
  }
  __syncthreads();
  while (clock64() < *(volatile long long*)&shared_time) {
  }
}

template <class T> int run_with_limit(Setup setup, void (*kernel)(T)) {
  const cudaError_t launched = launch(setup, kernel, 1000);
  return static_cast<int>(launched) + static_cast<int>(cudaDeviceSynchronize());
}

#define DEVICE_CASE(kernel) {#kernel, [](Setup setup) { return run_with_limit(setup, kernel); }}
#define ONE(NAME, TYPE, BEGIN, IS_OVER)                                                            \
  DEVICE_CASE(wait_##NAME), DEVICE_CASE(late_##NAME), DEVICE_CASE(limit_##NAME),

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      LIMITS(ONE)
      DEVICE_CASE(phases),
      DEVICE_CASE(turns_over),
      DEVICE_CASE(stays_over),
      DEVICE_CASE(negative),
      DEVICE_CASE(not_negative),
      DEVICE_CASE(backs_off),
      DEVICE_CASE(now_and_then),
      DEVICE_CASE(warns),
      DEVICE_CASE(odd),
      DEVICE_CASE(rest),
      DEVICE_CASE(hashed),
      DEVICE_CASE(high),
      DEVICE_CASE(equals),
      DEVICE_CASE(stored),
      DEVICE_CASE(shuffled),
      DEVICE_CASE(differences),
      {"copied", by_host<By::Copy>},
      {"copied_between", by_host<By::CopyBetween>},
      {"managed", by_host<By::Managed>},
      {"copied_elsewhere", by_host<By::CopyElsewhere>},
      DEVICE_CASE(odd_data),
      DEVICE_CASE(stored_data),
      DEVICE_CASE(printed),
      DEVICE_CASE(backs_off_by_time),
      DEVICE_CASE(backs_off_by_bits),
      DEVICE_CASE(backs_off_and_stores),
      DEVICE_CASE(backs_off_and_remembers),
      DEVICE_CASE(backs_off_and_is_late),
      DEVICE_CASE(backs_off_and_leaves),
      DEVICE_CASE(backs_off_by_bits_and_is_late),
      DEVICE_CASE(until_odd),
      DEVICE_CASE(until_rest),
      DEVICE_CASE(until_between),
      DEVICE_CASE(until_equal),
      DEVICE_CASE(until_wrapped),
      DEVICE_CASE(until_divided),
      DEVICE_CASE(until_shared),
  });
}

// Time limits: loops that ask a clock ([CLOCK]).
//
// Time goes on, so a loop that only asks the time ends, and a deadline passes. When it passes is left
// open: whoever waits for a flag or a deadline may be freed by either, so what stands behind each of
// the two is looked at. A deadline that is set anew in each round frees nobody from waiting.
#include "cases.h"

#include <cuda/semaphore>
#include <cuda/std/chrono>

constexpr long long some_time = 1'000'000, long_time = 100'000'000;

__device__ Atomic<int> flag, never;
__device__ long long deadline, results[64];

__device__ bool sets() { return me() == all() - 1; }
__device__ void hang() {
  while (never.load(memory_order_relaxed) == 0) {
  }
}
__device__ unsigned long long global_time() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
__device__ unsigned global_time_low() {
  unsigned now;
  asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(now));
  return now;
}

// --- Loops that only ask the time end ----------------------------------------------------------

//@ case: delay plain 2
//@ verdict: terminates
__global__ void delay() {
  const long long begin = clock64();
  while (clock64() - begin < long_time) {
  }
}

//@ case: delay-asleep plain 2
//@ verdict: terminates
__global__ void delay_asleep() {
  const long long begin = clock64();
  while (clock64() - begin < long_time) {
    __nanosleep(100);
  }
}

//@ case: delay-32 block 2
//@ verdict: terminates
__global__ void delay_32() {
  const clock_t begin = clock();
  while (clock() - begin < some_time) {
  }
}

//@ case: delay-timer block 2
//@ verdict: terminates
__global__ void delay_timer() {
  const unsigned long long end = global_time() + long_time;
  while (global_time() < end) {
  }
}

//@ case: delay-timer-32 block 2
//@ verdict: terminates
__global__ void delay_timer_32() {
  const unsigned begin = global_time_low();
  while (global_time_low() - begin < some_time) {
  }
}

//@ case: delay-chrono block 2
//@ verdict: terminates
__global__ void delay_chrono() {
  using Clock = cuda::std::chrono::high_resolution_clock;
  const auto end = Clock::now() + cuda::std::chrono::milliseconds(5);
  while (Clock::now() < end) {
  }
}

//@ case: delay-system-clock block 2
//@ verdict: terminates
__global__ void delay_system_clock() {
  using Clock = cuda::std::chrono::system_clock;
  const auto begin = Clock::now();
  while (Clock::now() - begin < cuda::std::chrono::milliseconds(5)) {
  }
}

// A loop that begins anew again and again does not end, however often its inner one does.
//@ case: delays-for-ever block 2
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
__global__ void delays_for_ever() {
  for (;;) {
    const long long begin = clock64();
    while (clock64() - begin < some_time) {
    }
  }
}

// What is counted meanwhile may be any number; a few are tried.
//@ case: counts block 1
//@ verdict: unknown
//@ incomplete: how often it looks
__global__ void counts() {
  const long long begin = clock64();
  int n = 0;
  while (clock64() - begin < some_time) {
    ++n;
  }
  results[me()] = n;
}

// A moment that somebody else has chosen.
//@ case: given-moment block 2
//@ verdict: terminates
__global__ void given_moment() {
  const long long end = deadline;
  while (clock64() < end) {
  }
}

// --- Whichever comes first ---------------------------------------------------------------------

//@ case: limit plain 2
//@ verdict: terminates
//@ rests-on: CLOCK
//@ case: limit block 2
//@ verdict: terminates
__global__ void limit() {
  if (sets()) {
    flag.store(1, memory_order_release);
  } else {
    const long long begin = clock64();
    while (!flag.load(memory_order_acquire) && clock64() - begin < some_time) {
    }
  }
}

// The time is asked first, and the limit is a moment.
//@ case: limit-moment plain 2
//@ verdict: terminates
__global__ void limit_moment() {
  if (sets()) {
    flag.store(1, memory_order_release);
  } else {
    const unsigned long long end = global_time() + some_time;
    while (global_time() < end) {
      if (flag.load(memory_order_acquire) != 0) {
        break;
      }
      __nanosleep(20);
    }
  }
}

//@ case: limit-several plain 3
//@ verdict: terminates
//@ case: limit-several block 3
//@ verdict: terminates
__global__ void limit_several() {
  if (sets()) {
    flag.store(1, memory_order_release);
  } else {
    const long long begin = clock64();
    while (flag.load(memory_order_acquire) == 0 && clock64() - begin < some_time) {
    }
    results[me()] = 1;
  }
}

// What is measured is data: nothing else depends on it.
//@ case: measures plain 2
//@ verdict: terminates
//@ case: measures cooperative 2
//@ verdict: terminates
__global__ void measures() {
  const long long begin = clock64();
  for (int i = 0; i < 8; ++i) {
    flag.fetch_add(1, memory_order_relaxed);
  }
  results[me()] = clock64() - begin;
}

// libcu++.
//@ case: limit-chrono plain 2
//@ verdict: terminates
__global__ void limit_chrono() {
  if (sets()) {
    flag.store(1, memory_order_release);
  } else {
    using Clock = cuda::std::chrono::high_resolution_clock;
    const auto end = Clock::now() + cuda::std::chrono::milliseconds(5);
    while (flag.load(memory_order_acquire) == 0 && Clock::now() < end) {
    }
  }
}

// Some tries, each with its own time limit, then it gives up.
//@ case: three-tries plain 2
//@ verdict: terminates
__global__ void three_tries() {
  if (sets()) {
    flag.store(1, memory_order_release);
    return;
  }
  for (int i = 0; i < 3 && flag.load(memory_order_acquire) == 0; ++i) {
    const long long begin = clock64();
    while (flag.load(memory_order_acquire) == 0 && clock64() - begin < some_time) {
    }
  }
}

// --- What does not end -------------------------------------------------------------------------

// A limit that is set anew in each round.
//@ case: tries-for-ever plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: tries-for-ever block 2
//@ verdict: terminates
__global__ void tries_for_ever() {
  if (sets()) {
    flag.store(1, memory_order_release);
    return;
  }
  for (;;) {
    const long long begin = clock64();
    while (flag.load(memory_order_acquire) == 0 && clock64() - begin < some_time) {
    }
    if (flag.load(memory_order_acquire) != 0) {
      break;
    }
  }
}

//@ case: tries-for-ever-timer plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
__global__ void tries_for_ever_timer() {
  if (sets()) {
    flag.store(1, memory_order_release);
    return;
  }
  while (flag.load(memory_order_acquire) == 0) {
    const unsigned long long end = global_time() + some_time;
    while (global_time() < end) {
      if (flag.load(memory_order_acquire) != 0) {
        break;
      }
    }
  }
}

// One limit for all, that frees nobody.
//@ case: limit-ignored plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
__global__ void limit_ignored() {
  if (sets()) {
    flag.store(1, memory_order_release);
    return;
  }
  const long long begin = clock64();
  int late = 0;
  while (flag.load(memory_order_acquire) == 0) {
    late |= clock64() - begin > some_time ? 1 : 0;
  }
  results[me()] = late;
}

// Behind the limit.
//@ case: hangs-late plain 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: hangs-late block 2
//@ verdict: may-hang
//@ finding: livelock
__global__ void hangs_late() {
  if (sets()) {
    flag.store(1, memory_order_release);
    return;
  }
  const long long begin = clock64();
  while (flag.load(memory_order_acquire) == 0) {
    if (clock64() - begin > some_time) {
      hang();
    }
  }
}

// Where nobody is waited for any more.
//@ case: hangs-in-time block 2
//@ verdict: may-hang
//@ finding: livelock
__global__ void hangs_in_time() {
  const long long begin = clock64();
  flag.fetch_add(1, memory_order_acq_rel);
  if (clock64() - begin < some_time) {
    hang();
  }
}

//@ case: hangs-between block 1
//@ incomplete: two limits of one time
//@ verdict: may-hang
//@ finding: livelock
__global__ void hangs_between() {
  const long long begin = clock64();
  while (clock64() - begin < some_time) {
    if (clock64() - begin > some_time / 2) {
      hang();
    }
  }
}

// try_acquire_for gives up when it is too late, and then nobody comes.
//@ case: semaphore-late block 2
//@ verdict: may-hang
//@ finding: livelock
__global__ void semaphore_late() {
  __shared__ cuda::binary_semaphore<cuda::thread_scope_block> semaphore;
  if (me() == 0) {
    new (&semaphore) cuda::binary_semaphore<cuda::thread_scope_block>(0);
  }
  __syncthreads();
  if (me() == 0) {
    semaphore.release();
  } else if (!semaphore.try_acquire_for(cuda::std::chrono::milliseconds(2))) {
    hang();
  }
}

#define DEVICE_CASE(name, kernel) {name, [](Setup setup) { return run_kernel(setup, kernel); }}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      DEVICE_CASE("delay", delay),
      DEVICE_CASE("delay-asleep", delay_asleep),
      DEVICE_CASE("delay-32", delay_32),
      DEVICE_CASE("delay-timer", delay_timer),
      DEVICE_CASE("delay-timer-32", delay_timer_32),
      DEVICE_CASE("delay-chrono", delay_chrono),
      DEVICE_CASE("delay-system-clock", delay_system_clock),
      DEVICE_CASE("delays-for-ever", delays_for_ever),
      DEVICE_CASE("counts", counts),
      {"given-moment",
       [](Setup setup) {
         const long long end = 1LL << 55;
         return static_cast<int>(cudaMemcpyToSymbol(deadline, &end, sizeof end)) +
                run_kernel(setup, given_moment);
       }},
      DEVICE_CASE("limit", limit),
      DEVICE_CASE("limit-moment", limit_moment),
      DEVICE_CASE("limit-several", limit_several),
      DEVICE_CASE("measures", measures),
      DEVICE_CASE("limit-chrono", limit_chrono),
      DEVICE_CASE("three-tries", three_tries),
      DEVICE_CASE("tries-for-ever", tries_for_ever),
      DEVICE_CASE("tries-for-ever-timer", tries_for_ever_timer),
      DEVICE_CASE("limit-ignored", limit_ignored),
      DEVICE_CASE("hangs-late", hangs_late),
      DEVICE_CASE("hangs-in-time", hangs_in_time),
      DEVICE_CASE("hangs-between", hangs_between),
      DEVICE_CASE("semaphore-late", semaphore_late),
  });
}

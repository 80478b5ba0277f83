// Ways to wait: what a loop reads, what it does meanwhile, and what it may conclude.
//
// The waiting itself never decides whether a program ends; who is awaited does. So each of these ends within
// a block and may hang between blocks of a plain grid. What the loop changes in each round decides whether
// the search can come to an end.
#include "cases.h"

#include <cooperative_groups.h>
#include <cuda/semaphore>
#include <cuda/std/chrono>

__device__ Atomic<int> flag, counter;
__device__ volatile int volatile_flag;
__device__ int plain_flag, results[64];

__device__ bool sets() { return me() == all() - 1; }

// Volatile, without atomics: not how it should be written, but a step all the same ([STEP.3]).
//@ case: volatile block 2
//@ verdict: terminates
//@ clause: device.threads.3
//@ case: volatile plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
__global__ void volatile_spin() {
  if (sets()) {
    volatile_flag = 1;
  } else {
    while (volatile_flag == 0) {
    }
  }
}

// Plain: the compiler reads it once, and what is left is an empty loop.
//@ case: plain-read block 2
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ clause: device.threads.3
__global__ void plain_spin() {
  if (sets()) {
    plain_flag = 1;
  } else {
    while (plain_flag == 0) {
    }
  }
}

// The same, and who writes is in another warp, or comes first if nobody asks for another order.
//@ case: plain-read-late block 2
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
__global__ void plain_spin_late() {
  __syncthreads();
  if (me() == 0) {
    plain_flag = 1;
  } else {
    while (plain_flag == 0) {
    }
  }
}

// The counter is atomic, and what waits for it reads it once.
//@ case: plain-count block 2
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
__device__ int plain_count;
__global__ void plain_count_spin() {
  atomicAdd(&plain_count, 1);
  while (plain_count < all()) {
  }
}

// A ticket lock whose holder's number is read once: nobody is left behind if each comes alone.
//@ case: plain-serving block 2
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: plain-serving plain 2
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
__device__ int plain_ticket, plain_serving;
__global__ void plain_serving_spin() {
  const int mine = atomicAdd(&plain_ticket, 1);
  while (plain_serving != mine) {
  }
  __threadfence();
  atomicAdd(&plain_serving, 1);
}

// What is waited for comes after the flag, is volatile for who writes it, and is read once.
//@ case: plain-behind-flag block 2
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
__device__ int behind_flag;
__global__ void plain_behind_flag() {
  if (me() == 0) {
    volatile_flag = 1;
    *static_cast<volatile int*>(&behind_flag) = 42;
    return;
  }
  while (volatile_flag == 0) {
  }
  const int seen = behind_flag;
  while (seen == 0) {
  }
  results[me()] = seen;
}

// Read-modify-write in the loop.
//@ case: update block 2
//@ verdict: terminates
//@ case: update plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
__global__ void update_spin() {
  if (sets()) {
    flag.store(1, memory_order_release);
  } else {
    while (flag.fetch_add(0, memory_order_acquire) == 0) {
    }
  }
}

// Sleeps between reads, longer and longer up to a limit.
//@ case: back-off block 2
//@ verdict: terminates
//@ case: back-off plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
__global__ void back_off() {
  if (sets()) {
    flag.store(1, memory_order_release);
    return;
  }
  for (unsigned pause = 1; flag.load(memory_order_acquire) == 0; pause = pause < 64 ? 2 * pause : pause) {
    __nanosleep(pause);
  }
}

// cuda::atomic::wait, which polls, looks at the clock and sleeps.
//@ case: wait block 2
//@ verdict: terminates
//@ case: wait plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
__global__ void wait() {
  if (sets()) {
    flag.store(1, memory_order_release);
    flag.notify_all();
  } else {
    flag.wait(0, memory_order_acquire);
  }
}

// All threads of a block, which differ in nothing but how often they have read and what their clock
// says: none of that matters.
//@ case: wait block 64
//@ verdict: terminates
//@ large: each read is a state
//@ case: back-off block 64
//@ verdict: terminates
//@ large: each pause is a state

// The loop looks once more when it has found something; the reads before it do not. Whoever finds nothing then waits
// again, or stops for good.
//@ case: looks-again block 2
//@ verdict: terminates
//@ case: looks-again-and-stops block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: looks-again-and-stops-unless block 2
//@ verdict: terminates
template <bool stops, bool takes_back> __global__ void looks_again() {
  if (sets()) {
    flag.store(1, memory_order_release);
    if (takes_back) {
      flag.store(0, memory_order_release);
      flag.store(1, memory_order_release);
    }
    return;
  }
#pragma unroll
  for (int round = 0; round < 4; ++round) {
    if (flag.load(memory_order_acquire) != 0) {
      return;
    }
  }
  do {
    while (flag.load(memory_order_acquire) == 0) {
      __nanosleep(64);
    }
    if (stops && flag.load(memory_order_acquire) == 0) {
      while (flag.load(memory_order_relaxed) != 2) {
      }
    }
  } while (flag.load(memory_order_acquire) == 0);
}

// It looks at something else.
//@ case: looks-elsewhere block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void looks_elsewhere() {
  if (sets()) {
    flag.store(1, memory_order_release);
    return;
  }
  if (flag.load(memory_order_acquire) != 0) {
    return;
  }
  while (flag.load(memory_order_acquire) == 0) {
    __nanosleep(64);
  }
  while (counter.load(memory_order_acquire) == 0) {
  }
}

// A deadline does matter, although the loop comes back to where it was.
//@ case: until block 8
//@ verdict: terminates
__global__ void until() {
  __shared__ cuda::counting_semaphore<cuda::thread_scope_block, 8> semaphore;
  if (me() == 0) {
    new (&semaphore) cuda::counting_semaphore<cuda::thread_scope_block, 8>(0);
  }
  __syncthreads();
  if (semaphore.try_acquire_for(cuda::std::chrono::milliseconds(2))) {
    __trap();
  }
}

// So does in which of several reads the change is found, if the thread remembers it.
//@ case: remembers block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void remembers() {
  if (sets()) {
    flag.store(1, memory_order_release);
    return;
  }
  int found_in = 0;
#pragma unroll
  for (int round = 0; round < 8; ++round) {
    if (found_in == 0 && flag.load(memory_order_acquire) != 0) {
      found_in = round;
    }
  }
  while (flag.load(memory_order_acquire) == 0) {
  }
  while (found_in == 5 && flag.load(memory_order_relaxed) != 2) {
  }
}

// Gives up after some time: ends whoever starts.
//@ case: patient-for-a-while plain 2
//@ verdict: terminates
__global__ void patient_for_a_while() {
  if (sets()) {
    flag.store(1, memory_order_release);
    return;
  }
  for (int rounds = 0; rounds < 5 && flag.load(memory_order_acquire) == 0; ++rounds) {
  }
}

// Counts its rounds, and the count decides: no state comes back, so no search can be complete. (A count by
// which nothing is decided is no part of a state: see cone.cu.)
//@ case: counting block 2
//@ flags: --max-states=200 --schedules=40
//@ verdict: unknown
//@ incomplete: the count differs in every state
__global__ void counting() {
  if (sets()) {
    flag.store(1, memory_order_release);
    return;
  }
  int rounds = 0;
  while (flag.load(memory_order_acquire) == 0) {
    ++rounds;
  }
  if (rounds % 1000 == 999) {
    counter.fetch_add(1, memory_order_relaxed);
  }
}

// --- activemask says who stands here now, not who will come --------------------------------------------

// One addition for all lanes that happen to be together: right for every answer.
//@ case: aggregate block 2
//@ verdict: terminates
__global__ void aggregate() {
  cooperative_groups::coalesced_group group = cooperative_groups::coalesced_threads();
  int first = 0;
  if (group.thread_rank() == 0) {
    first = counter.fetch_add(group.size(), memory_order_relaxed);
  }
  results[me()] = group.shfl(first, 0) + group.thread_rank();
}

// Waits for a lane that activemask did not name, on the assumption that it named all.
//@ case: all-assumed block 2
//@ verdict: may-hang
//@ finding: livelock
__global__ void all_assumed() {
  if (__popc(__activemask()) < static_cast<int>(blockDim.x)) {
    while (flag.load(memory_order_acquire) == 0) {
    }
  }
}

// The other way round: it may well name all.
//@ case: apart-assumed block 2
//@ verdict: may-hang
//@ finding: livelock
__global__ void apart_assumed() {
  if (__popc(__activemask()) == static_cast<int>(blockDim.x)) {
    while (flag.load(memory_order_acquire) == 0) {
    }
  }
}

// The same behind a plain access, which may be the first thing that its thread does.
//@ case: apart-assumed-behind-store block 2
//@ verdict: may-hang
//@ finding: livelock
//@ case: apart-assumed-behind-store block 2
//@ flags: --no-eager
//@ verdict: may-hang
//@ finding: livelock
__global__ void apart_assumed_behind_store() {
  results[me()] = 1;
  if (__popc(__activemask()) == static_cast<int>(blockDim.x)) {
    while (flag.load(memory_order_acquire) == 0) {
    }
  }
}

// Two of three lanes: neither one alone nor all together.
//@ case: pair-named block 3
//@ verdict: may-hang
//@ finding: livelock
//@ case: pair-named block 2
//@ verdict: terminates
__global__ void pair_named() {
  if (__popc(__activemask()) == 2 && blockDim.x == 3) {
    while (flag.load(memory_order_acquire) == 0) {
    }
  }
}

// Who asks waits for those who are named, and only for those: right for every answer, even for all.
//@ case: named-meet block 3
//@ verdict: terminates
//@ case: named-meet block 8
//@ verdict: unknown
//@ coverage: bounded
__global__ void named_meet() {
  const unsigned named = __activemask();
  __syncwarp(named);
  if (me() == __ffs(named) - 1) {
    counter.fetch_add(__popc(named), memory_order_relaxed);
  }
  __syncwarp(named);
}

// In each round the lanes that are here go on together; who never sees all of them waits for ever.
//@ case: full-awaited block 2
//@ verdict: may-hang
//@ finding: no-progress-loop
__global__ void full_awaited() {
  while (__popc(__activemask()) < static_cast<int>(blockDim.x)) {
  }
}

// Each round has a step, the update; but which of the three threads makes it, and which one the store, is named anew each time.
//@ case: update-and-store plain 3
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void update_and_store() {
  if (me() == 1) {
    counter.store(2, memory_order_release);
  }
  int before;
  do {
    before = counter.fetch_add(1);
    if (before != 1) {
      counter.store(0, memory_order_release);
    }
  } while (before < 1);
}

// A store is no step, but the read behind it is one, although nobody else can tell when it is made.
//@ case: store-and-own-read block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__device__ int of_each[2], of_all;
__global__ void store_and_own_read() {
  const cuda::atomic_ref<int, cuda::thread_scope_device> own(of_each[threadIdx.x]), all(of_all);
  while (own.load(memory_order_relaxed) == 0) {
    all.store(static_cast<int>(threadIdx.x), memory_order_relaxed);
  }
}

#define DEVICE_CASE(name, kernel) {name, [](Setup setup) { return run_kernel(setup, kernel); }}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      DEVICE_CASE("volatile", volatile_spin),
      DEVICE_CASE("plain-read", plain_spin),
      DEVICE_CASE("plain-read-late", plain_spin_late),
      DEVICE_CASE("plain-count", plain_count_spin),
      DEVICE_CASE("plain-serving", plain_serving_spin),
      DEVICE_CASE("plain-behind-flag", plain_behind_flag),
      DEVICE_CASE("update", update_spin),
      DEVICE_CASE("back-off", back_off),
      DEVICE_CASE("wait", wait),
      DEVICE_CASE("until", until),
      DEVICE_CASE("remembers", remembers),
      {"looks-again", [](Setup setup) { return run_kernel(setup, looks_again<false, true>); }},
      {"looks-again-and-stops", [](Setup setup) { return run_kernel(setup, looks_again<true, true>); }},
      {"looks-again-and-stops-unless", [](Setup setup) { return run_kernel(setup, looks_again<true, false>); }},
      DEVICE_CASE("looks-elsewhere", looks_elsewhere),
      DEVICE_CASE("patient-for-a-while", patient_for_a_while),
      DEVICE_CASE("counting", counting),
      DEVICE_CASE("aggregate", aggregate),
      DEVICE_CASE("all-assumed", all_assumed),
      DEVICE_CASE("apart-assumed", apart_assumed),
      DEVICE_CASE("apart-assumed-behind-store", apart_assumed_behind_store),
      DEVICE_CASE("pair-named", pair_named),
      DEVICE_CASE("named-meet", named_meet),
      DEVICE_CASE("full-awaited", full_awaited),
      DEVICE_CASE("update-and-store", update_and_store),
      DEVICE_CASE("store-and-own-read", store_and_own_read),
  });
}

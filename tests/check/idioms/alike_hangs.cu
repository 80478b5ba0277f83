// What is said of threads that are alike and never end is what is said of each of them: it does not depend on
// whether a search tells them apart.
#include "cases.h"

__device__ volatile unsigned word;
__device__ Atomic<int> counter, flag;

// Every thread goes round for ever, and none waits for another one.
//@ case: two-steps plain 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: two-steps plain 3
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: two-steps block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: two-steps cooperative 3
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void two_steps() {
  do {
    word = 3;
    atomicOr(const_cast<unsigned*>(&word), 1U);
  } while (true);
}
// The same, but not all of them go round.
//@ case: two-steps-of-first plain 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: two-steps-once plain 3
//@ verdict: terminates
template <bool once> __global__ void two_steps_of_first() {
  do {
    word = 3;
    atomicOr(const_cast<unsigned*>(&word), 1U);
  } while (!once && me() == 0);
}

// Each waits for all others: no block has to start because another one waits.
//@ case: meet plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: meet plain 3
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: meet cooperative 3
//@ verdict: terminates
__global__ void meet() {
  counter.fetch_add(1);
  while (counter.load() < all()) {
  }
}

// Each takes the lock and gives it back, for ever.
//@ case: lock-again block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: lock-again plain 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void lock_again() {
  for (;;) {
    while (flag.exchange(1) != 0) {
    }
    flag.store(0);
  }
}

#define DEVICE_CASE(name, kernel) {name, [](Setup setup) { return run_kernel(setup, kernel); }}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      DEVICE_CASE("two-steps", two_steps),
      DEVICE_CASE("two-steps-of-first", two_steps_of_first<false>),
      DEVICE_CASE("two-steps-once", two_steps_of_first<true>),
      DEVICE_CASE("meet", meet),
      DEVICE_CASE("lock-again", lock_again),
  });
}

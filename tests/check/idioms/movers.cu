// Loads and stores of places that others write, but not before the thread goes on: the search need not choose when
// they happen ([RED-MOVERS]), and without that the first of these searches has more states than are allowed. Each has a
// twin in which another thread can come before the access, and hangs if it does. With --one-order-after=1 the search
// takes to this at once.
#include "cases.h"

__device__ Atomic<int> tickets, flag, arrived, generation, never;

__device__ void hang() {
  while (never.load(memory_order_relaxed) == 0) {
  }
}
__device__ int ticket() { return tickets.fetch_add(1, memory_order_acq_rel); }

// --- A barrier whose generation is read before the arrival is counted ----------------------------------

template <bool early> __device__ void barrier() {
  int now = 0;
  if (early) {
    now = generation.load(memory_order_relaxed);
  }
  if (arrived.fetch_add(1, memory_order_acq_rel) == static_cast<int>(gridDim.x) - 1) {
    arrived.store(0, memory_order_relaxed);
    generation.fetch_add(1, memory_order_release);
    return;
  }
  if (!early) {
    now = generation.load(memory_order_relaxed);
  }
  while (generation.load(memory_order_acquire) == now) {
  }
}

//@ case: barrier cooperative 64
//@ flags: --max-states=10000 --one-order-after=1
//@ verdict: terminates
//@ rests-on: COOP
__global__ void read_before() {
  barrier<true>();
  barrier<true>();
}

// Read behind it, it may be the next one already.
//@ case: barrier-late cooperative 4
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void read_behind() {
  barrier<false>();
  barrier<false>();
}

// --- A store, and then a ticket -------------------------------------------------------------------------

// Who draws the second ticket comes behind the store.
//@ case: store-first plain 2
//@ flags: --one-order-after=1
//@ verdict: terminates
__global__ void store_first() {
  if (me() == 0) {
    flag.store(1, memory_order_relaxed);
    ticket();
  } else if (ticket() == 1 && flag.load(memory_order_relaxed) == 0) {
    hang();
  }
}

// The store is the last that its thread does: it may come later than what it is behind of.
//@ case: store-last plain 2
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void store_last() {
  if (me() == 0) {
    ticket();
    flag.store(1, memory_order_relaxed);
  } else if (ticket() == 1 && flag.load(memory_order_relaxed) == 0) {
    hang();
  }
}

// --- A load, and then a ticket --------------------------------------------------------------------------

// Whoever draws the first ticket has not seen what the other one stores behind its own.
//@ case: load-first plain 2
//@ flags: --one-order-after=1
//@ verdict: terminates
__global__ void load_first() {
  if (me() == 0) {
    const int found = flag.load(memory_order_relaxed);
    if (ticket() == 0 && found == 1) {
      hang();
    }
  } else {
    ticket();
    flag.store(1, memory_order_relaxed);
  }
}

//@ case: load-second plain 2
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void load_second() {
  if (me() == 0) {
    const int found = flag.load(memory_order_relaxed);
    if (ticket() == 1 && found == 1) {
      hang();
    }
  } else {
    ticket();
    flag.store(1, memory_order_relaxed);
  }
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"barrier", [](Setup setup) { return run_kernel(setup, read_before); }},
       {"barrier-late", [](Setup setup) { return run_kernel(setup, read_behind); }},
       {"store-first", [](Setup setup) { return run_kernel(setup, store_first); }},
       {"store-last", [](Setup setup) { return run_kernel(setup, store_last); }},
       {"load-first", [](Setup setup) { return run_kernel(setup, load_first); }},
       {"load-second", [](Setup setup) { return run_kernel(setup, load_second); }}}
  );
}

// Synchronisation that needs its orders: the right versions end, and the ones that are too weak
// hang or race under PTX's memory consistency model, although no interleaving of their accesses
// does.
#include "../idioms/cases.h"

__device__ Atomic<int> wants[2], turn, flag, answer, sequence, tickets, lock;
__device__ cuda::atomic<int, cuda::thread_scope_block> block_flag;
__device__ int data, parts[8], total, copies[2], inside;

using cuda::memory_order_seq_cst;

// --- Who has seen the other one waits
// ---------------------------------------------------------------

// Store buffering: each announces itself, and waits if the other one has not been there yet. With
// acquire and release each may miss the other's announcement; then both wait.
//@ case: hand-over-sc cooperative
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: hand-over-ra cooperative
//@ flags: --memory=ptx
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: hand-over-ra block
//@ flags: --memory=ptx
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: hand-over-ra cooperative
//@ verdict: terminates
template <bool Sc> __global__ void hand_over() {
  const auto release = Sc ? memory_order_seq_cst : memory_order_release;
  const auto acquire = Sc ? memory_order_seq_cst : memory_order_acquire;
  const int own = me(), other = 1 - me();
  wants[own].store(1, release);
  if (wants[other].load(acquire) == 1) {
    flag.store(1, memory_order_release); // the other one may have missed me
  } else {
    while (flag.load(memory_order_acquire) == 0) {
    }
  }
}

// A flag that has been set is seen at last, however weak the reads are ([MEM-VISIBLE]).
//@ case: relaxed-spin block
//@ flags: --memory=ptx
//@ verdict: terminates
//@ rests-on: MEM-VISIBLE
//@ case: relaxed-spin plain
//@ flags: --memory=ptx
//@ verdict: may-hang
//@ finding: starvation CLUSTER
__global__ void relaxed_spin() {
  if (me() == 0) {
    flag.store(1, memory_order_relaxed);
  } else {
    while (flag.load(memory_order_relaxed) == 0) {
    }
  }
}

// Two flags in turn: that one of them is always seen does not make up for the other one.
//@ case: two-flags block
//@ flags: --memory=ptx
//@ verdict: terminates
__global__ void two_flags() {
  if (me() == 0) {
    flag.store(1, memory_order_relaxed);
    answer.store(1, memory_order_relaxed);
  } else {
    while ((flag.load(memory_order_relaxed) & answer.load(memory_order_relaxed)) == 0) {
    }
  }
}

// --- Mutual exclusion
// --------------------------------------------------------------------------------

// Dekker's first attempt with a way out: both may be inside at once.
//@ case: dekker-sc block
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: dekker-ra block
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: dekker-ra block
//@ verdict: terminates
template <bool Sc> __global__ void dekker() {
  const auto release = Sc ? memory_order_seq_cst : memory_order_release;
  const auto acquire = Sc ? memory_order_seq_cst : memory_order_acquire;
  const int own = me(), other = 1 - me();
  wants[own].store(1, release);
  if (wants[other].load(acquire) == 0) {
    data = own;
  }
}

//@ case: peterson-sc block
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: peterson-ra block
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: peterson-ra block
//@ verdict: terminates
template <bool Sc> __global__ void peterson() {
  const auto release = Sc ? memory_order_seq_cst : memory_order_release;
  const auto acquire = Sc ? memory_order_seq_cst : memory_order_acquire;
  const int own = me(), other = 1 - me();
  wants[own].store(1, release);
  turn.store(other, release);
  while (wants[other].load(acquire) == 1 && turn.load(acquire) == other) {
  }
  data = own;
  wants[own].store(0, release);
}

//@ case: spin-lock block
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: spin-lock-relaxed-unlock block
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: spin-lock-relaxed-lock block
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
template <bool Acquire, bool Release> __global__ void spin_lock() {
  int free = 0;
  while (!lock.compare_exchange_strong(
      free,
      1,
      Acquire ? memory_order_acquire : memory_order_relaxed
  )) {
    free = 0;
  }
  data = me();
  lock.store(0, Release ? memory_order_release : memory_order_relaxed);
}

// --- Publication
// --------------------------------------------------------------------------------------

//@ case: message block
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: message-relaxed block
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
template <bool Ordered> __global__ void message() {
  if (me() == 0) {
    data = 42;
    flag.store(1, Ordered ? memory_order_release : memory_order_relaxed);
  } else {
    while (flag.load(Ordered ? memory_order_acquire : memory_order_relaxed) == 0) {
    }
    total = data;
  }
}

// A flag of block scope, used across blocks: not atomic at all between them.
//@ case: block-flag block
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: block-flag cooperative
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE-STRONG
__global__ void narrow() {
  if (me() == 0) {
    data = 42;
    block_flag.store(1, memory_order_release);
  } else {
    while (block_flag.load(memory_order_acquire) == 0) {
    }
    total = data;
  }
}

// The block that comes last adds up what all have left: with the fence of the CUDA guide, and
// without.
//@ case: last-block plain 3
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: last-block-no-fence plain 3
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
__device__ unsigned int count;
template <bool Fence> __global__ void last_block() {
  parts[me()] = me() + 1;
  if (Fence) {
    __threadfence();
  }
  if (atomicInc(&count, all() - 1) == all() - 1) {
    if (Fence) {
      __threadfence();
    }
    for (int i = 0; i < all(); ++i) {
      total += parts[i];
    }
  }
}

// The same with all threads of blocks: one writes and counts, every one has a fence. Those of
// the others are no choices, so there are few states.
//@ case: last-wide-block
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: last-wide-block-no-fence
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: last-of-four-wide-blocks
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: last-of-four-wide-blocks-no-fence
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
template <bool Fence> __global__ void last_wide_block() {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x + 1;
  }
  if (Fence) {
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicInc(&count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    if (Fence) {
      __threadfence();
    }
    for (unsigned i = 0; i < gridDim.x; ++i) {
      total += parts[i];
    }
  }
}
template <bool Fence> int run_wide(int blocks, int threads) {
  last_wide_block<Fence><<<blocks, threads>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}

// A sequence lock: the reader tries again if the number has changed. The copies are relaxed
// atomics, so nothing races; without fences a reader may take one half of the old and one of the
// new.
//@ case: seqlock plain
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: seqlock-no-fences plain
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: exit-status EXIT
//@ case: seqlock-no-fences plain
//@ verdict: terminates
__device__ Atomic<int> halves[2];
template <bool Fences> __global__ void seqlock() {
  if (me() == 0) {
    sequence.store(1, memory_order_relaxed);
    if (Fences) {
      cuda::atomic_thread_fence(memory_order_release, cuda::thread_scope_device);
    }
    halves[0].store(1, memory_order_relaxed);
    halves[1].store(1, memory_order_relaxed);
    sequence.store(2, Fences ? memory_order_release : memory_order_relaxed);
  } else {
    const int before = sequence.load(Fences ? memory_order_acquire : memory_order_relaxed);
    const int a = halves[0].load(memory_order_relaxed), b = halves[1].load(memory_order_relaxed);
    if (Fences) {
      cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
    }
    const int after = sequence.load(memory_order_relaxed);
    if (before == after && before % 2 == 0) {
      copies[0] = a;
      copies[1] = b;
    }
  }
}
int run_seqlock(Setup setup, void (*kernel)()) {
  if (run_kernel(setup, kernel) != 0) {
    return 2;
  }
  int taken[2];
  cudaMemcpyFromSymbol(taken, copies, sizeof taken);
  return taken[0] != taken[1] ? 1 : 0;
}

// The owner of a lock looks at its word without an order and gives it back; another thread tries
// once to take it. That is a write only if it has acquired what the owner has done ([MEM-RACE]);
// without the acquire it races.
//@ case: owner-looks plain
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: owner-looks-relaxed plain
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
__device__ int owner = 1;
template <bool Acquire> __global__ void owner_looks() {
  cuda::atomic_ref<int, cuda::thread_scope_device> word(owner);
  if (me() == 0) {
    total = owner;
    word.store(0, memory_order_release);
  } else {
    int nobody = 0;
    word.compare_exchange_strong(
        nobody,
        2,
        Acquire ? memory_order_acquire : memory_order_relaxed,
        memory_order_relaxed
    );
  }
}

// A flag is handed on by a thread that acquires and releases nothing, between two fences: PTX lets
// the last thread read old data, by an order of the fences that the search does not try. The
// verdict says so ([MEM-BOUND]). Without fences it is found.
//@ case: relayed plain 3
//@ flags: --memory=ptx
//@ verdict: unknown
//@ coverage: bounded
//@ case: relayed-unfenced plain 3
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: exit-status EXIT
template <bool Fences> __global__ void relayed() {
  if (me() == 0) {
    halves[0].store(1, memory_order_relaxed);
    if (Fences) {
      __threadfence();
    }
    flag.store(1, memory_order_relaxed);
  } else if (me() == 1) {
    if (flag.load(memory_order_relaxed) == 1) {
      answer.store(1, memory_order_relaxed);
    }
  } else if (answer.load(memory_order_relaxed) == 1) {
    if (Fences) {
      __threadfence();
    }
    copies[0] = 1 - halves[0].load(memory_order_relaxed);
  }
}

// A loop that reads behind a fence takes steps.
//@ case: fenced-spin block
//@ flags: --memory=ptx
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__device__ Atomic<int> never[2];
__global__ void fenced_spin() {
  while (never[me()].load(cuda::memory_order_seq_cst) == 0) {
  }
}

// A thread writes a flag three times without a release. Who has read the second and the third value
// knows nothing of the first one, which is a race with its plain read, although nobody can read the
// first value by then.
//@ case: three-values block
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: three-values-released block
//@ flags: --memory=ptx
//@ verdict: terminates
__device__ int values;
__device__ Atomic<int> next;
template <bool Released> __global__ void three_values() {
  const cuda::atomic_ref<int, cuda::thread_scope_device> value(values);
  constexpr auto stores = Released ? memory_order_release : memory_order_relaxed;
  constexpr auto loads = Released ? memory_order_acquire : memory_order_relaxed;
  if (me() == 0) {
    value.store(1, stores);
    value.store(2, stores);
    while (next.load(memory_order_relaxed) == 0) {
    }
    value.store(3, stores);
  } else {
    while (value.load(loads) != 2) {
    }
    next.store(1, memory_order_relaxed);
    while (value.load(loads) != 3) {
    }
    if (values != 3) {
      __trap();
    }
  }
}

int main(int argc, char** argv) {
  return run_case(
      argc,
      argv,
      {
          {"hand-over-sc", [](Setup s) { return run_kernel(s, hand_over<true>); }},
          {"hand-over-ra", [](Setup s) { return run_kernel(s, hand_over<false>); }},
          {"relaxed-spin", [](Setup s) { return run_kernel(s, relaxed_spin); }},
          {"two-flags", [](Setup s) { return run_kernel(s, two_flags); }},
          {"dekker-sc", [](Setup s) { return run_kernel(s, dekker<true>); }},
          {"dekker-ra", [](Setup s) { return run_kernel(s, dekker<false>); }},
          {"peterson-sc", [](Setup s) { return run_kernel(s, peterson<true>); }},
          {"peterson-ra", [](Setup s) { return run_kernel(s, peterson<false>); }},
          {"spin-lock", [](Setup s) { return run_kernel(s, spin_lock<true, true>); }},
          {"spin-lock-relaxed-unlock",
           [](Setup s) { return run_kernel(s, spin_lock<true, false>); }},
          {"spin-lock-relaxed-lock", [](Setup s) { return run_kernel(s, spin_lock<false, true>); }},
          {"message", [](Setup s) { return run_kernel(s, message<true>); }},
          {"message-relaxed", [](Setup s) { return run_kernel(s, message<false>); }},
          {"block-flag", [](Setup s) { return run_kernel(s, narrow); }},
          {"relayed", [](Setup s) { return run_seqlock(s, relayed<true>); }},
          {"relayed-unfenced", [](Setup s) { return run_seqlock(s, relayed<false>); }},
          {"owner-looks", [](Setup s) { return run_kernel(s, owner_looks<true>); }},
          {"fenced-spin", [](Setup s) { return run_kernel(s, fenced_spin); }},
          {"three-values", [](Setup s) { return run_kernel(s, three_values<false>); }},
          {"three-values-released", [](Setup s) { return run_kernel(s, three_values<true>); }},
          {"owner-looks-relaxed", [](Setup s) { return run_kernel(s, owner_looks<false>); }},
          {"last-block", [](Setup s) { return run_kernel(s, last_block<true>); }},
          {"last-block-no-fence", [](Setup s) { return run_kernel(s, last_block<false>); }},
          {"last-wide-block", [](Setup) { return run_wide<true>(2, 32); }},
          {"last-wide-block-no-fence", [](Setup) { return run_wide<false>(2, 32); }},
          {"last-of-four-wide-blocks", [](Setup) { return run_wide<true>(4, 256); }},
          {"last-of-four-wide-blocks-no-fence", [](Setup) { return run_wide<false>(4, 256); }},
          {"seqlock", [](Setup s) { return run_seqlock(s, seqlock<true>); }},
          {"seqlock-no-fences", [](Setup s) { return run_seqlock(s, seqlock<false>); }},
      }
  );
}

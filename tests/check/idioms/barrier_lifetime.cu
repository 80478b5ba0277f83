// The life of an mbarrier in shared memory: who destroys it, or constructs another one in its place, must
// know that nobody waits on it any more. To have passed the barrier oneself says nothing of the others: they
// have arrived, and have still to ask whether the phase is over.
#include "cases.h"

#include <cuda/barrier>

#include <new>

#pragma nv_diag_suppress static_var_with_dynamic_init

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

__device__ int result[1024];

enum class Give { Nothing, Destroyed, Again };

template <Give give, bool meets> __global__ void uses() {
  __shared__ alignas(BlockBarrier) char room[sizeof(BlockBarrier)];
  BlockBarrier* barrier = reinterpret_cast<BlockBarrier*>(room);
  if (threadIdx.x == 0) {
    init(barrier, blockDim.x);
  }
  __syncthreads();
  barrier->arrive_and_wait();
  if (meets) {
    __syncthreads();
  }
  if (threadIdx.x == 0 && give == Give::Destroyed) {
    barrier->~BlockBarrier();
  } else if (threadIdx.x == 0 && give == Give::Again) {
    new (barrier) BlockBarrier(blockDim.x);
  }
  result[threadIdx.x] = 1;
}

//@ case: destroyed block 2
//@ verdict: defect
//@ finding: barrier-reused BAR-REUSE
//@ case: destroyed-behind-a-barrier block 64
//@ verdict: terminates
//@ case: again block 2
//@ verdict: defect
//@ finding: barrier-reused BAR-REUSE
//@ case: again-behind-a-barrier block 64
//@ verdict: terminates

// Another barrier takes the place of the one before, round after round. Each thread arrives at the new one
// behind a barrier of the block, so everybody has passed the old one.
//@ case: rounds block 64
//@ verdict: terminates
//@ case: rounds-without-a-barrier block 2
//@ verdict: defect
//@ finding: barrier-reused BAR-REUSE
template <bool meets> __global__ void rounds() {
  __shared__ alignas(BlockBarrier) char room[sizeof(BlockBarrier)];
  BlockBarrier* barrier = reinterpret_cast<BlockBarrier*>(room);
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) {
      new (barrier) BlockBarrier(blockDim.x);
    }
    __syncthreads();
    barrier->arrive_and_wait();
    if (meets) {
      __syncthreads();
    }
  }
}

// Who asks, is told "not yet" and never asks again does not wait: the others have told thread 0 so.
//@ case: gives-up block 2
//@ verdict: terminates
__global__ void gives_up() {
  __shared__ BlockBarrier barrier;
  __shared__ Atomic<int> left;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    left = 0;
  }
  __syncthreads();
  if (threadIdx.x != 0) {
    unsigned done = 0;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&barrier))) : "memory");
    result[threadIdx.x] = done;
    left.fetch_add(1, memory_order_release);
  } else {
    while (left.load(memory_order_acquire) != blockDim.x - 1) {
    }
    barrier.~BlockBarrier();
  }
}

#define DEVICE_CASE(name, ...) {name, [](Setup setup) { return run_kernel(setup, __VA_ARGS__); }}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      DEVICE_CASE("destroyed", uses<Give::Destroyed, false>),
      DEVICE_CASE("destroyed-behind-a-barrier", uses<Give::Destroyed, true>),
      DEVICE_CASE("again", uses<Give::Again, false>),
      DEVICE_CASE("again-behind-a-barrier", uses<Give::Again, true>),
      DEVICE_CASE("rounds", rounds<true>),
      DEVICE_CASE("rounds-without-a-barrier", rounds<false>),
      DEVICE_CASE("gives-up", gives_up),
  });
}

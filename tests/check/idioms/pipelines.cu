// Pipelines on mbarriers: warps that copy and warps that compute hand each other stages, phase after
// phase. Right ones take a few states whatever their size, since nobody can tell who arrives first; in
// wrong ones a phase is for somebody else than it seems, or never completes.
#include "cases.h"
#include "mbarrier.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

// What a barrier in shared memory says of its constructor: init() is called instead.
#pragma nv_diag_suppress static_var_with_dynamic_init

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

__device__ int result[1024];
__device__ alignas(16) int input[1024];
__device__ Atomic<int> seen;

// --- All arrive, all wait ------------------------------------------------------------------------------

//@ case: rounds block 2
//@ verdict: terminates
//@ case: rounds block 96
//@ verdict: terminates
//@ large: a hundred threads that differ
__global__ void rounds() {
  __shared__ BlockBarrier barrier;
  __shared__ int shared[128];
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
  }
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    shared[threadIdx.x] = sum + threadIdx.x;
    barrier.arrive_and_wait();
    sum += shared[(threadIdx.x + round) % blockDim.x];
    barrier.arrive_and_wait();
  }
  result[threadIdx.x] = sum;
}

// The same with one thread that leaves: it has to say so.
//@ case: leaves-and-drops block 33
//@ verdict: terminates
//@ large: dozens of threads that differ
//@ case: leaves-without block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
template <bool drops> __global__ void leaves() {
  __shared__ BlockBarrier barrier;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
  }
  __syncthreads();
  barrier.arrive_and_wait();
  if (threadIdx.x == 1) {
    if (drops) {
      barrier.arrive_and_drop();
    }
    return;
  }
  barrier.arrive_and_wait();
  result[threadIdx.x] = threadIdx.x;
}

// --- Producers and consumers -----------------------------------------------------------------------------

// Stages are filled by the first warp and emptied by the others; each stage has a barrier of its own for
// "full" and for "empty", whose phases are used again.
//@ case: stages block 64
//@ verdict: terminates
//@ large: dozens of threads that differ
//@ case: stages block 96
//@ verdict: terminates
//@ large: dozens of threads that differ
__global__ void stages() {
  constexpr unsigned count = 2, parts = 7;
  __shared__ MBarrier full[count], empty[count];
  __shared__ int buffer[count][32];
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < count; ++s) {
      full[s].init(32);
      empty[s].init(blockDim.x - 32);
    }
  }
  __syncthreads();
  int sum = 0;
  for (unsigned part = 0; part < parts; ++part) {
    const unsigned stage = part % count, phase = part / count % 2;
    if (threadIdx.x < 32) {
      empty[stage].wait(phase ^ 1); // the first time round nobody has to empty it
      buffer[stage][threadIdx.x] = input[part * 32 + threadIdx.x];
      full[stage].arrive();
    } else {
      full[stage].wait(phase);
      sum = sum * 3 + buffer[stage][31 - threadIdx.x % 32];
      empty[stage].arrive();
    }
  }
  result[threadIdx.x] = sum;
}

// One thread of each side speaks for its warp, which meets before it does.
//@ case: elected block 64
//@ verdict: terminates
//@ large: dozens of threads that differ
__global__ void elected() {
  constexpr unsigned parts = 5;
  __shared__ MBarrier full, empty;
  __shared__ int buffer[32];
  if (threadIdx.x == 0) {
    full.init(1);
    empty.init(1);
  }
  __syncthreads();
  int sum = 0;
  for (unsigned part = 0; part < parts; ++part) {
    if (threadIdx.x < 32) {
      empty.wait(part % 2 ^ 1);
      buffer[threadIdx.x] = input[part * 32 + threadIdx.x];
      __syncwarp();
      if (threadIdx.x == 0) {
        full.arrive();
      }
    } else {
      full.wait(part % 2);
      sum = sum * 3 + buffer[63 - threadIdx.x];
      __syncwarp();
      if (threadIdx.x == 32) {
        empty.arrive();
      }
    }
  }
  result[threadIdx.x] = sum;
}

// Nobody tells the producer that the stage is empty: it may be two phases ahead, and a parity cannot tell
// that from none.
//@ case: never-empty block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void never_empty() {
  __shared__ MBarrier full;
  if (threadIdx.x == 0) {
    full.init(1);
  }
  __syncthreads();
  for (unsigned part = 0; part < 3; ++part) {
    if (threadIdx.x == 0) {
      full.arrive();
    } else {
      full.wait(part % 2);
    }
  }
}

// The consumers wait for the stages in another order than the producer fills them.
//@ case: crossed block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void crossed() {
  __shared__ MBarrier full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) {
      full[s].init(1);
      empty[s].init(1);
    }
  }
  __syncthreads();
  for (unsigned part = 0; part < 4; ++part) {
    const unsigned phase = part / 2 % 2;
    if (threadIdx.x == 0) {
      empty[part % 2].wait(phase ^ 1);
      full[part % 2].arrive();
    } else {
      full[(part + (part < 2 ? 0 : 1)) % 2].wait(phase);
      empty[part < 2 ? 0 : 1].arrive();
    }
  }
}

// --- Bytes that arrive -------------------------------------------------------------------------------------

//@ case: bulk block 64
//@ verdict: terminates
//@ large: dozens of threads that differ
//@ case: bulk-more-expected block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
template <int more> __global__ void bulk() {
  __shared__ alignas(16) int tile[256];
  __shared__ MBarrier full;
  if (threadIdx.x == 0) {
    full.init(1);
  }
  __syncthreads();
  for (unsigned round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) {
      full.expect(sizeof tile + more);
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
              static_cast<unsigned>(__cvta_generic_to_shared(tile))),
          "l"(__cvta_generic_to_global(input)), "r"(static_cast<unsigned>(sizeof tile)), "r"(full.address())
          : "memory");
    }
    full.wait(round % 2);
    result[threadIdx.x] += tile[threadIdx.x];
    __syncthreads();
  }
}

// The main loop of a matrix product: consumers look at the next stage while they work on this one, and
// wait for it only if it was not full then. One that does not wait for it takes what is not there, and is
// a phase behind for ever.
//@ case: peeks block 64
//@ verdict: terminates
//@ large: dozens of threads that differ
//@ case: peeks-and-goes-on block 33
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ incomplete: bytes that arrive later are not tried
//@ flags: --schedules=0
template <bool waits> __global__ void peeks() {
  constexpr unsigned count = 2, parts = 4;
  __shared__ alignas(16) int tile[count][32];
  __shared__ MBarrier full[count], empty[count];
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < count; ++s) {
      full[s].init(1);
      empty[s].init(blockDim.x - 32);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned part = 0; part < parts; ++part) {
      const unsigned stage = part % count;
      empty[stage].wait(part / count % 2 ^ 1);
      full[stage].expect(sizeof tile[stage]);
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
              static_cast<unsigned>(__cvta_generic_to_shared(tile[stage]))),
          "l"(__cvta_generic_to_global(input + part * 32)), "r"(static_cast<unsigned>(sizeof tile[stage])),
          "r"(full[stage].address())
          : "memory");
    }
  } else if (threadIdx.x >= 32) {
    int sum = 0;
    bool ready = full[0].complete(0);
#pragma unroll 1
    for (unsigned part = 0; part < parts; ++part) {
      const unsigned stage = part % count, next = part + 1;
      if (!ready && waits) {
        full[stage].wait(part / count % 2);
      }
      if (ready || waits) {
        sum = sum * 3 + tile[stage][threadIdx.x % 32];
        empty[stage].arrive();
      }
      ready = next < parts && full[next % count].complete(next / count % 2);
    }
    result[threadIdx.x] = sum;
  }
}

// The search lets bytes arrive at once; they need not.
//@ case: bulk-asks-once block 1
//@ verdict: unknown
//@ incomplete: bytes that arrive later are not tried
//@ flags: --schedules=0
__global__ void bulk_asks_once() {
  __shared__ alignas(16) int tile[4];
  __shared__ MBarrier full;
  full.init(1);
  full.expect(sizeof tile);
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(tile))),
               "l"(__cvta_generic_to_global(input)), "r"(static_cast<unsigned>(sizeof tile)), "r"(full.address())
               : "memory");
  while (!full.complete(0)) {
    if (seen.fetch_add(1, cuda::memory_order_relaxed) == 0) {
      while (seen.load(cuda::memory_order_relaxed) == 1) {
      }
    }
  }
}

// Atomic, and nobody need see it before it has been waited for.
//@ case: bulk-reduces plain 2
//@ verdict: unknown
//@ coverage: bounded
__device__ alignas(16) unsigned sums[4];
__global__ void bulk_reduces() {
  __shared__ alignas(16) unsigned ones[4];
  for (unsigned& one : ones) {
    one = 1;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 16;" ::"l"(
                   __cvta_generic_to_global(sums)),
               "r"(static_cast<unsigned>(__cvta_generic_to_shared(ones)))
               : "memory");
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

// --- The answer is not waited for ---------------------------------------------------------------------------

// Who asks once may get either answer, although the other one arrives as soon as it can.
//@ case: asks-once block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void asks_once() {
  __shared__ MBarrier barrier;
  if (threadIdx.x == 0) {
    barrier.init(1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier.arrive();
  } else if (!barrier.complete(0)) {
    while (seen.load(cuda::memory_order_relaxed) == 0) {
    }
  }
}

// It does something else meanwhile, and waits in the end.
//@ case: asks-twice block 3
//@ verdict: terminates
__global__ void asks_twice() {
  __shared__ MBarrier barrier;
  if (threadIdx.x == 0) {
    barrier.init(blockDim.x);
  }
  __syncthreads();
  barrier.arrive();
  if (!barrier.complete(0)) {
    seen.fetch_add(1, cuda::memory_order_relaxed);
    barrier.wait(0);
  }
}

// One thread arrives for two: for which phases depends on who is first, and the other one may wait for a
// phase that has come and gone.
//@ case: arrives-twice block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void arrives_twice() {
  __shared__ MBarrier barrier;
  if (threadIdx.x == 0) {
    barrier.init(1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier.arrive();
    barrier.arrive();
  } else {
    barrier.wait(0);
    barrier.wait(1);
  }
}

// --- cuda::pipeline: whoever leaves last, by a counter in shared memory, destroys the barriers ---------

//@ case: library-unified block 4
//@ verdict: terminates
//@ large: four threads that differ
__global__ void library_unified() {
  __shared__ int stage[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int step = 0, copied = 0; step < 3; ++step) {
    for (; copied < 3 && copied < step + 2; ++copied) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[copied % 2], input + copied * blockDim.x, sizeof(int) * blockDim.x, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    result[step * blockDim.x + threadIdx.x] = stage[step % 2][(threadIdx.x + 1) % blockDim.x];
    pipe.consumer_release();
  }
}

// Two threads produce, the others consume.
//@ case: library-partitioned block 4
//@ verdict: terminates
//@ large: four threads that differ
//@ case: library-forgets-to-release block 4
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ large: four threads that differ
template <bool releases> __global__ void library_partitioned() {
  __shared__ int stage[2][2];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const bool producer = threadIdx.x < 2;
  auto pipe = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state,
                                  producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  for (int step = 0; step < 3; ++step) {
    if (producer) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[step % 2][threadIdx.x], &input[step * 2 + threadIdx.x], sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      result[step * 2 + threadIdx.x % 2] = stage[step % 2][1 - threadIdx.x % 2];
      if (releases || threadIdx.x == 2) {
        pipe.consumer_release();
      }
    }
  }
}

// --- An arrival too much in one order only --------------------------------------------------------------

// If the one who leaves does so before the other one comes, there is nobody left to come; else all is
// well with the barrier, and what stands behind it must be seen, too.
//@ case: drops-or-misuses block 2
//@ verdict: may-hang
//@ finding: barrier-misuse
//@ finding: livelock
__global__ void drops_or_misuses() {
  __shared__ BlockBarrier barrier;
  if (threadIdx.x == 0) {
    init(&barrier, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    (void)barrier.arrive();
    while (seen.load(memory_order_relaxed) == 0) {
    }
  } else {
    barrier.arrive_and_drop();
  }
}

#define DEVICE_CASE(name, ...) {name, [](Setup setup) { return run_kernel(setup, __VA_ARGS__); }}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      DEVICE_CASE("rounds", rounds),
      DEVICE_CASE("leaves-and-drops", leaves<true>),
      DEVICE_CASE("leaves-without", leaves<false>),
      DEVICE_CASE("stages", stages),
      DEVICE_CASE("elected", elected),
      DEVICE_CASE("never-empty", never_empty),
      DEVICE_CASE("crossed", crossed),
      DEVICE_CASE("bulk", bulk<0>),
      DEVICE_CASE("bulk-more-expected", bulk<16>),
      DEVICE_CASE("peeks", peeks<true>),
      DEVICE_CASE("peeks-and-goes-on", peeks<false>),
      DEVICE_CASE("bulk-asks-once", bulk_asks_once),
      DEVICE_CASE("bulk-reduces", bulk_reduces),
      DEVICE_CASE("asks-once", asks_once),
      DEVICE_CASE("asks-twice", asks_twice),
      DEVICE_CASE("arrives-twice", arrives_twice),
      DEVICE_CASE("drops-or-misuses", drops_or_misuses),
      DEVICE_CASE("library-unified", library_unified),
      DEVICE_CASE("library-partitioned", library_partitioned<true>),
      DEVICE_CASE("library-forgets-to-release", library_partitioned<false>),
  });
}

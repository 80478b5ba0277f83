// Barriers of clusters, and mbarriers: who has to come, and whose shared memory is still there.
//
// N is the number of threads of one block (two warps need 64), or of blocks of one cluster.
#include "cases.h"
#include "mbarrier.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ Atomic<int> flag;
__device__ int value[64];
__device__ alignas(16) int source[16];

__device__ void wait_for(Atomic<int>& f) {
  while (f.load(memory_order_acquire) == 0) {
  }
}

__device__ void meet_the_cluster() {
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}

// --- Clusters --------------------------------------------------------------------------------------------

// Arrive early, wait late. In between, wait only for what others do before they arrive.
//@ case: straddled cluster 2
//@ verdict: terminates
//@ clause: cluster
__global__ void straddled() {
  cg::cluster_group cluster = cg::this_cluster();
  if (cluster.block_rank() == 1) {
    flag.store(1, memory_order_release);
  }
  cluster.barrier_arrive();
  if (cluster.block_rank() == 0) {
    wait_for(flag);
  }
  cluster.barrier_wait();
}

// ... not for what they do after they have waited.
//@ case: straddled-late cluster 2
//@ verdict: may-hang
//@ finding: livelock
__global__ void straddled_late() {
  cg::cluster_group cluster = cg::this_cluster();
  if (cluster.block_rank() == 0) {
    wait_for(flag);
  }
  cluster.barrier_arrive();
  cluster.barrier_wait();
  flag.store(1, memory_order_release);
}

// One block waits for the cluster, the other has ended: that does not hold it up.
//@ case: cluster-one-ended cluster 2
//@ verdict: terminates
__global__ void cluster_one_ended() {
  if (cg::this_cluster().block_rank() == 0) {
    cg::this_cluster().sync();
  }
}

// A barrier of the cluster does not reach other clusters of the grid.
//@ case: two-clusters
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: cluster
__global__ void two_clusters() {
  cg::this_cluster().sync();
  if (blockIdx.x == 0) {
    wait_for(flag);
  } else if (blockIdx.x == 2) {
    flag.store(1, memory_order_release);
  }
}
static int run_two_clusters(Setup) {
  cudaLaunchConfig_t config{};
  config.gridDim = 4;
  config.blockDim = 1;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, two_clusters) + cudaDeviceSynchronize();
}

// --- The shared memory of a neighbour --------------------------------------------------------------------

// The shared memory of a block ends with it: without the second barrier the other one may be gone.
//@ case: neighbour-stays cluster 2
//@ verdict: terminates
//@ case: neighbour-may-be-gone cluster 2
//@ verdict: defect
//@ finding: out-of-bounds
template <bool stays> __global__ void neighbour() {
  __shared__ int mine;
  mine = 1 + static_cast<int>(blockIdx.x);
  meet_the_cluster();
  if (blockIdx.x == 0) {
    value[0] = *static_cast<int*>(__cluster_map_shared_rank(&mine, 1));
  }
  if (stays) {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
}

// Also where it is the first block that may be gone.
//@ case: first-may-be-gone cluster 2
//@ verdict: defect
//@ finding: out-of-bounds
//@ case: first-may-be-gone-to-all cluster 3
//@ verdict: defect
//@ finding: out-of-bounds
__global__ void first_may_be_gone() {
  __shared__ int mine;
  mine = 7;
  meet_the_cluster();
  if (blockIdx.x != 0) {
    value[blockIdx.x] = *static_cast<int*>(__cluster_map_shared_rank(&mine, 0));
  }
}
// Between its arrival and the barrier a thread may still visit; the barrier does not wait for that.
//@ case: visits-behind-its-arrival cluster 2
//@ verdict: defect
//@ finding: out-of-bounds
__global__ void visits_behind_its_arrival() {
  __shared__ int mine;
  mine = 7;
  meet_the_cluster();
  __cluster_barrier_arrive();
  if (blockIdx.x != 0) {
    value[blockIdx.x] = *static_cast<int*>(__cluster_map_shared_rank(&mine, 0));
  }
  __cluster_barrier_wait();
}
// A flag says as well as a barrier that the visit is over.
//@ case: first-waits-for-visitor cluster 2
//@ verdict: terminates
__global__ void first_waits_for_visitor() {
  __shared__ int mine;
  mine = 7;
  meet_the_cluster();
  if (blockIdx.x != 0) {
    value[blockIdx.x] = *static_cast<int*>(__cluster_map_shared_rank(&mine, 0));
    flag.store(1, memory_order_release);
  } else {
    wait_for(flag);
  }
}

// Who has not waited does not know that the phase is over, so it must not arrive again.
//@ case: cluster-arrives-twice cluster 2
//@ verdict: defect
//@ finding: barrier-misuse BAR-7
__global__ void cluster_arrives_twice() {
  __cluster_barrier_arrive();
  if (blockIdx.x == 0) { // comes first in Heddle's order, so that the phase is over then
    __cluster_barrier_wait();
  }
  meet_the_cluster();
}

// Who only arrives need not be there when the others come.
//@ case: second-only-arrives cluster 2
//@ verdict: defect
//@ finding: out-of-bounds
__global__ void second_only_arrives() {
  __shared__ int mine;
  mine = 7;
  meet_the_cluster();
  if (blockIdx.x == 0) {
    value[0] = *static_cast<int*>(__cluster_map_shared_rank(&mine, 1));
  } else {
    __cluster_barrier_arrive();
  }
}

// --- mbarriers -------------------------------------------------------------------------------------------

//@ case: mbarrier block 2
//@ verdict: terminates
__global__ void mbarrier() {
  __shared__ MBarrier barrier;
  barrier.begin(blockDim.x);
  barrier.arrive();
  barrier.wait(0);
}

//@ case: mbarrier-count-too-high block 2
//@ verdict: may-hang
//@ finding: livelock
__global__ void mbarrier_count_too_high() {
  __shared__ MBarrier barrier;
  barrier.begin(blockDim.x + 1);
  barrier.arrive();
  barrier.wait(0);
}

// Producer and consumer with a pair of barriers: the producer waits until the slot is free again.
//@ case: mbarrier-full-empty block 2
//@ verdict: terminates
__global__ void mbarrier_full_empty() {
  __shared__ MBarrier full, empty;
  __shared__ int slot;
  if (threadIdx.x == 0) {
    full.init(1);
    empty.init(1);
  }
  __syncthreads();
  for (unsigned round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) {
      if (round > 0) {
        empty.wait((round - 1) & 1);
      }
      slot = round;
      full.arrive();
    } else {
      full.wait(round & 1);
      value[round] = slot;
      empty.arrive();
    }
  }
}

// Without the second one the producer may be two phases ahead, and a parity cannot tell that from none.
//@ case: mbarrier-phase-reused block 2
//@ verdict: may-hang
//@ finding: livelock
__global__ void mbarrier_phase_reused() {
  __shared__ MBarrier full;
  full.begin(1);
  for (unsigned round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) {
      full.arrive();
    } else {
      full.wait(round & 1);
    }
  }
}

// Who has arrived may find the phase before complete, or its own, for which it does not wait.
//@ case: mbarrier-asks-again block 64
//@ verdict: may-hang
//@ finding: livelock
__global__ void mbarrier_asks_again() {
  __shared__ MBarrier barrier;
  barrier.begin(2);
  if (threadIdx.x == 0) {
    barrier.wait(1);
    barrier.arrive();
    barrier.wait(1);
  } else if (threadIdx.x == 32) {
    barrier.arrive();
  }
}

// Bytes that are expected by who does not arrive may be expected of the next phase.
//@ case: mbarrier-expected-late block 64
//@ verdict: may-hang
//@ finding: livelock
__global__ void mbarrier_expected_late() {
  __shared__ MBarrier barrier;
  barrier.begin(1);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(barrier.address()) : "memory");
  } else if (threadIdx.x == 32) {
    barrier.arrive();
    barrier.wait(1);
  }
}

// A block whose mbarrier others use must not end before they do.
//@ case: mbarrier-of-second cluster 2
//@ verdict: defect
//@ finding: out-of-bounds
//@ case: mbarrier-of-second-stays cluster 2
//@ verdict: terminates
template <bool Stays> __global__ void mbarrier_of_second() {
  __shared__ MBarrier barrier;
  barrier.init(1);
  meet_the_cluster();
  if (blockIdx.x == 0) {
    asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, 1;\n"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]; }" ::"r"(barrier.address())
                 : "memory");
  } else if (Stays) {
    barrier.wait(0);
  }
}

// Each of two blocks copies half of a tile to both, stage after stage, and waits until both have taken the
// one before. Consumers that tell their own block only leave both waiting.
//@ case: multicast 64
//@ verdict: terminates
//@ case: multicast-tells-own 64
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
template <bool both> __global__ void __cluster_dims__(2, 1, 1) multicast() {
  constexpr unsigned count = 2, parts = 5, half = 16;
  __shared__ alignas(128) int tile[count][2 * half];
  __shared__ MBarrier full[count], empty[count];
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), consumers = blockDim.x / 2;
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < count; ++s) {
      full[s].init(1);
      empty[s].init(2);
    }
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    for (unsigned part = 0; part < parts; ++part) {
      const unsigned stage = part % count;
      empty[stage].wait(part / count % 2 ^ 1);
      full[stage].expect(sizeof tile[stage]);
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
              static_cast<unsigned>(__cvta_generic_to_shared(tile[stage] + rank * half))),
          "l"(__cvta_generic_to_global(source)), "r"(static_cast<unsigned>(half * sizeof(int))), "r"(full[stage].address()),
          "h"(static_cast<unsigned short>(3))
          : "memory");
    }
  } else if (threadIdx.x >= consumers) {
    int sum = 0;
    for (unsigned part = 0; part < parts; ++part) {
      const unsigned stage = part % count;
      full[stage].wait(part / count % 2);
      sum = sum * 3 + tile[stage][threadIdx.x % (2 * half)];
      __syncwarp();
      for (unsigned to = 0; to < 2 && threadIdx.x == consumers; ++to) {
        if (both || to == rank) {
          asm volatile(
              "{ .reg .b32 at; mapa.shared::cluster.u32 at, %0, %1;"
              "  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [at]; }" ::"r"(empty[stage].address()),
              "r"(to)
              : "memory");
        }
      }
    }
    value[rank * consumers + threadIdx.x % consumers] = sum;
  }
  cluster.sync();
}
template <bool both> static int run_multicast(Setup setup) {
  multicast<both><<<2, setup.n>>>();
  return static_cast<int>(cudaGetLastError()) + static_cast<int>(cudaDeviceSynchronize());
}

#define DEVICE_CASE(name, kernel) {name, [](Setup setup) { return run_kernel(setup, kernel); }}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      DEVICE_CASE("straddled", straddled),
      DEVICE_CASE("straddled-late", straddled_late),
      DEVICE_CASE("cluster-one-ended", cluster_one_ended),
      {"two-clusters", run_two_clusters},
      DEVICE_CASE("neighbour-stays", neighbour<true>),
      DEVICE_CASE("neighbour-may-be-gone", neighbour<false>),
      DEVICE_CASE("first-may-be-gone", first_may_be_gone),
      DEVICE_CASE("first-may-be-gone-to-all", first_may_be_gone),
      DEVICE_CASE("visits-behind-its-arrival", visits_behind_its_arrival),
      DEVICE_CASE("first-waits-for-visitor", first_waits_for_visitor),
      DEVICE_CASE("cluster-arrives-twice", cluster_arrives_twice),
      DEVICE_CASE("second-only-arrives", second_only_arrives),
      DEVICE_CASE("mbarrier-asks-again", mbarrier_asks_again),
      DEVICE_CASE("mbarrier-expected-late", mbarrier_expected_late),
      DEVICE_CASE("mbarrier-of-second", mbarrier_of_second<false>),
      DEVICE_CASE("mbarrier-of-second-stays", mbarrier_of_second<true>),
      {"multicast", run_multicast<true>},
      {"multicast-tells-own", run_multicast<false>},
      DEVICE_CASE("mbarrier", mbarrier),
      DEVICE_CASE("mbarrier-count-too-high", mbarrier_count_too_high),
      DEVICE_CASE("mbarrier-full-empty", mbarrier_full_empty),
      DEVICE_CASE("mbarrier-phase-reused", mbarrier_phase_reused),
  });
}

// Barriers of blocks and warps: who has to come, who comes, and who never can.
//
// N is the number of threads of one block (two warps need 64).
#include "cases.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__device__ Atomic<int> flag, other;
__device__ int value[64];

__device__ void wait_for(Atomic<int>& f) {
  while (f.load(memory_order_acquire) == 0) {
  }
}

// --- __syncthreads in divergent code -----------------------------------------------------------------

//@ case: all-come block 2
//@ verdict: terminates
//@ case: all-come block 64
//@ verdict: terminates
//@ case: all-come block 256
//@ verdict: terminates
__global__ void all_come() {
  __shared__ int shared[256];
  shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const int next = shared[(threadIdx.x + 1) % blockDim.x];
  __syncthreads();
  shared[threadIdx.x] = next;
}

// Half of the threads wait at the barrier, the others for them; within one warp and between two.
//@ case: some-spin block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: some-spin block 64
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ large: 64 threads
__global__ void some_spin() {
  if (threadIdx.x < blockDim.x / 2) {
    __syncthreads();
    flag.store(1, memory_order_release);
  } else {
    wait_for(flag);
    __syncthreads();
  }
}

// The same number of barriers in both branches: hardware counts arrivals and lets all pass, but no
// thread comes where the others are.
//@ case: both-branches block 64
//@ verdict: defect
//@ finding: barrier-divergence BAR-6
__global__ void both_branches() {
  if (threadIdx.x < 32) {
    value[0] = 1;
    __syncthreads();
  } else {
    value[1] = 1;
    __syncthreads();
  }
}

// One branch has a barrier more; who has ended does not hold it up.
//@ case: one-more block 64
//@ verdict: terminates
__global__ void one_more() {
  __syncthreads();
  if (threadIdx.x < 32) {
    __syncthreads();
  }
}

// --- Tiles of several warps: a barrier that cooperative groups makes of memory -------------------------

//@ case: tile-meets block 64
//@ verdict: terminates
__global__ void tile_meets() {
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  if (threadIdx.x == 32) {
    flag.store(1, memory_order_relaxed);
  }
  tile.sync();
  if (threadIdx.x == 0) {
    wait_for(flag);
  }
}

// The warp that comes last makes the update, when it has let the other one go on.
// (On an H200 1 % of the warps that looked then came too early: 9,175 of 819,200; 2026-11-27, driver 580.159.04.)
//@ case: tile-updates-later block 64
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void tile_updates_later() {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<64>(block);
  block.sync();
  cg::reduce_update_async(tile, flag, 1, cg::plus<int>());
  if (threadIdx.x == 0 && flag.load(memory_order_relaxed) == 0) {
    wait_for(other);
  }
}

// Who ends early holds up nobody by PTX, and everybody by the guide.
//@ case: ends-before block 64
//@ verdict: terminates
//@ rests-on: BAR-3
//@ case: ends-before block 64
//@ flags: --barriers=guide
//@ verdict: defect
//@ finding: barrier-divergence BAR-GUIDE
//@ names: __syncthreads
//@ names: if (threadIdx.x == 0)
__global__ void ends_before() {
  if (threadIdx.x == 0) {
    value[0] = 1;
  } else {
    value[threadIdx.x] = 1;
    __syncthreads();
  }
}

// All come, and end behind it.
//@ case: ends-behind block 64
//@ flags: --barriers=guide
//@ verdict: terminates
__global__ void ends_behind() {
  __syncthreads();
  if (threadIdx.x != 0) {
    value[threadIdx.x] = 1;
  }
}

// The same, with a barrier of all behind it: it is what the others come to meanwhile.
//@ case: one-more-inside block 64
//@ verdict: defect
//@ finding: barrier-divergence BAR-6
__global__ void one_more_inside() {
  if (threadIdx.x < 2) {
    __syncthreads();
  }
  __syncthreads();
}

// Others do not leave but go around it, on to what follows.
//@ case: gone-around block 64
//@ verdict: defect
//@ finding: barrier-divergence BAR-6
__global__ void gone_around() {
  if (threadIdx.x < 32) {
    __syncthreads();
  }
  atomicAdd(&value[0], 1);
}

// A function that contains the barrier is called from two places.
//@ case: called-twice block 64
//@ verdict: defect
//@ finding: barrier-divergence BAR-6
__device__ __noinline__ void meet(int i) {
  value[i % 2] = i;
  __syncthreads();
}
__global__ void called_twice() {
  if (threadIdx.x < 32) {
    meet(0);
  } else {
    meet(1);
  }
}

// Only some call it; all come to what follows.
//@ case: called-by-some block 64
//@ verdict: defect
//@ finding: barrier-divergence BAR-6
__global__ void called_by_some() {
  if (threadIdx.x % 2 == 0) {
    meet(0);
  }
  atomicAdd(&value[0], 1);
}
// The others have left before.
//@ case: called-some-leave block 64
//@ verdict: terminates
__global__ void called_some_leave() {
  if (threadIdx.x >= 40) {
    return;
  }
  meet(0);
  atomicAdd(&value[0], 1);
}

// Some leave early: the barrier of all threads does not wait for them...
//@ case: some-leave block 2
//@ verdict: terminates
//@ case: some-leave block 64
//@ verdict: terminates
__global__ void some_leave() {
  if (threadIdx.x >= blockDim.x / 2) {
    return;
  }
  __syncthreads();
}

// ... but one with a count does.
//@ case: some-leave-counted block 64
//@ verdict: may-hang
//@ finding: deadlock
__global__ void some_leave_counted() {
  if (threadIdx.x >= 32) {
    return;
  }
  asm volatile("barrier.sync 1, 64;");
}

// A loop whose number of rounds depends on the thread, with a barrier inside. Who is through ends, and
// counts as arrived.
//@ case: uneven-rounds block 64
//@ verdict: terminates
__global__ void uneven_rounds() {
  for (unsigned round = 0; round <= threadIdx.x / 32; ++round) {
    __syncthreads();
  }
}

// The same, but those who are through wait for the others.
//@ case: uneven-rounds-awaited block 64
//@ verdict: may-hang
//@ finding: livelock
//@ large: 64 threads
__global__ void uneven_rounds_awaited() {
  for (unsigned round = 0; round <= threadIdx.x / 32; ++round) {
    __syncthreads();
  }
  if (threadIdx.x == 63) {
    flag.store(1, memory_order_release);
  }
  if (threadIdx.x == 0) {
    wait_for(flag);
  }
}

// --- Named barriers -----------------------------------------------------------------------------------

template <int a, int b> __device__ void two_barriers() {
  asm volatile("barrier.sync %0, 64;" ::"n"(a) : "memory");
  asm volatile("barrier.sync %0, 64;" ::"n"(b) : "memory");
}
//@ case: named-ordered block 64
//@ verdict: terminates
__global__ void named_ordered() { two_barriers<1, 2>(); }

//@ case: named-crossed block 64
//@ verdict: may-hang
//@ finding: deadlock
__global__ void named_crossed() {
  if (threadIdx.x < 32) {
    two_barriers<1, 2>();
  } else {
    two_barriers<2, 1>();
  }
}

// Three warps, three barriers of two warps each, in a ring.
//@ case: named-ring block 96
//@ verdict: may-hang
//@ finding: deadlock
//@ case: named-ring-ordered block 96
//@ verdict: terminates
__device__ void meet_at(int barrier) { asm volatile("barrier.sync %0, 64;" ::"r"(barrier) : "memory"); }
__global__ void named_ring() {
  const int warp = threadIdx.x / 32;
  meet_at(1 + warp);
  meet_at(1 + (warp + 1) % 3);
}
__global__ void named_ring_ordered() {
  const int warp = threadIdx.x / 32;
  const int first = 1 + warp, second = 1 + (warp + 1) % 3;
  meet_at(first < second ? first : second);
  meet_at(first < second ? second : first);
}

// Producer arrives, consumer waits; two hand-overs with a barrier each, and with the wrong one.
//@ case: arrive-sync block 64
//@ verdict: terminates
__global__ void arrive_sync() {
  if (threadIdx.x < 32) {
    value[threadIdx.x] = 1;
    asm volatile("barrier.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    value[threadIdx.x - 32] += 1;
  }
}
//@ case: arrive-elsewhere block 64
//@ verdict: may-hang
//@ finding: deadlock
__global__ void arrive_elsewhere() {
  if (threadIdx.x < 32) {
    asm volatile("barrier.arrive 2, 64;" ::: "memory");
  } else {
    asm volatile("barrier.sync 1, 64;" ::: "memory");
  }
}

// Two hand-overs by one barrier: the consumer may come after both, which complete a phase together.
//@ case: arrive-twice block 64
//@ verdict: may-hang
//@ finding: deadlock
//@ case: arrive-twice-answered block 64
//@ verdict: terminates
template <bool Answered> __global__ void arrive_twice() {
  for (int i = 0; i < 2; ++i) {
    if (threadIdx.x < 32) {
      value[threadIdx.x] += 1;
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      if (Answered) {
        asm volatile("bar.sync 2, 64;" ::: "memory");
      }
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      if (Answered) {
        value[threadIdx.x - 32] += 1;
        asm volatile("bar.arrive 2, 64;" ::: "memory");
      }
    }
  }
}

// Two warps take turns, each at a barrier of its own to which the other one only arrives.
//@ case: warps-take-turns block 64
//@ verdict: terminates
__global__ void warps_take_turns() {
  const int warp = threadIdx.x / 32;
  if (warp == 1) {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  }
  for (int i = 0; i < 3; ++i) {
    asm volatile("bar.sync %0, 64;" ::"r"(1 + warp) : "memory");
    if (threadIdx.x % 32 == 0) {
      value[0] += 1;
    }
    if (warp == 0 || i < 2) {
      asm volatile("bar.arrive %0, 64;" ::"r"(2 - warp) : "memory");
    }
  }
}

// Four warps meet by twos at one barrier. Whose turn it is decides who waits for whom.
//@ case: four-by-twos block 128
//@ verdict: may-hang
//@ finding: deadlock
//@ case: four-by-twos-free block 128
//@ verdict: terminates
template <bool Waits> __global__ void four_by_twos() {
  if (Waits && threadIdx.x >= 96) {
    asm volatile("bar.sync 2, 64;" ::: "memory");
  }
  asm volatile("bar.sync 1, 64;" ::: "memory");
  if (Waits && threadIdx.x < 32) {
    asm volatile("bar.sync 2, 64;" ::: "memory");
  }
}

// --- Wrong counts ---------------------------------------------------------------------------------------

//@ case: count-too-high block 64
//@ verdict: may-hang
//@ finding: deadlock
__global__ void count_too_high() { asm volatile("barrier.sync 1, 96;"); }

//@ case: count-odd block 64
//@ verdict: defect
//@ finding: barrier-misuse BAR-7
__global__ void count_odd(int count) { asm volatile("barrier.sync 1, %0;" ::"r"(count)); }

//@ case: counts-differ block 64
//@ verdict: defect
//@ finding: barrier-misuse BAR-7
__global__ void counts_differ() { asm volatile("barrier.sync 1, %0;" ::"r"(threadIdx.x < 32 ? 64 : 96)); }

// --- Warps: masks that name lanes which do not come ----------------------------------------------------

constexpr unsigned both_lanes = 3;

//@ case: shuffle-all block 2
//@ verdict: terminates
__global__ void shuffle_all() { value[threadIdx.x] = __shfl_xor_sync(both_lanes, threadIdx.x, 1); }

//@ case: shuffle-one-spins block 2
//@ verdict: may-hang
//@ finding: livelock
__global__ void shuffle_one_spins() {
  if (threadIdx.x == 0) {
    value[0] = __shfl_xor_sync(both_lanes, 0, 1);
    flag.store(1, memory_order_release);
  } else {
    wait_for(flag);
  }
}

// Who has ended is not waited for.
//@ case: shuffle-one-ended block 2
//@ verdict: terminates
__global__ void shuffle_one_ended() {
  if (threadIdx.x == 0) {
    value[0] = __shfl_xor_sync(both_lanes, 0, 1);
  }
}

//@ case: syncwarp-all block 2
//@ verdict: terminates
__global__ void syncwarp_all() {
  value[threadIdx.x] = 1;
  __syncwarp(both_lanes);
  const int other = value[1 - threadIdx.x];
  __syncwarp(both_lanes);
  value[threadIdx.x] += other;
}

// One lane waits at the warp's meeting, the other one at the block's.
//@ case: syncwarp-and-syncthreads block 2
//@ verdict: may-hang
//@ finding: deadlock
__global__ void syncwarp_and_syncthreads() {
  if (threadIdx.x == 0) {
    __syncwarp(both_lanes);
    asm volatile("barrier.sync 0;");
  } else {
    asm volatile("barrier.sync 0;");
    __syncwarp(both_lanes);
  }
}

// Two collectives with different masks, each waiting for the other lane.
//@ case: collectives-crossed block 2
//@ verdict: may-hang
//@ finding: deadlock
__global__ void collectives_crossed() {
  if (threadIdx.x == 0) {
    __syncwarp(both_lanes);
  } else {
    value[1] = __any_sync(both_lanes, 1);
  }
}

// The mask leaves out the caller.
//@ case: mask-without-caller block 2
//@ verdict: defect
//@ finding: warp-mask WARP-MASK
__global__ void mask_without_caller() {
  if (threadIdx.x == 1) {
    __syncwarp(1);
  }
}

// The mask names lanes that go around the collective and on to what follows; or that have left.
//@ case: lanes-go-around block 4
//@ verdict: defect
//@ finding: warp-mask WARP-MASK
__global__ void lanes_go_around() {
  int v = threadIdx.x;
  if (threadIdx.x < 2) {
    v = __shfl_down_sync(0xf, v, 1);
    value[8] = v;
  }
  value[threadIdx.x] = v;
}
// The same if they have ended before the others come.
//@ case: lane-has-gone-around block 2
//@ verdict: defect
//@ finding: warp-mask WARP-MASK
__global__ void lane_has_gone_around() {
  if (threadIdx.x == 1) {
    __syncwarp(both_lanes);
  }
  value[0] = 1;
}
//@ case: half-of-tile block 4
//@ verdict: defect
//@ finding: warp-mask WARP-MASK
__global__ void half_of_tile() {
  const auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  if (threadIdx.x < 2) {
    tile.sync();
  }
  value[threadIdx.x] = 1;
}
// The same of elect.sync.
__device__ bool elect(unsigned mask) {
  unsigned chosen;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, %1;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(chosen) : "r"(mask));
  return chosen != 0;
}
// Which lane is elected is not chosen; here it says what is stored where, so the verdict is bounded.
//@ case: elect-without-others block 4
//@ verdict: defect
//@ coverage: bounded
//@ finding: warp-mask WARP-MASK
__global__ void elect_without_others() {
  int v = threadIdx.x;
  if (threadIdx.x < 2) {
    v = elect(0xf);
    value[8] = v;
  }
  value[threadIdx.x] = v;
}
//@ case: elect-among-some block 4
//@ verdict: unknown
//@ coverage: bounded
__global__ void elect_among_some() {
  int v = threadIdx.x;
  if (threadIdx.x < 2) {
    v = elect(0x3);
  }
  value[threadIdx.x] = v;
}
//@ case: lanes-have-left block 4
//@ verdict: terminates
__global__ void lanes_have_left() {
  if (threadIdx.x >= 2) {
    return;
  }
  value[threadIdx.x] = __shfl_down_sync(0xf, threadIdx.x, 1);
}

#define DEVICE_CASE(name, kernel) {name, [](Setup setup) { return run_kernel(setup, kernel); }}

static int run_count_odd(Setup setup) {
  return launch(setup, count_odd, 40) + cudaDeviceSynchronize();
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      DEVICE_CASE("all-come", all_come),
      DEVICE_CASE("some-spin", some_spin),
      DEVICE_CASE("both-branches", both_branches),
      DEVICE_CASE("one-more", one_more),
      DEVICE_CASE("tile-meets", tile_meets),
      DEVICE_CASE("tile-updates-later", tile_updates_later),
      DEVICE_CASE("one-more-inside", one_more_inside),
      DEVICE_CASE("gone-around", gone_around),
      DEVICE_CASE("called-twice", called_twice),
      DEVICE_CASE("called-by-some", called_by_some),
      DEVICE_CASE("called-some-leave", called_some_leave),
      DEVICE_CASE("some-leave", some_leave),
      DEVICE_CASE("some-leave-counted", some_leave_counted),
      DEVICE_CASE("uneven-rounds", uneven_rounds),
      DEVICE_CASE("uneven-rounds-awaited", uneven_rounds_awaited),
      DEVICE_CASE("named-ordered", named_ordered),
      DEVICE_CASE("named-crossed", named_crossed),
      DEVICE_CASE("named-ring", named_ring),
      DEVICE_CASE("named-ring-ordered", named_ring_ordered),
      DEVICE_CASE("arrive-sync", arrive_sync),
      DEVICE_CASE("arrive-twice", arrive_twice<false>),
      DEVICE_CASE("arrive-twice-answered", arrive_twice<true>),
      DEVICE_CASE("warps-take-turns", warps_take_turns),
      DEVICE_CASE("four-by-twos", four_by_twos<true>),
      DEVICE_CASE("four-by-twos-free", four_by_twos<false>),
      DEVICE_CASE("arrive-elsewhere", arrive_elsewhere),
      DEVICE_CASE("count-too-high", count_too_high),
      {"count-odd", run_count_odd},
      DEVICE_CASE("counts-differ", counts_differ),
      DEVICE_CASE("shuffle-all", shuffle_all),
      DEVICE_CASE("shuffle-one-spins", shuffle_one_spins),
      DEVICE_CASE("ends-before", ends_before),
      DEVICE_CASE("ends-behind", ends_behind),
      DEVICE_CASE("shuffle-one-ended", shuffle_one_ended),
      DEVICE_CASE("syncwarp-all", syncwarp_all),
      DEVICE_CASE("syncwarp-and-syncthreads", syncwarp_and_syncthreads),
      DEVICE_CASE("collectives-crossed", collectives_crossed),
      DEVICE_CASE("mask-without-caller", mask_without_caller),
      DEVICE_CASE("lanes-go-around", lanes_go_around),
      DEVICE_CASE("lane-has-gone-around", lane_has_gone_around),
      DEVICE_CASE("half-of-tile", half_of_tile),
      DEVICE_CASE("elect-without-others", elect_without_others),
      DEVICE_CASE("elect-among-some", elect_among_some),
      DEVICE_CASE("lanes-have-left", lanes_have_left),
  });
}

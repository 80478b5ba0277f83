// Blocks that wait for blocks: hand-over, grid barriers, look-back, stream-K.
//
// In a plain grid a block may only wait for a block that has certainly started ([CLUSTER]); a ticket
// proves that, an index does not. In a cooperative grid, a cluster or one block everybody may wait for
// everybody. Other progress models draw the line elsewhere, which some cases show.
#include "cases.h"

#include <cooperative_groups.h>

constexpr int most = 256;
__device__ Atomic<int> arrived, generation, tickets, cursor;
__device__ Atomic<int> ready[most];
__device__ int value[most], total;

__device__ void wait_for(Atomic<int>& flag) {
  while (flag.load(memory_order_acquire) == 0) {
  }
}

// --- Hand-over of a flag from thread to thread, in both directions of the index ----------------------

// Up: everybody waits for the one below. In-order dispatch (hsa, lobe) is enough for that.
//@ case: up plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: cluster
//@ case: up plain 3
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: up block 3
//@ verdict: terminates
//@ clause: cluster
//@ rests-on: CLUSTER
//@ case: up cluster 3
//@ verdict: terminates
//@ clause: cluster
//@ rests-on: CLUSTER
//@ case: up cooperative 3
//@ verdict: terminates
//@ clause: cooperative-grid
//@ rests-on: COOP
//@ case: up plain 3
//@ flags: --progress=obe
//@ verdict: may-hang
//@ finding: starvation
//@ case: up plain 3
//@ flags: --progress=hsa
//@ verdict: terminates
//@ case: up plain 3
//@ flags: --progress=lobe
//@ verdict: terminates
//@ case: up plain 3
//@ flags: --progress=fair
//@ verdict: terminates
__global__ void up() {
  if (me() > 0) {
    wait_for(ready[me() - 1]);
  }
  ready[me()].store(1, memory_order_release);
}

// Down: everybody waits for the one above.
//@ case: down plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: cooperative-grid
//@ case: down block 3
//@ verdict: terminates
//@ case: down cluster 3
//@ verdict: terminates
//@ case: down cooperative 3
//@ verdict: terminates
//@ clause: cooperative-grid
//@ rests-on: COOP
//@ case: down plain 3
//@ flags: --progress=obe
//@ verdict: may-hang
//@ finding: starvation
//@ case: down plain 3
//@ flags: --progress=hsa
//@ verdict: may-hang
//@ finding: starvation
//@ case: down plain 3
//@ flags: --progress=lobe
//@ verdict: may-hang
//@ finding: starvation
//@ case: down plain 3
//@ flags: --progress=fair
//@ verdict: terminates
__global__ void down() {
  if (me() < all() - 1) {
    wait_for(ready[me() + 1]);
  }
  ready[me()].store(1, memory_order_release);
}

// --- Grid barriers -------------------------------------------------------------------------------

// By hand: one counter, used once.
//@ case: barrier plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: barrier plain 3
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: barrier block
//@ verdict: terminates
//@ case: barrier cluster
//@ verdict: terminates
//@ case: barrier cooperative
//@ verdict: terminates
//@ case: barrier cooperative 3
//@ verdict: terminates
//@ rests-on: COOP
//@ case: barrier plain
//@ flags: --progress=obe
//@ verdict: may-hang
//@ finding: starvation
//@ case: barrier plain
//@ flags: --progress=hsa
//@ verdict: may-hang
//@ finding: starvation
//@ case: barrier plain
//@ flags: --progress=lobe
//@ verdict: may-hang
//@ finding: starvation
//@ case: barrier plain
//@ flags: --progress=fair
//@ verdict: terminates
__global__ void barrier() {
  arrived.fetch_add(1, memory_order_acq_rel);
  while (arrived.load(memory_order_acquire) < all()) {
  }
}

// Used twice; the last one to arrive starts a new generation.
__device__ void meet() {
  const int mine = generation.load(memory_order_acquire);
  if (arrived.fetch_add(1, memory_order_acq_rel) == all() - 1) {
    arrived.store(0, memory_order_relaxed);
    generation.store(mine + 1, memory_order_release);
  } else {
    while (generation.load(memory_order_acquire) == mine) {
    }
  }
}
//@ case: barrier-twice cooperative
//@ verdict: terminates
//@ case: barrier-twice plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
__global__ void barrier_twice() {
  meet();
  meet();
}

// Used twice, with the count itself as the signal: who is slow misses that it was zero.
//@ case: barrier-reset cooperative
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void barrier_reset() {
  for (int round = 0; round < 2; ++round) {
    if (arrived.fetch_add(1, memory_order_acq_rel) == all() - 1) {
      arrived.store(0, memory_order_release);
    } else {
      while (arrived.load(memory_order_acquire) != 0) {
      }
    }
  }
}

// cooperative_groups. In a plain grid it traps.
//@ case: grid-sync cooperative
//@ verdict: terminates
//@ clause: cooperative-grid
//@ case: grid-sync plain
//@ verdict: defect
//@ finding: trap EXEC-TRAP
__global__ void grid_sync() { cooperative_groups::this_grid().sync(); }

// Who arrives again without having waited may be counted twice in one phase.
//@ case: grid-arrives-twice cooperative
//@ verdict: may-hang
//@ finding: livelock
__global__ void grid_arrives_twice() {
  const auto grid = cooperative_groups::this_grid();
  static_cast<void>(grid.barrier_arrive());
  grid.sync();
}
// What lies between the arrival and the wait need not be over when others go on.
//@ case: grid-arrives-early cooperative
//@ verdict: terminates
__global__ void grid_arrives_early() {
  const auto grid = cooperative_groups::this_grid();
  for (int i = 0; i < 2; ++i) {
    auto token = grid.barrier_arrive();
    grid.barrier_wait(static_cast<decltype(token)&&>(token));
  }
}

// Behind the meeting any of the blocks may be the first.
//@ case: behind-the-meeting cooperative 6
//@ verdict: may-hang
//@ finding: deadlock
__global__ void behind_the_meeting() {
  cooperative_groups::this_grid().sync();
  const int found = generation.load(memory_order_relaxed);
  if (blockIdx.x == 0) {
    generation.store(1, memory_order_relaxed);
  }
  cursor.exchange(static_cast<int>(blockIdx.x));
  if (found == 1 && blockIdx.x == gridDim.x - 1) {
    asm volatile("bar.sync 1, 64;");
  }
}

// The last one to arrive does the rest, nobody waits.
//@ case: last-block plain
//@ verdict: terminates
//@ case: last-block plain 3
//@ verdict: terminates
__global__ void last_block() {
  value[me()] = me();
  if (arrived.fetch_add(1, memory_order_acq_rel) == all() - 1) {
    for (int i = 0; i < all(); ++i) {
      total += value[i];
    }
  }
}

// A barrier among those who have a ticket already: the number that meets is not fixed by the launch.
//@ case: ticket-barrier plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: ticket-barrier cooperative
//@ verdict: terminates
__global__ void ticket_barrier() {
  const int ticket = tickets.fetch_add(1, memory_order_acq_rel);
  if (ticket == all() - 1) {
    generation.store(1, memory_order_release);
  }
  wait_for(generation);
}

// --- Decoupled look-back -------------------------------------------------------------------------

__device__ void look_back(int tile) {
  if (tile > 0) {
    wait_for(ready[tile - 1]);
    value[tile] = value[tile - 1] + tile;
  }
  ready[tile].store(1, memory_order_release);
}
//@ case: look-back-index plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: look-back-index cluster
//@ verdict: terminates
//@ case: look-back-index plain
//@ flags: --progress=obe
//@ verdict: may-hang
//@ finding: starvation
//@ case: look-back-index plain
//@ flags: --progress=hsa
//@ verdict: terminates
//@ case: look-back-index plain
//@ flags: --progress=lobe
//@ verdict: terminates
//@ case: look-back-index plain
//@ flags: --progress=fair
//@ verdict: terminates
__global__ void look_back_index() { look_back(me()); }

//@ case: look-back-ticket plain
//@ verdict: terminates
//@ clause: device-threads
//@ case: look-back-ticket plain 3
//@ verdict: terminates
//@ case: look-back-ticket plain
//@ flags: --progress=obe
//@ verdict: terminates
//@ case: look-back-ticket plain
//@ flags: --progress=hsa
//@ verdict: may-hang
//@ finding: starvation
//@ case: look-back-ticket plain
//@ flags: --progress=lobe
//@ verdict: terminates
//@ case: look-back-ticket plain
//@ flags: --progress=fair
//@ verdict: terminates
__global__ void look_back_ticket() { look_back(tickets.fetch_add(1, memory_order_relaxed)); }

// With the aggregate first, as the algorithm really does: who finds one goes on looking further back.
__device__ void look_back_far(int tile) {
  ready[tile].store(1, memory_order_release); // 1: aggregate, 2: prefix
  for (int at = tile - 1; at >= 0;) {
    const int seen = ready[at].load(memory_order_acquire);
    if (seen == 2) {
      break;
    }
    at -= seen;
  }
  ready[tile].store(2, memory_order_release);
}
//@ case: look-back-far-index plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: look-back-far-ticket plain
//@ verdict: terminates
__global__ void look_back_far_index() { look_back_far(me()); }
__global__ void look_back_far_ticket() { look_back_far(tickets.fetch_add(1, memory_order_relaxed)); }

// A warp looks at 32 tiles at once. One of these words is written meanwhile, 31 are not, and what
// would be left of the first tile is not looked at ([RED-PLACES]).
__device__ void look_back_by_warp(int tile) {
  constexpr int warp = 32;
  const int at = tile - 1 - static_cast<int>(threadIdx.x) + warp;
  int seen = 0;
  do {
    seen = ready[at].load(memory_order_acquire);
  } while (__any_sync(~0U, at >= warp && seen == 0));
  if (threadIdx.x == 0) {
    ready[tile + warp].store(1, memory_order_release);
  }
}
//@ case: look-back-warps-index plain
//@ flags: --progress=lobe
//@ verdict: terminates
//@ case: look-back-warps-ticket plain
//@ verdict: terminates
__global__ void look_back_warps_index() {
  look_back_by_warp(blockIdx.x);
}
__global__ void look_back_warps_ticket() {
  int tile = 0;
  if (threadIdx.x == 0) {
    tile = tickets.fetch_add(1, memory_order_relaxed);
  }
  look_back_by_warp(__shfl_sync(~0U, tile, 0));
}
int run_warps(Setup setup, void (*kernel)()) {
  kernel<<<setup.n, 32>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

// --- Stream-K: blocks share tiles, the partial sums of a tile have to come together -------------------

// The owner of a tile waits for the others who worked on it: by index, above or below itself.
//@ case: stream-k-above plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: stream-k-above cooperative
//@ verdict: terminates
//@ case: stream-k-above plain
//@ flags: --progress=hsa
//@ verdict: may-hang
//@ finding: starvation
//@ case: stream-k-above plain
//@ flags: --progress=lobe
//@ verdict: may-hang
//@ finding: starvation
//@ case: stream-k-above plain
//@ flags: --progress=fair
//@ verdict: terminates
__global__ void stream_k_above() {
  value[me()] = me();
  ready[me()].store(1, memory_order_release);
  if (me() == 0) {
    for (int i = 1; i < all(); ++i) {
      wait_for(ready[i]);
      total += value[i];
    }
  }
}
//@ case: stream-k-below plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: stream-k-below plain
//@ flags: --progress=hsa
//@ verdict: terminates
//@ case: stream-k-below plain
//@ flags: --progress=lobe
//@ verdict: terminates
//@ case: stream-k-below plain
//@ flags: --progress=fair
//@ verdict: terminates
__global__ void stream_k_below() {
  value[me()] = me();
  ready[me()].store(1, memory_order_release);
  if (me() == all() - 1) {
    for (int i = 0; i < all() - 1; ++i) {
      wait_for(ready[i]);
      total += value[i];
    }
  }
}
// Whoever comes last adds up.
//@ case: stream-k-last plain
//@ verdict: terminates
//@ case: stream-k-last plain 3
//@ verdict: terminates

// --- Work queues ---------------------------------------------------------------------------------

// Everybody takes tasks until none is left.
//@ case: queue plain
//@ verdict: terminates
__global__ void queue() {
  while (cursor.fetch_add(1, memory_order_relaxed) < all()) {
  }
}

// A consumer per producer, told by the index: the producers may never start.
//@ case: produce-consume-index plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
__global__ void produce_consume_index() {
  if (me() % 2 == 0) {
    wait_for(ready[me()]);
  } else {
    ready[me() - 1].store(1, memory_order_release);
  }
}
// Told by a ticket, producers first: whoever consumes knows that its producer has started.
//@ case: produce-consume-ticket plain
//@ verdict: terminates
__global__ void produce_consume_ticket() {
  const int ticket = tickets.fetch_add(1, memory_order_relaxed);
  if (ticket % 2 == 1) {
    wait_for(ready[ticket - 1]);
  } else {
    ready[ticket].store(1, memory_order_release);
  }
}
// Consumers first: the ticket proves nothing about who comes later.
//@ case: produce-consume-late plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
__global__ void produce_consume_late() {
  const int ticket = tickets.fetch_add(1, memory_order_relaxed);
  if (ticket % 2 == 0) {
    wait_for(ready[ticket]);
  } else {
    ready[ticket - 1].store(1, memory_order_release);
  }
}

// The same kernel three times, of which the last one hangs: threads of different launches are distinguished, in
// the repetition too.
//@ case: launched-again plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
__device__ Atomic<int> rounds;
__global__ void one_round(int last) {
  if (blockIdx.x == 0) {
    while (rounds.load(memory_order_acquire) < last) {
    }
  }
  rounds.fetch_add(1, memory_order_release);
}
int run_launched_again(Setup setup) {
  for (const int last : {0, 0, 5}) {
    if (const cudaError_t error = launch(setup, one_round, last); error != cudaSuccess) {
      return error;
    }
  }
  return cudaDeviceSynchronize();
}

#define DEVICE_CASE(name, kernel) {name, [](Setup setup) { return run_kernel(setup, kernel); }}

// --- A grid whose blocks wait for each other or not, as the grid before it has left things ---------------

// How it starts is not the same each time: with either block of the first grid in front, it runs through once.
__global__ void come_first() {
  if (tickets.exchange(1, memory_order_relaxed) == 0) {
    total = me();
  }
}
__global__ void meet_if(int wanted) {
  if (total == wanted) {
    ready[me()].store(1, memory_order_release);
    wait_for(ready[1 - me()]);
  }
}
//@ case: meet-if-first-was-0
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: meet-if-first-was-1
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: meet-if-first-was-0 block
//@ verdict: terminates
//@ case: meet-if-first-was-1 block
//@ verdict: terminates
template <int Wanted> static int meet_if_first_was(Setup setup) {
  come_first<<<2, 1>>>();
  launch(setup, meet_if, Wanted);
  return static_cast<int>(cudaDeviceSynchronize());
}

// --- One kernel on two devices -----------------------------------------------------------------------------

// Each has a copy of its code. Which copy is met first differs between the search and its repetition.
__global__ void hand_over(int* flag, bool reads) {
  cuda::atomic_ref<int, cuda::thread_scope_system> shared(*flag);
  if (!reads) {
    shared.store(1, memory_order_relaxed);
  }
  __syncthreads();
  if (reads) {
    total = shared.load(memory_order_relaxed);
  }
}
//@ case: two-devices
//@ flags: --devices=2
//@ verdict: terminates
static int run_two_devices(Setup) {
  int* flag = nullptr;
  cudaMallocManaged(&flag, sizeof *flag);
  for (int device = 0; device < 2; ++device) {
    cudaSetDevice(device);
    hand_over<<<1, 1>>>(flag, device == 1);
  }
  int error = 0;
  for (int device = 0; device < 2; ++device) {
    cudaSetDevice(device);
    error += static_cast<int>(cudaDeviceSynchronize());
  }
  return error;
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      DEVICE_CASE("up", up),
      DEVICE_CASE("down", down),
      {"meet-if-first-was-0", meet_if_first_was<0>},
      {"meet-if-first-was-1", meet_if_first_was<1>},
      DEVICE_CASE("barrier", barrier),
      DEVICE_CASE("barrier-twice", barrier_twice),
      DEVICE_CASE("barrier-reset", barrier_reset),
      DEVICE_CASE("grid-sync", grid_sync),
      DEVICE_CASE("grid-arrives-twice", grid_arrives_twice),
      DEVICE_CASE("grid-arrives-early", grid_arrives_early),
      DEVICE_CASE("behind-the-meeting", behind_the_meeting),
      DEVICE_CASE("last-block", last_block),
      DEVICE_CASE("ticket-barrier", ticket_barrier),
      DEVICE_CASE("look-back-index", look_back_index),
      DEVICE_CASE("look-back-ticket", look_back_ticket),
      DEVICE_CASE("look-back-far-index", look_back_far_index),
      DEVICE_CASE("look-back-far-ticket", look_back_far_ticket),
      {"look-back-warps-index", [](Setup s) { return run_warps(s, look_back_warps_index); }},
      {"look-back-warps-ticket", [](Setup s) { return run_warps(s, look_back_warps_ticket); }},
      DEVICE_CASE("stream-k-above", stream_k_above),
      DEVICE_CASE("stream-k-below", stream_k_below),
      DEVICE_CASE("stream-k-last", last_block),
      DEVICE_CASE("queue", queue),
      DEVICE_CASE("produce-consume-index", produce_consume_index),
      DEVICE_CASE("produce-consume-ticket", produce_consume_ticket),
      DEVICE_CASE("produce-consume-late", produce_consume_late),
      {"launched-again", run_launched_again},
      {"two-devices", run_two_devices},
  });
}

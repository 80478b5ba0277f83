// Atomic accesses whose order nobody waits for: tickets that say where something is written, the last
// of several writers. If only data depends on it one order stands for all; if something is decided by
// such data after all, however it got there, what only another order leads to must be found.
//
// The search of all orders is given up after 200 states; 16 threads have some 10^5 and more.
#include "cases.h"

__device__ Atomic<int> tickets, winner, flag;
__device__ int order[256], out[256], chosen[256];

__device__ void wait_for_ever() {
  while (flag.load(memory_order_relaxed) == 0) {
  }
}
__device__ int ticket() { return tickets.fetch_add(1, memory_order_relaxed); }

// --- Only data ---------------------------------------------------------------------------------------

//@ case: compact block 8
//@ verdict: terminates
//@ case: compact plain 256
//@ flags: --max-states=200 --schedules=18
//@ verdict: terminates
__global__ void compact() {
  if (me() % 3 == 0) {
    out[ticket()] = me();
  }
}

// The branch on a place that is negative for some does nothing but store.
//@ case: compact-block block 64
//@ flags: --max-states=200 --schedules=18
//@ verdict: terminates
__global__ void compact_block() {
  __shared__ int count, base;
  if (threadIdx.x == 0) {
    count = 0;
  }
  __syncthreads();
  int place = -1;
  if (me() % 3 == 0) {
    place = atomicAdd(&count, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    base = tickets.fetch_add(count, memory_order_relaxed);
  }
  __syncthreads();
  if (place >= 0) {
    out[base + place] = me();
  }
}

//@ case: last-writer block 64
//@ flags: --max-states=200 --schedules=18
//@ verdict: terminates
__global__ void last_writer() {
  winner.exchange(me(), memory_order_relaxed);
  atomicCAS(&out[0], me(), me() + 1);
  atomicInc(reinterpret_cast<unsigned*>(&out[1]), 17);
  out[2 + me()] = atomicMax(&out[255], me());
}

// --- Decided by what only another order shows: that thread 0 is the last -----------------------------

//@ case: order-in-shared block 16
//@ flags: --max-states=200 --schedules=54
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ incomplete: too many states
__global__ void order_in_shared() {
  __shared__ int place[64];
  place[me()] = ticket();
  __syncthreads();
  if (place[0] == all() - 1) {
    wait_for_ever();
  }
}

// With the functions of CUDA C++, which are strong without saying so.
//@ case: order-of-functions block 16
//@ flags: --max-states=200 --schedules=54
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ incomplete: too many states
//@ case: order-of-functions block 64
//@ flags: --max-states=200 --schedules=18
//@ verdict: unknown
//@ incomplete: too many states
__global__ void order_of_functions() {
  __shared__ int place[64];
  place[me()] = atomicAdd(&out[0], 1);
  __syncthreads();
  if (place[0] == all() - 1) {
    wait_for_ever();
  }
}

// The same, but nobody goes by it.
//@ case: order-written block 64
//@ flags: --max-states=200 --schedules=18
//@ verdict: terminates
__global__ void order_written() {
  __shared__ int place[64];
  place[me()] = ticket();
  __syncthreads();
  out[me()] = place[63 - me()] * 2;
}

//@ case: order-in-next-kernel block 16
//@ flags: --max-states=200 --schedules=54
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ incomplete: too many states
__global__ void order_for_next_kernel() { order[me()] = ticket(); }
__global__ void next_kernel() {
  if (order[0] == all() - 1) {
    wait_for_ever();
  }
}
int order_in_next_kernel(Setup setup) {
  launch(setup, order_for_next_kernel);
  launch(setup, next_kernel);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

// Who writes depends on the order, so does what is at places that others than the writer look at.
//@ case: order-selects block 16
//@ flags: --max-states=200 --schedules=54
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ incomplete: too many states
__global__ void order_selects() {
  if (ticket() == all() - 1) {
    chosen[me()] = 1;
  }
  __syncthreads();
  if (chosen[0] != 0) {
    wait_for_ever();
  }
}

// Where it writes does.
//@ case: order-places block 4
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: order-places block 16
//@ flags: --max-states=200 --schedules=54
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ incomplete: too many states
__global__ void order_places() {
  out[ticket()] = me();
  __syncthreads();
  if (out[all() - 1] == 0) {
    wait_for_ever();
  }
}

//@ case: winner-decides block 16
//@ flags: --max-states=200 --schedules=54
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ incomplete: too many states
__global__ void winner_decides() {
  winner.exchange(me(), memory_order_relaxed);
  __syncthreads();
  if (winner.load(memory_order_relaxed) == 0) {
    wait_for_ever();
  }
}

#define DEVICE_CASE(name, kernel) \
  { name, [](Setup setup) { return run_kernel(setup, kernel); } }

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      DEVICE_CASE("compact", compact),
      DEVICE_CASE("compact-block", compact_block),
      DEVICE_CASE("last-writer", last_writer),
      DEVICE_CASE("order-in-shared", order_in_shared),
      DEVICE_CASE("order-of-functions", order_of_functions),
      DEVICE_CASE("order-written", order_written),
      {"order-in-next-kernel", order_in_next_kernel},
      DEVICE_CASE("order-selects", order_selects),
      DEVICE_CASE("order-places", order_places),
      DEVICE_CASE("winner-decides", winner_decides),
  });
}

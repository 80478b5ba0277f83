// Each block leaves something, takes a ticket and ends; the last one goes on with what all have
// left. Nobody waits, so it makes no difference when blocks start, and only who is last has to be
// chosen: where that holds. Blocks leave different things in shared memory, so that no two are
// alike.
#include "cases.h"

__device__ Atomic<unsigned> tickets, others, flag;
__device__ unsigned left[256], total, chosen;

__device__ void wait_for_ever() {
  while (flag.load(memory_order_relaxed) == 0) {
  }
}

/// The block's ticket, when it has left its part.
__device__ unsigned take(Atomic<unsigned>& counter) {
  __shared__ unsigned ticket, part[32];
  part[threadIdx.x] = (blockIdx.x + 3) * (threadIdx.x + 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    left[blockIdx.x] = part[0] + part[blockDim.x - 1];
    ticket = counter.fetch_add(1, memory_order_acq_rel);
  }
  __syncthreads();
  return part[0] != 0 ? ticket : 0; // so that the parts still count
}

template <class... P> int run_blocks(Setup setup, void (*kernel)(P...)) {
  kernel<<<setup.n, 2>>>();
  return static_cast<int>(cudaDeviceSynchronize());
}

//@ case: sums 4
//@ verdict: terminates
//@ case: sums 64
//@ large: 2^24 states
//@ verdict: terminates
__global__ void sums() {
  if (take(tickets) == gridDim.x - 1 && threadIdx.x == 0) {
    for (unsigned b = 0; b < gridDim.x; ++b) {
      total += left[b];
    }
  }
}

// The counter wraps for the next launch.
//@ case: twice 24
//@ large: 2^24 states
//@ verdict: terminates
__global__ void wraps() {
  __shared__ unsigned ticket;
  if (threadIdx.x == 0) {
    left[blockIdx.x] = blockIdx.x;
    __threadfence();
    ticket = atomicInc(&chosen, gridDim.x - 1);
    __threadfence();
  }
  __syncthreads();
  if (ticket == gridDim.x - 1) {
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
      atomicAdd(&total, left[b]);
    }
  }
}
int twice(Setup setup) {
  return run_blocks(setup, wraps) + run_blocks(setup, wraps);
}

// --- Where who it is makes a difference
// -----------------------------------------------------------

// Only if the third block is last.
//@ case: third-waits 24
//@ flags: --max-time=3
//@ incomplete: found where blocks start at once; all other ways are too many
//@ large: 2^24 states
//@ verdict: may-hang
//@ finding: livelock
__global__ void third_waits() {
  if (take(tickets) == gridDim.x - 1 && blockIdx.x == 2 && threadIdx.x == 0) {
    wait_for_ever();
  }
}
// (Of data that only the order makes the host is not told apart, see data_order.cu.)
//@ case: host-waits-for-third 24
//@ flags: --max-time=3 --no-data-order
//@ incomplete: found where blocks start at once; all other ways are too many
//@ large: 2^24 states
//@ verdict: may-hang
//@ finding: livelock
__global__ void note_last() {
  if (take(tickets) == gridDim.x - 1 && threadIdx.x == 0) {
    chosen = blockIdx.x;
  }
}
__global__ void wait_alone() {
  wait_for_ever();
}
int host_waits(Setup setup) {
  run_blocks(setup, note_last);
  unsigned who = 0;
  cudaMemcpyFromSymbol(&who, chosen, sizeof who);
  if (who == 2) {
    wait_alone<<<1, 1>>>();
    return static_cast<int>(cudaDeviceSynchronize());
  }
  return 0;
}

// --- Where it is not only the last one that matters
// --------------------------------------------------

// A ticket in the middle.
//@ case: fourth-ticket 7
//@ flags: --straight-after=1
//@ verdict: may-hang
//@ finding: livelock
__global__ void fourth_ticket() {
  if (take(tickets) == 4 && blockIdx.x == 1 && threadIdx.x == 0) {
    wait_for_ever();
  }
}
// One for each block, and one block that must not get its own.
//@ case: own-ticket 6
//@ flags: --straight-after=1
//@ verdict: may-hang
//@ finding: livelock
__global__ void own_ticket() {
  if (take(tickets) == (blockIdx.x + 3) % gridDim.x && blockIdx.x == 5 && threadIdx.x == 0) {
    wait_for_ever();
  }
}
// Two counters: the last of the even blocks and the last of the odd ones take a ticket of a third.
//@ case: two-counters 7
//@ flags: --straight-after=1
//@ verdict: may-hang
//@ finding: livelock
__device__ Atomic<unsigned> third;
__global__ void two_counters() {
  const bool odd = blockIdx.x % 2 != 0;
  const unsigned mine = odd ? gridDim.x / 2 : (gridDim.x + 1) / 2;
  if (take(odd ? others : tickets) == mine - 1 && threadIdx.x == 0) {
    if (third.fetch_add(1, memory_order_acq_rel) == 1 && blockIdx.x == 1) {
      wait_for_ever();
    }
  }
}
// Others end, too, but in one word they leave who came when.
//@ case: who-came-second 6
//@ flags: --straight-after=1
//@ verdict: may-hang
//@ finding: livelock
__global__ void who_came_second() {
  const unsigned ticket = take(tickets);
  if (threadIdx.x == 0 && ticket == 1) {
    chosen = blockIdx.x;
  }
}
int host_asks(Setup setup) {
  run_blocks(setup, who_came_second);
  unsigned who = 0;
  cudaMemcpyFromSymbol(&who, chosen, sizeof who);
  if (who == 4) {
    wait_alone<<<1, 1>>>();
  }
  return static_cast<int>(cudaDeviceSynchronize());
}

// --- Where somebody waits
// -------------------------------------------------------------------------

// The last one waits for the first block's second step: that it would make if it were waited for.
//@ case: waits-for-later 5
//@ flags: --straight-after=1
//@ verdict: may-hang
//@ finding: starvation
__device__ Atomic<unsigned> later;
__global__ void waits_for_later() {
  const bool first = blockIdx.x == 0;
  if (!first && threadIdx.x == 0 && later.load(memory_order_relaxed) == 0) {
    tickets.fetch_add(1, memory_order_relaxed);
    while (later.load(memory_order_relaxed) == 0) {
    }
  }
  if (first && threadIdx.x == 0) {
    later.store(1, memory_order_relaxed);
  }
}

int main(int argc, char** argv) {
  return run_case(
      argc,
      argv,
      {
          {"sums", [](Setup setup) { return run_blocks(setup, sums); }},
          {"twice", twice},
          {"third-waits", [](Setup setup) { return run_blocks(setup, third_waits); }},
          {"host-waits-for-third", host_waits},
          {"fourth-ticket", [](Setup setup) { return run_blocks(setup, fourth_ticket); }},
          {"own-ticket", [](Setup setup) { return run_blocks(setup, own_ticket); }},
          {"two-counters", [](Setup setup) { return run_blocks(setup, two_counters); }},
          {"who-came-second", host_asks},
          {"waits-for-later", [](Setup setup) { return run_blocks(setup, waits_for_later); }},
      }
  );
}

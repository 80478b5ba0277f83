// Values by which nothing is decided are no part of a state in a large search, and those by which
// something is decided are, however they get there ([RED-CONE]). Each way has a twin that hangs.
//
// With --one-order-after=1 the search takes to this at once, small as the programs are.
#include "cases.h"

constexpr int most = 256;
__device__ Atomic<int> tickets, flag, never;
__device__ unsigned arrived;
__device__ volatile unsigned generation;
__device__ int first[most], second[most], one, other;
__device__ int* const places[] = {&one, &other};

__device__ void hang() {
  while (never.load(memory_order_relaxed) == 0) {
  }
}
__device__ int ticket() { return tickets.fetch_add(1, memory_order_acq_rel); }
/// True for the last one to come, when the first one has done its work.
__device__ bool last(int mine) {
  if (mine != all() - 1) {
    return false;
  }
  while (flag.load(memory_order_acquire) == 0) {
  }
  return true;
}
template <class Work> __device__ bool first_works(Work work) {
  const int mine = ticket();
  if (mine == 0) {
    work();
    flag.store(1, memory_order_release);
  }
  return last(mine);
}

// --- A barrier of the whole grid, by hand ------------------------------------------------------------

__device__ void barrier() {
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned now = generation;
    __threadfence();
    if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
      arrived = 0;
      __threadfence();
      generation = now + 1;
    } else {
      while (generation == now) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}

//@ case: exchange 64
//@ verdict: terminates
//@ case: exchange 8
//@ flags: --one-order-after=1
//@ verdict: terminates
__global__ void exchange() {
  if (threadIdx.x == 0) {
    first[blockIdx.x] = static_cast<int>(blockIdx.x);
  }
  barrier();
  if (threadIdx.x == 0) {
    second[blockIdx.x] = first[(blockIdx.x + 1) % gridDim.x];
  }
}

// What is exchanged depends on who came when, and decides.
//@ case: exchange-tickets 3
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void exchange_tickets() {
  if (threadIdx.x == 0) {
    first[blockIdx.x] = ticket();
  }
  barrier();
  if (threadIdx.x == 0 && first[(blockIdx.x + 1) % gridDim.x] == 2 && blockIdx.x == 0) {
    hang();
  }
}

// --- Who wrote it ------------------------------------------------------------------------------------

//@ case: winner plain 3
//@ flags: --one-order-after=1
//@ verdict: terminates
__global__ void winner() {
  if (first_works([] { first[me()] = 1; })) {
    second[0] = first[1];
  }
}

// The representative of those that are alike has written another element.
//@ case: winner-decides plain 3
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void winner_decides() {
  if (first_works([] { first[me()] = 1; }) && first[1] == 1) {
    hang();
  }
}

// … another object, by a pointer from memory, or by one of two that are chosen.
//@ case: pointer-from-memory plain 2
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void pointer_from_memory() {
  if (first_works([] { *places[me() % 2] = 1; }) && other == 1) {
    hang();
  }
}

//@ case: chosen-pointer plain 2
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void chosen_pointer() {
  if (first_works([] { *(me() == 1 ? &other : &one) = 1; }) && other == 1) {
    hang();
  }
}

// Whether it is written depends on data.
//@ case: guarded plain 2
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void guarded() {
  if (first_works([] {
        first[0] = me();
        if (first[0] == 1) {
          one = 1;
        }
      }) &&
      one == 1) {
    hang();
  }
}

// --- Ways to a decision ------------------------------------------------------------------------------

// Through other memory, and a function that is called.
__device__ __noinline__ void decide(int value) {
  if (value == 1) {
    hang();
  }
}
//@ case: through-memory plain 2
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void through_memory() {
  if (first_works([] {
        first[0] = me();
        second[3] = first[0] + 1;
      })) {
    decide(second[3] - 1);
  }
}

// Through shared memory.
//@ case: through-shared 2
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void through_shared() {
  __shared__ int value;
  if (threadIdx.x == 0) {
    const int mine = ticket();
    if (mine == 0) {
      first[0] = static_cast<int>(blockIdx.x);
      flag.store(1, memory_order_release);
    }
    value = mine == static_cast<int>(gridDim.x) - 1 && flag.load(memory_order_acquire) != 0 ? first[0] : 0;
  }
  __syncthreads();
  if (threadIdx.x == 1 && value == 1) {
    hang();
  }
}

// Through a copy to memory that another kernel decides by.
//@ case: through-copy 2
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void write_winner() {
  if (ticket() == 0) {
    first[0] = me();
  }
}
__global__ void decide_by_copy() {
  if (second[0] == 1) {
    hang();
  }
}
int through_copy(Setup setup) {
  void *from = nullptr, *to = nullptr;
  cudaGetSymbolAddress(&from, first);
  cudaGetSymbolAddress(&to, second);
  write_winner<<<setup.n, 1>>>();
  cudaMemcpyAsync(to, from, sizeof(int), cudaMemcpyDeviceToDevice);
  decide_by_copy<<<1, 1>>>();
  return static_cast<int>(cudaDeviceSynchronize());
}

// --- What a block has in shared memory ------------------------------------------------------------

// What it holds before the next number is fetched is no part of a state: it is written before it is read.
//@ case: queue 16
//@ verdict: terminates
//@ case: queue 3
//@ flags: --one-order-after=1
//@ verdict: terminates
__global__ void queue() {
  __shared__ int item;
  for (;;) {
    if (threadIdx.x == 0) {
      item = ticket();
    }
    __syncthreads();
    const int mine = item;
    __syncthreads();
    if (mine >= 64) {
      break;
    }
    if (threadIdx.x == 0) {
      first[mine] = mine * mine;
    }
  }
}

// Unless it is not always written: who got the number before the last one still has it.
//@ case: queue-of-even 2
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void queue_of_even() {
  __shared__ int item;
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) {
      const int mine = ticket();
      if (mine % 2 == 0) {
        item = mine;
      }
    }
    __syncthreads();
    if (threadIdx.x == 1 && round == 1 && item == 2) {
      hang();
    }
    __syncthreads();
  }
}

// What is computed in it may be data, too.
//@ case: tiles 3
//@ flags: --one-order-after=1
//@ verdict: terminates
//@ case: tiles-decide 3
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
template <bool decides> __global__ void tiles() {
  __shared__ int tile[32], mine;
  if (threadIdx.x == 0) {
    mine = ticket();
  }
  __syncthreads();
  tile[threadIdx.x] = mine * static_cast<int>(blockIdx.x + threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) {
    first[blockIdx.x] = tile[3];
    flag.fetch_add(1, memory_order_acq_rel);
    if (decides && tile[0] == 4) {
      hang();
    }
  }
}

// Counts its rounds; nobody asks how many there were.
//@ case: rounds block 2
//@ flags: --one-order-after=1
//@ verdict: terminates
//@ case: rounds plain 2
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: starvation CLUSTER
__global__ void rounds() {
  if (me() == 0) {
    flag.store(1, memory_order_release);
    return;
  }
  int count = 0;
  while (flag.load(memory_order_acquire) == 0) {
    ++count;
  }
  first[me()] = count;
}

// A search that took for granted what does not hold, stopped because one fair schedule hangs: that hang is reported,
// and not that all threads count forever, which is so only as long as the count is left out.
//@ case: counts-up plain 4
//@ flags: --straight-after=1 --one-order-after=1 --schedules=0
//@ verdict: may-hang
//@ incomplete: a fair schedule hangs first
//@ finding: livelock HANG-LIVELOCK
//@ case: counts-up-and-ends plain 4
//@ flags: --straight-after=1 --one-order-after=1 --schedules=0
//@ verdict: terminates
template <bool Ends> __global__ void counts_up() {
  int mine = 0;
  do {
    mine = ticket();
    if (!Ends && mine == 3) {
      hang();
    }
  } while (mine < 3);
}

int cooperative_warps(Setup setup, void (*kernel)()) {
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), setup.n, 32, nullptr, 0, nullptr);
  return static_cast<int>(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {
          {"exchange", [](Setup setup) { return cooperative_warps(setup, exchange); }},
          {"exchange-tickets", [](Setup setup) { return cooperative_warps(setup, exchange_tickets); }},
          {"winner", [](Setup setup) { return run_kernel(setup, winner); }},
          {"winner-decides", [](Setup setup) { return run_kernel(setup, winner_decides); }},
          {"pointer-from-memory", [](Setup setup) { return run_kernel(setup, pointer_from_memory); }},
          {"chosen-pointer", [](Setup setup) { return run_kernel(setup, chosen_pointer); }},
          {"guarded", [](Setup setup) { return run_kernel(setup, guarded); }},
          {"through-memory", [](Setup setup) { return run_kernel(setup, through_memory); }},
          {"through-shared", [](Setup setup) { return cooperative_warps(setup, through_shared); }},
          {"through-copy", through_copy},
          {"queue", [](Setup setup) { return cooperative_warps(setup, queue); }},
          {"queue-of-even", [](Setup setup) { return cooperative_warps(setup, queue_of_even); }},
          {"tiles", [](Setup setup) { return cooperative_warps(setup, tiles<false>); }},
          {"tiles-decide", [](Setup setup) { return cooperative_warps(setup, tiles<true>); }},
          {"counts-up", [](Setup setup) { return run_kernel(setup, counts_up<false>); }},
          {"counts-up-and-ends", [](Setup setup) { return run_kernel(setup, counts_up<true>); }},
          {"rounds", [](Setup setup) { return run_kernel(setup, rounds); }},
      }
  );
}

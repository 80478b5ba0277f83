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
//@ verdict: unknown
//@ coverage: one-order
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

// States whose data differ in more than a renaming are one where one order is searched: the witness of
// one of them, repeated in the other, is no other program. (Every order is searched since known moves count as whoever's
// they are: the threads' accesses to `places` meet.)
//@ case: tickets-of-others
//@ flags: --straight-after=1 --one-order-after=1 --schedules=0
//@ verdict: terminates
//@ warning: unordered-access
__device__ int seen, places[8], drawn[8], first_tickets, second_tickets;
__global__ void tickets_of_others() {
  volatile int* const look = &seen;
  switch (me()) {
  case 0: *look = 1; break;
  case 1: atomicExch(&seen, 1); break;
  case 3:
    if (atomicAdd(&seen, 0) == 2) {
      *look = 1;
    }
    break;
  }
  atomicExch(&places[atomicAdd(&first_tickets, 1)], *look);
  atomicExch(&drawn[atomicAdd(&second_tickets, 1)], *look);
}
__global__ void judge() {
  if (order[0] == 3) {
    wait_for_ever();
  }
}
int judged_tickets() {
  tickets_of_others<<<2, 2>>>();
  judge<<<1, 1>>>();
  return static_cast<int>(cudaDeviceSynchronize());
}

//@ case: last-writer block 64
//@ flags: --max-states=200 --schedules=18
//@ verdict: unknown
//@ coverage: one-order
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
//@ verdict: unknown
//@ coverage: one-order
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

// --- Updates made of compare-and-swap ----------------------------------------------------------------

// The maximum of floating-point numbers; left early if the place has a greater one.
//@ case: exchange-max plain 256
//@ flags: --max-states=200 --schedules=18
//@ verdict: unknown
//@ coverage: one-order
//@ case: exchange-max block 6
//@ verdict: terminates
__global__ void exchange_max() {
  const float mine = static_cast<float>(me() * 37 % 101);
  int seen = *static_cast<volatile int*>(&out[0]);
  while (__int_as_float(seen) < mine) {
    const int expected = seen;
    seen = atomicCAS(&out[0], expected, __float_as_int(mine));
    if (seen == expected) {
      break;
    }
  }
}

// A sum of doubles in shared memory, then one for the grid; each thread keeps what it has found.
//@ case: exchange-add block 64
//@ flags: --max-states=200 --schedules=18
//@ verdict: unknown
//@ coverage: one-order
__device__ double add(double* sum, double value) {
  auto* bits = reinterpret_cast<unsigned long long*>(sum);
  unsigned long long expected = 0, seen = *static_cast<volatile unsigned long long*>(bits);
  do {
    expected = seen;
    seen = atomicCAS(bits, expected, __double_as_longlong(__longlong_as_double(expected) + value));
  } while (seen != expected);
  return __longlong_as_double(seen);
}
__device__ double sum_of_all, found[256];
__global__ void exchange_add() {
  __shared__ double sum;
  if (threadIdx.x == 0) {
    sum = 0;
  }
  __syncthreads();
  found[me()] = add(&sum, me());
  __syncthreads();
  if (threadIdx.x == 0) {
    add(&sum_of_all, sum);
  }
}

// With what libcu++ has; the place is read again in each round.
//@ case: exchange-weak plain 64
//@ flags: --max-states=200 --schedules=18
//@ verdict: unknown
//@ coverage: one-order
__global__ void exchange_weak() {
  int seen = tickets.load(memory_order_relaxed);
  while (!tickets.compare_exchange_weak(seen, seen * 3 + me(), memory_order_acq_rel)) {
  }
  do {
    seen = winner.load(memory_order_relaxed);
  } while (!winner.compare_exchange_strong(seen, seen ^ me(), memory_order_relaxed));
}

// Thread 0 may find what the last one has left.
//@ case: exchange-decides block 4
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: exchange-decides block 16
//@ flags: --max-states=200 --schedules=54
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ incomplete: too many states
__global__ void exchange_decides() {
  int seen = 0;
  while (!tickets.compare_exchange_strong(seen, seen + 1, memory_order_relaxed)) {
  }
  if (me() == 0 && seen == all() - 1) {
    wait_for_ever();
  }
}

// It need not ever succeed: the other one changes the place until it has.
//@ case: exchange-starved block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void exchange_starved() {
  if (me() == 0) {
    int seen = winner.load(memory_order_relaxed);
    while (!winner.compare_exchange_weak(seen, seen | 2, memory_order_relaxed)) {
    }
    flag.store(1, memory_order_relaxed);
  } else {
    while (flag.load(memory_order_relaxed) == 0) {
      winner.fetch_xor(1, memory_order_relaxed);
    }
  }
}

// A host thread goes by what it reads in mapped memory: only in one of the orders is the sum the last.
//@ case: host-reads-order
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void add_or_store(SystemAtomic<int>* place) {
  if (me() == 0) {
    place->fetch_add(1, memory_order_relaxed);
  } else {
    place->store(1, memory_order_relaxed);
  }
}
int host_reads_order(Setup setup) {
  SystemAtomic<int>* place = nullptr;
  cudaMallocHost(reinterpret_cast<void**>(&place), sizeof *place);
  place->store(0);
  launch(setup, add_or_store, place);
  cudaDeviceSynchronize();
  while (place->load() == 2) {
  }
  return 0;
}

// --- Sums that round -------------------------------------------------------------------------------

__device__ float total;

//@ case: sum-of-floats plain 256
//@ flags: --max-states=200 --schedules=18
//@ verdict: unknown
//@ coverage: one-order
__global__ void sum_of_floats() { atomicAdd(&total, 1.0F / static_cast<float>(me() + 1)); }

// 2^25 + 1 is rounded to 2^25, so it is 0 if block 1 comes between.
//@ case: rounded-sum plain 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: rounded-sum plain 2
//@ flags: --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void rounded_sum() {
  if (me() == 0) {
    atomicAdd(&total, 0x1p25F);
    atomicAdd(&total, -0x1p25F);
  } else {
    atomicAdd(&total, 1.0F);
  }
  if (ticket() == 1 && atomicAdd(&total, 0.0F) == 0) {
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
      DEVICE_CASE("exchange-max", exchange_max),
      DEVICE_CASE("exchange-add", exchange_add),
      DEVICE_CASE("exchange-weak", exchange_weak),
      DEVICE_CASE("exchange-decides", exchange_decides),
      DEVICE_CASE("exchange-starved", exchange_starved),
      {"tickets-of-others", [](Setup) { return judged_tickets(); }},
      {"host-reads-order", host_reads_order},
      DEVICE_CASE("sum-of-floats", sum_of_floats),
      DEVICE_CASE("rounded-sum", rounded_sum),
  });
}

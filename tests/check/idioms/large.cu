// Programs with far more states than a search can visit: what is found after its limit, by single
// schedules. Each stands beside a version that is right, of which they must find nothing.
//
// The search gives up after 200 states; all of them would take hours, or there is no end to them.
//@ large: that is what these are about
#include "cases.h"

__device__ Atomic<int> forks[64], slots[64], ready[256], tickets, flag;
__device__ int data[64][32], value[256];

__device__ void acquire(Atomic<int>& lock) {
  while (lock.exchange(1, memory_order_acquire) != 0) {
  }
}
__device__ void release(Atomic<int>& lock) { lock.store(0, memory_order_release); }

// --- Eight philosophers who write into what they hold ------------------------------------------------

__device__ void eat(int first, int second) {
  acquire(forks[first]);
  for (int i = 0; i < 32; ++i) {
    data[first][i] += me();
  }
  acquire(forks[second]);
  for (int i = 0; i < 32; ++i) {
    data[second][i] += data[first][i];
  }
  release(forks[second]);
  release(forks[first]);
}
//@ case: philosophers block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: philosophers block 8
//@ flags: --max-states=200 --schedules=54
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ incomplete: too many states
//@ case: philosophers plain 8
//@ flags: --max-states=200 --schedules=54
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ incomplete: too many states
__global__ void philosophers() { eat(me(), (me() + 1) % all()); }
//@ case: philosophers-ordered block 8
//@ flags: --max-states=200 --schedules=54
//@ verdict: unknown
//@ incomplete: too many states
__global__ void philosophers_ordered() {
  const int left = me(), right = (me() + 1) % all();
  eat(min(left, right), max(left, right));
}

// --- 64 threads that are all different, each with counters of its own ---------------------------------

// Each adds to the counters of its neighbours, and the last one to come opens the door.
__device__ void count_up() {
  for (int i = 0; i < 3; ++i) {
    slots[(me() + i) % all()].fetch_add(me() + i, memory_order_relaxed);
  }
}
//@ case: counters block 64
//@ flags: --max-states=200 --schedules=54
//@ verdict: unknown
//@ incomplete: too many states
__global__ void counters() {
  count_up();
  if (tickets.fetch_add(1, memory_order_acq_rel) == all() - 1) {
    flag.store(1, memory_order_release);
  }
  while (flag.load(memory_order_acquire) == 0) {
  }
}
// Opened by who has come last only if that is not thread 0.
//@ case: counters-but-one block 64
//@ flags: --max-states=200 --schedules=54
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ incomplete: too many states
__global__ void counters_but_one() {
  count_up();
  if (tickets.fetch_add(1, memory_order_acq_rel) == all() - 1 && me() != 0) {
    flag.store(1, memory_order_release);
  }
  while (flag.load(memory_order_acquire) == 0) {
  }
}

// --- A ticket that is drawn again and again: no state ever comes back ----------------------------------

// The first of two locks is tried with a new ticket each time. Which is the first?
__device__ void take_two(Atomic<int>& first, Atomic<int>& second) {
  do {
    tickets.fetch_add(1, memory_order_relaxed);
  } while (first.exchange(1, memory_order_acquire) != 0);
  acquire(second);
  release(second);
  release(first);
}
//@ case: tickets-crossed block 2
//@ flags: --max-states=200 --schedules=54
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ incomplete: too many states
__global__ void tickets_crossed() { take_two(forks[me() % 2], forks[1 - me() % 2]); }
//@ case: tickets-ordered block 2
//@ flags: --max-states=200 --schedules=54
//@ verdict: unknown
//@ incomplete: too many states
__global__ void tickets_ordered() { take_two(forks[0], forks[1]); }

// --- Look-back over 256 blocks --------------------------------------------------------------------

__device__ void look_back(int tile) {
  if (tile > 0) {
    while (ready[tile - 1].load(memory_order_acquire) == 0) {
    }
    value[tile] = value[tile - 1] + tile;
  }
  ready[tile].store(1, memory_order_release);
}
//@ case: look-back-index plain 256
//@ flags: --max-states=200 --schedules=18
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ incomplete: too many states
__global__ void look_back_index() { look_back(me()); }
//@ case: look-back-ticket plain 256
//@ flags: --max-states=200 --schedules=18
//@ verdict: unknown
//@ incomplete: too many states
__global__ void look_back_ticket() { look_back(tickets.fetch_add(1, memory_order_relaxed)); }

// --- Faults and crashes ---------------------------------------------------------------------------

// Only under a schedule in which thread 0 is the last of 16.
//@ case: fault-if-late block 16
//@ flags: --max-states=200 --schedules=54
//@ verdict: defect
//@ finding: trap EXEC-TRAP
//@ incomplete: too many states
__global__ void fault_if_late() {
  slots[me()].fetch_add(me() + 1, memory_order_relaxed);
  if (tickets.fetch_add(1, memory_order_acq_rel) == all() - 1 && me() == 0) {
    __trap();
  }
}

// The host crashes if thread 0 was the last [CRASH].
//@ case: crash-if-late block 16
//@ flags: --max-states=200 --schedules=54
//@ verdict: defect
//@ finding: host-crash CRASH
//@ incomplete: too many states
__global__ void last_one(int* last) {
  slots[me()].fetch_add(me() + 1, memory_order_relaxed);
  if (tickets.fetch_add(1, memory_order_acq_rel) == all() - 1) {
    *last = me();
  }
}
int crash_if_late(Setup setup) {
  int* last = nullptr;
  cudaMallocHost(&last, sizeof *last);
  launch(setup, last_one, last);
  cudaDeviceSynchronize();
  if (*last == 0) {
    std::abort();
  }
  return 0;
}

// A copy beside a kernel that draws tickets. If it writes the tickets, the search in which blocks start at once ends as
// soon as it sees that the one can meet the other, and what it leaves is no defect.
//@ case: copy-beside-tickets plain 8
//@ flags: --straight-after=1 --max-states=60 --schedules=18
//@ verdict: terminates
//@ case: copy-onto-tickets plain 8
//@ flags: --straight-after=1 --max-states=60 --schedules=18
//@ verdict: unknown
//@ incomplete: too many states
__global__ void draw() {
  if (tickets.fetch_add(1, memory_order_relaxed) == all() - 1) {
    data[0][0] = 1;
  }
}
template <bool onto> int copy_beside_tickets(Setup setup) {
  cudaStream_t beside = nullptr;
  cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking);
  void* to = nullptr;
  onto ? cudaGetSymbolAddress(&to, tickets) : cudaGetSymbolAddress(&to, value);
  static const int from = 3;
  launch(setup, draw);
  cudaMemcpyAsync(to, &from, sizeof from, cudaMemcpyHostToDevice, beside);
  return static_cast<int>(cudaDeviceSynchronize());
}

// --- A kernel that looks at what another one has left: in one order of that it ends at once, in another it waits ---------

__global__ void leave() { value[tickets.fetch_add(1, memory_order_relaxed)] = slots[0].fetch_add(1, memory_order_relaxed); }
__global__ void meet_if_reversed() {
  if (value[0] == 1 && value[1] == 2) {
    while (flag.load(memory_order_acquire) == 0) {
    }
  }
}
//@ case: meet-if-reversed block 3
//@ flags: --straight-after=1 --max-states=50 --schedules=0
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ incomplete: too many states
int meet_if_reversed_after(Setup setup) {
  launch(setup, leave);
  meet_if_reversed<<<1, 1>>>();
  return static_cast<int>(cudaDeviceSynchronize());
}

#define DEVICE_CASE(name, kernel) \
  { name, [](Setup setup) { return run_kernel(setup, kernel); } }

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      DEVICE_CASE("philosophers", philosophers),
      DEVICE_CASE("philosophers-ordered", philosophers_ordered),
      DEVICE_CASE("counters", counters),
      DEVICE_CASE("counters-but-one", counters_but_one),
      DEVICE_CASE("tickets-crossed", tickets_crossed),
      DEVICE_CASE("tickets-ordered", tickets_ordered),
      DEVICE_CASE("look-back-index", look_back_index),
      DEVICE_CASE("look-back-ticket", look_back_ticket),
      DEVICE_CASE("fault-if-late", fault_if_late),
      {"crash-if-late", crash_if_late},
      {"copy-beside-tickets", copy_beside_tickets<false>},
      {"copy-onto-tickets", copy_beside_tickets<true>},
      {"meet-if-reversed", meet_if_reversed_after},
  });
}

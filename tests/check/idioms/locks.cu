// Mutual exclusion: locks that work for every schedule, and how each is commonly got wrong.
//
// A lock may be held across a wait for others only if those others are guaranteed to move. A lock by
// itself is fine even between blocks of a plain grid: who holds it took it by a read-modify-write
// operation, and so has taken a step.
#include "cases.h"

__device__ Atomic<int> lock_word, other_lock, next_ticket, now_serving, flag;
__device__ Atomic<int> forks[16];
__device__ int counter;

__device__ void acquire(Atomic<int>& lock) {
  while (lock.exchange(1, memory_order_acquire) != 0) {
  }
}
__device__ void release(Atomic<int>& lock) { lock.store(0, memory_order_release); }

// --- Spin lock, each thread for itself, lanes of one warp among them --------------------------------

//@ case: spin-lock block 2
//@ verdict: terminates
//@ clause: device-threads
//@ case: spin-lock block 3
//@ verdict: terminates
//@ case: spin-lock plain 2
//@ verdict: terminates
//@ case: spin-lock cluster 2
//@ verdict: terminates
//@ case: spin-lock cooperative 2
//@ verdict: terminates
// If only the block with the lowest index is guaranteed, who holds the lock may be stopped for ever.
//@ case: spin-lock plain 2
//@ flags: --progress=hsa
//@ verdict: may-hang
//@ finding: starvation
//@ case: spin-lock plain 2
//@ flags: --progress=lobe
//@ verdict: terminates
__global__ void spin_lock() {
  acquire(lock_word);
  ++counter;
  release(lock_word);
}

// The form that also worked when the lanes of a warp moved together: release inside the loop.
//@ case: spin-lock-inside block 2
//@ verdict: terminates
__global__ void spin_lock_inside() {
  for (bool done = false; !done;) {
    if (lock_word.exchange(1, memory_order_acquire) == 0) {
      ++counter;
      release(lock_word);
      done = true;
    }
  }
}

// One way out of the critical section does not release.
//@ case: spin-lock-kept block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: spin-lock-kept plain 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void spin_lock_kept() {
  acquire(lock_word);
  if (me() == 0) {
    return;
  }
  release(lock_word);
}

// Lanes meet while one of them holds the lock: the others never come, they want the lock.
//@ case: spin-lock-meet-inside block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void spin_lock_meet_inside() {
  acquire(lock_word);
  __syncwarp((1U << blockDim.x) - 1);
  release(lock_word);
}

//@ case: spin-lock-meet-after block 2
//@ verdict: terminates
__global__ void spin_lock_meet_after() {
  acquire(lock_word);
  ++counter;
  release(lock_word);
  __syncwarp((1U << blockDim.x) - 1);
}

// --- Ticket lock ---------------------------------------------------------------------------------

//@ case: ticket-lock plain 2
//@ verdict: terminates
//@ case: ticket-lock plain 3
//@ verdict: terminates
//@ case: ticket-lock block 3
//@ verdict: terminates
__global__ void ticket_lock() {
  const int ticket = next_ticket.fetch_add(1, memory_order_relaxed);
  while (now_serving.load(memory_order_acquire) != ticket) {
  }
  ++counter;
  now_serving.store(ticket + 1, memory_order_release);
}

// The turn comes from the index: whose turn it is may not have started. In-order dispatch hides it.
//@ case: turn-by-index plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: cluster
//@ case: turn-by-index block 3
//@ verdict: terminates
//@ case: turn-by-index cluster 2
//@ verdict: terminates
//@ clause: cluster
//@ rests-on: CLUSTER
//@ case: turn-by-index cooperative 2
//@ verdict: terminates
//@ rests-on: COOP
__global__ void turn_by_index() {
  while (now_serving.load(memory_order_acquire) != me()) {
  }
  ++counter;
  now_serving.store(me() + 1, memory_order_release);
}

// --- Mutex by compare-and-swap -------------------------------------------------------------------

__device__ void cas_acquire(Atomic<int>& lock) {
  for (int expected = 0; !lock.compare_exchange_weak(expected, 1, memory_order_acquire); expected = 0) {
  }
}

//@ case: mutex plain 2
//@ verdict: terminates
//@ case: mutex block 3
//@ verdict: terminates
__global__ void mutex() {
  cas_acquire(lock_word);
  ++counter;
  release(lock_word);
}

// Taken a second time by its owner.
//@ case: mutex-twice block 1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void mutex_twice() {
  cas_acquire(lock_word);
  cas_acquire(lock_word);
  release(lock_word);
}

// Held while waiting for a block that may not have started.
//@ case: mutex-held-over-wait plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: mutex-held-over-wait block 2
//@ verdict: terminates
__global__ void mutex_held_over_wait() {
  if (me() == 0) {
    cas_acquire(lock_word);
    while (flag.load(memory_order_acquire) == 0) {
    }
    release(lock_word);
  } else {
    flag.store(1, memory_order_release);
  }
}

// Held while waiting for somebody who wants it.
//@ case: mutex-held-over-taker block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void mutex_held_over_taker() {
  cas_acquire(lock_word);
  if (me() == 0) {
    while (flag.load(memory_order_acquire) == 0) {
    }
  } else {
    flag.store(1, memory_order_release);
  }
  release(lock_word);
}

// Two locks in two orders, and in one.
//@ case: two-locks-crossed block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: two-locks-crossed plain 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void two_locks_crossed() {
  cas_acquire(me() == 0 ? lock_word : other_lock);
  cas_acquire(me() == 0 ? other_lock : lock_word);
  release(lock_word);
  release(other_lock);
}

//@ case: two-locks-ordered plain 2
//@ verdict: terminates
__global__ void two_locks_ordered() {
  cas_acquire(lock_word);
  cas_acquire(other_lock);
  release(other_lock);
  release(lock_word);
}

// --- Dining philosophers -------------------------------------------------------------------------

__device__ Atomic<int>& left() { return forks[me()]; }
__device__ Atomic<int>& right() { return forks[(me() + 1) % all()]; }

//@ case: philosophers-left-first block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: philosophers-left-first block 3
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void philosophers_left_first() {
  acquire(left());
  acquire(right());
  release(right());
  release(left());
}

//@ case: philosophers-ordered block 2
//@ verdict: terminates
//@ case: philosophers-ordered plain 3
//@ verdict: terminates
__global__ void philosophers_ordered() {
  const bool last = me() == all() - 1;
  acquire(last ? right() : left());
  acquire(last ? left() : right());
  release(right());
  release(left());
}

// Puts the first fork down when the second is taken. They may do so in step, for ever.
//@ case: philosophers-polite block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void philosophers_polite() {
  for (;;) {
    acquire(left());
    if (right().exchange(1, memory_order_acquire) == 0) {
      break;
    }
    release(left());
  }
  release(right());
  release(left());
}

// --- Peterson and Dekker -------------------------------------------------------------------------

__device__ Atomic<int> wants[2], turn;

// With plain atomic stores the one who has announced itself has not taken a step yet ([STEP.4]), so in
// a plain grid the other one may wait for it for ever.
//@ case: peterson block 2
//@ verdict: terminates
//@ case: peterson cluster 2
//@ verdict: terminates
//@ case: peterson plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: device.threads.4
__global__ void peterson() {
  const int i = me();
  wants[i].store(1);
  turn.store(1 - i);
  while (wants[1 - i].load() == 1 && turn.load() == 1 - i) {
  }
  ++counter;
  wants[i].store(0);
}

//@ case: peterson-exchange plain 2
//@ verdict: terminates
//@ clause: device.threads.4
__global__ void peterson_exchange() {
  const int i = me();
  wants[i].exchange(1);
  turn.exchange(1 - i);
  while (wants[1 - i].load() == 1 && turn.load() == 1 - i) {
  }
  ++counter;
  wants[i].store(0);
}

// Without the turn both insist.
//@ case: peterson-without-turn block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void peterson_without_turn() {
  wants[me()].store(1);
  while (wants[1 - me()].load() == 1) {
  }
  wants[me()].store(0);
}

__device__ void dekker_enter(bool ask_turn) {
  const int i = me();
  wants[i].store(1);
  while (wants[1 - i].load() == 1) {
    if (!ask_turn || turn.load() != i) {
      wants[i].store(0);
      while (ask_turn && turn.load() != i) {
      }
      wants[i].store(1);
    }
  }
}

//@ case: dekker block 2
//@ verdict: terminates
__global__ void dekker() {
  dekker_enter(true);
  ++counter;
  turn.store(1 - me());
  wants[me()].store(0);
}

// Both give way, both insist again, for ever.
//@ case: dekker-without-turn block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void dekker_without_turn() {
  dekker_enter(false);
  ++counter;
  wants[me()].store(0);
}

// --- Double-checked publication ------------------------------------------------------------------

__device__ Atomic<int*> published;
__device__ int object, sum;

//@ case: publication plain 2
//@ verdict: terminates
//@ case: publication block 2
//@ verdict: terminates
__global__ void publication() {
  int* p = published.load(memory_order_acquire);
  if (p == nullptr) {
    acquire(lock_word);
    p = published.load(memory_order_relaxed);
    if (p == nullptr) {
      object = 42;
      p = &object;
      published.store(p, memory_order_release);
    }
    release(lock_word);
  }
  atomicAdd(&sum, *p);
}

// One is elected to build the object, the others wait for it. Whom an exchange elects has started;
// whom its index elects may never start.
__device__ Atomic<int> elected;
__device__ void build_or_wait(bool build) {
  if (build) {
    object = 42;
    published.store(&object, memory_order_release);
  } else {
    while (published.load(memory_order_acquire) == nullptr) {
    }
  }
  atomicAdd(&sum, *published.load(memory_order_acquire));
}

//@ case: publication-elected plain 2
//@ verdict: terminates
__global__ void publication_elected() { build_or_wait(elected.exchange(1) == 0); }

//@ case: publication-by-index plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: publication-by-index block 2
//@ verdict: terminates
__global__ void publication_by_index() { build_or_wait(me() == all() - 1); }

// Who finds the object published meanwhile returns without releasing. With two threads nobody is left
// to notice.
//@ case: publication-lock-kept block 2
//@ verdict: terminates
//@ case: publication-lock-kept block 3
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void publication_lock_kept() {
  if (published.load(memory_order_acquire) == nullptr) {
    acquire(lock_word);
    if (published.load(memory_order_relaxed) != nullptr) {
      return;
    }
    object = 42;
    published.store(&object, memory_order_release);
    release(lock_word);
  }
}

// --- Blocks of many threads -----------------------------------------------------------------------

// Once nobody meets others of his block any more it makes no difference who is in it with whom.
//@ case: blocks-spin-lock 4
//@ verdict: terminates
//@ large: 256 threads
//@ case: blocks-ticket-lock 2
//@ verdict: terminates
//@ large: 64 threads with a ticket each
__global__ void ticket_lock_of_many() {
  const int mine = next_ticket.fetch_add(1, memory_order_relaxed);
  while (now_serving.load(memory_order_acquire) != mine) {
  }
  ++counter;
  now_serving.store(mine + 1, memory_order_release);
}
// As long as they do, it does: both threads of a block may have odd tickets.
//@ case: blocks-company 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void company() {
  __shared__ Atomic<int> even;
  if (threadIdx.x == 0) {
    even.store(0, memory_order_relaxed);
  }
  __syncthreads();
  if (next_ticket.fetch_add(1, memory_order_relaxed) % 2 == 0) {
    even.fetch_add(1, memory_order_relaxed);
  }
  while (even.load(memory_order_relaxed) == 0) {
  }
}
// The same, told at a barrier.
//@ case: blocks-company-met 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void company_met() {
  const int mine = next_ticket.fetch_add(1, memory_order_relaxed);
  while (__syncthreads_and(mine % 2) != 0) {
    flag.load(memory_order_relaxed);
  }
}
// Each thread waits for all, of whatever block.
//@ case: blocks-all-wait 4
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ large: 128 threads
__global__ void all_wait() {
  flag.fetch_add(1, memory_order_acq_rel);
  while (flag.load(memory_order_acquire) != static_cast<int>(gridDim.x * blockDim.x)) {
  }
}
template <void (*Kernel)(), int Threads> int blocks(Setup setup) {
  Kernel<<<setup.n, Threads>>>();
  return static_cast<int>(cudaDeviceSynchronize());
}

#define DEVICE_CASE(name, kernel) {name, [](Setup setup) { return run_kernel(setup, kernel); }}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      DEVICE_CASE("spin-lock", spin_lock),
      DEVICE_CASE("spin-lock-inside", spin_lock_inside),
      DEVICE_CASE("spin-lock-kept", spin_lock_kept),
      DEVICE_CASE("spin-lock-meet-inside", spin_lock_meet_inside),
      DEVICE_CASE("spin-lock-meet-after", spin_lock_meet_after),
      DEVICE_CASE("ticket-lock", ticket_lock),
      DEVICE_CASE("turn-by-index", turn_by_index),
      DEVICE_CASE("mutex", mutex),
      DEVICE_CASE("mutex-twice", mutex_twice),
      DEVICE_CASE("mutex-held-over-wait", mutex_held_over_wait),
      DEVICE_CASE("mutex-held-over-taker", mutex_held_over_taker),
      DEVICE_CASE("two-locks-crossed", two_locks_crossed),
      DEVICE_CASE("two-locks-ordered", two_locks_ordered),
      DEVICE_CASE("philosophers-left-first", philosophers_left_first),
      DEVICE_CASE("philosophers-ordered", philosophers_ordered),
      DEVICE_CASE("philosophers-polite", philosophers_polite),
      DEVICE_CASE("peterson", peterson),
      DEVICE_CASE("peterson-exchange", peterson_exchange),
      DEVICE_CASE("peterson-without-turn", peterson_without_turn),
      DEVICE_CASE("dekker", dekker),
      DEVICE_CASE("dekker-without-turn", dekker_without_turn),
      DEVICE_CASE("publication", publication),
      DEVICE_CASE("publication-elected", publication_elected),
      DEVICE_CASE("publication-by-index", publication_by_index),
      DEVICE_CASE("publication-lock-kept", publication_lock_kept),
      {"blocks-spin-lock", blocks<spin_lock_inside, 64>},
      {"blocks-ticket-lock", blocks<ticket_lock_of_many, 32>},
      {"blocks-company", blocks<company, 2>},
      {"blocks-company-met", blocks<company_met, 2>},
      {"blocks-all-wait", blocks<all_wait, 32>},
  });
}

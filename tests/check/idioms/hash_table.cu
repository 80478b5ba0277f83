// The concurrent hash table of the libcu++ talk: open addressing, insertion only, a slot goes from empty to
// reserved to filled, and who meets a reserved slot waits for it to be filled.
//
// That waiting is fine even between blocks of a plain grid: who reserved the slot did so by a
// compare-and-swap, has taken a step by that, and will fill it. Each case inserts keys from N threads.
#include "cases.h"

#include <cuda/std/atomic>

enum State : int { Empty, Reserved, Filled };

constexpr int capacity = 2;
__device__ Atomic<int> states[capacity];
__device__ Atomic<int> keys_only[capacity];
__device__ int keys[capacity], values[capacity];

/// All keys meet in slot 0 first; two neighbours have the same key.
__device__ int key_of(int thread) { return 1 + thread / 2; }

enum class Fault { None, KeepReserved, OwnerByIndex };
enum class Waiting { Spin, Wait, Retry };

template <Fault fault, Waiting waiting> __device__ bool insert(int key, int value) {
  for (int tried = 0, slot = 0; tried < capacity; ++tried, slot = (slot + 1) % capacity) {
    int state = states[slot].load(memory_order_acquire);
    if (state == Empty) {
      bool mine = false;
      if constexpr (fault == Fault::OwnerByIndex) {
        mine = me() == slot;
        state = Reserved; // somebody's
      } else {
        mine = states[slot].compare_exchange_strong(state, Reserved, memory_order_acq_rel);
      }
      if (mine) {
        keys[slot] = key;
        values[slot] = value;
        if (fault == Fault::KeepReserved && key == 1) {
          return true;
        }
        states[slot].store(Filled, memory_order_release);
        if constexpr (waiting == Waiting::Wait) {
          states[slot].notify_all();
        }
        return true;
      }
    }
    if constexpr (waiting == Waiting::Wait) {
      states[slot].wait(fault == Fault::OwnerByIndex ? Empty : Reserved, memory_order_acquire);
    } else {
      while (states[slot].load(memory_order_acquire) != Filled) {
      }
    }
    if (keys[slot] == key) {
      return false;
    }
  }
  return false;
}

// --- Insertion only: the key itself is exchanged in, nobody waits -----------------------------------

//@ case: keys-only plain 2
//@ verdict: terminates
//@ case: keys-only plain 3
//@ verdict: terminates
//@ case: keys-only block 3
//@ verdict: terminates
__global__ void insert_keys() {
  const int key = key_of(me());
  for (int slot = 0; slot < capacity; ++slot) {
    int expected = 0;
    if (keys_only[slot].compare_exchange_strong(expected, key, memory_order_acq_rel) || expected == key) {
      return;
    }
  }
}

// Keeps looking for room in a full table.
//@ case: keys-only-full plain 3
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void insert_keys_for_ever() {
  for (int slot = 0;; slot = (slot + 1) % capacity) {
    int expected = 0;
    if (keys_only[slot].compare_exchange_strong(expected, 1 + me(), memory_order_acq_rel)) {
      return;
    }
  }
}

// Many keys, each by two threads: in which order the two come to their slot has nothing to do with other slots.
constexpr int many = 64;
__device__ Atomic<int> slots[many];
/// Returns after how many slots of others there was one.
__device__ int insert_from(int slot, int key) {
  for (int probes = 0;; slot = (slot + 1) % many, ++probes) {
    int expected = 0;
    if (slots[slot].compare_exchange_strong(expected, key, memory_order_acq_rel) || expected == key) {
      return probes;
    }
  }
}
//@ case: two-of-each-key plain 40
//@ verdict: terminates
//@ case: two-of-each-key block 40
//@ verdict: terminates
__global__ void two_of_each_key() { insert_from(me() / 2 * 7 % many, 1 + me() / 2); }

// Two keys begin at one slot, so that one of them goes on to the next one, where others begin.
//@ case: keys-that-meet plain 4
//@ verdict: terminates
//@ case: keys-that-meet plain 7
//@ verdict: terminates
__global__ void keys_that_meet() { insert_from(me() / 2, 1 + me()); }

// The last one hangs if it has met two others: both of its neighbours in the table have to come before it.
//@ case: keys-that-meet-late plain 4
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: keys-that-meet-late plain 5
//@ verdict: terminates
__global__ void keys_that_meet_late() {
  const int probes = insert_from(me() / 2, 1 + me());
  while (me() == 3 && gridDim.x == 4 && probes == 2) {
  }
}

// --- Reserve, fill, wait ------------------------------------------------------------------------------

//@ case: reserve-fill plain 2
//@ verdict: terminates
//@ case: reserve-fill block 2
//@ verdict: terminates
//@ case: reserve-fill plain 3
//@ verdict: terminates
__global__ void reserve_fill() { insert<Fault::None, Waiting::Spin>(key_of(me()), me()); }

// With atomic wait and notify, as in the talk.
//@ case: reserve-fill-wait plain 2
//@ verdict: terminates
//@ case: reserve-fill-wait block 2
//@ verdict: terminates
__global__ void reserve_fill_wait() { insert<Fault::None, Waiting::Wait>(key_of(me()), me()); }

// One path forgets to fill.
//@ case: reserve-keep plain 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: reserve-keep block 2
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void reserve_keep() { insert<Fault::KeepReserved, Waiting::Spin>(key_of(me()), me()); }

// The thread that fills a slot is fixed by its index: it may never start.
//@ case: owner-by-index plain 2
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ case: owner-by-index block 2
//@ verdict: terminates
//@ case: owner-by-index cooperative 2
//@ verdict: terminates
__global__ void owner_by_index() { insert<Fault::OwnerByIndex, Waiting::Spin>(key_of(me()), me()); }

#define DEVICE_CASE(name, kernel) {name, [](Setup setup) { return run_kernel(setup, kernel); }}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      DEVICE_CASE("keys-only", insert_keys),
      DEVICE_CASE("keys-only-full", insert_keys_for_ever),
      DEVICE_CASE("two-of-each-key", two_of_each_key),
      DEVICE_CASE("keys-that-meet", keys_that_meet),
      DEVICE_CASE("keys-that-meet-late", keys_that_meet_late),
      DEVICE_CASE("reserve-fill", reserve_fill),
      DEVICE_CASE("reserve-fill-wait", reserve_fill_wait),
      DEVICE_CASE("reserve-keep", reserve_keep),
      DEVICE_CASE("owner-by-index", owner_by_index),
  });
}

// heddle::mpmc_queue: a bounded first-in first-out queue for any number of producers and consumers.
//
//     using queue = heddle::mpmc_queue<int, 1024, cuda::thread_scope_device>;    // a power of two
//     __device__ queue q;                       // zero memory is an empty queue
//     if (!q.try_push(value)) …                 // full
//     q.push(value); int v = q.pop();           // waits for room, waits for a value
//
// Each cell has a turn: 2r while it waits for the value of round r, 2r+1 while it holds it. A
// producer owns position p once it has moved `tail` from p to p+1, and writes cell p % Capacity in
// round p / Capacity; consumers do the same with `head`. push and pop draw a position at once
// (fetch_add), try_push and try_pop only if the cell is ready.
//
// Order: what happened before a push happens before the pop that takes its value. Linearisation
// points: push, try_push: taking the position at the tail; pop, try_pop: taking the position at the
// head. A try that fails: its load of the turn. try_pop may fail while a push that began earlier
// has not written its value yet (its thread holds the position).
//
// Progress: try_push and try_pop never wait. push waits for the consumer that owns the cell's last
// round, pop for the producer of its position, and both for whoever will come to own those
// positions: if nobody ever pops (pushes), they wait for ever. Threads that own a position have
// started and need finitely many steps ([DEV]); that a pop begins at all is the caller's promise,
// and blocks that may not have started cannot keep it.
//
// T must be trivially copyable: values are copied by the thread that owns the cell, without a lock.
#pragma once

#include "map/configuration.cuh"

namespace heddle {

template <class T, std::uint32_t Capacity, cuda::thread_scope Scope = cuda::thread_scope_device>
class mpmc_queue {
  static_assert(
      Capacity >= 2 && (Capacity & (Capacity - 1)) == 0,
      "heddle: the capacity is a power of two"
  );
  static_assert(std::is_trivially_copyable<T>::value, "heddle: values are copied between threads");

public:
  constexpr mpmc_queue() = default;
  mpmc_queue(const mpmc_queue&) = delete;
  mpmc_queue& operator=(const mpmc_queue&) = delete;

  HEDDLE_ANYWHERE void push(const T& value) {
    const std::uint64_t p = counter(tail_).fetch_add(1, cuda::memory_order_relaxed);
    cell& c = cells_[p % Capacity];
    while (turn(c).load(cuda::memory_order_acquire) != turn_to_write(p)) {
      detail::wait_a_little();
    }
    write(c, p, value);
  }
  HEDDLE_ANYWHERE T pop() {
    const std::uint64_t p = counter(head_).fetch_add(1, cuda::memory_order_relaxed);
    cell& c = cells_[p % Capacity];
    while (turn(c).load(cuda::memory_order_acquire) != turn_to_write(p) + 1) {
      detail::wait_a_little();
    }
    return read(c, p);
  }
  /// False if the queue is full.
  HEDDLE_ANYWHERE bool try_push(const T& value) {
    std::uint64_t p = counter(tail_).load(cuda::memory_order_relaxed);
    for (;;) {
      cell& c = cells_[p % Capacity];
      const std::uint64_t seen = turn(c).load(cuda::memory_order_acquire);
      if (seen == turn_to_write(p)) {
        if (counter(tail_).compare_exchange_strong(
                p,
                p + 1,
                cuda::memory_order_relaxed,
                cuda::memory_order_relaxed
            )) {
          write(c, p, value);
          return true;
        }
      } else if (seen < turn_to_write(p)) {
        return false; // the value of the last round is still there
      } else {
        p = counter(tail_).load(cuda::memory_order_relaxed); // somebody was faster
      }
    }
  }
  /// False if the queue is empty.
  HEDDLE_ANYWHERE bool try_pop(T& value) {
    std::uint64_t p = counter(head_).load(cuda::memory_order_relaxed);
    for (;;) {
      cell& c = cells_[p % Capacity];
      const std::uint64_t seen = turn(c).load(cuda::memory_order_acquire);
      if (seen == turn_to_write(p) + 1) {
        if (counter(head_).compare_exchange_strong(
                p,
                p + 1,
                cuda::memory_order_relaxed,
                cuda::memory_order_relaxed
            )) {
          value = read(c, p);
          return true;
        }
      } else if (seen < turn_to_write(p) + 1) {
        return false;
      } else {
        p = counter(head_).load(cuda::memory_order_relaxed);
      }
    }
  }

private:
  struct cell {
    std::uint64_t turn = 0;
    T value{};
  };
  HEDDLE_ANYWHERE static constexpr std::uint64_t turn_to_write(std::uint64_t p) {
    return p / Capacity * 2;
  }
  HEDDLE_ANYWHERE static auto turn(cell& c) {
    return cuda::atomic_ref<std::uint64_t, Scope>(c.turn);
  }
  HEDDLE_ANYWHERE static auto counter(std::uint64_t& n) {
    return cuda::atomic_ref<std::uint64_t, Scope>(n);
  }
  HEDDLE_ANYWHERE static void write(cell& c, std::uint64_t p, const T& value) {
    c.value = value;
    turn(c).store(turn_to_write(p) + 1, cuda::memory_order_release);
  }
  HEDDLE_ANYWHERE static T read(cell& c, std::uint64_t p) {
    const T value = c.value;
    turn(c).store(turn_to_write(p) + 2, cuda::memory_order_release);
    return value;
  }

  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  cell cells_[Capacity] = {};
};

} // namespace heddle

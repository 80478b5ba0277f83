// heddle::mutex and heddle::ticket_mutex: blocking locks for threads of one scope, which libcu++
// does not have.
//
//     __device__ heddle::mutex<cuda::thread_scope_device> m;
//     { heddle::lock_guard hold(m); … }
//
// Both start unlocked when their memory is zero, so they may be __device__ and __shared__
// variables.
//
//   mutex         one word; whoever exchanges it first. No order among those who wait: one of them
//   may be passed over
//                 for ever while others keep coming (lock-free, not starvation-free).
//   ticket_mutex  two counters; first come, first served. Starvation-free: who drew a ticket is
//   passed by nobody.
//
// Order: lock acquires, unlock releases: all critical sections of one mutex are in one order, and
// each sees what the ones before it did. lock takes effect at the exchange (mutex), at the load
// that sees its ticket (ticket_mutex).
//
// Progress: lock waits for the thread that holds the mutex (ticket_mutex: for all that drew earlier
// tickets). These have started, so they take steps ([DEV] for device threads: also threads of the
// same warp, from sm_70 on); the wait ends if critical sections do. A critical section must not
// wait for a thread that may not have started yet, such as one of another block.
//
// Who may use them: device threads; host threads too if the scope is thread_scope_system. Without
// nvcc: host threads.
#pragma once

#include "map/configuration.cuh"

namespace heddle {

template <cuda::thread_scope Scope = cuda::thread_scope_device> class mutex {
public:
  constexpr mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  HEDDLE_ANYWHERE void lock() {
    while (!try_lock()) {
      while (word().load(cuda::memory_order_relaxed) !=
             0) { // reading only: leaves the line to the holder
        detail::wait_a_little();
      }
    }
  }
  /// Fails only if somebody holds it.
  HEDDLE_ANYWHERE bool try_lock() {
    std::uint32_t free = 0;
    return word()
        .compare_exchange_strong(free, 1, cuda::memory_order_acquire, cuda::memory_order_relaxed);
  }
  HEDDLE_ANYWHERE void unlock() { word().store(0, cuda::memory_order_release); }

private:
  HEDDLE_ANYWHERE auto word() { return cuda::atomic_ref<std::uint32_t, Scope>(held_); }
  std::uint32_t held_ = 0;
};

template <cuda::thread_scope Scope = cuda::thread_scope_device> class ticket_mutex {
public:
  constexpr ticket_mutex() = default;
  ticket_mutex(const ticket_mutex&) = delete;
  ticket_mutex& operator=(const ticket_mutex&) = delete;

  HEDDLE_ANYWHERE void lock() {
    const std::uint32_t mine = next().fetch_add(1, cuda::memory_order_relaxed);
    while (serving().load(cuda::memory_order_acquire) != mine) {
      detail::wait_a_little();
    }
  }
  /// Draws a ticket only if it is served at once.
  HEDDLE_ANYWHERE bool try_lock() {
    std::uint32_t now = serving().load(cuda::memory_order_acquire);
    // That load has seen the unlock; `next_` hands on nothing.
    return next().compare_exchange_strong(
        now,
        now + 1,
        cuda::memory_order_relaxed,
        cuda::memory_order_relaxed
    );
  }
  HEDDLE_ANYWHERE void unlock() {
    // Only the holder writes it.
    serving().store(serving().load(cuda::memory_order_relaxed) + 1, cuda::memory_order_release);
  }

private:
  HEDDLE_ANYWHERE auto next() { return cuda::atomic_ref<std::uint32_t, Scope>(next_); }
  HEDDLE_ANYWHERE auto serving() { return cuda::atomic_ref<std::uint32_t, Scope>(serving_); }
  std::uint32_t next_ = 0;
  std::uint32_t serving_ = 0;
};

/// Holds a mutex for its lifetime.
template <class Mutex> class lock_guard {
public:
  HEDDLE_ANYWHERE explicit lock_guard(Mutex& m) : mutex_(m) { mutex_.lock(); }
  HEDDLE_ANYWHERE ~lock_guard() { mutex_.unlock(); }
  lock_guard(const lock_guard&) = delete;
  lock_guard& operator=(const lock_guard&) = delete;

private:
  Mutex& mutex_;
};

} // namespace heddle

// heddle::once: one of several threads calls a function, the others wait until it has been called.
//
//     __device__ heddle::once<cuda::thread_scope_device> once;
//     once.call([] { … });         // every thread; after it, everybody sees what the function did
//
// Starts as "not called yet" when its memory is zero. The state goes 0 (not called) → 1 (a thread
// calls) → 2 (called); on the host, where the function may throw, 1 → 0: the exception goes to the
// caller, and another thread may try.
//
// Order: the end of the call releases, every return acquires. Takes effect at the store of 2.
//
// Progress: waits for the one thread that calls the function. It has started, so it takes steps
// ([DEV]); the wait ends if the function does. The function must not wait for a thread that may not
// have started, and not call this once.
#pragma once

#include "map/configuration.cuh"

namespace heddle {

template <cuda::thread_scope Scope = cuda::thread_scope_device> class once {
public:
  constexpr once() = default;
  once(const once&) = delete;
  once& operator=(const once&) = delete;

  HEDDLE_NO_EXEC_CHECK
  template <class Function> HEDDLE_ANYWHERE void call(Function&& function) {
    for (;;) {
      std::uint32_t seen = state().load(cuda::memory_order_acquire);
      if (seen == called) {
        return;
      }
      if (seen == not_called && state().compare_exchange_strong(
                                    seen,
                                    calling,
                                    cuda::memory_order_acquire, // a call that threw
                                    cuda::memory_order_relaxed  // the load comes again
                                )) {
        attempt mine{*this};
        function();
        mine.succeeded = true;
        return;
      }
      if (seen == calling) {
        detail::wait_a_little();
      }
    }
  }
  HEDDLE_ANYWHERE bool done() { return state().load(cuda::memory_order_acquire) == called; }

private:
  static constexpr std::uint32_t not_called = 0, calling = 1, called = 2;
  struct attempt {
    once& of;
    bool succeeded = false;
    HEDDLE_ANYWHERE ~attempt() {
      of.state().store(succeeded ? called : not_called, cuda::memory_order_release);
    }
  };
  HEDDLE_ANYWHERE auto state() { return cuda::atomic_ref<std::uint32_t, Scope>(state_); }
  std::uint32_t state_ = not_called;
};

} // namespace heddle

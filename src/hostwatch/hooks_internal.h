// Shared by the files of the instrumentation library; nobody else includes it.
#pragma once

#include "hostwatch/hooks.h"

#include <ctime>

#define HEDDLE_EXPORT extern "C" __attribute__((visibility("default")))

/// What a function of the C library does if host threads are not explored.
#define HEDDLE_REAL(function, ...)                                                                 \
  do {                                                                                             \
    if (!heddle::hostwatch::threads()) {                                                           \
      static decltype(&function) real = nullptr;                                                   \
      return heddle::hostwatch::real_function(real, #function)(__VA_ARGS__);                       \
    }                                                                                              \
  } while (false)

/// The same, of functions that return 0 if they have done it: of one that releases an object …
#define HEDDLE_REAL_RELEASE(object, function, ...)                                                 \
  do {                                                                                             \
    if (!heddle::hostwatch::threads()) {                                                           \
      heddle::hostwatch::released(object, __builtin_return_address(0));                            \
      static decltype(&function) real = nullptr;                                                   \
      return heddle::hostwatch::real_function(real, #function)(__VA_ARGS__);                       \
    }                                                                                              \
  } while (false)
/// … of one that acquires it …
#define HEDDLE_REAL_ACQUIRE(object, function, ...)                                                 \
  do {                                                                                             \
    if (!heddle::hostwatch::threads()) {                                                           \
      static decltype(&function) real = nullptr;                                                   \
      const auto error = heddle::hostwatch::real_function(real, #function)(__VA_ARGS__);           \
      if (error == 0) {                                                                            \
        heddle::hostwatch::acquired(object, __builtin_return_address(0));                          \
      }                                                                                            \
      return error;                                                                                \
    }                                                                                              \
  } while (false)
/// … and of one that releases it for a while, whatever that returns.
#define HEDDLE_REAL_AROUND(object, function, ...)                                                  \
  do {                                                                                             \
    if (!heddle::hostwatch::threads()) {                                                           \
      const heddle::hostwatch::Around around(object, __builtin_return_address(0));                 \
      static decltype(&function) real = nullptr;                                                   \
      return heddle::hostwatch::real_function(real, #function)(__VA_ARGS__);                       \
    }                                                                                              \
  } while (false)

namespace heddle::hostwatch {

extern const HeddleHostHooks* hooks;
extern const HeddleAccessObserver* observer;
extern std::uint64_t* operations; // nullptr: nobody counts them
/// An access is being noted: what that writes itself (an instrumented build calls our memset even
/// for its stack frames) is nobody's business.
extern bool noting;

/// `operands` as in HeddleHostHooks.
inline unsigned before(
    HeddleHostEvent event,
    const volatile void* address,
    std::size_t bytes,
    std::uint64_t operands = 0
) {
  if (hooks != nullptr) [[likely]] {
    return hooks->before_event(event, const_cast<const void*>(address), bytes, operands);
  }
  if (operations != nullptr) {
    __atomic_fetch_add(operations, 1, __ATOMIC_RELAXED);
  }
  return 0;
}

inline void wrote(const volatile void* p, std::size_t bytes, const void* pc) {
  if (hooks != nullptr && !noting) [[likely]] {
    noting = true;
    hooks->wrote(const_cast<const void*>(p), bytes, pc);
    noting = false;
  }
}

/// Out of line: most plain accesses happen before any work has been submitted.
void note_plain(const volatile void* p, std::size_t bytes, const void* pc);
void observe(const volatile void* p, std::size_t bytes, const void* pc, bool store);
inline void plain(const volatile void* p, std::size_t bytes, const void* pc, bool store) {
  if (hooks != nullptr) {
    if (hooks->submitted) {
      note_plain(p, bytes, pc);
    }
  } else if (observer != nullptr) {
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    if (at < __atomic_load_n(&observer->high, __ATOMIC_RELAXED) &&
        at + bytes > __atomic_load_n(&observer->low, __ATOMIC_RELAXED)) {
      observe(p, bytes, pc, store);
    }
  }
}
inline void reads(const volatile void* p, std::size_t bytes, const void* pc) {
  plain(p, bytes, pc, /*store=*/false);
}
inline void writes(const volatile void* p, std::size_t bytes, const void* pc) {
  plain(p, bytes, pc, /*store=*/true);
}

/// What orders threads, for the observer.
inline bool observes_order() {
  return hooks == nullptr && observer != nullptr && observer->released != nullptr;
}
void tell_released(const volatile void* object, const void* pc);
void tell_acquired(const volatile void* object, const void* pc);
inline void released(const volatile void* object, const void* pc) {
  if (observes_order()) {
    tell_released(object, pc);
  }
}
inline void acquired(const volatile void* object, const void* pc) {
  if (observes_order()) {
    tell_acquired(object, pc);
  }
}
/// Released at its beginning, acquired at its end; nullptr: nothing is.
class Around {
public:
  Around(const volatile void* object, const void* pc) : object_(object), pc_(pc) {
    if (object_ != nullptr) {
      released(object_, pc_);
    }
  }
  ~Around() {
    if (object_ != nullptr) {
      acquired(object_, pc_);
    }
  }
  Around(const Around&) = delete;
  Around& operator=(const Around&) = delete;

private:
  const volatile void* object_;
  const void* pc_;
};

inline void leave_out(HeddleLeftOut what) {
  if (hooks != nullptr && hooks->left_out != nullptr) {
    hooks->left_out(what);
  }
}

/// nullptr: the C library's own threads.
inline const HeddleThreadHooks* threads() {
  return hooks == nullptr ? nullptr : hooks->threads;
}

/// The definition of `name` that comes after ours, which is the C library's.
void* next_definition(const char* name);

/// The same, remembered in `known`. Threads may race here: they find the same.
template <class F> F real_function(F& known, const char* name) {
  F found = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (found == nullptr) {
    found = reinterpret_cast<F>(next_definition(name));
    __atomic_store_n(&known, found, __ATOMIC_RELAXED);
  }
  return found;
}

// --- Time (clocks.cpp) ---------------------------------------------------------------------------
// Deadlines are in ns of virtual time, as HeddleThreadHooks::elapsed counts it.

inline constexpr std::uint64_t second = 1'000'000'000;

/// What `clock` shows to the program, in ns. False: real time is to be used.
bool look(clockid_t clock, std::uint64_t* shows);
/// What it shows when the program starts.
std::uint64_t start_of(clockid_t clock);
/// Not before the program started.
std::uint64_t deadline_at(clockid_t clock, const timespec& time);
std::uint64_t deadline_after(const timespec& time);
bool valid(const timespec& time);

// --- Being woken (waiting.cpp) -------------------------------------------------------------------

inline constexpr std::uint64_t everybody = ~std::uint64_t{0}; // any group

int wait(
    pthread_cond_t* condition,
    pthread_mutex_t* mutex,
    bool timed,
    std::uint64_t deadline,
    const void* pc
);
/// Arrives at a barrier of so many threads and waits for the others; true for one of them.
bool meet(const void* barrier, unsigned expected, const void* pc);
/// Wakes up to `count` of the threads that wait on `object` in one of `groups`; returns how many.
/// Which ones is a choice.
int wake(
    const void* object,
    std::uint64_t groups,
    unsigned count,
    const char* what,
    const void* pc
);

// --- Mutexes (locks.cpp) -------------------------------------------------------------------------

bool is_free(const pthread_mutex_t* mutex);
int lock(pthread_mutex_t* mutex, bool timed, std::uint64_t deadline, const void* pc);
int try_lock(pthread_mutex_t* mutex, const void* pc);
int unlock(pthread_mutex_t* mutex, const void* pc);
int once(int* control, void (*routine)(), const void* pc);
/// The mutex that the thread has locked last, if it holds it still.
const void* held_by(unsigned thread);
void take(pthread_mutex_t* mutex, unsigned thread, const void* pc);
int release(pthread_mutex_t* mutex, unsigned thread, const void* pc);

} // namespace heddle::hostwatch

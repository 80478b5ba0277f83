// Mutexes, read-write locks, spin locks and pthread_once. Under the explorer their state lies in
// the object's own bytes, in the fields that glibc uses for it (a free object is all zeros there as
// here), so that it is part of the host's state as any other memory. One thread runs at a time:
// nothing here needs to be atomic.
//
// Taking and releasing are scheduling points: in between, others may find the lock taken. May miss:
// read-write locks prefer readers, whatever their attributes say; priorities of mutexes are
// ignored.
#include "hostwatch/hooks_internal.h"

#include <cerrno>

namespace heddle::hostwatch {

namespace {

constexpr int kind_mask = 3; // of PTHREAD_MUTEX_NORMAL …; what is above are protocols and so on
constexpr int robust = 16;

int kind_of(const pthread_mutex_t* mutex) {
  return mutex->__data.__kind & kind_mask;
}

int owner_of(unsigned thread) {
  return static_cast<int>(thread) + 1; // 0: nobody
}

bool owned_by(const pthread_mutex_t* mutex, unsigned thread) {
  return !is_free(mutex) && mutex->__data.__owner == owner_of(thread);
}

std::uint64_t ways_to_lock(const HeddleHostPoint* point, unsigned thread) {
  const auto* mutex = static_cast<const pthread_mutex_t*>(point->object);
  const bool again = kind_of(mutex) != PTHREAD_MUTEX_NORMAL &&
                     kind_of(mutex) != PTHREAD_MUTEX_ADAPTIVE_NP && owned_by(mutex, thread);
  return is_free(mutex) || again ? 1 : 0;
}

/// Way 1: the time is up. A lock that is free is taken however late it is.
std::uint64_t ways_to_lock_in_time(const HeddleHostPoint* point, unsigned thread) {
  return ways_to_lock(point, thread) != 0 ? 1 : 2;
}

const void* held[HeddleMaxThreads]; // see held_by()

} // namespace

const void* held_by(unsigned thread) {
  return held[thread];
}

bool is_free(const pthread_mutex_t* mutex) {
  return mutex->__data.__lock == 0;
}

void take(pthread_mutex_t* mutex, unsigned thread, const void* pc) {
  wrote(mutex, sizeof *mutex, pc);
  held[thread] = mutex;
  if (!is_free(mutex)) { // a recursive one
    ++mutex->__data.__count;
    return;
  }
  mutex->__data.__lock = 1;
  mutex->__data.__owner = owner_of(thread);
  mutex->__data.__nusers = 1;
  mutex->__data.__count = kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE ? 1 : 0;
}

int release(pthread_mutex_t* mutex, unsigned thread, const void* pc) {
  const int kind = kind_of(mutex);
  const bool checks = kind == PTHREAD_MUTEX_ERRORCHECK || kind == PTHREAD_MUTEX_RECURSIVE;
  if (checks && !owned_by(mutex, thread)) {
    return EPERM;
  }
  wrote(mutex, sizeof *mutex, pc);
  if (kind == PTHREAD_MUTEX_RECURSIVE && mutex->__data.__count > 1) {
    --mutex->__data.__count;
    return 0;
  }
  if (held[thread] == mutex) {
    held[thread] = nullptr;
  }
  mutex->__data.__lock = 0;
  mutex->__data.__owner = 0;
  mutex->__data.__nusers = 0;
  mutex->__data.__count = 0;
  return 0;
}

int lock(pthread_mutex_t* mutex, bool timed, std::uint64_t deadline, const void* pc) {
  if ((mutex->__data.__kind & robust) != 0) {
    hooks->unsupported("robust mutexes");
  }
  const HeddleHostPoint
      point{"waits to lock a mutex", mutex, 0, timed ? ways_to_lock_in_time : ways_to_lock, false};
  if (threads()->stop(&point, pc) == 1) {
    threads()->pass(deadline);
    return ETIMEDOUT;
  }
  const unsigned self = threads()->self();
  if (owned_by(mutex, self) && kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK) {
    return EDEADLK;
  }
  take(mutex, self, pc);
  return 0;
}

int try_lock(pthread_mutex_t* mutex, const void* pc) {
  const HeddleHostPoint point{"tries to lock a mutex", mutex, 0, nullptr, false};
  threads()->stop(&point, pc);
  const unsigned self = threads()->self();
  if (!is_free(mutex) && !(owned_by(mutex, self) && kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE)) {
    return EBUSY;
  }
  take(mutex, self, pc);
  return 0;
}

int unlock(pthread_mutex_t* mutex, const void* pc) {
  const HeddleHostPoint point{"unlocks a mutex", mutex, 0, nullptr, true};
  threads()->stop(&point, pc);
  return release(mutex, threads()->self(), pc);
}

// As in glibc 0 is not yet, 1 is under way, 2 is done. That it is done does not change any more, so
// finding it done is no scheduling point.
int once(int* control, void (*routine)(), const void* pc) {
  constexpr int under_way = 1, done = 2;
  if (*control == done) {
    return 0;
  }
  const auto unless_under_way = [](const HeddleHostPoint* point, unsigned) -> std::uint64_t {
    return *static_cast<const int*>(point->object) != under_way ? 1 : 0;
  };
  const HeddleHostPoint point{"waits for a call_once", control, 0, unless_under_way, false};
  threads()->stop(&point, pc);
  if (*control == done) {
    return 0;
  }
  wrote(control, sizeof *control, pc);
  *control = under_way;
  threads()->call_once(routine, control);
  *control = done;
  return 0;
}

} // namespace heddle::hostwatch

using namespace heddle::hostwatch;

#define HEDDLE_PC __builtin_return_address(0)

HEDDLE_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) {
  HEDDLE_REAL_ACQUIRE(mutex, pthread_mutex_lock, mutex);
  return lock(mutex, false, 0, HEDDLE_PC);
}

HEDDLE_EXPORT int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  HEDDLE_REAL_ACQUIRE(mutex, pthread_mutex_trylock, mutex);
  return try_lock(mutex, HEDDLE_PC);
}

HEDDLE_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* deadline) {
  HEDDLE_REAL_ACQUIRE(mutex, pthread_mutex_timedlock, mutex, deadline);
  if (!valid(*deadline)) {
    return EINVAL;
  }
  return lock(mutex, true, deadline_at(CLOCK_REALTIME, *deadline), HEDDLE_PC);
}

HEDDLE_EXPORT int
pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* deadline) {
  HEDDLE_REAL_ACQUIRE(mutex, pthread_mutex_clocklock, mutex, clock, deadline);
  if (!valid(*deadline)) {
    return EINVAL;
  }
  return lock(mutex, true, deadline_at(clock, *deadline), HEDDLE_PC);
}

HEDDLE_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  HEDDLE_REAL_RELEASE(mutex, pthread_mutex_unlock, mutex);
  return unlock(mutex, HEDDLE_PC);
}

// --- Read-write locks ----------------------------------------------------------------------------

namespace {

enum class Use : std::uint64_t {
  Read,
  Write
};

bool held_for_writing(const pthread_rwlock_t* lock, unsigned thread) {
  return lock->__data.__cur_writer == static_cast<int>(thread) + 1;
}

bool available(const pthread_rwlock_t* lock, Use use) {
  return lock->__data.__cur_writer == 0 && (use == Use::Read || lock->__data.__readers == 0);
}

std::uint64_t ways_to_share(const HeddleHostPoint* point, unsigned) {
  const auto* lock = static_cast<const pthread_rwlock_t*>(point->object);
  return available(lock, static_cast<Use>(point->argument)) ? 1 : 0;
}

std::uint64_t ways_to_share_in_time(const HeddleHostPoint* point, unsigned thread) {
  return ways_to_share(point, thread) != 0 ? 1 : 2;
}

void take(pthread_rwlock_t* lock, Use use, const void* pc) {
  wrote(lock, sizeof *lock, pc);
  if (use == Use::Read) {
    if (lock->__data.__readers != 0) { // else a writer that waits could have gone first
      leave_out(HeddleWritersFirst);
    }
    ++lock->__data.__readers;
  } else {
    lock->__data.__cur_writer = static_cast<int>(threads()->self()) + 1;
  }
}

int lock(pthread_rwlock_t* lock, Use use, bool timed, std::uint64_t deadline, const void* pc) {
  if (held_for_writing(lock, threads()->self())) {
    return EDEADLK;
  }
  const HeddleHostPoint point{
      use == Use::Read ? "waits to lock a mutex for reading" : "waits to lock a mutex for writing",
      lock,
      static_cast<std::uint64_t>(use),
      timed ? ways_to_share_in_time : ways_to_share,
      false
  };
  if (threads()->stop(&point, pc) == 1) {
    threads()->pass(deadline);
    return ETIMEDOUT;
  }
  take(lock, use, pc);
  return 0;
}

int try_lock(pthread_rwlock_t* lock, Use use, const void* pc) {
  const HeddleHostPoint point{"tries to lock a shared mutex", lock, 0, nullptr, false};
  threads()->stop(&point, pc);
  if (!available(lock, use)) {
    return EBUSY;
  }
  take(lock, use, pc);
  return 0;
}

} // namespace

#define HEDDLE_LOCK_SHARED(kind, use)                                                              \
  HEDDLE_EXPORT int pthread_rwlock_##kind##lock(pthread_rwlock_t* rwlock) {                        \
    HEDDLE_REAL_ACQUIRE(rwlock, pthread_rwlock_##kind##lock, rwlock);                              \
    return lock(rwlock, use, false, 0, HEDDLE_PC);                                                 \
  }                                                                                                \
  HEDDLE_EXPORT int pthread_rwlock_try##kind##lock(pthread_rwlock_t* rwlock) {                     \
    HEDDLE_REAL_ACQUIRE(rwlock, pthread_rwlock_try##kind##lock, rwlock);                           \
    return try_lock(rwlock, use, HEDDLE_PC);                                                       \
  }                                                                                                \
  HEDDLE_EXPORT int pthread_rwlock_timed##kind##lock(                                              \
      pthread_rwlock_t* rwlock,                                                                    \
      const timespec* deadline                                                                     \
  ) {                                                                                              \
    HEDDLE_REAL_ACQUIRE(rwlock, pthread_rwlock_timed##kind##lock, rwlock, deadline);               \
    if (!valid(*deadline)) {                                                                       \
      return EINVAL;                                                                               \
    }                                                                                              \
    return lock(rwlock, use, true, deadline_at(CLOCK_REALTIME, *deadline), HEDDLE_PC);             \
  }                                                                                                \
  HEDDLE_EXPORT int pthread_rwlock_clock##kind##lock(                                              \
      pthread_rwlock_t* rwlock,                                                                    \
      clockid_t clock,                                                                             \
      const timespec* deadline                                                                     \
  ) {                                                                                              \
    HEDDLE_REAL_ACQUIRE(rwlock, pthread_rwlock_clock##kind##lock, rwlock, clock, deadline);        \
    if (!valid(*deadline)) {                                                                       \
      return EINVAL;                                                                               \
    }                                                                                              \
    return lock(rwlock, use, true, deadline_at(clock, *deadline), HEDDLE_PC);                      \
  }
HEDDLE_LOCK_SHARED(rd, Use::Read)
HEDDLE_LOCK_SHARED(wr, Use::Write)

HEDDLE_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* rwlock) {
  HEDDLE_REAL_RELEASE(rwlock, pthread_rwlock_unlock, rwlock);
  const HeddleHostPoint point{"unlocks a shared mutex", rwlock, 0, nullptr, true};
  threads()->stop(&point, HEDDLE_PC);
  wrote(rwlock, sizeof *rwlock, HEDDLE_PC);
  if (held_for_writing(rwlock, threads()->self())) {
    rwlock->__data.__cur_writer = 0;
  } else {
    --rwlock->__data.__readers;
  }
  return 0;
}

// --- Spin locks ----------------------------------------------------------------------------------
// As in glibc 0 is taken and 1 is free. Who waits for one is blocked: nothing else can be seen of
// it.

namespace {

std::uint64_t ways_to_spin(const HeddleHostPoint* point, unsigned) {
  return *static_cast<const volatile int*>(point->object) == 1 ? 1 : 0;
}

} // namespace

HEDDLE_EXPORT int pthread_spin_lock(pthread_spinlock_t* spinlock) {
  HEDDLE_REAL_ACQUIRE(spinlock, pthread_spin_lock, spinlock);
  const HeddleHostPoint
      point{"waits to lock a spin lock", const_cast<const int*>(spinlock), 0, ways_to_spin, false};
  threads()->stop(&point, HEDDLE_PC);
  wrote(spinlock, sizeof *spinlock, HEDDLE_PC);
  *spinlock = 0;
  return 0;
}

HEDDLE_EXPORT int pthread_spin_trylock(pthread_spinlock_t* spinlock) {
  HEDDLE_REAL_ACQUIRE(spinlock, pthread_spin_trylock, spinlock);
  const HeddleHostPoint
      point{"tries to lock a spin lock", const_cast<const int*>(spinlock), 0, nullptr, false};
  threads()->stop(&point, HEDDLE_PC);
  if (*spinlock != 1) {
    return EBUSY;
  }
  wrote(spinlock, sizeof *spinlock, HEDDLE_PC);
  *spinlock = 0;
  return 0;
}

HEDDLE_EXPORT int pthread_spin_unlock(pthread_spinlock_t* spinlock) {
  HEDDLE_REAL_RELEASE(spinlock, pthread_spin_unlock, spinlock);
  const HeddleHostPoint
      point{"unlocks a spin lock", const_cast<const int*>(spinlock), 0, nullptr, true};
  threads()->stop(&point, HEDDLE_PC);
  wrote(spinlock, sizeof *spinlock, HEDDLE_PC);
  *spinlock = 1;
  return 0;
}

// --- Once ----------------------------------------------------------------------------------------

namespace {

/// The routine that the running thread is about to execute once, and for which control.
struct Once {
  void (*routine)();
  const void* control;
  const void* pc;
};
thread_local Once once_here;

void run_once() {
  const Once mine = once_here;
  mine.routine();
  released(mine.control, mine.pc);
}

} // namespace

HEDDLE_EXPORT int pthread_once(pthread_once_t* control, void (*routine)()) {
  if (observes_order()) {
    const Once before = once_here;
    once_here = {routine, control, HEDDLE_PC};
    static decltype(&pthread_once) real = nullptr;
    const int error = real_function(real, "pthread_once")(control, run_once);
    once_here = before;
    acquired(control, HEDDLE_PC);
    return error;
  }
  HEDDLE_REAL(pthread_once, control, routine);
  return once(control, routine, HEDDLE_PC);
}

// --- Static variables of functions ---------------------------------------------------------------
// Instrumented code reads their guards by atomics; what it then waits for is in the C++ library,
// and so is the release.

HEDDLE_EXPORT int __cxa_guard_acquire(void* guard) {
  using Acquire = int(void*);
  static Acquire* real = nullptr;
  const int first = real_function(real, "__cxa_guard_acquire")(guard);
  acquired(guard, HEDDLE_PC);
  return first;
}

HEDDLE_EXPORT void __cxa_guard_release(void* guard) {
  using Release = void(void*);
  static Release* real = nullptr;
  released(guard, HEDDLE_PC);
  real_function(real, "__cxa_guard_release")(guard);
}

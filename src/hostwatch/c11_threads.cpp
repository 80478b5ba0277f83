// Threads, mutexes, condition variables and keys of C11 (<threads.h>): in glibc these are those of
// POSIX under other names and with other answers, so they are here, too. The C library's own would
// not pass through our pthread_* functions.
//
// Not there: thrd_exit's effect on thrd_join's result is that of pthread_exit, with the int in the
// pointer.
#include "hostwatch/observing.h"

#include <threads.h>

#include <cerrno>
#include <cstdint>

using namespace heddle::hostwatch;

namespace {

int to_thrd(int error) {
  switch (error) {
  case 0:
    return thrd_success;
  case ENOMEM:
    return thrd_nomem;
  case ETIMEDOUT:
    return thrd_timedout;
  case EBUSY:
    return thrd_busy;
  default:
    return thrd_error;
  }
}

pthread_mutex_t* posix(mtx_t* mutex) {
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}
pthread_cond_t* posix(cnd_t* condition) {
  return reinterpret_cast<pthread_cond_t*>(condition);
}

} // namespace

#define HEDDLE_PC __builtin_return_address(0)

HEDDLE_EXPORT int thrd_create(thrd_t* thread, thrd_start_t start, void* argument) {
  // An int is returned in the register that a pointer is: thrd_join looks at that half only.
  auto* routine = reinterpret_cast<void* (*)(void*)>(reinterpret_cast<std::uintptr_t>(start));
  if (Beginning* beginning = observe_creation(routine, argument, false, HEDDLE_PC)) {
    static decltype(&thrd_create) real = nullptr;
    auto* const begin =
        reinterpret_cast<thrd_start_t>(reinterpret_cast<std::uintptr_t>(&begin_observed));
    return real_function(real, "thrd_create")(thread, begin, beginning);
  }
  HEDDLE_REAL(thrd_create, thread, start, argument);
  const int error = threads()->create(thread, nullptr, routine, argument);
  wrote(thread, sizeof *thread, HEDDLE_PC);
  return to_thrd(error);
}

HEDDLE_EXPORT int thrd_join(thrd_t thread, int* result) {
  if (observes_order()) {
    static decltype(&thrd_join) real = nullptr;
    const int error = real_function(real, "thrd_join")(thread, result);
    tell_joined(thread, HEDDLE_PC);
    return error;
  }
  HEDDLE_REAL(thrd_join, thread, result);
  void* value = nullptr;
  const int error = threads()->join(thread, &value, true, false, 0, HEDDLE_PC);
  if (error == 0 && result != nullptr) {
    wrote(result, sizeof *result, HEDDLE_PC);
    *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  }
  return to_thrd(error);
}

HEDDLE_EXPORT int thrd_detach(thrd_t thread) {
  HEDDLE_REAL(thrd_detach, thread);
  return to_thrd(threads()->detach(thread));
}
HEDDLE_EXPORT thrd_t thrd_current() {
  return pthread_self();
}
HEDDLE_EXPORT void thrd_exit(int result) {
  pthread_exit(reinterpret_cast<void*>(static_cast<std::intptr_t>(result)));
}
HEDDLE_EXPORT void thrd_yield() {
  sched_yield();
}
HEDDLE_EXPORT int thrd_sleep(const timespec* time, timespec* left) {
  const int error = clock_nanosleep(CLOCK_REALTIME, 0, time, left);
  return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

HEDDLE_EXPORT int mtx_lock(mtx_t* mutex) {
  HEDDLE_REAL_ACQUIRE(mutex, mtx_lock, mutex);
  return to_thrd(lock(posix(mutex), false, 0, HEDDLE_PC));
}
HEDDLE_EXPORT int mtx_timedlock(mtx_t* mutex, const timespec* deadline) {
  HEDDLE_REAL_ACQUIRE(mutex, mtx_timedlock, mutex, deadline);
  return valid(*deadline)
             ? to_thrd(lock(posix(mutex), true, deadline_at(CLOCK_REALTIME, *deadline), HEDDLE_PC))
             : thrd_error;
}
HEDDLE_EXPORT int mtx_trylock(mtx_t* mutex) {
  HEDDLE_REAL_ACQUIRE(mutex, mtx_trylock, mutex);
  return to_thrd(try_lock(posix(mutex), HEDDLE_PC));
}
HEDDLE_EXPORT int mtx_unlock(mtx_t* mutex) {
  HEDDLE_REAL_RELEASE(mutex, mtx_unlock, mutex);
  return to_thrd(unlock(posix(mutex), HEDDLE_PC));
}

HEDDLE_EXPORT int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  HEDDLE_REAL_AROUND(mutex, cnd_wait, condition, mutex);
  return to_thrd(wait(posix(condition), posix(mutex), false, 0, HEDDLE_PC));
}
HEDDLE_EXPORT int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* deadline) {
  HEDDLE_REAL_AROUND(mutex, cnd_timedwait, condition, mutex, deadline);
  return valid(*deadline) ? to_thrd(wait(
                                posix(condition),
                                posix(mutex),
                                true,
                                deadline_at(CLOCK_REALTIME, *deadline),
                                HEDDLE_PC
                            ))
                          : thrd_error;
}
HEDDLE_EXPORT int cnd_signal(cnd_t* condition) {
  HEDDLE_REAL(cnd_signal, condition);
  wake(condition, everybody, 1, "notifies one of a condition variable", HEDDLE_PC);
  return thrd_success;
}
HEDDLE_EXPORT int cnd_broadcast(cnd_t* condition) {
  HEDDLE_REAL(cnd_broadcast, condition);
  wake(condition, everybody, ~0U, "notifies all of a condition variable", HEDDLE_PC);
  return thrd_success;
}

HEDDLE_EXPORT void call_once(once_flag* flag, void (*function)()) {
  if (threads() == nullptr) {
    static decltype(&call_once) real = nullptr;
    real_function(real, "call_once")(flag, function);
    return;
  }
  once(reinterpret_cast<int*>(flag), function, HEDDLE_PC);
}
HEDDLE_EXPORT int tss_create(tss_t* key, tss_dtor_t destructor) {
  return to_thrd(pthread_key_create(key, destructor));
}
HEDDLE_EXPORT void tss_delete(tss_t key) {
  pthread_key_delete(key);
}

// Condition variables, barriers, semaphores and futexes (the latter carry std::atomic::wait,
// std::future, std::latch and the guards of static variables).
//
// Who waits to be woken says so in a record of its own (HeddleWaiter); waking is a choice among
// those who wait for the same object. So a condition variable needs no state of its own.
//
// A wait may return although nobody has notified ([HOST-WAKE]): a way of its own, which nobody is
// owed. With a time limit it may also be late, at any time: that is owed.
#include "hostwatch/hooks_internal.h"
#include "hostwatch/processes.h"

#include <linux/futex.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace heddle::hostwatch {

namespace {

constexpr unsigned nobody = 63; // a way that no thread's id has

/// Who could be woken, as a set of thread ids.
std::uint64_t waiting_for(const void* object, std::uint64_t groups) {
  std::uint64_t found = 0;
  for (unsigned thread = 0; thread < HeddleMaxThreads; ++thread) {
    const HeddleWaiter& waiter = *threads()->waiter(thread);
    if (waiter.object == object && !waiter.woken && (waiter.group & groups) != 0) {
      found |= std::uint64_t{1} << thread;
    }
  }
  return found;
}

std::uint64_t ways_to_wake(const HeddleHostPoint* point, unsigned) {
  const std::uint64_t found = waiting_for(point->object, point->argument);
  return found != 0 ? found : std::uint64_t{1} << nobody;
}

bool is_woken(unsigned thread) {
  return threads()->waiter(thread)->woken;
}

std::uint64_t ways_when_woken(const HeddleHostPoint*, unsigned thread) {
  return is_woken(thread) ? 1 : 0;
}

std::uint64_t ways_when_woken_in_time(const HeddleHostPoint*, unsigned thread) {
  return is_woken(thread) ? 1 : 2;
}

/// Returns the way that it goes on: 0 if it was woken, 1 if the time was up.
unsigned wait_to_be_woken(const HeddleHostPoint& point, std::uint64_t group, const void* pc) {
  HeddleWaiter& waiter = *threads()->waiter(threads()->self());
  const bool only = point.ways == ways_when_woken || point.ways == ways_when_woken_in_time;
  waiter = {point.object, group, false, only};
  const unsigned way = threads()->stop(&point, pc);
  waiter = {};
  return way;
}

void wake(unsigned thread) {
  HeddleWaiter& waiter = *threads()->waiter(thread);
  waiter.woken = true;
  if (waiter.only) {
    threads()->go_first(thread);
  }
}

/// All of a set of threads; none of them goes on before all are woken.
void wake(std::uint64_t set) {
  for (std::uint64_t rest = set; rest != 0; rest &= rest - 1) {
    threads()->waiter(static_cast<unsigned>(__builtin_ctzll(rest)))->woken = true;
  }
  for (std::uint64_t rest = set; rest != 0; rest &= rest - 1) {
    wake(static_cast<unsigned>(__builtin_ctzll(rest)));
  }
}

} // namespace

int wake(
    const void* object,
    std::uint64_t groups,
    unsigned count,
    const char* what,
    const void* pc
) {
  int woken = 0;
  if (count == 1) {
    const HeddleHostPoint point{what, object, groups, ways_to_wake, true};
    const unsigned thread = threads()->stop(&point, pc);
    if (thread != nobody) {
      wake(thread);
      woken = 1;
    }
    return woken;
  }
  const HeddleHostPoint point{what, object, groups, nullptr, true};
  threads()->stop(&point, pc);
  const std::uint64_t all = waiting_for(object, groups);
  if (static_cast<unsigned>(__builtin_popcountll(all)) > count) {
    leave_out(HeddleOthersWoken);
  }
  std::uint64_t chosen = 0;
  for (std::uint64_t rest = all; rest != 0 && static_cast<unsigned>(woken) < count;
       rest &= rest - 1) {
    chosen |= rest & (~rest + 1);
    ++woken;
  }
  wake(chosen);
  return woken;
}

} // namespace heddle::hostwatch

using namespace heddle::hostwatch;

#define HEDDLE_PC __builtin_return_address(0)

// --- Condition variables -------------------------------------------------------------------------

namespace {

const pthread_mutex_t* mutex_of(const HeddleHostPoint* point) {
  return reinterpret_cast<const pthread_mutex_t*>(point->argument);
}

constexpr std::uint64_t when_woken = 1, when_late = 2, without_reason = 4; // ways

/// A thread that is woken, or goes on without a reason, has locked the mutex again: one step.
std::uint64_t ways_to_resume(const HeddleHostPoint* point, unsigned thread) {
  const std::uint64_t way = is_woken(thread) ? when_woken : without_reason;
  return is_free(mutex_of(point)) ? way : 0;
}

/// To be late does not need the mutex: whoever holds it may then wake nobody.
std::uint64_t ways_to_resume_in_time(const HeddleHostPoint* point, unsigned thread) {
  return ways_to_resume(point, thread) | (is_woken(thread) ? 0 : when_late);
}

std::uint64_t ways_to_lock_again(const HeddleHostPoint* point, unsigned) {
  return is_free(static_cast<const pthread_mutex_t*>(point->object)) ? 1 : 0;
}

/// The clock that pthread_condattr_setclock has chosen, where glibc keeps it.
clockid_t clock_of(const pthread_cond_t* condition) {
  return (condition->__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

} // namespace

namespace heddle::hostwatch {

int wait(
    pthread_cond_t* condition,
    pthread_mutex_t* mutex,
    bool timed,
    std::uint64_t deadline,
    const void* pc
) {
  const HeddleHostPoint
      begin{"unlocks a mutex to wait on a condition variable", condition, 0, nullptr, true};
  threads()->stop(&begin, pc);
  const unsigned self = threads()->self();
  if (const int error = release(mutex, self, pc); error != 0) {
    return error;
  }
  const HeddleHostPoint point{
      is_free(mutex) ? "waits on a condition variable"
                     : "waits on a condition variable with a mutex that it has locked twice",
      condition,
      reinterpret_cast<std::uint64_t>(mutex),
      timed ? ways_to_resume_in_time : ways_to_resume,
      false,
      without_reason
  };
  const bool late = (1U << wait_to_be_woken(point, everybody, pc)) == when_late;
  if (late) {
    threads()->pass(deadline);
    const HeddleHostPoint again{"waits to lock a mutex again", mutex, 0, ways_to_lock_again, false};
    threads()->stop(&again, pc);
  }
  take(mutex, self, pc);
  return late ? ETIMEDOUT : 0;
}

bool meet(const void* barrier, unsigned expected, const void* pc) {
  const HeddleHostPoint arrive{"arrives at a barrier", barrier, 0, nullptr, false};
  threads()->stop(&arrive, pc);
  const std::uint64_t others = waiting_for(barrier, everybody);
  if (static_cast<unsigned>(__builtin_popcountll(others)) + 1 >= expected) {
    wake(others);
    return true;
  }
  const HeddleHostPoint point{"waits at a barrier", barrier, 0, ways_when_woken, false};
  wait_to_be_woken(point, everybody, pc);
  return false;
}

} // namespace heddle::hostwatch

HEDDLE_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  HEDDLE_REAL_AROUND(mutex, pthread_cond_wait, condition, mutex);
  return wait(condition, mutex, false, 0, HEDDLE_PC);
}

HEDDLE_EXPORT int pthread_cond_timedwait(
    pthread_cond_t* condition,
    pthread_mutex_t* mutex,
    const timespec* deadline
) {
  HEDDLE_REAL_AROUND(mutex, pthread_cond_timedwait, condition, mutex, deadline);
  if (!valid(*deadline)) {
    return EINVAL;
  }
  const std::uint64_t then = deadline_at(clock_of(condition), *deadline);
  return wait(condition, mutex, true, then, HEDDLE_PC);
}

HEDDLE_EXPORT int pthread_cond_clockwait(
    pthread_cond_t* condition,
    pthread_mutex_t* mutex,
    clockid_t clock,
    const timespec* deadline
) {
  HEDDLE_REAL_AROUND(mutex, pthread_cond_clockwait, condition, mutex, clock, deadline);
  if (!valid(*deadline)) {
    return EINVAL;
  }
  return wait(condition, mutex, true, deadline_at(clock, *deadline), HEDDLE_PC);
}

HEDDLE_EXPORT int pthread_cond_signal(pthread_cond_t* condition) {
  HEDDLE_REAL(pthread_cond_signal, condition);
  wake(condition, everybody, 1, "notifies one of a condition variable", HEDDLE_PC);
  return 0;
}

HEDDLE_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) {
  HEDDLE_REAL(pthread_cond_broadcast, condition);
  wake(condition, everybody, UINT_MAX, "notifies all of a condition variable", HEDDLE_PC);
  return 0;
}

// --- Barriers ------------------------------------------------------------------------------------

HEDDLE_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) {
  HEDDLE_REAL_AROUND(barrier, pthread_barrier_wait, barrier);
  // Where glibc keeps the number of threads: behind `in` and `current_round`.
  const unsigned expected = reinterpret_cast<const unsigned*>(barrier)[2];
  return meet(barrier, expected, HEDDLE_PC) ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

// --- Semaphores ----------------------------------------------------------------------------------
// The value lies where glibc keeps it, in the first word.

namespace {

unsigned value_of(const void* semaphore) {
  return *static_cast<const unsigned*>(semaphore);
}

void set_value(sem_t* semaphore, unsigned value, const void* pc) {
  wrote(semaphore, sizeof value, pc);
  *reinterpret_cast<unsigned*>(semaphore) = value;
}

std::uint64_t ways_to_acquire(const HeddleHostPoint* point, unsigned) {
  return value_of(point->object) > 0 ? 1 : 0;
}

std::uint64_t ways_to_acquire_in_time(const HeddleHostPoint* point, unsigned thread) {
  return ways_to_acquire(point, thread) != 0 ? 1 : 2;
}

int fail(int error) {
  errno = error;
  return -1;
}

int acquire(sem_t* semaphore, bool timed, std::uint64_t deadline, const void* pc) {
  const HeddleHostPoint point{
      "waits to acquire a semaphore",
      semaphore,
      0,
      timed ? ways_to_acquire_in_time : ways_to_acquire,
      false
  };
  if (threads()->stop(&point, pc) == 1) {
    threads()->pass(deadline);
    return fail(ETIMEDOUT);
  }
  set_value(semaphore, value_of(semaphore) - 1, pc);
  return 0;
}

} // namespace

HEDDLE_EXPORT int sem_wait(sem_t* semaphore) {
  HEDDLE_REAL_ACQUIRE(semaphore, sem_wait, semaphore);
  return acquire(semaphore, false, 0, HEDDLE_PC);
}

HEDDLE_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* deadline) {
  HEDDLE_REAL_ACQUIRE(semaphore, sem_timedwait, semaphore, deadline);
  if (!valid(*deadline)) {
    return fail(EINVAL);
  }
  return acquire(semaphore, true, deadline_at(CLOCK_REALTIME, *deadline), HEDDLE_PC);
}

HEDDLE_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* deadline) {
  HEDDLE_REAL_ACQUIRE(semaphore, sem_clockwait, semaphore, clock, deadline);
  if (!valid(*deadline)) {
    return fail(EINVAL);
  }
  return acquire(semaphore, true, deadline_at(clock, *deadline), HEDDLE_PC);
}

HEDDLE_EXPORT int sem_trywait(sem_t* semaphore) {
  HEDDLE_REAL_ACQUIRE(semaphore, sem_trywait, semaphore);
  const HeddleHostPoint point{"tries to acquire a semaphore", semaphore, 0, nullptr, false};
  threads()->stop(&point, HEDDLE_PC);
  if (value_of(semaphore) == 0) {
    return fail(EAGAIN);
  }
  set_value(semaphore, value_of(semaphore) - 1, HEDDLE_PC);
  return 0;
}

HEDDLE_EXPORT int sem_post(sem_t* semaphore) {
  HEDDLE_REAL_RELEASE(semaphore, sem_post, semaphore);
  const HeddleHostPoint point{"releases a semaphore", semaphore, 0, nullptr, true};
  threads()->stop(&point, HEDDLE_PC);
  if (value_of(semaphore) == SEM_VALUE_MAX) {
    return fail(EOVERFLOW);
  }
  set_value(semaphore, value_of(semaphore) + 1, HEDDLE_PC);
  return 0;
}

HEDDLE_EXPORT int sem_getvalue(sem_t* semaphore, int* value) {
  HEDDLE_REAL(sem_getvalue, semaphore, value);
  const HeddleHostPoint point{"reads a semaphore", semaphore, 0, nullptr, false};
  threads()->stop(&point, HEDDLE_PC);
  wrote(value, sizeof *value, HEDDLE_PC);
  *value = static_cast<int>(value_of(semaphore));
  return 0;
}

// --- Futexes -------------------------------------------------------------------------------------

namespace {

struct FutexWait {
  const int* word;
  int expected;
  const timespec* time; // nullptr: without end
  bool absolute;
  clockid_t clock;
  std::uint64_t group;
};

long futex_wait(const FutexWait& futex, const void* pc) {
  // explore/search/host_events.cpp knows it by this text.
  const HeddleHostPoint begin{"an atomic read before waiting", futex.word, 0, nullptr, false};
  threads()->stop(&begin, pc);
  if (__atomic_load_n(futex.word, __ATOMIC_SEQ_CST) != futex.expected) {
    return fail(EAGAIN);
  }
  std::uint64_t deadline = 0;
  if (futex.time != nullptr) {
    if (!valid(*futex.time)) {
      return fail(EINVAL);
    }
    deadline = futex.absolute ? deadline_at(futex.clock, *futex.time) : deadline_after(*futex.time);
  }
  const HeddleHostPoint point{
      "waits for a change of an atomic",
      futex.word,
      0,
      futex.time != nullptr ? ways_when_woken_in_time : ways_when_woken,
      false
  };
  if (wait_to_be_woken(point, futex.group, pc) != 0) {
    threads()->pass(deadline);
    return fail(ETIMEDOUT);
  }
  return 0;
}

long futex(const long (&arguments)[6], const void* pc) {
  const auto* word = reinterpret_cast<const int*>(arguments[0]);
  const int operation = static_cast<int>(arguments[1]);
  const auto value = static_cast<unsigned>(arguments[2]);
  const bool bits = (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET ||
                    (operation & FUTEX_CMD_MASK) == FUTEX_WAKE_BITSET;
  const std::uint64_t group = bits ? static_cast<std::uint32_t>(arguments[5]) : UINT32_MAX;
  switch (operation & FUTEX_CMD_MASK) {
  case FUTEX_WAIT:
  case FUTEX_WAIT_BITSET:
    return futex_wait(
        {word,
         static_cast<int>(value),
         reinterpret_cast<const timespec*>(arguments[3]),
         bits,
         (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC,
         group},
        pc
    );
  case FUTEX_WAKE:
  case FUTEX_WAKE_BITSET:
    return wake(word, group, value, "notifies threads that wait for an atomic", pc);
  default:
    hooks->unsupported("this operation of futex()");
    return fail(ENOSYS);
  }
}

} // namespace

// The C library's is variadic. All six are passed on, whether they were given or not: they are in
// registers or on the stack. Declared so, a frame has no room for registers in which addresses of
// earlier calls could survive: who looks for the caller on the stack (foreign_input.cpp) would take
// them for it.
HEDDLE_EXPORT long syscall_of_six(long, long, long, long, long, long, long) __asm__("syscall");
long syscall_of_six(
    long number,
    long first,
    long second,
    long third,
    long fourth,
    long fifth,
    long sixth
) {
  long arguments[6] = {first, second, third, fourth, fifth, sixth};
  std::uint64_t unused = 0;
  if (number == SYS_futex && threads() != nullptr && threads()->elapsed(&unused, false)) {
    return futex(arguments, HEDDLE_PC);
  }
  if (number == SYS_exit_group && hooks != nullptr && hooks->ends_at_once != nullptr) {
    hooks->ends_at_once(static_cast<int>(first));
  }
  long result = 0;
  if (answers_call(number, arguments, &result, HEDDLE_PC)) {
    return result;
  }
  static decltype(&syscall) real = nullptr;
  // Who waits for a word and who wakes do so by atomics, too, but those may be in a library.
  const auto* word = reinterpret_cast<const void*>(first);
  const Around around(number == SYS_futex ? word : nullptr, HEDDLE_PC);
  return real_function(real, "syscall")(
      number,
      arguments[0],
      arguments[1],
      arguments[2],
      arguments[3],
      arguments[4],
      arguments[5]
  );
}

// Threads and their keys. Under the explorer a host thread of the program is no thread of the
// kernel (explore/host/host_threads.h); without it all of these are the C library's.
//
// The C library must not get to see the number of such a thread, which is no address as its own
// are: everything that takes one is here.
//
// Not there: cancellation, signals to one thread; priorities and affinities (accepted, without
// effect).
#include "hostwatch/answers.h"
#include "hostwatch/observing.h"
#include "hostwatch/shared_use.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

using namespace heddle::hostwatch;

#define HEDDLE_PC __builtin_return_address(0)

#define HEDDLE_REAL_JOIN(function, ...)                                                            \
  do {                                                                                             \
    if (observes_order()) {                                                                        \
      static decltype(&function) real = nullptr;                                                   \
      const int error = real_function(real, #function)(__VA_ARGS__);                               \
      if (error == 0) {                                                                            \
        tell_joined(thread, HEDDLE_PC);                                                            \
      }                                                                                            \
      return error;                                                                                \
    }                                                                                              \
    HEDDLE_REAL(function, __VA_ARGS__);                                                            \
  } while (false)

namespace {

constexpr unsigned max_keys = 1024;  // PTHREAD_KEYS_MAX
constexpr int destructor_rounds = 4; // PTHREAD_DESTRUCTOR_ITERATIONS

// Indexed by key. Known from the beginning, explorer or not.
void (*key_destructors[max_keys])(void*);

/// OpenMP's own waiting loops and system calls do not pass through us.
bool called_by_openmp(const void* pc) {
  Dl_info info{};
  return ::dladdr(pc, &info) != 0 && info.dli_fname != nullptr &&
         (std::strstr(info.dli_fname, "libgomp") != nullptr ||
          std::strstr(info.dli_fname, "libomp") != nullptr);
}

/// Numbers are ours from the beginning, explorer or not: programs keep that of main in globals.
bool numbers_are_ours() {
  static const bool checked = [] {
    const char* const mode = std::getenv("HEDDLE_MODE");
    return mode != nullptr && std::strcmp(mode, "check") == 0;
  }();
  return checked;
}

pthread_t main_number() {
  return is_other(HeddleAnswerProcess) ? HeddleOtherMainNumber : HeddleMainNumber;
}

/// What the C library calls the thread that the kernel knows, and all others are made of.
pthread_t kernels_thread() {
  static decltype(&pthread_self) real = nullptr;
  return threads() != nullptr ? threads()->known() : real_function(real, "pthread_self")();
}

/// The id of a thread other than main; 0: it is not one of ours.
unsigned ours(pthread_t thread) {
  const unsigned id = threads() != nullptr ? threads()->find(thread) : 0;
  return id != HeddleMaxThreads ? id : 0;
}

/// A number that means something to the C library.
pthread_t known(pthread_t thread) {
  return ours(thread) != 0 || thread == main_number() ? kernels_thread() : thread;
}

} // namespace

HEDDLE_EXPORT int pthread_create(
    pthread_t* thread,
    const pthread_attr_t* attributes,
    void* (*start)(void*),
    void* argument
) {
  if (hooks != nullptr && hooks->threads == nullptr) {
    hooks->unsupported("a second host thread (pthread_create, std::thread)");
  }
  if (Beginning* beginning =
          observe_creation(start, argument, called_by_openmp(HEDDLE_PC), HEDDLE_PC)) {
    static decltype(&pthread_create) real = nullptr;
    return real_function(real, "pthread_create")(thread, attributes, begin_observed, beginning);
  }
  HEDDLE_REAL(pthread_create, thread, attributes, start, argument);
  if (called_by_openmp(HEDDLE_PC)) {
    hooks->unsupported("OpenMP with more than one thread (OMP_NUM_THREADS=1 avoids it)");
  }
  thread_begins();
  const int error = threads()->create(thread, attributes, start, argument);
  if (error == 0) {
    thread_began(ours(*thread));
  }
  wrote(thread, sizeof *thread, HEDDLE_PC);
  return error;
}

HEDDLE_EXPORT int pthread_join(pthread_t thread, void** result) {
  HEDDLE_REAL_JOIN(pthread_join, thread, result);
  return threads()->join(thread, result, true, false, 0, HEDDLE_PC);
}

HEDDLE_EXPORT int pthread_tryjoin_np(pthread_t thread, void** result) {
  HEDDLE_REAL_JOIN(pthread_tryjoin_np, thread, result);
  return threads()->join(thread, result, false, false, 0, HEDDLE_PC);
}

HEDDLE_EXPORT int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* deadline) {
  HEDDLE_REAL_JOIN(pthread_timedjoin_np, thread, result, deadline);
  const std::uint64_t then = deadline_at(CLOCK_REALTIME, *deadline);
  return threads()->join(thread, result, true, true, then, HEDDLE_PC);
}

HEDDLE_EXPORT int
pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const timespec* deadline) {
  HEDDLE_REAL_JOIN(pthread_clockjoin_np, thread, result, clock, deadline);
  const std::uint64_t then = deadline_at(clock, *deadline);
  return threads()->join(thread, result, true, true, then, HEDDLE_PC);
}

HEDDLE_EXPORT int pthread_detach(pthread_t thread) {
  HEDDLE_REAL(pthread_detach, thread);
  return threads()->detach(thread);
}

HEDDLE_EXPORT void pthread_exit(void* result) {
  if (threads() != nullptr) {
    threads()->exit(result);
  }
  static decltype(&pthread_exit) real = nullptr;
  real_function(real, "pthread_exit")(result);
  __builtin_unreachable();
}

// --- Keys ----------------------------------------------------------------------------------------
// The values lie in the thread's block of the C library, which is ours too; only who destroys them
// has to be known here.

HEDDLE_EXPORT int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) {
  static decltype(&pthread_key_create) real = nullptr;
  const int error = real_function(real, "pthread_key_create")(key, destructor);
  if (error == 0 && *key < max_keys) {
    key_destructors[*key] = destructor;
    wrote(key, sizeof *key, HEDDLE_PC);
  }
  return error;
}

HEDDLE_EXPORT int pthread_key_delete(pthread_key_t key) {
  static decltype(&pthread_key_delete) real = nullptr;
  if (key < max_keys) {
    key_destructors[key] = nullptr;
  }
  return real_function(real, "pthread_key_delete")(key);
}

HEDDLE_EXPORT void heddle_run_key_destructors() {
  for (int round = 0; round < destructor_rounds; ++round) {
    bool found = false;
    for (pthread_key_t key = 0; key < max_keys; ++key) {
      void* value = key_destructors[key] != nullptr ? pthread_getspecific(key) : nullptr;
      if (value != nullptr) {
        found = true;
        pthread_setspecific(key, nullptr);
        key_destructors[key](value);
      }
    }
    if (!found) {
      return;
    }
  }
}

// --- What needs a thread of the kernel -----------------------------------------------------------

HEDDLE_EXPORT int pthread_cancel(pthread_t thread) {
  HEDDLE_REAL(pthread_cancel, thread);
  hooks->unsupported("pthread_cancel");
  return ENOSYS;
}

HEDDLE_EXPORT int pthread_kill(pthread_t thread, int signal) {
  if (ours(thread) != 0 && signal == 0) {
    return 0; // asks whether there is such a thread
  }
  if (ours(thread) != 0) {
    hooks->unsupported("pthread_kill");
  }
  static decltype(&pthread_kill) real = nullptr;
  return real_function(real, "pthread_kill")(known(thread), signal);
}

HEDDLE_EXPORT int pthread_sigqueue(pthread_t thread, int signal, const union sigval value) {
  if (ours(thread) != 0) {
    hooks->unsupported("pthread_sigqueue");
  }
  static decltype(&pthread_sigqueue) real = nullptr;
  return real_function(real, "pthread_sigqueue")(known(thread), signal, value);
}

// --- What can be known of a thread ---------------------------------------------------------------

HEDDLE_EXPORT pthread_t pthread_self() {
  if (threads() != nullptr) {
    return threads()->number();
  }
  return numbers_are_ours() ? main_number() : kernels_thread();
}

HEDDLE_EXPORT int pthread_setname_np(pthread_t thread, const char* name) {
  if (const unsigned id = ours(thread); id != 0) {
    if (std::strlen(name) >= HeddleNameBytes) {
      return ERANGE;
    }
    std::strcpy(threads()->name(id), name);
    return 0;
  }
  static decltype(&pthread_setname_np) real = nullptr;
  return real_function(real, "pthread_setname_np")(known(thread), name);
}

HEDDLE_EXPORT int pthread_getname_np(pthread_t thread, char* name, std::size_t bytes) {
  const unsigned id = ours(thread);
  const char* const own = id == 0 ? "" : threads()->name(id);
  if (own[0] == '\0') { // a new thread has the name of the program
    static decltype(&pthread_getname_np) real = nullptr;
    return real_function(real, "pthread_getname_np")(known(thread), name, bytes);
  }
  if (bytes <= std::strlen(own)) {
    return ERANGE;
  }
  wrote(name, bytes, HEDDLE_PC);
  std::strcpy(name, own);
  return 0;
}

HEDDLE_EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) {
  if (const unsigned id = ours(thread); id != 0) {
    wrote(attributes, sizeof *attributes, HEDDLE_PC);
    std::size_t bytes = 0;
    void* const stack = threads()->stack(id, &bytes);
    const int error = pthread_attr_init(attributes);
    return error != 0 ? error : pthread_attr_setstack(attributes, stack, bytes);
  }
  static decltype(&pthread_getattr_np) real = nullptr;
  return real_function(real, "pthread_getattr_np")(known(thread), attributes);
}

// One processor time serves all: clocks are virtual.
HEDDLE_EXPORT int pthread_getcpuclockid(pthread_t thread, clockid_t* clock) {
  if (threads() != nullptr) {
    wrote(clock, sizeof *clock, HEDDLE_PC);
    *clock = CLOCK_THREAD_CPUTIME_ID;
    return 0;
  }
  static decltype(&pthread_getcpuclockid) real = nullptr;
  return real_function(real, "pthread_getcpuclockid")(known(thread), clock);
}

// Priorities and processors: those of the thread of main, whose thread of the kernel they all
// share; setting them has no effect.

HEDDLE_EXPORT int
pthread_setaffinity_np(pthread_t thread, std::size_t bytes, const cpu_set_t* set) {
  if (ours(thread) != 0) {
    return 0;
  }
  static decltype(&pthread_setaffinity_np) real = nullptr;
  return real_function(real, "pthread_setaffinity_np")(known(thread), bytes, set);
}

HEDDLE_EXPORT int pthread_getaffinity_np(pthread_t thread, std::size_t bytes, cpu_set_t* set) {
  static decltype(&pthread_getaffinity_np) real = nullptr;
  return real_function(real, "pthread_getaffinity_np")(known(thread), bytes, set);
}

HEDDLE_EXPORT int
pthread_setschedparam(pthread_t thread, int policy, const sched_param* parameters) {
  if (ours(thread) != 0) {
    return 0;
  }
  static decltype(&pthread_setschedparam) real = nullptr;
  return real_function(real, "pthread_setschedparam")(known(thread), policy, parameters);
}

HEDDLE_EXPORT int pthread_getschedparam(pthread_t thread, int* policy, sched_param* parameters) {
  static decltype(&pthread_getschedparam) real = nullptr;
  return real_function(real, "pthread_getschedparam")(known(thread), policy, parameters);
}

HEDDLE_EXPORT int pthread_setschedprio(pthread_t thread, int priority) {
  if (ours(thread) != 0) {
    return 0;
  }
  static decltype(&pthread_setschedprio) real = nullptr;
  return real_function(real, "pthread_setschedprio")(known(thread), priority);
}

// A child would be one more process that takes part in the search. The explorer makes its own.
HEDDLE_EXPORT pid_t fork() {
  static decltype(&fork) real = nullptr;
  if (hooks != nullptr) {
    Dl_info caller{}, explorer{};
    const auto* own = reinterpret_cast<const void*>(hooks->before_event);
    const bool known = ::dladdr(HEDDLE_PC, &caller) != 0 && ::dladdr(own, &explorer) != 0;
    if (known && caller.dli_fbase != explorer.dli_fbase) {
      hooks->unsupported("fork(), as the child would be part of every execution");
    }
  }
  return real_function(real, "fork")();
}

// --- The end of the program ----------------------------------------------------------------------
// Others may go on until it ends, and come to an end themselves. (What main returns to calls exit
// unseen; what destroys objects then is nobody's business but for data races.)

HEDDLE_EXPORT void exit(int status) {
  if (heddle::hostwatch::hooks != nullptr && heddle::hostwatch::hooks->ends != nullptr) {
    heddle::hostwatch::hooks->ends(status);
  }
  static decltype(&exit) real = nullptr;
  real_function(real, "exit")(status);
  __builtin_trap();
}

// Without exit handlers; syscall() tells.
HEDDLE_EXPORT void _exit(int status) {
  ::syscall(SYS_exit_group, status);
  __builtin_trap();
}
HEDDLE_EXPORT void _Exit(int status) {
  ::_exit(status);
}
HEDDLE_EXPORT void quick_exit(int status) {
  if (heddle::hostwatch::hooks != nullptr && heddle::hostwatch::hooks->ends_quickly != nullptr) {
    heddle::hostwatch::hooks->ends_quickly(status);
  }
  static decltype(&quick_exit) real = nullptr;
  real_function(real, "quick_exit")(status);
  __builtin_trap();
}

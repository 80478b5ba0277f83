// Numbers of processes and threads. Under the explorer the program's own code has fixed ones
// (spec/answers.md), which no process of the system has. So whatever is given one of them knows
// what is meant: calls that take a number, syscall(), and paths below /proc.
//
// May miss: numbers that the system tells on its own (siginfo_t, SO_PEERCRED, F_GETLK) are the real
// ones, and so are those that libraries ask for; fcntl(F_SETOWN) and calls by inline assembly do
// not know the fixed ones.
#include "hostwatch/processes.h"

#include "hostwatch/answers.h"
#include "hostwatch/changed_files.h"
#include "hostwatch/hooks_internal.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace heddle::hostwatch {
namespace {

/// Above pid_max, which is at most 2^22.
pid_t this_process() {
  constexpr pid_t usual = 0x40'0101, other = 0x7f'fefe;
  return is_other(HeddleAnswerProcess) ? other : usual;
}
/// The parent's number. It leads the group and the session, as a shell that executes a script.
pid_t parent() {
  constexpr pid_t distance = 77;
  return this_process() - distance;
}

pid_t real_process() {
  static decltype(&getpid) real = nullptr;
  return real_function(real, "getpid")();
}
pid_t real_parent() {
  static decltype(&getppid) real = nullptr;
  return real_function(real, "getppid")();
}

/// What the system calls the one with this number. Threads are all executed by one of the
/// system's.
template <class Number> Number known(Number number) {
  const auto wanted = static_cast<pid_t>(number);
  if (hooks == nullptr) {
    return number;
  }
  if (wanted >= this_process() && wanted < this_process() + static_cast<pid_t>(HeddleMaxThreads)) {
    return static_cast<Number>(real_process());
  }
  return wanted == parent() ? static_cast<Number>(real_parent()) : number;
}

/// The program itself, by its own number or by 0.
bool is_self(pid_t process) {
  return hooks != nullptr && (process == 0 || process == this_process());
}

/// Its parent is the tool: what the program sends it nobody gets. Nor its group.
bool leaves_program(pid_t process, int signal) {
  return hooks != nullptr && signal != 0 && (process == parent() || process == -parent());
}

pid_t thread_number() {
  return this_process() + static_cast<pid_t>(threads() != nullptr ? threads()->self() : 0);
}

} // namespace

RealPath::RealPath(const char* path) : path_(path) {
  constexpr char begin[] = "/proc/";
  constexpr std::size_t length = sizeof begin - 1;
  if (const int own = path != nullptr ? own_file(path) : -1; own >= 0) {
    std::snprintf(room_, most, "/proc/self/fd/%d", own);
    path_ = room_;
    return;
  }
  if (hooks == nullptr || path == nullptr || std::strncmp(path, begin, length) != 0) {
    return;
  }
  char* rest = nullptr;
  const long number = std::strtol(path + length, &rest, 10);
  const long process = known(number);
  if (process != number && (*rest == '/' || *rest == '\0') &&
      std::snprintf(room_, most, "%s%ld%s", begin, process, rest) < static_cast<int>(most)) {
    path_ = room_;
  }
}

bool answers_call(long number, long* arguments, long* result, const void* pc) {
  switch (number) {
  case SYS_getpid:
  case SYS_gettid:
  case SYS_getppid:
  case SYS_getpgrp:
    if (!asks(HeddleAnswerProcess, pc)) {
      return false;
    }
    *result = number == SYS_getpid   ? this_process()
              : number == SYS_gettid ? thread_number()
                                     : parent();
    return true;
  case SYS_getrandom:
    *result = arguments[1];
    return give_random(
        reinterpret_cast<void*>(arguments[0]),
        static_cast<std::size_t>(arguments[1]),
        pc
    );
  case SYS_kill:
  case SYS_tkill:
    *result = 0;
    if (leaves_program(static_cast<pid_t>(arguments[0]), static_cast<int>(arguments[1]))) {
      return true;
    }
    [[fallthrough]];
  case SYS_sched_setaffinity:
  case SYS_sched_getaffinity:
  case SYS_sched_setscheduler:
  case SYS_sched_getscheduler:
  case SYS_sched_setparam:
  case SYS_sched_getparam:
  case SYS_sched_setattr:
  case SYS_sched_getattr:
  case SYS_sched_rr_get_interval:
  case SYS_getpgid:
  case SYS_getsid:
  case SYS_prlimit64:
  case SYS_pidfd_open:
  case SYS_process_vm_readv:
  case SYS_process_vm_writev:
  case SYS_migrate_pages:
  case SYS_move_pages:
    arguments[0] = known(arguments[0]);
    return false;
  case SYS_tgkill:
    arguments[0] = known(arguments[0]);
    [[fallthrough]];
  case SYS_getpriority:
  case SYS_setpriority:
  case SYS_ioprio_get:
  case SYS_ioprio_set:
  case SYS_perf_event_open:
    arguments[1] = known(arguments[1]);
    return false;
  default:
    return false;
  }
}

} // namespace heddle::hostwatch

using namespace heddle::hostwatch;

HEDDLE_EXPORT pid_t getpid() {
  return asks(HeddleAnswerProcess, __builtin_return_address(0)) ? this_process() : real_process();
}

HEDDLE_EXPORT pid_t getppid() {
  return asks(HeddleAnswerProcess, __builtin_return_address(0)) ? parent() : real_parent();
}

HEDDLE_EXPORT pid_t gettid() {
  if (asks(HeddleAnswerProcess, __builtin_return_address(0))) {
    return thread_number();
  }
  static decltype(&gettid) real = nullptr;
  return real_function(real, "gettid")();
}

HEDDLE_EXPORT pid_t getpgrp() {
  if (asks(HeddleAnswerProcess, __builtin_return_address(0))) {
    return parent();
  }
  static decltype(&getpgrp) real = nullptr;
  return real_function(real, "getpgrp")();
}

HEDDLE_EXPORT pid_t getpgid(pid_t process) {
  if (is_self(process) && asks(HeddleAnswerProcess, __builtin_return_address(0))) {
    return parent();
  }
  static decltype(&getpgid) real = nullptr;
  return real_function(real, "getpgid")(known(process));
}

HEDDLE_EXPORT pid_t getsid(pid_t process) {
  if (is_self(process) && asks(HeddleAnswerProcess, __builtin_return_address(0))) {
    return parent();
  }
  static decltype(&getsid) real = nullptr;
  return real_function(real, "getsid")(known(process));
}

HEDDLE_EXPORT int kill(pid_t process, int signal) {
  static decltype(&kill) real = nullptr;
  return leaves_program(process, signal) ? 0 : real_function(real, "kill")(known(process), signal);
}

HEDDLE_EXPORT int sigqueue(pid_t process, int signal, sigval value) {
  static decltype(&sigqueue) real = nullptr;
  return leaves_program(process, signal)
             ? 0
             : real_function(real, "sigqueue")(known(process), signal, value);
}

HEDDLE_EXPORT int killpg(pid_t group, int signal) {
  static decltype(&killpg) real = nullptr;
  return leaves_program(group, signal) ? 0 : real_function(real, "killpg")(known(group), signal);
}

// Whose other arguments are passed on.
#define HEDDLE_OF_PROCESS(result, name, parameters, ...)                                           \
  HEDDLE_EXPORT result name parameters {                                                           \
    static decltype(&name) real = nullptr;                                                         \
    return real_function(real, #name)(__VA_ARGS__);                                                \
  }
using Bytes = std::size_t;
using Of = __priority_which_t; // glibc's declarations have enumerations of their own in C++
using Resource = __rlimit_resource;
HEDDLE_OF_PROCESS(int, sched_setaffinity, (pid_t p, Bytes n, const cpu_set_t* s), known(p), n, s)
HEDDLE_OF_PROCESS(int, sched_getaffinity, (pid_t p, Bytes n, cpu_set_t* s), known(p), n, s)
HEDDLE_OF_PROCESS(int, sched_setscheduler, (pid_t p, int n, const sched_param* s), known(p), n, s)
HEDDLE_OF_PROCESS(int, sched_getscheduler, (pid_t p), known(p))
HEDDLE_OF_PROCESS(int, sched_setparam, (pid_t p, const sched_param* s), known(p), s)
HEDDLE_OF_PROCESS(int, sched_getparam, (pid_t p, sched_param* s), known(p), s)
HEDDLE_OF_PROCESS(int, sched_rr_get_interval, (pid_t p, timespec* t), known(p), t)
HEDDLE_OF_PROCESS(int, getpriority, (Of of, id_t p), of, known(p))
HEDDLE_OF_PROCESS(int, setpriority, (Of of, id_t p, int n), of, known(p), n)
HEDDLE_OF_PROCESS(int, setpgid, (pid_t p, pid_t group), known(p), known(group))
HEDDLE_OF_PROCESS(int, tgkill, (pid_t p, pid_t t, int signal), known(p), known(t), signal)
HEDDLE_OF_PROCESS(int, pidfd_open, (pid_t p, unsigned flags), known(p), flags)
HEDDLE_OF_PROCESS(int, clock_getcpuclockid, (pid_t p, clockid_t* c), known(p), c)
HEDDLE_OF_PROCESS(
    int,
    prlimit,
    (pid_t p, Resource r, const rlimit* to, rlimit* was),
    known(p),
    r,
    to,
    was
)
#define HEDDLE_OF_MEMORY(name)                                                                     \
  HEDDLE_OF_PROCESS(                                                                               \
      ssize_t,                                                                                     \
      name,                                                                                        \
      (pid_t p,                                                                                    \
       const iovec* a,                                                                             \
       unsigned long m,                                                                            \
       const iovec* b,                                                                             \
       unsigned long n,                                                                            \
       unsigned long f),                                                                           \
      known(p),                                                                                    \
      a,                                                                                           \
      m,                                                                                           \
      b,                                                                                           \
      n,                                                                                           \
      f                                                                                            \
  )
HEDDLE_OF_MEMORY(process_vm_readv)
HEDDLE_OF_MEMORY(process_vm_writev)

// … of files that may lie below /proc; inputs.cpp has those that open or look at one.
HEDDLE_OF_PROCESS(ssize_t, readlink, (const char* path, char* to, Bytes n), RealPath(path), to, n)
HEDDLE_OF_PROCESS(char*, realpath, (const char* path, char* to), RealPath(path), to)

// Implements page_call.h.
#include "runtime/diagnostics/page_call.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace heddle::runtime {
namespace {

// Of linux/prctl.h and asm-generic/siginfo.h, which older systems lack.
constexpr int set_dispatch = 59;
constexpr unsigned long dispatch_on = 1;
constexpr int dispatched = 2; // si_code
constexpr char calls_pass = 0;
constexpr char calls_are_seen = 1;
constexpr greg_t call_instruction = 2; // bytes

/// What a handler may do in the place of the program: neither the mask of signals, nor the thread
/// or the process, nor memory behind pointers that the arguments point at.
constexpr long simple_calls[] = {
    SYS_read,
    SYS_write,
    SYS_open,
    SYS_close,
    SYS_stat,
    SYS_fstat,
    SYS_lstat,
    SYS_lseek,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_brk,
    SYS_pread64,
    SYS_pwrite64,
    SYS_access,
    SYS_sched_yield,
    SYS_madvise,
    SYS_nanosleep,
    SYS_getpid,
    SYS_gettid,
    SYS_fcntl,
    SYS_futex,
    SYS_gettimeofday,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_openat,
    SYS_newfstatat,
    SYS_getrandom,
    SYS_sched_getaffinity,
};

/// What makes a thread. Only the program itself can do that; what it calls then until it touches a
/// page, or calls the API, is not looked at.
constexpr long thread_calls[] = {SYS_clone, SYS_clone3, SYS_rt_sigprocmask};

CallWatcher* call_watcher = nullptr;

/// Of the calling thread. The kernel reads the selector.
struct Seen {
  volatile char selector = calls_pass;
  bool enabled = false;
  bool refused = false;
  bool in_call = false; // of the API
  unsigned quiet = 0;
};
thread_local Seen seen_calls;

long make_call(long number, const std::uint64_t (&arguments)[6]) {
  long result = 0;
  register auto fourth asm("r10") = arguments[3];
  register auto fifth asm("r8") = arguments[4];
  register auto sixth asm("r9") = arguments[5];
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number),
                 "D"(arguments[0]),
                 "S"(arguments[1]),
                 "d"(arguments[2]),
                 "r"(fourth),
                 "r"(fifth),
                 "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
}

void handle_call(int signal, siginfo_t* info, void* context) {
  if (info->si_code != dispatched) { // a filter of the program's
    ::signal(signal, SIG_DFL);
    ::raise(signal); // when this handler has returned
    return;
  }
  Seen& seen = seen_calls;
  seen.selector = calls_pass;
  const int error = errno;
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto argument = [&](int which) { return static_cast<std::uint64_t>(registers[which]); };
  const std::uint64_t arguments[6] = {
      argument(REG_RDI),
      argument(REG_RSI),
      argument(REG_RDX),
      argument(REG_R10),
      argument(REG_R8),
      argument(REG_R9)
  };
  const long number = info->si_syscall;
  const auto is_one_of = [number](const auto& calls) {
    return std::ranges::find(calls, number) != std::end(calls);
  };
  if (is_one_of(thread_calls)) {
    registers[REG_RIP] -= call_instruction; // again, and it passes
    return;
  }
  if (is_one_of(simple_calls)) {
    call_watcher->about_to_call(number, arguments, reinterpret_cast<void*>(registers[REG_RIP]));
  } else {
    call_watcher->open_everything();
  }
  if (call_watcher->protects_pages()) {
    registers[REG_RAX] = make_call(number, arguments);
    seen.selector = calls_are_seen;
  } else {
    registers[REG_RIP] -= call_instruction;
  }
  errno = error;
}

/// Where handlers of signals return to, which is a system call.
std::uint64_t return_of_handlers() {
  struct {
    void* handler;
    unsigned long flags;
    std::uint64_t restorer;
    std::uint64_t mask;
  } action{};
  constexpr std::size_t mask_bytes = 8;
  return ::syscall(SYS_rt_sigaction, SIGSYS, nullptr, &action, mask_bytes) == 0 ? action.restorer
                                                                                : 0;
}

bool install_call_handler() {
  struct sigaction action{};
  struct sigaction before{};
  if (::sigaction(SIGSYS, nullptr, &before) != 0 || before.sa_handler != SIG_DFL ||
      (before.sa_flags & SA_SIGINFO) != 0) {
    return false;
  }
  action.sa_sigaction = handle_call;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  return ::sigaction(SIGSYS, &action, nullptr) == 0;
}

bool enable(Seen& seen) {
  static const bool installed = install_call_handler();
  constexpr unsigned long restorer_bytes = 16;
  return installed && return_of_handlers() != 0 &&
         ::prctl(set_dispatch, dispatch_on, return_of_handlers(), restorer_bytes, &seen.selector) ==
             0;
}

} // namespace

bool see_system_calls(CallWatcher* watcher) {
  Seen& seen = seen_calls;
  if (!seen.enabled && !seen.refused) {
    call_watcher = watcher;
    seen.enabled = enable(seen);
    seen.refused = !seen.enabled;
  }
  return seen.enabled;
}

void QuietCalls::begin_call() {
  seen_calls.in_call = true;
  seen_calls.selector = calls_pass;
}

void QuietCalls::end_call() {
  seen_calls.in_call = false;
  const QuietCalls quiet;
}

QuietCalls::QuietCalls() {
  ++seen_calls.quiet;
  seen_calls.selector = calls_pass;
}

QuietCalls::~QuietCalls() {
  Seen& seen = seen_calls;
  if (--seen.quiet == 0 && seen.enabled && !seen.in_call && call_watcher->protects_pages()) {
    seen.selector = calls_are_seen;
  }
}

} // namespace heddle::runtime

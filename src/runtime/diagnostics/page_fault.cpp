// Implements page_fault.h.
#include "runtime/diagnostics/page_fault.h"

#include <ucontext.h>

#include <cerrno>

namespace heddle::runtime {
namespace {

constexpr greg_t trap_flag = 0x100; // of the processor's flags
constexpr greg_t write_fault = 2;   // of the error code

/// Signal handlers take no context, so these have to be process-wide.
PageWatcher* page_watcher = nullptr;
void (*fault_handler)(int, siginfo_t*, void*) = nullptr;
struct sigaction trap_before;
thread_local bool steps = false;

void handle_trap(int signal, siginfo_t* info, void* context) {
  if (steps) {
    const int error = errno;
    steps = false;
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~trap_flag;
    page_watcher->stepped();
    errno = error;
    return;
  }
  if ((trap_before.sa_flags & SA_SIGINFO) != 0 && trap_before.sa_sigaction != nullptr) {
    trap_before.sa_sigaction(signal, info, context);
  } else if (trap_before.sa_handler != SIG_DFL && trap_before.sa_handler != SIG_IGN) {
    trap_before.sa_handler(signal);
  } else {
    ::signal(signal, SIG_DFL);
    ::raise(signal); // when this handler has returned
  }
}

bool is_handled_by(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction now{};
  return ::sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
         now.sa_sigaction == handler;
}

} // namespace

void watch_page_faults(PageWatcher* watcher) {
  page_watcher = watcher;
  struct sigaction action{};
  action.sa_sigaction = handle_trap;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGTRAP, &action, &trap_before);
}

void set_fault_handler(void (*handler)(int, siginfo_t*, void*)) {
  fault_handler = handler;
}

bool page_faults_are_seen() {
  sigset_t blocked;
  if (::pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0 || sigismember(&blocked, SIGSEGV) != 0 ||
      sigismember(&blocked, SIGTRAP) != 0 || sigismember(&blocked, SIGSYS) != 0) {
    return false;
  }
  return page_watcher != nullptr && fault_handler != nullptr &&
         is_handled_by(SIGSEGV, fault_handler) && is_handled_by(SIGTRAP, handle_trap);
}

bool take_page_fault(const siginfo_t* info, void* context) {
  if (page_watcher == nullptr) {
    return false;
  }
  const int error = errno;
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const PageWatcher::Answer answer = page_watcher->faulted(
      reinterpret_cast<memory::Address>(info->si_addr),
      (registers[REG_ERR] & write_fault) != 0,
      reinterpret_cast<const void*>(registers[REG_RIP])
  );
  if (answer == PageWatcher::Answer::Steps) {
    steps = true;
    registers[REG_EFL] |= trap_flag;
  }
  errno = error;
  return answer != PageWatcher::Answer::NotOurs;
}

} // namespace heddle::runtime

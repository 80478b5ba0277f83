// Signals of timers, and waiting for signals. Real time decides nothing in a search: a timer's
// signal arrives when a thread waits for one, and at no other moment, which the verdict says.
//
// May miss: timers that come again (only the next signal of each is known), and signals that other
// processes send.
#include "hostwatch/hooks_internal.h"

#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace heddle::hostwatch {
namespace {

using TimerOf = __itimer_which_t; // glibc's declarations have enumerations of their own in C++

/// Is it the default, which ends a program, or none? (An address of a handler is neither.)
bool ends_or_ignores(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 &&
         (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN);
}

int armed = 0; // the signal of a timer that is running; 0: of none

/// Does its arrival end the program, or nothing? Then the executions in which it arrives are those
/// in which it does not, or their beginnings, and none is left out.
bool decides_nothing(int signal) {
  struct sigaction action = {};
  sigset_t blocked;
  return ::sigaction(signal, nullptr, &action) == 0 && ends_or_ignores(action) &&
         ::sigprocmask(SIG_BLOCK, nullptr, &blocked) == 0 && ::sigismember(&blocked, signal) == 0;
}

void arm(bool runs, int signal) {
  armed = runs ? signal : 0;
  if (runs && !decides_nothing(signal)) {
    leave_out(HeddleTimerSignals);
  }
}

/// The program looks for signals, or has one handled from now on.
void look_for_signals(bool may_be_armed) {
  if (armed != 0 && may_be_armed) {
    leave_out(HeddleTimerSignals);
  }
}

int signal_of(TimerOf which) {
  return which == ITIMER_REAL ? SIGALRM : which == ITIMER_VIRTUAL ? SIGVTALRM : SIGPROF;
}

/// One that is pending, if it is in `set`; -1 and EAGAIN if there is none.
int take_pending(const sigset_t* set, siginfo_t* info) {
  static decltype(&sigtimedwait) real = nullptr;
  constexpr timespec at_once{};
  return real_function(real, "sigtimedwait")(set, info, &at_once);
}

/// Some time passes, and with it a timer.
void let_timer_send() {
  before(HeddleYield, nullptr, 0);
  if (const int signal = armed; signal != 0) {
    look_for_signals(true);
    armed = 0;
    ::kill(::getpid(), signal);
  }
}

int wait_for_one_of(const sigset_t* set, siginfo_t* info, const char* what) {
  int signal = take_pending(set, info);
  if (signal < 0 && armed != 0 && ::sigismember(set, armed) == 1) {
    let_timer_send();
    signal = take_pending(set, info);
  }
  if (signal < 0) {
    hooks->unsupported(what);
  }
  return signal;
}

} // namespace
} // namespace heddle::hostwatch

using namespace heddle::hostwatch;

HEDDLE_EXPORT unsigned alarm(unsigned seconds) {
  HEDDLE_REAL(alarm, seconds);
  arm(seconds != 0, SIGALRM);
  return 0;
}

HEDDLE_EXPORT useconds_t ualarm(useconds_t value, useconds_t interval) {
  HEDDLE_REAL(ualarm, value, interval);
  arm(value != 0, SIGALRM);
  return 0;
}

HEDDLE_EXPORT int setitimer(TimerOf which, const itimerval* value, itimerval* before) {
  HEDDLE_REAL(setitimer, which, value, before);
  if (value != nullptr) {
    arm(value->it_value.tv_sec != 0 || value->it_value.tv_usec != 0, signal_of(which));
  }
  if (before != nullptr) {
    *before = {};
  }
  return 0;
}

HEDDLE_EXPORT int
timer_settime(timer_t timer, int flags, const itimerspec* value, itimerspec* before) {
  HEDDLE_REAL(timer_settime, timer, flags, value, before);
  // timer_create() chose its signal, which is never sent here: a thread that waits for it hangs.
  if (value != nullptr && (value->it_value.tv_sec != 0 || value->it_value.tv_nsec != 0)) {
    leave_out(HeddleTimerSignals);
  }
  if (before != nullptr) {
    *before = {};
  }
  return 0;
}

HEDDLE_EXPORT int
sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  static decltype(&::sigaction) real = nullptr;
  const bool handles = action != nullptr && !ends_or_ignores(*action);
  look_for_signals(handles && signal == armed);
  return real_function(real, "sigaction")(signal, action, before);
}

HEDDLE_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  static decltype(&::signal) real = nullptr;
  look_for_signals(handler != SIG_DFL && handler != SIG_IGN && number == armed);
  return real_function(real, "signal")(number, handler);
}

HEDDLE_EXPORT int sigpending(sigset_t* set) noexcept {
  static decltype(&::sigpending) real = nullptr;
  look_for_signals(true);
  return real_function(real, "sigpending")(set);
}

// --- Waiting for signals -------------------------------------------------------------------------

HEDDLE_EXPORT int pause() {
  HEDDLE_REAL(pause);
  if (armed == 0) {
    hooks->unsupported("pause(), as no signal arrives in a search");
  }
  let_timer_send();
  errno = EINTR;
  return -1;
}

HEDDLE_EXPORT int sigsuspend(const sigset_t* blocked) {
  if (threads() != nullptr) {
    sigset_t pending;
    ::sigpending(&pending);
    bool arrives = armed != 0 && ::sigismember(blocked, armed) == 0;
    for (int signal = 1; signal < NSIG && !arrives; ++signal) {
      arrives = ::sigismember(&pending, signal) == 1 && ::sigismember(blocked, signal) == 0;
    }
    if (!arrives) {
      hooks->unsupported("sigsuspend(), as no signal arrives in a search");
    }
    // If it is not blocked now, its handler is executed here, and nothing would come later.
    sigset_t now;
    const bool early = armed != 0 && ::sigprocmask(SIG_BLOCK, nullptr, &now) == 0 &&
                       ::sigismember(&now, armed) == 0;
    let_timer_send();
    if (early) {
      errno = EINTR;
      return -1;
    }
  }
  static decltype(&sigsuspend) real = nullptr;
  return real_function(real, "sigsuspend")(blocked);
}

HEDDLE_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  HEDDLE_REAL(sigwaitinfo, set, info);
  return wait_for_one_of(set, info, "sigwaitinfo(), as no such signal arrives in a search");
}

HEDDLE_EXPORT int sigwait(const sigset_t* set, int* signal) {
  HEDDLE_REAL(sigwait, set, signal);
  *signal = wait_for_one_of(set, nullptr, "sigwait(), as no such signal arrives in a search");
  return 0;
}

/// One that has not been sent by then does not come.
HEDDLE_EXPORT int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* most) {
  HEDDLE_REAL(sigtimedwait, set, info, most);
  if (most == nullptr) {
    return wait_for_one_of(set, info, "sigtimedwait(), as no such signal arrives in a search");
  }
  const int signal = take_pending(set, info);
  if (signal < 0 && valid(*most)) {
    leave_out(HeddleTimerSignals);
    before(HeddleYield, nullptr, 0);
    threads()->pass(deadline_after(*most));
    errno = EAGAIN;
  }
  return signal;
}

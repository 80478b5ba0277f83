// Implements interrupt.h. A handler may do next to nothing: it sets a flag that a thread of the
// engine looks at, and that thread writes the report.
#include "runtime/diagnostics/interrupt.h"

#include "report/diagnostic.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/outcome.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <string_view>

namespace heddle::runtime {
namespace {

// A handler has no argument to bring these along.
machine::World* interrupted_world = nullptr;
volatile std::sig_atomic_t received = 0;

/// What a timer of our own sends; programs use the first of these signals, if any.
int time_is_up() {
  return SIGRTMAX - 2;
}

report::Diagnostic time_limit(const std::vector<std::string>& lines) {
  report::Diagnostic d(
      report::Finding::TimeLimit,
      "the program has not ended within the time limit (--max-time)"
  );
  d.notes = lines;
  if (lines.empty()) {
    d.notes.emplace_back("no device work is under way");
  }
  return d;
}

report::Diagnostic interrupted(const std::vector<std::string>& lines) {
  report::Diagnostic d = report::interrupted();
  d.notes = lines;
  return d;
}

extern "C" void on_time_is_up(int /*number*/) {
  received = time_is_up();
  if (!interrupted_world->interrupt()) {
    // Nothing has been launched, so that nobody looks at the flag. Only the host can be at work.
    static constexpr std::string_view text = "heddle: warning[time-limit]: the program has not "
                                             "ended within the time limit (--max-time); "
                                             "no device work is under way\n";
    (void)!::write(STDERR_FILENO, text.data(), text.size());
    ::_exit(report::exit_code::budget);
  }
}

extern "C" void on_signal(int number) {
  received = number;
  if (!interrupted_world->interrupt()) {
    ::raise(number); // nothing has been launched: SA_RESETHAND has put the default back
  }
}

void install(int number) {
  struct sigaction current = {};
  if (::sigaction(number, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) {
    return;
  }
  struct sigaction ours = {};
  ours.sa_handler = on_signal;
  ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER | SA_RESTART);
  ::sigaction(number, &ours, nullptr);
}

} // namespace

void report_on_interrupt(machine::World& world) {
  interrupted_world = &world;
  world.on_interrupt([](const std::vector<std::string>& lines) {
    if (received == time_is_up()) {
      warn(time_limit(lines));
      std::fflush(nullptr);
      ::_exit(outcome() == Outcome::Clean ? report::exit_code::budget : exit_code_of(outcome()));
    }
    std::fflush(stdout);
    fmt::print(
        stderr,
        "heddle: interrupted{}\n",
        lines.empty() ? ": no device work is under way" : ""
    );
    for (const std::string& line : lines) {
      fmt::print(stderr, "  = {}\n", line);
    }
    write_down(interrupted(lines));
    ::_exit(128 + static_cast<int>(received));
  });
  install(SIGINT);
  install(SIGTERM);
}

void end_if_interrupted() {
  const int number = received;
  if (number == 0 || number == time_is_up()) {
    return;
  }
  write_down(interrupted({}));
  std::fflush(nullptr);
  ::_exit(128 + number);
}

void end_after(double seconds) {
  struct sigaction ours = {};
  ours.sa_handler = on_time_is_up;
  ours.sa_flags = static_cast<int>(SA_RESTART);
  ::sigaction(time_is_up(), &ours, nullptr);
  struct sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = time_is_up();
  // By system calls: in a process that is searched, timer_settime() arms a timer of the program
  // (hostwatch/signals.cpp).
  int timer = 0;
  const auto whole = static_cast<time_t>(seconds);
  const itimerspec when{
      .it_interval = {},
      .it_value = {whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9) + 1}
  };
  if (::syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0 ||
      ::syscall(SYS_timer_settime, timer, 0, &when, nullptr) != 0) {
    complain_once("--max-time: this system has no timer left; the time is not limited");
  }
}

} // namespace heddle::runtime

// Implements interruption.h. A handler may do next to nothing: it sets a flag that the searches
// look at.
#include "explore/process/interruption.h"

#include <fmt/format.h>

#include <ctime>

namespace heddle::explore {
namespace {

// A handler has no argument to bring them along.
volatile std::sig_atomic_t received_signal = 0;
volatile std::sig_atomic_t received_at = 0; // milliseconds, of eleven days

std::sig_atomic_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time); // which a handler may call
  return static_cast<std::sig_atomic_t>(time.tv_sec % 1'000'000 * 1000 + time.tv_nsec / 1'000'000);
}

extern "C" void on_interruption(int number) {
  constexpr std::sig_atomic_t same_wish = 500; // milliseconds
  const std::sig_atomic_t time = now();
  if (received_signal == 0) {
    received_signal = number;
    received_at = time;
  } else if (time - received_at >= same_wish || time < received_at) {
    ::signal(number, SIG_DFL);
    ::raise(number); // delivered when this returns
  }
}

void install(int number, struct sigaction& old) {
  struct sigaction ours{};
  ours.sa_handler = on_interruption;
  ours.sa_flags = SA_RESTART; // whoever waits for a process or a message need not begin again
  ::sigaction(number, nullptr, &old);
  if (old.sa_handler != SIG_IGN) { // MPI libraries have handlers that end the process
    ::sigaction(number, &ours, nullptr);
  }
}

} // namespace

Interruption::Interruption() {
  install(SIGINT, old_interrupt_);
  install(SIGTERM, old_terminate_);
  const bool is_within_another =
      old_interrupt_.sa_handler == on_interruption || old_terminate_.sa_handler == on_interruption;
  if (!is_within_another) { // else what that one has received counts
    received_signal = 0;
  }
}

Interruption::~Interruption() {
  ::sigaction(SIGINT, &old_interrupt_, nullptr);
  ::sigaction(SIGTERM, &old_terminate_, nullptr);
}

int Interruption::received() {
  return received_signal;
}

std::string Interruption::text() {
  const int number = received();
  return number == 0 ? ""
                     : fmt::format(
                           "the check was interrupted ({})",
                           number == SIGINT ? "SIGINT" : "SIGTERM"
                       );
}

} // namespace heddle::explore

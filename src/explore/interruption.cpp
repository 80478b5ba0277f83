// Implements interruption.h. A handler may do next to nothing: it sets a flag that the searches
// look at.
#include "explore/interruption.h"

#include <fmt/format.h>

namespace heddle::explore {
namespace {

volatile std::sig_atomic_t received_signal = 0; // a handler has no argument to bring it along

extern "C" void on_interruption(int number) {
  received_signal = number;
}

void install(int number, struct sigaction& old) {
  struct sigaction ours{};
  ours.sa_handler = on_interruption;
  ours.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(number, nullptr, &old);
  if (old.sa_handler == SIG_DFL) {
    ::sigaction(number, &ours, nullptr);
  }
}

} // namespace

Interruption::Interruption() {
  received_signal = 0;
  install(SIGINT, old_interrupt_);
  install(SIGTERM, old_terminate_);
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

// Implements interrupt.h. A handler may do next to nothing: it sets a flag that a thread of the
// engine looks at, and that thread writes the report.
#include "runtime/diagnostics/interrupt.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace heddle::runtime {
namespace {

// A handler has no argument to bring these along.
machine::World* interrupted_world = nullptr;
volatile std::sig_atomic_t received = 0;

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
    std::fflush(stdout);
    fmt::print(
        stderr,
        "heddle: interrupted{}\n",
        lines.empty() ? ": no device work is under way" : ""
    );
    for (const std::string& line : lines) {
      fmt::print(stderr, "  = {}\n", line);
    }
    ::_exit(128 + static_cast<int>(received));
  });
  install(SIGINT);
  install(SIGTERM);
}

} // namespace heddle::runtime

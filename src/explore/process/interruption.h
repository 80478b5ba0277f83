// Interruption: Ctrl-C (SIGINT) and SIGTERM while a check is under way end its searches, not the
// tool, so that it can say what it has seen so far.
//
//   const Interruption watch;                  // in the command, around the check
//   if (Interruption::received() != 0) …       // a search: a limit is reached
//
// A second signal ends the process at once, unless it follows within half a second: terminals and
// `timeout` send a signal to all processes of a group, and some of these pass it on. What the
// parent ignores (`nohup`) stays ignored.
#pragma once

#include <csignal>
#include <string>

namespace heddle::explore {

class Interruption {
public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// The number of the signal; 0: none.
  static int received();
  /// "the check was interrupted (SIGINT)"; empty: it was not.
  static std::string text();

private:
  struct sigaction old_interrupt_{}, old_terminate_{};
};

} // namespace heddle::explore

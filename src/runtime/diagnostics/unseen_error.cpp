// Implements unseen_error.h.
#include "runtime/diagnostics/unseen_error.h"

#include "explore/explorer.h"
#include "runtime/diagnostics/announce.h"

#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

namespace heddle::runtime {
namespace {

/// Process-wide: the exit handler has no other way to it. Never destroyed, since that comes late.
struct State {
  std::mutex mutex;
  std::vector<report::Diagnostic> refusals;
};

State& state() {
  static auto* const instance = new State;
  return *instance;
}

void at_exit(int status, void* /*unused*/) {
  if ((status & 0xff) != 0 && !explore::is_exploring()) {
    return; // it says by itself that something went wrong
  }
  std::vector<report::Diagnostic> unseen;
  {
    const std::lock_guard lock(state().mutex);
    unseen = std::exchange(state().refusals, {});
  }
  for (report::Diagnostic& d : unseen) {
    d.severity = report::Severity::Error;
    d.notes.emplace_back("the program has ended without having asked for the error code");
    d.help.emplace_back(
        "check cudaGetLastError() after each launch, and what each call returns; print "
        "cudaGetErrorString() of it"
    );
    announce(d);
  }
}

} // namespace

void note_refusal(const report::Diagnostic& diagnostic) {
  const std::lock_guard lock(state().mutex);
  state().refusals.push_back(diagnostic);
  if (explore::is_exploring()) {
    state().refusals.back().place.file = explore::host_position();
  }
}

void error_was_asked_for() {
  const std::lock_guard lock(state().mutex);
  state().refusals.clear();
}

void announce_unseen_errors_at_exit() {
  ::on_exit(at_exit, nullptr);
}

} // namespace heddle::runtime

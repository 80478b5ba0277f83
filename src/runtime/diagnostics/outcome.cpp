// Implements outcome.h.
#include "runtime/diagnostics/outcome.h"

#include "explore/search/explorer.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/interrupt.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace heddle::runtime {
namespace {

/// Process-wide by nature: there is one exit code. Asked when malloc has ended the program, too:
/// made without it.
struct Codes {
  std::atomic<int> gravest{static_cast<int>(Outcome::Clean)};
  std::atomic<int> defect{static_cast<int>(Outcome::Defect)};
};

Codes& codes() {
  static constinit Codes instance;
  return instance;
}

/// Never destroyed, because exit handlers use it.
struct State {
  std::mutex mutex;
  std::set<std::string, std::less<>> said;
};

State& state() {
  static auto* const instance = new State;
  return *instance;
}

int gravity(Outcome outcome) {
  switch (outcome) {
  case Outcome::Clean:
    return 0;
  case Outcome::Usage:
    return 1;
  case Outcome::Unsupported:
    return 2;
  case Outcome::Defect:
    return 3;
  }
  return 3;
}

void at_exit(int /*status*/, void* /*unused*/) {
  end_if_interrupted();
  const Outcome result = outcome();
  // Who reads the findings from a file wants the program's own status (HEDDLE_OWN_STATUS).
  if (result != Outcome::Clean && std::getenv("HEDDLE_OWN_STATUS") == nullptr) {
    std::fflush(nullptr);
    ::_exit(exit_code_of(result));
  }
}

/// `what` is missing, as `text` explains.
void complain_gap(std::string_view what, std::string_view text) {
  explore::stop_unsupported(what); // under `heddle check` the search ends here
  record_outcome(Outcome::Unsupported);
  write_down({report::Finding::Unsupported, std::string(text)});
  complain_once(
      fmt::format("unsupported: {} (a gap of Heddle, not a defect of the program)", text)
  );
}

} // namespace

void record_outcome(Outcome outcome) {
  int seen = codes().gravest.load();
  while (gravity(static_cast<Outcome>(seen)) < gravity(outcome) &&
         !codes().gravest.compare_exchange_weak(seen, static_cast<int>(outcome))) {
  }
}

Outcome outcome() {
  return static_cast<Outcome>(codes().gravest.load());
}

void set_defect_exit_code(int code) {
  codes().defect = code;
}

int exit_code_of(Outcome outcome) {
  return outcome == Outcome::Defect ? codes().defect.load() : static_cast<int>(outcome);
}

void complain_once(std::string_view text) {
  const std::lock_guard lock(state().mutex);
  if (state().said.emplace(text).second) {
    std::fflush(stdout);
    fmt::print(stderr, "heddle: {}\n", text);
  }
}

void complain_unsupported(std::string_view name) {
  complain_gap(
      name,
      fmt::format(
          "{} is not implemented by Heddle and returns {}",
          name,
          name.starts_with("cu") && !name.starts_with("cuda") ? "CUDA_ERROR_NOT_SUPPORTED"
                                                              : "cudaErrorNotSupported"
      )
  );
}

void install_exit_handler() {
  static std::once_flag once;
  std::call_once(once, [] { ::on_exit(at_exit, nullptr); });
}

} // namespace heddle::runtime

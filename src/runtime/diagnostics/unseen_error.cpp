// Implements unseen_error.h.
#include "runtime/diagnostics/unseen_error.h"

#include "explore/search/explorer.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/host_place.h"
#include "runtime/diagnostics/result_use.h"
#include "runtime/driver/driver.h"
#include "runtime/error.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heddle::runtime {
namespace {

struct Refused {
  report::Diagnostic diagnostic;
  bool warned; // a warning has been printed
};

/// Process-wide: the exit handler has no other way to it. Never destroyed, since that comes late.
struct State {
  std::mutex mutex;
  std::vector<Refused> refusals;
  std::set<const void*> told; // return addresses of calls of which something has been said
};

State& state() {
  static auto* const instance = new State;
  return *instance;
}

void at_exit(int status, void* /*unused*/) {
  if ((status & 0xff) != 0 && !explore::is_exploring()) {
    return; // it says by itself that something went wrong
  }
  std::vector<Refused> unseen;
  {
    const std::lock_guard lock(state().mutex);
    unseen = std::exchange(state().refusals, {});
  }
  std::vector<report::Diagnostic> after_warning;
  for (auto& [d, warned] : unseen) {
    d.severity = report::Severity::Error;
    d.notes.emplace_back("the program has ended without having asked for the error code");
    d.help.emplace_back(
        "check cudaGetLastError() after each launch, and what each call returns; print "
        "cudaGetErrorString() of it"
    );
    warned ? after_warning.push_back(d) : announce(d);
  }
  announce_after_warning(after_warning);
}

thread_local std::string reason; // of the failure that is about to be noted

/// A call of the API, from outside.
struct CallUnderWay {
  std::string name;                 // "cudaMemcpy"
  std::vector<const void*> callers; // innermost first; empty: not known
};

CallUnderWay call_under_way() {
  Dl_info own{};
  if (::dladdr(reinterpret_cast<const void*>(&call_under_way), &own) == 0) {
    return {};
  }
  CallUnderWay call;
  const std::vector<const void*> frames = callers();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    Dl_info in{};
    if (::dladdr(frames[i], &in) == 0 || in.dli_fbase != own.dli_fbase) {
      call.callers.assign(frames.begin() + static_cast<std::ptrdiff_t>(i), frames.end());
      break;
    }
    if (in.dli_sname != nullptr) {
      call.name = in.dli_sname;
    }
  }
  return call;
}

bool of_driver(const std::string& call) {
  return call.size() > 2 && call.starts_with("cu") &&
         std::isupper(static_cast<unsigned char>(call[2])) != 0;
}

/// Answers rather than mistakes; and what has been said as Heddle's own gap.
bool is_answer(cudaError_t code) {
  static constexpr cudaError_t answers[] = {
      cudaSuccess,
      cudaErrorNotReady,
      cudaErrorPeerAccessAlreadyEnabled,
      cudaErrorPeerAccessNotEnabled,
      cudaErrorHostMemoryAlreadyRegistered,
      cudaErrorCudartUnloading,
      cudaErrorNotSupported,
      cudaErrorNoDevice,
      cudaErrorNoKernelImageForDevice, // said, too
      cudaErrorNotPermitted            // in a host function: said where it happens
  };
  return std::ranges::find(answers, code) != std::end(answers);
}

/// `d` is about the call that is under way.
void note(report::Diagnostic d, const CallUnderWay& call, bool warned) {
  const bool dropped = result_is_dropped(call.callers);
  const std::lock_guard lock(state().mutex);
  const void* place = call.callers.empty() ? nullptr : call.callers.front();
  if (!state().told.insert(place).second || !dropped) {
    return;
  }
  if (explore::is_exploring()) {
    d.place.file = explore::host_position();
  }
  state().refusals.push_back({std::move(d), warned});
}

} // namespace

void note_refusal(const report::Diagnostic& diagnostic) {
  note(diagnostic, call_under_way(), /*warned=*/true);
}

void note_told() {
  const CallUnderWay call = call_under_way();
  if (!call.callers.empty()) {
    const std::lock_guard lock(state().mutex);
    state().told.insert(call.callers.front());
  }
}

cudaError_t because(cudaError_t code, std::string why) {
  reason = std::move(why);
  return code;
}

void note_failure(cudaError_t code) {
  const std::string why = std::exchange(reason, {});
  if (is_answer(code)) {
    return;
  }
  const Runtime* runtime = Runtime::existing();
  if (runtime != nullptr && runtime->health(thread_state().device) != cudaSuccess) {
    return; // after a fault every call fails
  }
  const CallUnderWay call = call_under_way();
  if (call.callers.empty()) {
    return;
  }
  const char* name = error_name(code);
  if (of_driver(call.name)) {
    const char* of_code = driver_error_name(driver_error(code));
    name = of_code != nullptr ? of_code : name;
  }
  report::Diagnostic d(
      report::Finding::ApiMisuse,
      fmt::format("{} fails, and the program drops its error code", call.name)
  );
  d.notes.push_back(fmt::format("the call returns {} ({})", name, error_text(code)));
  if (!why.empty()) {
    d.notes.push_back(why);
  }
  add_call(d);
  note(std::move(d), call, /*warned=*/false);
}

void error_was_asked_for() {
  const std::lock_guard lock(state().mutex);
  state().refusals.clear();
  state().told.clear();
}

void announce_unseen_errors_at_exit() {
  ::on_exit(at_exit, nullptr);
}

} // namespace heddle::runtime

// Implements not_looked_at.h. HEDDLE_PROGRAM has the program as it would be typed
// (cli/run/launch.h).
#include "runtime/diagnostics/not_looked_at.h"

#include "runtime/diagnostics/outcome.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace heddle::runtime {
namespace {

void say_what_was_not_looked_at(int status, void* argument) {
  const auto& left_out = *static_cast<const std::string*>(argument);
  const char* program = std::getenv("HEDDLE_PROGRAM");
  if (status == 0 || outcome() != Outcome::Clean || program == nullptr) {
    return;
  }
  complain_once(
      fmt::format("exit status {}; {} were not looked at: heddle {}", status, left_out, program)
  );
}

} // namespace

void say_at_exit_what_was_not_looked_at(const Config& config) {
  if (config.mode != Mode::Run || std::getenv("HEDDLE_REPORT_ONLY") != nullptr ||
      std::getenv("HEDDLE_FOUND_TO") != nullptr) {
    return;
  }
  std::string left_out;
  if (!config.races) {
    left_out += "data races, ";
  }
  if (!config.unwritten) {
    left_out += "uninitialised memory, ";
  }
  left_out.erase(left_out.size() < 2 ? 0 : left_out.size() - 2);
  left_out += left_out.empty() ? "other schedules" : " and other schedules";
  ::on_exit(say_what_was_not_looked_at, new std::string(std::move(left_out)));
}

void say_that_kernels_are_interpreted() {
  if (std::getenv("HEDDLE_JIT_MISSING") == nullptr) {
    return;
  }
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    complain_once(
        "note: heddle-jit is not installed: kernels are interpreted, 10 to 25 times slower "
        "(heddle doctor says how to get it)"
    );
  }).detach();
}

} // namespace heddle::runtime

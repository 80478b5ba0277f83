// Implements phase_time.h.
#include "explore/process/phase_time.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

namespace heddle::explore {

namespace {

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

} // namespace

PhaseTime::PhaseTime(const char* name)
    : name_(std::getenv("HEDDLE_PHASES") != nullptr ? name : nullptr) {
  if (name_ != nullptr) {
    begun_ = std::chrono::steady_clock::now();
    processor_begun_ = processor_seconds();
  }
}

void PhaseTime::note(const std::string& text) {
  if (std::getenv("HEDDLE_PHASES") != nullptr) {
    fmt::print(stderr, "{}\n", text);
  }
}

void PhaseTime::end() {
  if (name_ != nullptr) {
    const std::chrono::duration<double, std::milli> wall =
        std::chrono::steady_clock::now() - begun_;
    const double processor = 1000 * (processor_seconds() - processor_begun_);
    fmt::print(stderr, "{:9.1f} ms {:9.1f} ms  {}\n", wall.count(), processor, name_);
    name_ = nullptr;
  }
}

} // namespace heddle::explore

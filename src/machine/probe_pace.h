// ProbePace: when a wait of the host asks the next time whether devices can get anywhere (probe.h).
//
//   ProbePace pace(executed);
//   while (!done()) { …; if (pace.is_due(executed)) { …; pace.next(executed); } }
//
// By the clock, at growing distances; with a seed by numbers of instructions besides: what such a
// schedule shows must not depend on the load of the machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace heddle::machine {

class ProbePace {
public:
  using Clock = std::chrono::steady_clock;

  /// `executed`: instructions so far.
  ProbePace(bool by_instructions, std::uint64_t executed)
      : by_instructions_(by_instructions),
        last_instruction_(executed + instructions_) {}

  bool is_due(std::uint64_t executed) const {
    return Clock::now() >= deadline_ || has_executed_enough(executed);
  }
  void next(std::uint64_t executed) {
    patience_ = std::min<Clock::duration>(patience_ * 2, std::chrono::seconds(20));
    deadline_ = Clock::now() + patience_;
    if (has_executed_enough(executed)) {
      instructions_ *= 2;
      last_instruction_ = executed + instructions_;
    }
  }
  /// Nobody could move for so long.
  void put_off(Clock::duration time) { deadline_ += time; }
  Clock::time_point deadline() const { return deadline_; }

private:
  bool has_executed_enough(std::uint64_t executed) const {
    return by_instructions_ && executed >= last_instruction_;
  }

  bool by_instructions_;
  Clock::duration patience_ = std::chrono::milliseconds(500);
  Clock::time_point deadline_ = Clock::now() + patience_;
  std::uint64_t instructions_ = std::uint64_t{1} << 26;
  std::uint64_t last_instruction_;
};

} // namespace heddle::machine

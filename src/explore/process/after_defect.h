// How long a search goes on once a defect is certain. What it may still find makes nothing right,
// and after a data race its own verdict would mean little: it assumes that there is none.
//
//   AfterDefect after(5, [&] { return races_are_found(); });
//   if (after.is_over(table)) end_all();       // asked again and again while the search lasts
//
// A defect is a fault that the search has met, or what others know. May hide what a search would
// have found later; the report says that it ended early.
#pragma once

#include "explore/table/state_table.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace heddle::explore {

class AfterDefect {
public:
  /// `others_know`: asked once, when the search has taken so long that it may be a long one. Empty:
  /// there is nobody to ask.
  AfterDefect(double seconds, std::function<bool()> others_know)
      : seconds_(seconds),
        others_know_(std::move(others_know)) {}
  /// One is known already.
  void is_known() { known_since_ = begun_; }

  /// Have so many seconds gone since a defect was certain?
  bool is_over(const StateTable& table);
  /// Others have found one.
  bool others_know() const { return known_since_.has_value(); }
  /// "a defect is certain, and the search went on for 5 s (--after-defect)"
  std::string text() const;

private:
  using Clock = std::chrono::steady_clock;
  bool is_past(const std::optional<Clock::time_point>& since) const {
    return since && std::chrono::duration<double>(Clock::now() - *since).count() >= seconds_;
  }

  double seconds_;
  std::function<bool()> others_know_;
  Clock::time_point begun_ = Clock::now();
  // An attempt that turned out to be invalid may have met faults that the next one does not meet.
  std::optional<Clock::time_point> known_since_, faults_since_;
};

} // namespace heddle::explore

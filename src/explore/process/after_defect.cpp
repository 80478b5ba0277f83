// Implements after_defect.h.
#include "explore/process/after_defect.h"

#include "report/seconds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace heddle::explore {

namespace {

/// Is the program wrong? A gap of ours is no defect.
bool has_met_defect(const StateTable& table) {
  return table.has_faults() && std::ranges::any_of(table.events(), [](const Event& event) {
           return event.kind == EventKind::Fault || event.kind == EventKind::Crash;
         });
}

} // namespace

bool AfterDefect::is_over(const StateTable& table) {
  constexpr std::chrono::seconds before_others_are_asked(2); // most searches are over by then
  if (others_know_ && Clock::now() - begun_ >= before_others_are_asked &&
      std::exchange(others_know_, nullptr)()) {
    known_since_ = Clock::now();
  }
  if (!table.has_faults()) { // those were another attempt's
    faults_since_.reset();
  } else if (!faults_since_ && has_met_defect(table)) {
    faults_since_ = Clock::now();
  }
  return is_past(known_since_) || is_past(faults_since_);
}

std::string AfterDefect::text() const {
  return fmt::format(
      "a defect is certain, and the search went on for {} s (--after-defect)",
      report::rounded_seconds(seconds_)
  );
}

} // namespace heddle::explore

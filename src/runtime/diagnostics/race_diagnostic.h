// Data races in words: race::RaceReport → report::Diagnostic, and when they are printed.
#pragma once

#include "race/monitor.h"
#include "report/diagnostic.h"

#include <string>
#include <string_view>

namespace heddle::runtime {

/// What would order two commands, by what reports call them, and why nothing does ([RACE-COMMAND]).
struct MissingOrder {
  std::string why;
  const char* help;
};
MissingOrder missing_order(std::string_view first, std::string_view second);

report::Diagnostic diagnose(const race::RaceReport& race, const memory::AddressSpace& space);

/// What is reported like other races, and not only counted.
struct RaceGrades {
  bool library = false;    // inside NVIDIA's own code
  bool same_value = false; // plain writes of the same value
};

/// Prints what `races` has found when the process ends: by then it is known how often.
void announce_races_at_exit(
    const race::Races& races,
    const memory::AddressSpace& space,
    RaceGrades grades
);

} // namespace heddle::runtime

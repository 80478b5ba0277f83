// Races that one barrier would order: one missing barrier is one finding.
//
//   for (const RaceGroup& group : group_races(reports)) …   // group.first, group.others
//
// Two accesses of one block need a barrier on the way from the one to the other. What needs one in
// the same place is one group: by source lines in the order in which a thread comes to them, as
// intervals of which one point is in all; of pairs that meet around a loop the end of its body is.
// Everything else is a group of its own.
//
// May be wrong in this direction: where lines that follow each other belong to different branches,
// one barrier is not enough, and the next run shows what is left.
#pragma once

#include "race/race_report.h"

#include <vector>

namespace heddle::runtime {

struct RaceGroup {
  race::RaceReport first;               // the pair that tells most
  std::vector<race::RaceReport> others; // in the order in which they were found
  // These may be of two rounds of a loop, at whose end `first` lacks a barrier: then that orders
  // them, too. Else they need one of their own.
  std::vector<race::RaceReport> unsure;
};

/// A read, and further down in the body of a loop a write: of one round, or of two.
bool may_be_of_two_rounds(const race::RaceReport& race);

/// In the order in which the first of each was found.
std::vector<RaceGroup> group_races(const std::vector<race::RaceReport>& races);

/// In the user's own source, if it is known.
const machine::SourcePlace& users_place(const race::RaceSide& side);

} // namespace heddle::runtime

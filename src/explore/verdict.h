// From what was seen to what the user reads.
//
//   report::Report report = judge(table, sources, {.finished = true});
//
// Finds the endless executions that the rules allow (progress_graph.h), names each by what keeps it
// going and who is left waiting, with the rule that permits it; the same hang once.
#pragma once

#include "explore/state_table.h"
#include "report/diagnostic.h"

#include <functional>

namespace heddle::explore {

/// Fills in the source place of a site of host code, which is recorded as return addresses
/// (host_sources.h).
using ResolveSite = std::function<Site(const Site&)>;

struct JudgeOptions {
  bool finished = true; // the search ran to its end: no limit was reached, nobody was killed
  double seconds = 0;
};

report::Report
judge(const StateTable& table, const ResolveSite& resolve, const JudgeOptions& options);

} // namespace heddle::explore

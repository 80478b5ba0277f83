// From what was seen to what the user reads.
//
//   report::Report report = judge(table, sources, {.finished = true});
//
// Finds the endless executions that the rules allow (progress_graph.h), names each by what keeps it
// going and who is left waiting, with the rule that permits it; the same hang once.
#pragma once

#include "explore/table/state_table.h"
#include "explore/witness/schedule.h"
#include "explore/witness/witness.h"
#include "report/diagnostic.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::explore {

/// Fills in the source place of a site of host code, which is recorded as return addresses
/// (host_sources.h).
using ResolveSite = std::function<Site(const Site&)>;

struct JudgeOptions {
  bool finished = true; // the search ran to its end: no limit was reached, nobody was killed
  double seconds = 0;
  std::uint32_t threads = 1; // that judge; the judgement does not depend on it
  StateTable::Numbering numbering = StateTable::Numbering::AsFound;
  // What every replay has in common; none: findings get no replay line.
  std::optional<Schedule> schedule = std::nullopt;
  // Called with Judgement::ends while others still judge a large graph, before it is known whether
  // a finding has a replay; empty: nobody wants to know so soon.
  std::function<void(const std::string&)> end_found = {};
};

struct Judgement {
  report::Report report;
  // States that its findings speak of, with a way to each; numbered that way.
  std::vector<StateId> shown;
  bool complete = false; // no limit was reached on the way to any state (claims may leave out more)
  bool straight = false; // no way leads back to any state
  std::string ends;      // an execution that ends, as a schedule string, if no finding has one
  std::vector<std::string> other_ends; // a few more, which go other ways
};
Judgement judge(const StateTable& table, const ResolveSite& resolve, const JudgeOptions& options);

} // namespace heddle::explore

// One execution once more: to show it to a user, and to find out whether a program does the same
// when the same schedule is repeated ([REPLAY]).
//
//   TRY(Repetition again, repeat(request, servers.fixed, schedule));
//   auto [end, words] = outcome_of(again, schedule);     // Loop, "steps 4 to 6 lead back …"
#pragma once

#include "explore/explored_process.h"
#include "explore/schedule.h"
#include "explore/trace.h"
#include "report/trace.h"

#include <string>
#include <utility>
#include <vector>

namespace heddle::explore {

struct Repetition {
  Search search;
  std::vector<TraceRow> rows;
};

Result<Repetition>
repeat(const CheckRequest& request, ForkServer& server, const Schedule& schedule);

/// Limits of a search that only repeats `schedule`.
Options limits_of_repetition(const Schedule& schedule, double max_seconds);

using Outcome = std::pair<report::TraceEnd, std::string>;
Outcome outcome_of(const Repetition& again, const Schedule& schedule);

/// Repeats the execution of each finding of `report`, and the one of the schedule string `ends` if
/// that is not empty, with other addresses of stack, heap and libraries. Adds a finding if the
/// program does something else, and says what it has read from outside where that can be seen.
/// Misses what comes out the same this time.
void check_determinism(
    const CheckRequest& request,
    ForkServers& servers,
    const std::string& ends,
    report::Report& report
);

} // namespace heddle::explore

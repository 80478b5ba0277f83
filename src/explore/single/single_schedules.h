// Single schedules, which look where a search has not been: after a limit, in other orders than the
// one that it took, or before a search that turns out to be long.
//
//   TRY(const Schedules tried, make_schedules(request, server, 18, any_work, share, sources));
//   add_schedules(tried, report);
#pragma once

#include "explore/process/explored_process.h"
#include "explore/session.h"
#include "explore/single/sample_sheet.h"
#include "explore/table/state_table.h"
#include "explore/verdict/source_places.h"
#include "explore/verdict/verdict.h"
#include "report/diagnostic.h"

#include <cstdint>
#include <functional>
#include <string>

namespace heddle::explore {

constexpr std::uint64_t any_work = ~std::uint64_t{0};

/// `table` judged, with the places of host code from `sources`.
Judgement judge_search(
    const CheckRequest& request,
    const StateTable& table,
    HostSources& sources,
    bool finished,
    StateTable::Numbering numbering = StateTable::Numbering::AsFound,
    const std::function<void(const std::string&)>& end_found = {}
);

/// Single schedules, and what they come to.
struct Schedules {
  SearchResult search;
  SharedSheet sheet;
  report::Report report;
};

/// At most so many, with so much work (StateTable::work) and that share of the time limit.
Result<Schedules> make_schedules(
    CheckRequest request,
    ForkServer& server,
    std::uint32_t most,
    std::uint64_t most_work,
    double share,
    HostSources& sources
);
/// Adds what schedules have found, and their counts, to the report of a search before them.
void add_schedules(const Schedules& tried, report::Report& report);
/// After a limit: single schedules for the rest of the time. Adds what they find and their counts.
Result<void> try_schedules(
    const CheckRequest& request,
    ForkServer& server,
    std::uint64_t most_work,
    double share,
    HostSources& sources,
    report::Report& report
);

} // namespace heddle::explore

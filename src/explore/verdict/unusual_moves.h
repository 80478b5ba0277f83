// What a report says of moves on the way to a finding that a reader does not expect: reads that
// find an older value ([MEM-VIEW]), and waits on a condition variable that return without a reason
// ([HOST-WAKE]).
//
//   explain_unusual_moves(diagnostic, graph, witness.edges, site);
//
// May be wrong: `way` has no such return if there is a way without one. On the way to something
// else that is wrong there may be one that does not matter.
#pragma once

#include "explore/judge/progress_graph.h"
#include "explore/table/state_table.h"
#include "report/diagnostic.h"

#include <functional>
#include <span>

namespace heddle::explore {

/// What a thread does that returns without a reason.
inline constexpr const char* returns_unnotified =
    "returns from waiting on a condition variable although nobody has notified it";

bool needs_wake_up(const ProgressGraph& graph, std::span<const EdgeId> way);

/// The rule is [HOST-WAKE] from now on, where there is such a return and no particular rule.
void explain_unusual_moves(
    report::Diagnostic& diagnostic,
    const ProgressGraph& graph,
    std::span<const EdgeId> way,
    const std::function<Site(std::uint32_t)>& site
);
/// `crash` followed a wait that returned without a reason: does another one follow the same wait
/// where it returned with a reason?
bool crashes_notified(
    std::span<const Event> events,
    const Event& crash,
    const std::function<Site(std::uint32_t)>& site
);
/// The same as explain_unusual_moves() of a program that crashed where a wait returned so.
void explain_wake_up(report::Diagnostic& diagnostic, const Site& wait);

} // namespace heddle::explore

// Words of a verdict that need no graph: the bounds within which it holds, and how a thread got to
// a place; and an execution as a schedule string.
#pragma once

#include "explore/judge/progress_graph.h"
#include "explore/options.h"
#include "explore/table/state_table.h"
#include "explore/witness/schedule.h"
#include "explore/witness/witness.h"
#include "report/diagnostic.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::explore {

/// A warning, of a search that has seen everything or not.
std::string no_kernel_ran(bool complete);

/// "1 input, kernel 'scan<<<3,32>>>', memory sequentially consistent"; `kernels`: those of which a
/// thread has moved. `ptx_memory`: Options::ptx_memory.
std::string bounds(const StateTable& table, bool ptx_memory, const std::set<std::string>& kernels);
/// Adds to the condition of these bounds, that accesses do not race, how far that was looked at.
void say_how_races_were_looked_at(std::string& bounds, std::string_view words);
/// Does the verdict rest on plain accesses that do not race? Then the bounds say so.
bool assumes_no_races(const StateTable& table, bool ptx_memory);

/// What the search left out by what it assumed, or by limits of the model. `options`: of the
/// search; null: the usual ones.
void add_left_out(const StateTable& table, const Options* options, report::Claims& claims);

/// The same by one event of these kinds, at `where`; none if that is libstdc++'s own code, where it
/// does not matter.
std::optional<report::LeftOut> left_out(EventKind kind, std::string_view what, const Site& where);

/// "1,234 states, 5 executions": what has been searched.
std::string searched(const report::Report& report);

/// What an actor may do forever that could move, and need not. `what`: its next move.
std::string may_wait(ActorKind kind, const std::string& what, bool has_moved);

/// Labels for the calls through which somebody got to `site`: "(1) inlined from here". What several
/// have in common is said once: "(1, 2) launched from here".
void add_calls(report::Diagnostic& diagnostic, const Site& site, int number);

/// `witness` as a schedule string.
std::string replay_of(
    const Witness& witness,
    const ProgressGraph& graph,
    const StateTable& table,
    Schedule schedule
);
/// Of some execution that ends; empty: none does.
std::string replay_of_an_end(
    const ProgressGraph& graph,
    const OutEdges& out,
    const StateTable& table,
    const Schedule& schedule
);
/// Of a few others that end, and come to other states than that one and each other; some of those
/// that are found quickly.
std::vector<std::string> replays_of_other_ends(
    const ProgressGraph& graph,
    const OutEdges& out,
    const StateTable& table,
    const Schedule& schedule
);

} // namespace heddle::explore

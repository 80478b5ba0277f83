// The program's own answer: executions that ended with an exit status that was not expected [EXIT].
//
//   for (UnexpectedEnd& end : unexpected_ends(table, graph, out, resolve, options, others)) …
//
// Exact: the exit status is a part of the state in which a program has ended.
#pragma once

#include "explore/verdict/verdict.h"

#include <vector>

namespace heddle::explore {

struct UnexpectedEnd {
  report::Diagnostic finding;
  StateId state = 0;
  Witness way; // to that state
};

/// One for each such status. `others`: the graph does not show all executions, or some end
/// otherwise.
std::vector<UnexpectedEnd> unexpected_ends(
    const StateTable& table,
    const ProgressGraph& graph,
    const OutEdges& out,
    const ResolveSite& resolve,
    const JudgeOptions& options,
    bool others
);

} // namespace heddle::explore

// The judge without threads, which the one of progress_graph.h must agree with.
#pragma once

#include "explore/judge/progress_graph.h"

namespace heddle::explore::reference {

Analysis find_endless(const ProgressGraph& graph, const OutEdges& out);
bool has_endless(
    const ProgressGraph& graph,
    const OutEdges& out,
    const Analysis& analysis,
    Rule ignored
);

} // namespace heddle::explore::reference

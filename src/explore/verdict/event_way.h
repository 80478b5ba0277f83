// The way to what ended one execution early (an Event of the table): a fault, a data race, a crash.
//
//   const EventWay way = way_to_event(graph, out, event, [&](const Edge& e) { return …; });
//   way.witness.edges                  // the way, with the move that went wrong if it has an edge
//   way.missing                        // else the number of that move
//
// May be wrong: if several moves end in one state, and none of them begins where the event
// happened, the first of them is taken for the one that went wrong.
#pragma once

#include "explore/judge/progress_graph.h"
#include "explore/table/state_table.h"
#include "explore/witness/witness.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace heddle::explore {

struct EventWay {
  Witness witness;
  std::optional<std::uint32_t> missing; // the choice of a move that crashed and so led nowhere
};

/// A shortest one. `is_there`: does the move begin where the event happened?
EventWay way_to_event(
    const ProgressGraph& graph,
    const OutEdges& out,
    const Event& event,
    const std::function<bool(const Edge&)>& is_there
);

} // namespace heddle::explore

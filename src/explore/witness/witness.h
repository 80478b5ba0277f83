// Witness: one execution that shows what a report says: a way to it (the stem), and for an endless
// execution a loop that can be repeated forever.
//
//   Witness w = find_witness(graph, out, component);  // of find_endless
//   w.edges, w.loop_from                              // edges[loop_from…] lead back to their start
//
// The stem is a shortest one. The loop is allowed by itself: each demand that comes up in it is
// answered in it (progress_graph.h); it is short, not always the shortest. Two runs on the same
// graph give the same witness.
#pragma once

#include "explore/judge/progress_graph.h"

#include <cstdint>
#include <vector>

namespace heddle::explore {

struct Witness {
  std::vector<EdgeId> edges;
  std::uint32_t loop_from = 0; // edges.size(): there is no loop, nobody moves any more
};

/// `component` is one that find_endless has found, with its edges.
Witness find_witness(const ProgressGraph& graph, const OutEdges& out, const Component& component);

} // namespace heddle::explore

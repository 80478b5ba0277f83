// Order, dominators, post-dominators, control dependence and loops of a Graph.
//
// A path that ends in a trap ends the whole kernel: no thread is left to wait for, so such paths do
// not exist here. A loop without an exit is taken to end after its header. Loops are strongly
// connected regions, so irreducible ones are loops like others; their header is the block that
// comes first.
#pragma once

#include "lint/graph.h"

namespace heddle::lint {

void compute_facts(Graph& graph);

} // namespace heddle::lint

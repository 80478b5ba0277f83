// groups.h: which group a cooperative group of the base class is.
//
//   thread_group g = this_thread_block();  …  g.sync();        // a barrier of the block
//   sum(block, …)  with  int sum(thread_group g, …)            // the same, in this context
//
// The front end hands over the content of the group object with each barrier of a `thread_group`;
// where all values that may be in it come from one kind of group, the barrier is one of that kind.
// Groups below a block, and mixtures, stay what they are: barriers about which nothing is said.
#pragma once

#include "lint/dataflow.h"

namespace heddle::lint {

/// Changes the effect of barriers in `graph`, whose values `flow` knows.
void resolve_groups(Graph& graph, const Dataflow& flow);

} // namespace heddle::lint

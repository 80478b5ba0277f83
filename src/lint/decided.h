// decided.h: branches that the arguments of a call decide, `if (wait) __syncthreads();` in a
// function that is called with false, and calls through a pointer that holds one function at this
// place.
//
//   cut_constant(graph);                          // what a look at the instructions decides
//   if (cut_decided(graph, Dataflow(graph))) …    // the graph has lost such branches: start again
//
// The flow of values costs most of the time, so the first one finds what needs none: constants that
// are passed, returned or kept in a variable with one assignment.
//
// Only branches before a barrier are cut, since nothing else needs it. In which direction it errs:
// what cannot be computed here stays, and may cause a false report.
#pragma once

#include "lint/dataflow.h"

namespace heddle::lint {

void cut_constant(Graph& graph);
/// Has it cut something?
bool cut_decided(Graph& graph, const Dataflow& flow);

} // namespace heddle::lint

// Which threads go round for ever without taking a step ([LOOP]).
//
//   if (takes_no_step(graph, component, actor)) …   // whose moves in the component are no steps
//
// A move of equal threads names one of them, and another one the next time (Label::actor). So a
// thread is followed by its class, as the judge follows it: a class becomes others along the edges.
//
// May be wrong: where a thread of a class takes steps and another one of the same class does not,
// this says that both do. The hang is then named by another rule.
#pragma once

#include "explore/progress_graph.h"

namespace heddle::explore {

/// `actor`: a device thread that moves in the component.
bool takes_no_step(const ProgressGraph& graph, const Component& component, ActorId actor);

} // namespace heddle::explore

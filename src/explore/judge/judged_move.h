// How the judge (progress_graph.h) names what the machine says of a move.
#pragma once

#include "explore/judge/edges.h"
#include "reduce/stepper.h"

#include <span>

namespace heddle::explore {

/// The step that a device thread has taken.
Step step_of(reduce::StepKind kind);
/// The rule by which a device thread is owed its next move; Rule::None: it is owed nothing.
Rule rule_of(reduce::Stepper::Guarantee guarantee);
/// Is there a move that has to be made if nothing else goes on? `moves`: all of a state.
bool some_is_due(std::span<const reduce::Stepper::Move> moves);

} // namespace heddle::explore

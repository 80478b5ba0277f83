// Implements judged_move.h.
#include "explore/judge/judged_move.h"

#include <algorithm>

namespace heddle::explore {

Step step_of(reduce::StepKind kind) {
  using reduce::StepKind;
  switch (kind) {
  case StepKind::None:
    return Step::None;
  case StepKind::End:
    return Step::End;
  case StepKind::Io:
    return Step::Io;
  case StepKind::Volatile:
    return Step::Volatile;
  case StepKind::Sync:
    return Step::Sync;
  }
  return Step::None;
}

Rule rule_of(reduce::Stepper::Guarantee guarantee) {
  using Guarantee = reduce::Stepper::Guarantee;
  switch (guarantee) {
  case Guarantee::None:
    break;
  case Guarantee::Itself:
    return Rule::Device;
  case Guarantee::Cluster:
    return Rule::Cluster;
  case Guarantee::Cooperative:
    return Rule::Cooperative;
  }
  return Rule::None;
}

bool some_is_due(std::span<const reduce::Stepper::Move> moves) {
  return !std::ranges::all_of(moves, &reduce::Stepper::Move::may_wait);
}

} // namespace heddle::explore

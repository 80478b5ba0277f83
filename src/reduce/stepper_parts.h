// What the classes that Stepper composes share. Included by these only.
#pragma once

#include "reduce/dead_data/dead_data.h"
#include "reduce/independence/independence.h"
#include "reduce/options.h"
#include "reduce/states/images.h"
#include "reduce/states/machine.h"
#include "reduce/states/stepper_state.h"
#include "reduce/states/weak_moves.h"

#include <memory>

namespace heddle::reduce {

struct StepperParts {
  const StepperOptions& options;
  Machine& machine;
  Independence& independence;
  DeadData& dead_data;
  Images& images;
  const std::unique_ptr<WeakMoves>& weak; // nullptr: memory is sequentially consistent
  Seen& seen;
  UnderWay& under_way;

  bool by_warps() const { return options.by_warps(); }
  /// [RED-EARLY]
  bool comes_early(const Lane& at) const { return under_way.early && weak->comes_early(at); }
  bool mutant_is(Mutant mutant) const { return options.mutant == mutant; }
};

} // namespace heddle::reduce

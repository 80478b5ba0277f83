// What the parts of the stepper that run threads share. Included by these only.
#pragma once

#include "machine/live_state.h"
#include "model/memory_journal.h"
#include "model/warp_choices.h"
#include "reduce/access_monitor.h"
#include "reduce/device_heap.h"
#include "reduce/operations.h"
#include "reduce/options.h"
#include "reduce/stepper_state.h"
#include "reduce/weak_moves.h"

#include <memory>

namespace heddle::reduce {

struct StepperParts {
  const StepperOptions& options;
  isa::Exec& exec;
  MemoryJournal& journal;
  LiveState& live;
  WarpChoices& warp_choices;
  Followed& followed;
  Operations& operations;
  AccessMonitor& access_monitor;
  const std::unique_ptr<WeakMoves>& weak;  // nullptr: memory is sequentially consistent
  const std::unique_ptr<DeviceHeap>& heap; // once there is a kernel that may use it
  Seen& seen;
  UnderWay& under_way;

  bool by_warps() const { return static_cast<bool>(options.model.warp_rules); }
  /// [RED-EARLY]
  bool comes_early(const Lane& at) const { return under_way.early && weak->comes_early(at); }
  bool mutant_is(Mutant mutant) const { return options.mutant == mutant; }
};

} // namespace heddle::reduce

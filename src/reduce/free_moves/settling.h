// Settling: makes free moves at once: lets threads run until each stands at an operation that is
// somebody's choice, waits, or loops forever (spec/reductions.md, free moves).
//
//   settling.settle(work, cluster);          // of a cluster all threads
//
// A thread that runs for long without a choice either comes back to a state (recurrence.h), or gets
// somewhere. A loop that does neither within the bound makes the search incomplete.
#pragma once

#include "machine/recurrence.h"
#include "reduce/free_moves/lane_choices.h"
#include "reduce/free_moves/lane_runner.h"
#include "reduce/free_moves/warp_settling.h"

#include <cstdint>

namespace heddle::reduce {

class Settling {
public:
  Settling(const StepperParts& parts, LaneRunner& runner, LaneChoices& choices, WarpSettling& warps)
      : parts_(parts),
        runner_(runner),
        choices_(choices),
        warps_(warps) {}

  /// Where that fails, it says so in UnderWay.
  void settle(Work& work, std::size_t cluster);
  /// Lets the threads of a warp run until each stands at a choice, waits, or loops forever; false
  /// if one failed.
  bool settle_lanes(const Lane& any);
  /// Lets a thread run until it stands at an operation that is somebody's choice; false if it
  /// failed.
  bool settle_lane(const Lane& at);

private:
  bool settle_lanes(const Lane& any, int& rounds, std::uint64_t asks);
  void settle_all(Work& work, std::size_t cluster);
  bool open_aligned(const Lane& at);
  bool loops_for_ever(const Lane& at, std::uint64_t rounds);
  bool waits_for_ever(Work& work, std::size_t cluster);

  StepperParts parts_;
  LaneRunner& runner_;
  LaneChoices& choices_;
  WarpSettling& warps_;
};

} // namespace heddle::reduce

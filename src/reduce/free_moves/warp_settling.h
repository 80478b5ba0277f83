// WarpSettling: warps whose lanes go by rules (lockstep): what a warp stands at, letting it run
// until it stands at something that is a choice, and the part of a move that was chosen.
//
// A move is one instruction that others can see, executed by the lanes that the rules let go, and
// everything invisible after it. What the rules leave open is a choice of its own
// (model/warp_choices.h).
//
// May be wrong: lanes of other instructions that have an order (mbarrier, output) take the lowest
// first (misses).
#pragma once

#include "machine/recurrence.h"
#include "reduce/free_moves/lane_choices.h"
#include "reduce/free_moves/lane_runner.h"

#include <span>
#include <vector>

namespace heddle::reduce {

/// What an operation does to a thread that may be in a loop.
void note_acts(const Operation& operation, Recurrence& circle);
/// The lanes are in one.
void note_endless(const Lane& at, isa::LaneMask lanes, const Recurrence& circle);

class WarpSettling {
public:
  using Pick = WarpRules::Pick;

  WarpSettling(const StepperParts& parts, LaneRunner& runner, LaneChoices& choices)
      : parts_(parts),
        runner_(runner),
        choices_(choices) {}

  static WarpRules& rules(const Lane& at);
  /// Those for whom the instruction's guard holds.
  static isa::LaneMask acting(const Lane& at, const WarpRules::Next& next);
  /// What the instruction is for the warp: what it is for the lane that others see most of.
  Operation classify(const Lane& at, isa::LaneMask acting);
  std::vector<Pick>
  open_choices(const Lane& at, const WarpRules::Next& next, std::span<const Hash128> like);
  /// Lets a warp run until it stands at a move, waits or has ended; false if it failed.
  bool settle_warp(const Lane& where, bool* moved);
  /// The part of a move that was chosen; false if it failed.
  bool begin_move(const Move& move, Work& work);

private:
  bool is_move(const Lane& at, const WarpRules::Next& next);
  bool step(const Lane& at, const Pick& pick);
  bool loops_for_ever(const Lane& where);
  Hash128 fingerprint(const Lane& at) const;

  StepperParts parts_;
  LaneRunner& runner_;
  LaneChoices& choices_;
};

} // namespace heddle::reduce

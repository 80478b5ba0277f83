// WarpChoices: what the rules of lockstep warps leave open at an instruction, as a list of choices.
//
//   WarpChoices choices(exec, live);
//   const LaneMask lanes = WarpChoices::acting(warp, any, next);
//   for (const WarpRules::Pick& pick : choices.picks(block, w, any, next, like)) …
//   if (choices.left_out()) …                       // there were more than are tried
//
// A choice depends on the lanes alone and never on memory ([SIMT-ORDER], [SIMT-ATOMIC],
// [SIMT-WRITE]):
// - at a divergent branch every order of its sides, at an indirect call which function is next;
// - at an atomic operation the orders of the lanes that update one place, as far as they can make a
//   difference: none if the results are not used and the updates commute; who is first if all do
//   the same and a second one changes nothing (a compare-and-swap of a lock); else every order, one
//   for lanes that are alike;
// - at a write of several values to one place, whose is there afterwards.
//
// May be wrong: where there are more than `most_orders` of them, only some are tried, and
// left_out() says so.
#pragma once

#include "base/hash.h"
#include "machine/block.h"
#include "machine/live_state.h"

#include <cstddef>
#include <span>
#include <vector>

namespace heddle::model {

using namespace machine;

class WarpChoices {
public:
  WarpChoices(isa::Exec& exec, LiveState& live) : exec_(exec), live_(live) {}

  /// Those for whom the instruction's guard holds. `any` is one of next.lanes.
  static isa::LaneMask acting(const isa::Warp& warp, int any, const WarpRules::Next& next);
  /// What is left open at the instruction of next(); none: nothing. `like`: equal for lanes that
  /// are alike; empty: no two are.
  std::vector<WarpRules::Pick> picks(
      Block& block,
      std::size_t w,
      int any,
      const WarpRules::Next& next,
      std::span<const Hash128> like
  );
  bool left_out() const { return left_out_; }

private:
  isa::Exec& exec_;
  LiveState& live_;
  bool left_out_ = false;
};

} // namespace heddle::model

// KnownMoves: what moves have done, by the image of the cluster and by what one thread of it was
// ([RED-MEMO]).
//
//   known.forget_if_changed(space.generation());          // places may be others
//   known.of_images.find(…);  known.of_lanes.add(…);
//   known.epoch()                                         // changes when something is forgotten
#pragma once

#include "reduce/cache/transitions.h"
#include "reduce/states/image.h"

#include <cstdint>
#include <utility>

namespace heddle::reduce {

class KnownMoves {
public:
  Transitions<Outcome> of_images;
  Transitions<LaneOutcome> of_lanes;

  void forget() {
    of_images.clear();
    of_lanes.clear();
  }
  /// `generation`: of allocations, as it is now.
  void forget_if_changed(std::uint64_t generation) {
    if (std::exchange(generation_, generation) != generation) {
      forget();
    }
  }
  /// Of the allocations that what is known is about.
  std::uint64_t generation() const { return generation_; }
  std::uint64_t epoch() const { return of_images.epoch() + of_lanes.epoch(); }
  /// For tests of tests (mutant.h).
  void forget_values() {
    of_images.forget_values();
    of_lanes.forget_values();
  }

private:
  std::uint64_t generation_ = 0;
};

} // namespace heddle::reduce

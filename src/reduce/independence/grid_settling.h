// GridSettling: clusters of a cooperative grid that wait for its barrier (library_barriers.h) go on
// when a move opens it ([RED-PHASES]).
//
//   const std::uint64_t before = grids.barrier(work);  … a cluster moves …
//   grids.settle(n, before);
//
// Threads that wait for a phase of which nobody is left who could complete it go round in their
// loops again, so that a search sees them do so.
#pragma once

#include "reduce/free_moves/settling.h"
#include "reduce/states/present.h"

#include <cstddef>
#include <cstdint>

namespace heddle::reduce {

class GridSettling {
public:
  GridSettling(const StepperParts& parts, Present& present, Settling& settling)
      : parts_(parts),
        present_(present),
        settling_(settling) {}

  /// The word of the grid's barrier.
  std::uint64_t barrier(const Work& work) const {
    return parts_.independence.operations().library_barriers().grid_barrier(work);
  }
  /// A move has changed the barrier of the grid from `before`: clusters that waited may go on, or
  /// nobody ever can.
  void settle(std::size_t n, std::uint64_t before);
  /// Clusters have gone on without a move of theirs, from when the barrier of the grid was
  /// `before`.
  void settle_outside_of_moves(std::size_t n, std::uint64_t before);

private:
  void settle_clusters(std::size_t n, bool they_poll);

  StepperParts parts_;
  Present& present_;
  Settling& settling_;
};

} // namespace heddle::reduce

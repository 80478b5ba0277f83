// Implements the part of stepper.h that is about clusters of a cooperative grid that wait for its
// barrier (library_barriers.h).
//
// Threads that wait for a phase of which nobody is left who could complete it go round in their
// loops again, so that a search sees them do so.
#include "reduce/stepper_work.h"

#include <algorithm>

namespace heddle::reduce {

/// A move has changed the barrier of the grid from `before`: clusters that waited may go on, or
/// nobody ever can.
void Stepper::settle_grid(std::size_t n, std::uint64_t before) {
  Work& work = *works_[n];
  const auto settle_all = [&] {
    for (std::size_t c = 0; c < work.clusters.size() && !under_way_.failure; ++c) {
      if (!work.images[c]->ended) {
        load(work, c);
        settling_.settle(work, c);
        capture(n, c);
      }
    }
  };
  for (std::uint64_t now = operations_.library_barriers().grid_barrier(work);
       now != before && !under_way_.failure;
       now = operations_.library_barriers().grid_barrier(work)) {
    under_way_.repeatable = false;
    before = now;
    settle_all();
  }
  const bool stuck = std::ranges::all_of(work.images, [](const Image* image) {
    return image->ended || (image->made && image->ready.empty());
  });
  if (under_way_.failure || !stuck || work.command->grid->cooperative_workspace() == 0 ||
      std::ranges::all_of(work.images, &Image::ended)) {
    return;
  }
  // Somebody will never come: those who wait for the grid ask forever.
  under_way_.repeatable = false;
  for (std::size_t c = 0; c < work.clusters.size() && !under_way_.failure; ++c) {
    if (!work.images[c]->ended) {
      load(work, c);
      work.progress[c].polls = true;
      settling_.settle(work, c);
      capture(n, c);
    }
  }
}

/// Clusters have gone on without a move of theirs, from when the barrier of the grid was `before`.
void Stepper::settle_grid_outside_of_moves(std::size_t n, std::uint64_t before) {
  const Work& work = *works_[n];
  if (under_way_.failure || !options_.independence.phases || !work.kernel() ||
      !work.cooperative() || mutant_is(Mutant::StraightForgetsGrid)) {
    return;
  }
  const std::size_t made_before = access_monitor_.made().size();
  settle_grid(n, before);
  meet_open_since(n, made_before);
}

} // namespace heddle::reduce

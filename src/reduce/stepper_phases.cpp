// Implements the part of stepper.h that is about who waits for phases of barriers that are not the
// hardware's: mbarriers (mbarriers.h), and those of libraries (library_barriers.h).
//
// Threads that wait for a phase of which nobody is left who could complete it go round in their
// loops again, so that a search sees them do so.
#include "reduce/stepper_work.h"

#include <algorithm>
#include <bit>

namespace heddle::reduce {

using isa::LaneMask;

/// A move has changed the barrier of the grid from `before`: clusters that waited may go on, or
/// nobody ever can.
void Stepper::settle_grid(std::size_t n, std::uint64_t before) {
  Work& work = *works_[n];
  const auto settle_all = [&] {
    for (std::size_t c = 0; c < work.clusters.size() && !under_way_.failure; ++c) {
      if (!work.images[c]->ended) {
        load(work, c);
        settle(work, c);
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
      settle(work, c);
      capture(n, c);
    }
  }
}

/// Clusters have gone on without a move of theirs, from when the barrier of the grid was `before`.
void Stepper::settle_grid_outside_of_moves(std::size_t n, std::uint64_t before) {
  const Work& work = *works_[n];
  if (under_way_.failure || !options_.phases || !work.kernel() || !work.cooperative() ||
      mutant_is(Mutant::StraightForgetsGrid)) {
    return;
  }
  const std::size_t made_before = access_monitor_.made().size();
  settle_grid(n, before);
  meet_open_since(n, made_before);
}

/// Does the thread wait for a phase like at a barrier?
bool Stepper::waits_for_phase(const Lane& at) {
  const Work::Progress& progress = at.work->progress[at.cluster];
  return progress.made && !progress.polls && !progress.joins_are_moves && stands_at_visible(at) &&
         classify(at).kind == OperationKind::Wait;
}

/// Is everybody in the cluster waiting, and somebody for a phase? Then that never completes.
bool Stepper::waits_for_ever(Work& work, std::size_t c) {
  const Work::Progress& progress = work.progress[c];
  if (!options_.phases || !progress.made || progress.polls || progress.joins_are_moves) {
    return false;
  }
  Cluster& cluster = *work.clusters[c];
  bool some = false;
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    for (std::size_t w = 0; w < cluster.block(b).warps().size(); ++w) {
      const isa::Warp& warp = cluster.block(b).warps()[w].warp;
      if (cluster.block(b).warps()[w].grid_waiting != 0) {
        return false; // they go on when the grids before this one are over
      }
      for (LaneMask m = warp.live & ~warp.blocked & ~progress.loops[b][w].endless; m != 0;
           m &= m - 1) {
        const Lane at{&work, c, b, w, std::countr_zero(m)};
        if (waits_for_phase(at)) {
          const auto op = operations_.library_barriers().operation(at);
          if (op && op->of_grid) {
            return false; // other clusters may come
          }
          some = true;
        } else if (!waits_for_warp(at)) {
          return false;
        }
      }
    }
  }
  return some;
}

} // namespace heddle::reduce

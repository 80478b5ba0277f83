// Implements the part of stepper.h that is about what a command has to wait for ([DEP]), among it
// programmatic dependencies ([DEP-EARLY], [DEP-WAIT], [DEP-BEGUN]): a grid that begins before the
// one it depends on has completed, and waits for it inside.
//
// griddepcontrol.launch_dependents is no choice: that it has not been executed yet nobody can tell,
// and what it allows nobody has to do. griddepcontrol.wait blocks its thread; when the grids before
// are over, all who wait go on at once, which is no choice either.
//
// Such grids overlap (Stepper::submitted), so what one of them does to memory that the other one
// accesses is a choice. That blocks start at once, and that grids which cannot start yet run
// through, is not assumed where there is one.
#include "machine/device_launches.h"
#include "reduce/stepper_work.h"

#include <algorithm>

namespace heddle::reduce {

/// [DEP-WAIT]
void Stepper::leave_grid_wait(std::size_t n) {
  Work& work = *works_[n];
  work.grids_over = true;
  log_.push_back({.kind = Log::Kind::GridsOver, .work = static_cast<std::uint32_t>(n)});
  Starts starts;
  const std::uint64_t barrier_before = library_barriers_.grid_barrier(work);
  const std::size_t made_before = access_monitor_.made().size();
  for (std::size_t c = 0; c < work.images.size() && !under_way_.failure; ++c) {
    if (work.images[c]->ended) {
      continue;
    }
    const bool moved = work.images[c] != work.first_images[c];
    load(work, c);
    Cluster& cluster = *work.clusters[c];
    for (std::size_t b = 0; b < cluster.size(); ++b) {
      cluster.block(b).grids_before_are_over();
    }
    settle(work, c);
    capture(n, c);
    // How a cluster starts must not depend on what it did first, here or behind its wait: a state
    // does not tell.
    if (!under_way_.failure && !work.images[c]->made && !moved) {
      find_start(work, c, starts);
    }
  }
  meet_open_since(n, made_before);
  settle_grid_outside_of_moves(n, barrier_before);
}

} // namespace heddle::reduce

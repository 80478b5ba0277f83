// Implements stepper_options.h: some assumptions rest on others, or make no sense in some models.
#include "explore/search/stepper_options.h"

#include <utility>

namespace heddle::explore {

using reduce::Assumption;

reduce::Stepper::Options
stepper_options(const Options& options, machine::MakeWarpRules warp_rules) {
  reduce::Learned learned = options.learned;
  learned.places = options.places ? learned.places : 0;
  // Which reductions make nothing free under some models.
  const bool by_threads = options.eager && !options.lockstep;
  const bool lasts = by_threads && options.progress != ProgressModel::Hsa; // a guarantee does
  const bool orderly = options.orderly && lasts && learned.holds(Assumption::OneWay);
  // Who comes where is known by the numbers of threads, and only of single accesses.
  const bool in_groups = options.starts == Starts::InGroups && options.blocks_start_at_once() &&
                         by_threads && learned.holds(Assumption::Groups);
  return {
      .model =
          {.progress = options.progress,
           .ignore_grid_order = options.ignore_grid_order,
           .weak = options.ptx_memory,
           .same_value_races = options.same_value_races,
           .warp_rules = std::move(warp_rules)},
      .independence =
          {.eager = options.eager,
           .sums = options.sums && options.eager,
           .orderly = orderly,
           .movers = options.movers && options.by_decisions && orderly,
           .data_order = options.data_order && options.sums && orderly,
           .retries = options.retries && !in_groups,
           .phases = options.phases && learned.holds(Assumption::Phases) && lasts,
           .peeks = options.peeks,
           .tiles = learned.holds(Assumption::Tiles),
           .turns = learned.holds(Assumption::Turns),
           .ends = learned.holds(Assumption::Turns) || learned.holds(Assumption::Whole),
           .allocations = options.allocations && learned.holds(Assumption::HeapRoom) && by_threads,
           .neighbours = options.neighbours && learned.holds(Assumption::Neighbours) && by_threads,
           .early_writes = options.early_writes && orderly},
      // Models that go by the order of clusters tell them apart.
      .renaming =
          {.symmetry = options.symmetry && !in_groups && options.progress != ProgressModel::Hsa &&
                       options.progress != ProgressModel::Lobe},
      .dead_data =
          {.by_decisions = options.by_decisions && by_threads,
           .host_decides = options.host_decides},
      .persistent =
          {.starts_at_once = options.blocks_start_at_once(),
           .in_groups = in_groups,
           .settled = options.settled && orderly},
      .learned = learned
  };
}

} // namespace heddle::explore

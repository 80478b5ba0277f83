// Implements stepper_options.h: some assumptions rest on others, or make no sense in some models.
#include "explore/search/stepper_options.h"

#include <utility>

namespace heddle::explore {

using reduce::Assumption;

reduce::Stepper::Options
stepper_options(const Options& options, machine::MakeWarpRules warp_rules) {
  reduce::Learned learned = options.learned;
  learned.places = options.places ? learned.places : 0;
  return {
      .progress = options.progress,
      // Models that go by the order of clusters tell them apart.
      .symmetry = options.symmetry && options.progress != ProgressModel::Hsa &&
                  options.progress != ProgressModel::Lobe,
      .eager = options.eager,
      .sums = options.sums && options.eager,
      .orderly = options.orderly && options.eager && !options.lockstep &&
                 options.progress != ProgressModel::Hsa,
      .movers = options.movers && options.by_decisions && options.orderly && options.eager &&
                !options.lockstep && options.progress != ProgressModel::Hsa,
      .data_order = options.data_order && options.orderly && options.sums && options.eager &&
                    !options.lockstep && options.progress != ProgressModel::Hsa,
      .retries = options.retries,
      .learned = learned,
      .phases = options.phases && options.learned.holds(Assumption::Phases) && options.eager &&
                !options.lockstep && options.progress != ProgressModel::Hsa,
      .peeks = options.peeks,
      .tiles = options.learned.holds(Assumption::Tiles),
      .turns = options.learned.holds(Assumption::Turns),
      .ends = options.learned.holds(Assumption::Turns) || options.learned.holds(Assumption::Whole),
      .allocations = options.allocations && options.learned.holds(Assumption::HeapRoom) &&
                     options.eager && !options.lockstep,
      .neighbours = options.neighbours && options.learned.holds(Assumption::Neighbours) &&
                    options.eager && !options.lockstep,
      .by_decisions = options.by_decisions && options.eager && !options.lockstep,
      .host_decides = options.host_decides,
      .starts_at_once = options.blocks_start_at_once(),
      .ignore_grid_order = options.ignore_grid_order,
      .weak = options.ptx_memory,
      .same_value_races = options.same_value_races,
      .early_writes = options.early_writes && options.orderly && options.eager &&
                      !options.lockstep && options.progress != ProgressModel::Hsa,
      .settled = options.settled && options.orderly && options.eager && !options.lockstep &&
                 options.progress != ProgressModel::Hsa,
      .warp_rules = std::move(warp_rules)
  };
}

} // namespace heddle::explore

// Implements ground.h.
#include "explore/search/ground.h"

#include "explore/search/explorer.h"
#include "explore/search/stepper_options.h"

#include <unistd.h>

#include <utility>

namespace heddle::explore {

Ground::Ground(
    machine::World& of,
    StateTable shared,
    const Options& assumed,
    Purpose what_for,
    machine::MakeWarpRules warp_rules,
    HostScheduler& who_decides
)
    : world(of),
      scheduler(who_decides),
      table(std::move(shared)),
      options(assumed),
      purpose(what_for),
      stepper(world, stepper_options(assumed, std::move(warp_rules))),
      threads(who_decides, host) {
  threads.set_eager(options.eager && options.host_progress);
  if (const RankBoard board = table.rank_board(); board.is_divided()) {
    ranks = board;
  }
  world.use_virtual_time();
  if (options.guide_barriers) {
    world.let_ended_hold_up_barriers();
  }
}

void leave(Ground& ground) {
  ground.leaving = true;
  ::_exit(finished_exit_code);
}

} // namespace heddle::explore

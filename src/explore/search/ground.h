// Ground: what all parts of the explorer work on: the program as it is in this process (the machine
// one move at a time, and its host threads), and the table that the processes of a search share.
//
//   Ground ground(world, std::move(table), options, {}, warp_rules, scheduler);
//   ground.stepper.moves(); ground.threads.ways(0); ground.table.visit(…);
//   leave(ground);                       // this process ends
#pragma once

#include "explore/host/host_state.h"
#include "explore/host/host_threads.h"
#include "explore/options.h"
#include "explore/process/open_files.h"
#include "explore/ranks/rank_board.h"
#include "explore/table/state_table.h"
#include "machine/world.h"
#include "reduce/stepper.h"

#include <cstdint>
#include <optional>

namespace heddle::explore {

using reduce::Stepper;

/// What the explorer of this process does.
struct Purpose {
  enum class Kind : std::uint8_t {
    Search,
    Replay, // of one execution, by its schedule
    Samples // single schedules
  } kind = Kind::Search;
  int trace = -1;          // Replay: of a file for what each step did
  bool unrecorded = false; // Samples: in a schedule of which nothing is written down
  /// No search: each state is met on one way only.
  bool one_way() const { return kind != Kind::Search; }
};

struct Ground {
  Ground(
      machine::World& of,
      StateTable shared,
      const Options& assumed,
      Purpose what_for,
      machine::MakeWarpRules warp_rules,
      HostScheduler& who_decides
  );

  machine::World& world;
  HostScheduler& scheduler;
  StateTable table;
  Options options;
  Purpose purpose;
  Stepper stepper;
  HostState host;
  HostThreads threads;
  OpenFiles files;
  std::optional<RankBoard> ranks; // in a search that is divided
  bool leaving = false;

  std::uint32_t own_rank() const { return ranks ? ranks->rank() : 0; }
};

/// Ends this process. That is not the end of the program, though the host may be what runs.
[[noreturn]] void leave(Ground& ground);

} // namespace heddle::explore

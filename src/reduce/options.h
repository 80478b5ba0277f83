// What a search assumes, as the stepper has to know it: the model, and for each of the four parts
// of the reductions (spec/reductions.md, "Theorem: composition") what is switched on.
#pragma once

#include "machine/block.h"
#include "model/progress_model.h"
#include "reduce/learned.h"
#include "reduce/mutant.h"

#include <cstdint>

namespace heddle::reduce {

using namespace machine;
using namespace model;

/// Which executions there are.
struct ModelOptions {
  ProgressModel progress = ProgressModel::Cuda;
  // A grid does not wait for grids before it: as if there were no [DEP]. To learn whether a
  // verdict rests on it.
  bool ignore_grid_order = false;
  // The PTX memory model in the place of sequential consistency (weak_moves.h). All other
  // reductions but `eager` have to be off.
  bool weak = false;
  bool same_value_races = true; // with `weak`: are plain writes of one value data races?
  // Empty: threads are independent.
  MakeWarpRules warp_rules = {};
  // 0: a look at a clock gives one of two answers, which stand for all (spec/clocks.md). Else the
  // thread's clock goes forward by this, or stays, with each look: a reference for tests.
  std::uint64_t clock_step = 0;
};

/// Which moves are free.
struct IndependenceOptions {
  bool eager = true;    // false: plain accesses and joins are moves, always
  bool sums = true;     // false: updates that commute are moves, always
  bool orderly = false; // accesses to what nobody else accesses meanwhile are none (sums.h)
  bool movers = false;  // nor are those before which nobody can make others (left_movers.h)
  // Nor are accesses on whose order only data depends (order_data.h): those of
  // Learned::unordered that can be.
  bool data_order = false;
  bool retries = true;       // an update made of compare-and-swap is one (analysis/retry_loops.h)
  bool phases = false;       // mbarriers are barriers (phases.h); false: moves, always
  bool peeks = true;         // with it: forgotten answers are "no" (analysis/forgotten_answer.h)
  bool tiles = true;         // … at barriers of tiles of several warps, too
  bool turns = true;         // arrivals at barriers commute (barrier_turns.h); false: moves
  bool ends = true;          // so do ends of threads
  bool allocations = false;  // malloc and free in kernels commute (device_heap.h)
  bool neighbours = false;   // no block ends while others access its shared memory
  bool early_writes = false; // [RED-EARLY], with ModelOptions::weak
};

/// Which threads and clusters are equal.
struct RenamingOptions {
  bool symmetry = false;
};

/// What names leave out.
struct DeadDataOptions {
  bool by_decisions = false; // what nothing is decided by is no part of a state (cone.h)
  bool host_decides = false; // with it: by what is copied from devices (cone.h)
};

/// Which moves of a state are made.
struct PersistentSetOptions {
  // All clusters of a grid have started as soon as it is ready. Where nobody ever waits for a
  // thread of another cluster, the same happens as if they start at any time, or never.
  bool starts_at_once = false;
  bool in_groups = false; // [RED-GROUPS], with it
  bool settled = false;   // [RED-SETTLED], with ModelOptions::weak
};

struct StepperOptions {
  ModelOptions model = {};
  IndependenceOptions independence = {};
  RenamingOptions renaming = {};
  DeadDataOptions dead_data = {};
  PersistentSetOptions persistent = {};
  Learned learned = {};         // what is known not to hold of all this
  Mutant mutant = Mutant::None; // for tests of tests

  bool by_warps() const { return static_cast<bool>(model.warp_rules); }
  /// Is it noted which accesses of kernels are made while others could be? Where blocks start at
  /// once it matters whether a choice meets a command.
  bool notes_accesses() const {
    return independence.sums || independence.orderly || persistent.starts_at_once;
  }
  bool mutant_is(Mutant other) const { return mutant == other; }
  /// [RED-COPIES]
  bool takes_copies_for_one_move() const {
    return notes_accesses() && learned.holds(Assumption::Copies);
  }
};

} // namespace heddle::reduce

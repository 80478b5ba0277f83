// Parts of Stepper that only hold something: each is about one matter, and knows nothing of the
// others.
#pragma once

#include "base/hash.h"
#include "machine/world.h"
#include "model/move.h"
#include "ptx/effect.h"
#include "reduce/cone.h"
#include "reduce/order_data.h"
#include "report/diagnostic.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace heddle::reduce {

/// What has happened at least once since the search began: bits are set, never cleared.
struct Seen {
  bool dependency = false;      // a grid had to wait for another one
  bool choice = false;          // a move that its cluster does not run through, or a strong access
  bool host_parameters = false; // a kernel has a parameter that is an address of the host's
  bool left_out_active = false; // activemask could have named more sets of lanes than are tried
  bool left_out_looks = false;  // a thread could have looked at a clock more often
  bool turns_clash = false;     // it may matter when threads arrive at barriers
  bool in_pieces = false;       // some lanes of a warp came to a barrier without the others
  bool neighbour_gone = false;  // a block may end while another one accesses its shared memory
  std::uint64_t lasting = 0;    // grids that were wrongly taken to run through, a bit each
};

/// Why a move could not be made.
struct Failure {
  machine::FaultReport report; // of a device thread; kind Unsupported: Heddle's gap
  std::string incomplete;      // not empty: no fault, but the search cannot go on from here
  std::optional<heddle::report::Diagnostic> race = {}; // then it is that
};

/// The move that is being made, and of the last one what is asked for afterwards.
struct UnderWay {
  bool active = false;
  bool submitted = false;  // it has submitted something
  bool made_again = false; // as Again said
  bool early = false;      // [RED-EARLY]
  bool tried = false;      // only to see what a cluster does when it starts
  bool bundling = false;   // plain accesses of a thread that is about to take its next step
  bool repeatable = true;  // it touches nothing but images and memory
  ptx::StepKind taken{};
  std::optional<Failure> failure;
  std::uint32_t weak_pick = 0;
  std::uint64_t barrier_before = 0; // of the grid
  std::vector<model::Change> changes;
};

/// Values that are followed from place to place, for those that decide nothing.
struct Followed {
  OrderData order; // that depend on an order
  Cone cone;
};

/// Memory that is used again. Nothing in it outlives the call that fills it.
struct Scratch {
  std::uint64_t pass = 0;                                    // of moves()
  std::unordered_map<model::ThreadClass, std::size_t> loose; // in it: moves of loose threads
};

} // namespace heddle::reduce

// What a search has seen, and the move that is being made.
#pragma once

#include "machine/world.h"
#include "model/move.h"
#include "ptx/effect.h"
#include "report/diagnostic.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::reduce {

/// What has happened at least once since the search began: bits are set, never cleared.
struct Seen {
  bool dependency = false;      // a grid had to wait for another one
  bool choice = false;          // a move that its cluster does not run through, or a strong access
  bool host_parameters = false; // a kernel has a parameter that is an address of the host's
  bool left_out_active = false; // activemask could have named more sets of lanes than are tried
  bool left_out_looks = false;  // a thread could have looked at a clock more often
  bool several_ways = false;    // there were, to make an access that was free
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

  /// The search cannot go on from here.
  void give_up(std::string why) {
    failure = Failure{};
    failure->incomplete = std::move(why);
  }
};

} // namespace heddle::reduce

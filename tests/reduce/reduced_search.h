// The searches of `heddle check` in process: its plan of attempts (explore/strategy/plan.h), its
// choice of moves (reduce/persistent_sets/persistent_sets.h), and the machine with its reductions.
// What is left out is what needs processes: the shared table, and moves that cannot be taken back.
#pragma once

#include "explore/options.h"
#include "reduce/micro_device.h"
#include "reduce/outcome.h"

namespace heddle::enumeration {

/// How a search goes, besides what it assumes.
struct Manner {
  explore::Options options;
  bool tries_groups = false;      // threads that meet nobody else go first ([RED-GROUPS])
  bool looks_ahead = false;       // moves whose outcome is known are not made
  bool checks_look_ahead = false; // they are, and the outcomes compared
  bool returns_once = false; // calls return where the host has just arrived, or may just return
  reduce::Mutant mutant = reduce::Mutant::None;
};

Outcome reduced_search(MicroDevice& device, const Manner& manner);

} // namespace heddle::enumeration

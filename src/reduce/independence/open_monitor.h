// OpenMonitor: what is accessed meets what other threads have open ([RED-MOVERS], left_movers.h).
//
//   monitor.meet(move, made, OpenMonitor::Whose::Anybody);   // after each move
//   monitor.meet_since(work, made_before);                   // what was made without a move
#pragma once

#include "reduce/independence/access_monitor.h"
#include "reduce/mutant.h"
#include "reduce/states/works.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::reduce {

class OpenMonitor {
public:
  OpenMonitor(const Works& works, AccessMonitor& accesses, Mutant mutant)
      : works_(works),
        accesses_(accesses),
        mutant_(mutant) {}

  enum class Whose : std::uint8_t { // accesses that a move has made, if it is made again
    Anybody,                        // it is made for the first time
    Cluster,                        // of the move's cluster
    Thread                          // of the moving thread
  };
  /// What a move has accessed meets what others have open. Those of its own cluster it has met when
  /// it was made, but this one may stand beside others.
  void meet(const Move& move, std::span<const MadeAccess> made, Whose whose);
  /// The same of what clusters of a work have accessed without a move of theirs, behind so many
  /// accesses.
  void meet_since(std::size_t work, std::size_t made_before);

private:
  const Works& works_;
  AccessMonitor& accesses_;
  Mutant mutant_;
};

} // namespace heddle::reduce

// MoveCache: what moves have done before, so that they are looked up and not executed ([RED-MEMO]).
// This leaves nothing out.
//
// Known is what was done before: by a cluster that looked the same, or by a thread that did while
// everything about its cluster that is not the other threads' own (registers, place in the code,
// local memory) looked the same; of shared memory, as of global memory, those words that it reads.
// The second is what a block of several threads needs: no two of its states are alike, but most
// moves concern one thread. Errs to the safe side: what depends on where other lanes stand (aligned
// barriers, activemask) is not looked up by thread.
#pragma once

#include "memory/address_space.h"
#include "model/memory_journal.h"
#include "reduce/cache/known_moves.h"
#include "reduce/independence/access_monitor.h"
#include "reduce/mutant.h"
#include "reduce/states/images.h"
#include "reduce/states/works.h"

#include <cstdint>
#include <vector>

namespace heddle::reduce {

class MoveCache {
public:
  MoveCache(
      const Works& works,
      Images& images,
      const MemoryJournal& journal,
      const memory::AddressSpace& space,
      AccessMonitor& monitor,
      bool by_decisions,
      Mutant mutant
  )
      : works_(works),
        images_(images),
        journal_(journal),
        space_(space),
        monitor_(monitor),
        by_decisions_(by_decisions),
        mutant_(mutant) {
    if (mutant == Mutant::AheadForgetsValues) {
      known_.forget_values();
    }
  }

  using KnownOfLane = Transitions<LaneOutcome>::Known;
  struct Found { // one of the two, or nothing
    KnownOfLane of_lane;
    Transitions<Outcome>::Known of_image;
  };
  /// What the move does; it has done that, as far as the monitor of accesses is concerned. By
  /// thread where no other cluster can be like this one, so that no image has to be made for it;
  /// else this one may look the same while others do not.
  Found find(const Move& move);

  /// Keeps what the move has done, as the journal and the monitor have it. It concerned its own
  /// cluster only.
  void remember(const Move& move, const Image& before, StepKind taken);

  void forget() { known_.forget(); }
  /// Places may be others.
  void forget_if_changed() { known_.forget_if_changed(space_.generation()); }
  bool is_current() const { return known_.generation() == space_.generation(); }
  /// Changes when something is forgotten.
  std::uint64_t epoch() const { return known_.epoch(); }

private:
  Found find_known(const Move& move);
  KnownOfLane find_lane(const Work& work, const Move& move);
  bool remember_lane(const Move& move, const Image& before, const Image& after, StepKind taken);

  const Works& works_;
  Images& images_;
  const MemoryJournal& journal_;
  const memory::AddressSpace& space_;
  AccessMonitor& monitor_; // what is found has been done, and by whom
  bool by_decisions_;
  Mutant mutant_;
  KnownMoves known_;
};

} // namespace heddle::reduce

// CachedMoves: makes moves of threads, those that have been made before without executing them
// ([RED-MEMO]), and says of these what they would do.
//
//   if (const auto ahead = cached.look_ahead(move, fingerprint)) …   // nothing has been done
//   cached.make(move, ahead->again);                                // it has
//
// This leaves no move out and takes no states together: it is a cache (move_cache.h).
#pragma once

#include "base/hash.h"
#include "reduce/cache/move_cache.h"
#include "reduce/free_moves/thread_moves.h"
#include "reduce/states/present.h"
#include "reduce/states/state_names.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace heddle::reduce {

/// How to make a move as it was made before.
struct Again {
  const void* of_image = nullptr; // one of the two, or nothing
  const void* of_lane = nullptr;
  std::uint64_t epoch = 0; // 0: nothing
};

/// What a move would do, as far as a search has to know if the state that it leads to is no news.
struct Ahead {
  Hash128 fingerprint; // of that state
  Hash128 unnumbered;  // Stepper::unnumbered() of it
  StepKind taken{};
  std::span<const Change> changes;
  Note* note = nullptr; // the caller's own about what is done; nullptr: there is none
  Again again;
};

class CachedMoves {
public:
  CachedMoves(const StepperParts& parts, Present& present, StateNames& names, ThreadMoves& threads)
      : parts_(parts),
        present_(present),
        names_(names),
        threads_(threads),
        cache_(
            parts.machine.works,
            parts.images,
            parts.machine.journal,
            parts.machine.world.space(),
            parts.independence.accesses(),
            parts.options.dead_data.by_decisions,
            parts.options.mutant
        ) {}

  /// nullopt if the outcome is not cached, or if the move affects more than its cluster and memory.
  /// `now` is the fingerprint.
  std::optional<Ahead> look_ahead(const Move& move, const Hash128& now);
  /// As it was done before, or by executing it; false if it failed. If the cluster runs through,
  /// those behind it that do as well move, too ([RED-THROUGH]).
  bool make(const Move& move, const Again& again);

  /// What is known may not hold any more.
  void forget() { cache_.forget(); }
  /// Changes whenever something is forgotten.
  std::uint64_t epoch() const { return cache_.epoch(); }

private:
  using OfImage = Transitions<Outcome>::Transition;
  using OfLane = Transitions<LaneOutcome>::Transition;
  Ahead ahead_of_lane(const Move& move, const MoveCache::KnownOfLane& known, const Hash128& now);
  bool make_one(const Move& move, const Again& again);
  bool make_known(const Move& move, const OfImage* of_image, const OfLane* of_lane);
  bool execute(const Move& move);

  StepperParts parts_;
  Present& present_;
  StateNames& names_;
  ThreadMoves& threads_;
  MoveCache cache_;
};

} // namespace heddle::reduce

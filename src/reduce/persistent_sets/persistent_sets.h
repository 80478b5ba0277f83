// PersistentSets: the fourth of the four parts of the reductions (spec/reductions.md): which moves
// of a state are made, and stand for all of them (see Godefroid, "Partial-order methods for the
// verification of concurrent systems", 1996). What the host does first is in
// explore/strategy/host_first.h.
//
//   persistent.looks_first(moves);                  // [RED-LOOKS], in each state
//   persistent.starts()                             // of the first moves of a cluster
//
//   std::vector<std::size_t> tried{…};              // numbers of all moves, in any order
//   keep_alone(moves, tried);                       // [RED-SETTLED]
//   alike = keep_few(stepper, moves, tried, left);  // where blocks start at once ([RED-STRAIGHT])
//
// [RED-LAST]: clusters of which only the last ones do something else: each takes a ticket, ends,
// and the last one goes on with what all have left.
//
// In such a state each cluster has one move, which ends it and changes at most one word of memory,
// in the same way whoever makes it, as long as two more are left. So all moves but those of the
// last two commute. Of any three of the clusters at least one is not among the last two, so every
// execution is one that begins with a move of one of these three, up to the order of moves that
// commute. Nothing is assumed of the program: the moves are tried out with every
// value that the word has until two are left.
#pragma once

#include "reduce/free_moves/free_moves.h"
#include "reduce/persistent_sets/cluster_starts.h"
#include "reduce/persistent_sets/early_commands.h"
#include "reduce/persistent_sets/groups.h"
#include "reduce/states/present.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::reduce {

class Stepper;

class PersistentSets {
public:
  PersistentSets(const StepperParts& parts, Present& present, FreeMoves& free)
      : clocks_(parts.independence.operations().clocks()),
        starts_(parts, present, free.choices, free.settling),
        groups_(parts) {}

  /// Of all moves of a state those that are looks at a clock, if there are any.
  void looks_first(std::vector<Move>& moves) { clocks_.looks_first(moves); }
  /// How clusters start.
  ClusterStarts& starts() { return starts_; }
  const ClusterStarts& starts() const { return starts_; }
  /// Where blocks start at once: commands that could as well come later.
  EarlyCommands& early_commands() { return early_commands_; }
  /// … and threads that meet nobody but each other.
  Groups& groups() { return groups_; }
  const Groups& groups() const { return groups_; }

private:
  Clocks& clocks_;
  ClusterStarts starts_;
  EarlyCommands early_commands_;
  Groups groups_;
};

/// `moves` are all that can happen in the present state; the host takes no part. One stands for all
/// if it commutes with everything that others do; if only the last clusters behave differently, any
/// last_ones() of them do; if a warp asks which lanes are active, its moves do; so do those of
/// threads that nobody else meets ([RED-GROUPS]). `left`: what it
/// returned in the state before, less one, if that is more than last_ones(); else 0.
/// Returns how many clusters are left of which only the last ones matter; 0: not known.
std::uint64_t keep_few(
    Stepper& stepper,
    std::span<const Move> moves,
    std::vector<std::size_t>& tried,
    std::uint64_t left
);

/// [RED-SETTLED] With the memory model of PTX: if a thread stands at a read that nothing which
/// others do can change, only its moves are left.
void keep_alone(std::span<const Move> moves, std::vector<std::size_t>& tried);

/// Moves of so many clusters are made where only the last ones matter.
std::uint64_t last_ones(const Stepper& stepper);
/// These are all moves of a state. The number of their clusters, if moves of any last_ones() of
/// them stand for all, as long as there are more; else 0.
std::uint64_t only_last_matters(Stepper& stepper, std::span<const Move> moves);
/// [RED-ACTIVE] Of all moves of a state those by which lanes of one warp learn what activemask
/// names, if that is what all of its lanes are about to do: nobody else can tell.
std::span<const Move> answers_of_one_warp(const Stepper& stepper, std::span<const Move> moves);

} // namespace heddle::reduce

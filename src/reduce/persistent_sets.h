// Which moves of a state stand for all of them (persistent sets, see Godefroid, "Partial-order
// methods for the verification of concurrent systems", 1996). Looks at clocks come before
// (clocks.h); what the host does first is in explore/strategy.
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

#include "reduce/stepper.h"

#include <cstdint>
#include <span>

namespace heddle::reduce {

/// Moves of so many clusters are made where only the last ones matter.
std::uint64_t last_ones(const Stepper& stepper);
/// These are all moves of a state. The number of their clusters, if moves of any last_ones() of
/// them stand for all, as long as there are more; else 0.
std::uint64_t only_last_matters(Stepper& stepper, std::span<const Move> moves);
/// [RED-ACTIVE] Of all moves of a state those by which lanes of one warp learn what activemask
/// names, if that is what all of its lanes are about to do: nobody else can tell.
std::span<const Move> answers_of_one_warp(const Stepper& stepper, std::span<const Move> moves);

} // namespace heddle::reduce

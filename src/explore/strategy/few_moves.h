// Which moves of a state are made: those that stand for all. Where blocks start at once (plan.h):
//
//   std::vector<std::size_t> tried{…};                 // numbers of all moves, in any order
//   node.alike = keep_few(stepper, moves, tried, left); // some are gone
//
// One move stands for all if it commutes with everything that others do. If only the last clusters
// behave differently, any reduce::last_ones() of them stand for all. If a warp asks which lanes
// are active, its moves do (reduce/persistent_sets.h).
#pragma once

#include "reduce/stepper.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heddle::explore {

/// `moves` are all that can happen in the present state; the host takes no part. `left`: what it
/// returned in the state before, less one, if that is more than reduce::last_ones(); else 0.
/// Returns how many clusters are left of which only the last ones matter; 0: not known.
std::uint64_t keep_few(
    reduce::Stepper& stepper,
    std::span<const reduce::Stepper::Move> moves,
    std::vector<std::size_t>& tried,
    std::uint64_t left
);

/// [RED-SETTLED] With the memory model of PTX: if a thread stands at a read that nothing which
/// others do can change, only its moves are left.
void keep_alone(std::span<const reduce::Stepper::Move> moves, std::vector<std::size_t>& tried);

} // namespace heddle::explore

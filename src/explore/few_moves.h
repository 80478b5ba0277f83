// Which moves of a state are made where blocks start at once (plan.h): those that stand for all.
//
//   std::vector<std::size_t> tried{…};                 // numbers of all moves, in any order
//   node.alike = keep_few(stepper, moves, tried, left); // some are gone
//
// A move that commutes with all that others do stands for all. Of clusters of which only the last
// one does something else two do, and of a warp that asks who is active its moves
// (machine/stepper_last.cpp).
#pragma once

#include "machine/stepper.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heddle::explore {

/// `moves` are all that can happen in the present state; the host takes no part. `left`: what it
/// returned in the state before, less one, if that is more than 2; else 0. Returns how many
/// clusters are left of which only the last one matters; 0: not known.
std::uint64_t keep_few(
    machine::Stepper& stepper,
    std::span<const machine::Stepper::Move> moves,
    std::vector<std::size_t>& tried,
    std::uint64_t left
);

} // namespace heddle::explore

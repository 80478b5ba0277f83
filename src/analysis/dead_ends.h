// Dead ends: places of a function from which no path leads to its end, and the reads that decide
// whether a thread gets there.
//
//   for (std::uint32_t i : reads_before_dead_ends(function, cfg)) …  // instructions, ascending
//   for (std::uint32_t i : stores_like(function, reads)) …  // stores to what these may read
//
// A loop without an exit is what a compiler makes of `while (flag == 0) {}` if `flag` is neither
// atomic nor volatile: one read, and then forever or not at all. Which of the two is decided by
// when that one read happens.
//
// May name too many reads (registers are followed wherever they are written), and misses those
// whose value goes through memory or through a call.
#pragma once

#include "analysis/cfg.h"
#include "ptx/module.h"

#include <cstdint>
#include <vector>

namespace heddle::analysis {

std::vector<std::uint32_t> reads_before_dead_ends(const ptx::Function& function, const Cfg& cfg);

/// Stores to the same space of as many bytes as one of those reads.
std::vector<std::uint32_t>
stores_like(const ptx::Function& function, const std::vector<std::uint32_t>& reads);

} // namespace heddle::analysis

// What wgmma.mma_async is carried out by, and what it reads: for blocks and monitors.
#pragma once

#include "isa/exec.h"

#include <vector>

namespace heddle::isa {

inline constexpr std::uint32_t warpgroup_warps = 4;
inline constexpr std::uint32_t wgmma_unit = 16; // bytes that lie together in shared memory

/// Offsets in the block's shared memory of all units that the warpgroup reads: of A the rows of
/// each warp, then of B. `op` is a wgmma.mma_async at which the executing warp stands, all lanes
/// with the same descriptors.
std::vector<std::uint64_t> wgmma_reads(const Exec& exec, const Op& op);

} // namespace heddle::isa

// What wgmma.mma_async reads, for monitors.
#pragma once

#include "isa/exec.h"

#include <vector>

namespace heddle::isa {

inline constexpr std::uint32_t wgmma_unit = 16; // bytes that lie together in shared memory

/// Offsets in the block's shared memory of all units that the executing warp reads; `op` is a
/// wgmma.mma_async at which it stands, all lanes with the same descriptors.
std::vector<std::uint64_t> wgmma_reads(const Exec& exec, const Op& op);

} // namespace heddle::isa

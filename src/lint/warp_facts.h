// warp_facts.h: what all lanes of a warp, or all blocks of a cluster, have alike although it comes
// from their own index.
//
//   (blockIdx.x * blockDim.x + threadIdx.x) / 32      // the number of the warp
//   for (d = 16; d > 0; d /= 2) v += __shfl_xor_sync(mask, v, d)
//
// The first two are for advice about masks only: that blockDim.x is a multiple of 32, that offsets
// are, and that an exchange by xor goes through all lanes, is assumed. It may miss findings.
#pragma once

#include "lint/uniformity.h"

namespace heddle::lint {

/// Does this computation leave of a thread's index only the number of its warp?
bool drops_lane(const Uniformity& uniformity, ValueId id);

/// Is this a comparison of a thread's index with a multiple of 32, which each warp makes alike?
///   if (threadIdx.x < warps * 32)
bool compares_whole_warps(const Uniformity& uniformity, ValueId id);

/// How many neighbouring lanes hold the same value: 8 for `threadIdx.x / 8`; a power of two, at
/// most
/// 32. What lanes load from the same place is taken to be the same.
unsigned alike_lanes(const Uniformity& uniformity, ValueId id);

/// threadIdx.y and threadIdx.z: rows are taken to be whole warps, unless their length is known.
bool numbers_row(const LaunchFacts& facts, Symbol symbol);

/// threadIdx.x % 32 and the like: the lane, whatever the warp.
bool keeps_lane(const Uniformity& uniformity, ValueId id);

/// x + shfl_xor(x) and the like; the value x, or no_value.
ValueId exchanged_by_xor(const Dataflow& flow, ValueId id);

/// x = __shfl_sync(mask, x, 0): stores what the same place holds, if all lanes read the same there.
bool writes_back(const Dataflow& flow, ValueId store);

/// blockIdx.x / 4: taken to be the number of the cluster. blockIdx.x < 12 in clusters of six.
bool numbers_cluster(const Dataflow& flow, const LaunchFacts& facts, ValueId id);

} // namespace heddle::lint

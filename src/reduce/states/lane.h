// What can be asked of one lane by itself: where it is, and in which state.
#pragma once

#include "base/hash.h"
#include "machine/live_state.h"
#include "model/move.h"
#include "reduce/independence/operation.h"
#include "reduce/states/work.h"
#include "weak/weak_memory.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace heddle::reduce {

/// The lane in a mask of lanes, and in arrays of them.
inline isa::LaneMask bit(int lane) {
  return isa::LaneMask{1} << lane;
}
inline std::size_t slot(int lane) {
  return static_cast<std::size_t>(lane);
}

Block::WarpState& warp_state(const Lane& at);

/// Does it stand at an instruction that others can see, and whose guard holds?
bool stands_at_visible(const Lane& at);

std::uint32_t number_in_cluster(const Lane& at);
std::uint32_t threads_of(Cluster& cluster);

/// The block of the cluster, and the offset there, of a shared address: generic, within one's own
/// block, or with the rank of a block from 1. None: there are no such bytes.
std::optional<std::pair<std::size_t, std::uint64_t>>
shared_place(const Lane& at, std::uint64_t address, std::size_t bytes);

/// For recognising that a thread loops; without what others may change.
Hash128 lane_state(LiveState& live, const Lane& at);
/// The same, and who it is where it can still ask: what it does next depends on nothing else but
/// memory.
Hash128 lane_by_itself(LiveState& live, const Lane& at);

/// Which one of its cluster's threads makes the move.
std::size_t thread_of(const Work& work, const Move& move);
std::size_t warps_of(const Lane& at); // … of its block

inline constexpr unsigned weak_thread_bits = 24;
/// What lane 0 of the warp is called with ModelOptions::weak; the others follow it.
weak::Thread weak_thread(const Lane& at);

} // namespace heddle::reduce

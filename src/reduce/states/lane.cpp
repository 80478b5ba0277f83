#include "reduce/states/lane.h"

#include "memory/address_space.h"
#include "model/image_bytes.h"

#include <cstring>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;

Block::WarpState& warp_state(const Lane& at) {
  return at.work->clusters[at.cluster]->block(at.block).warps()[at.warp];
}

bool stands_at_visible(const Lane& at) {
  const isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  const Op& op = *warp.pc[index];
  if ((op.flags & isa::Visible) == 0) {
    return false;
  }
  if ((op.flags & isa::Guarded) != 0) {
    LaneMask guard = 0;
    std::memcpy(&guard, warp.frame[index]->registers.data() + op.guard.offset(), sizeof guard);
    return (((op.guard_negated ? ~guard : guard) >> at.lane) & 1) != 0;
  }
  return true;
}

std::uint32_t number_in_cluster(const Lane& at) {
  Cluster& cluster = *at.work->clusters[at.cluster];
  const std::size_t warps = cluster.block(at.block).warps().size();
  return static_cast<std::uint32_t>(
      (at.block * warps + at.warp) * isa::warp_size + static_cast<std::size_t>(at.lane)
  );
}

std::uint32_t threads_of(Cluster& cluster) {
  return static_cast<std::uint32_t>(
      cluster.size() * cluster.block(0).warps().size() * isa::warp_size
  );
}

std::optional<std::pair<std::size_t, std::uint64_t>>
shared_place(const Lane& at, std::uint64_t address, std::size_t bytes) {
  const std::uint64_t shared = address - memory::shared_window < memory::window_size
                                   ? address - memory::shared_window
                                   : address & 0xffff'ffffU;
  const std::uint64_t rank = shared >> memory::shared_rank_shift;
  const std::size_t owner = rank == 0 ? at.block : rank - 1;
  const std::uint64_t offset = shared & ((1ULL << memory::shared_rank_shift) - 1);
  Cluster& cluster = *at.work->clusters[at.cluster];
  if (owner >= cluster.size() || offset + bytes > cluster.block(owner).shared_bytes()) {
    return std::nullopt;
  }
  return std::pair{owner, offset};
}

Hash128 lane_state(LiveState& live, const Lane& at) {
  std::vector<std::byte> bytes;
  ImageWriter writer(bytes);
  const auto& loops = at.work->progress[at.cluster].loops[at.block][at.warp];
  writer.lane(live, warp_state(at).warp, at.lane, loops);
  return hash_of(bytes.data(), bytes.size());
}

Hash128 lane_by_itself(LiveState& live, const Lane& at) {
  constexpr int asks = LiveState::Thread | LiveState::Place | LiveState::Block;
  const Hash128 state = lane_state(live, at);
  const bool tells = (identity_of(live, warp_state(at).warp, at.lane) & asks) != 0;
  return combine(
      state.low,
      state.high,
      at.work->identity,
      tells ? std::uint64_t{at.cluster} << 32 | (number_in_cluster(at) + 1) : 0
  );
}

std::size_t thread_of(const Work& work, const Move& move) {
  const std::size_t warps = work.clusters[move.cluster]->block(0).warps().size();
  return (move.block * warps + move.warp) * isa::warp_size + static_cast<std::size_t>(move.lane);
}

std::size_t warps_of(const Lane& at) {
  return at.work->clusters[at.cluster]->block(at.block).warps().size();
}

weak::Thread weak_thread(const Lane& at) {
  const Cluster& cluster = *at.work->clusters[at.cluster];
  const std::uint64_t block = at.cluster * cluster.size() + at.block;
  const std::uint64_t warp = block * warps_of(at) + at.warp;
  return at.work->identity << weak_thread_bits | warp * isa::warp_size;
}

} // namespace heddle::reduce

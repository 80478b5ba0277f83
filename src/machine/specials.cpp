// The special registers that are fixed for a thread (PTX ISA 9.0, chapter "Special Registers"):
// written once per block object what all blocks of the grid share, and at each start what is the
// block's own.
#include "machine/block.h"

#include <algorithm>

namespace heddle::machine {

using S = isa::SpecialLayout;

void Block::set_special(std::size_t warp, std::uint32_t which, std::uint32_t value) {
  auto* values =
      reinterpret_cast<std::uint32_t*>(specials_.data() + warp * S::bytes + S::offset(which));
  if (values[0] != value) { // all lanes have the same
    std::fill_n(values, isa::warp_size, value);
  }
}

void Block::write_grid_specials() {
  const LaunchConfig& config = grid_.config();
  const DeviceModel& model = grid_.services().model();
  const Dim3 clusters = grid_.clusters();
  const auto total = static_cast<std::uint32_t>(grid_.shared_bytes());
  const memory::Address workspace = grid_.cooperative_workspace();
  const std::pair<std::uint32_t, std::uint32_t> uniform[] = {
      {S::NtidX, config.block.x},
      {S::NtidY, config.block.y},
      {S::NtidZ, config.block.z},
      {S::NctaidX, config.grid.x},
      {S::NctaidY, config.grid.y},
      {S::NctaidZ, config.grid.z},
      {S::NwarpId, model.threads_per_multiprocessor / isa::warp_size},
      {S::NsmId, model.multiprocessors},
      {S::NclusterIdX, clusters.x},
      {S::NclusterIdY, clusters.y},
      {S::NclusterIdZ, clusters.z},
      {S::ClusterNctaidX, config.cluster.x},
      {S::ClusterNctaidY, config.cluster.y},
      {S::ClusterNctaidZ, config.cluster.z},
      {S::ClusterNctarank, static_cast<std::uint32_t>(config.cluster.count())},
      {S::IsExplicitCluster, config.explicit_cluster ? isa::all_lanes : 0},
      {S::DynamicSmemSize, config.dynamic_shared},
      {S::TotalSmemSize, total},
      {S::AggrSmemSize, total + model.reserved_shared_per_block},
      {S::Envreg0, 0},
      {S::Envreg1, static_cast<std::uint32_t>(workspace >> 32)},
      {S::Envreg2, static_cast<std::uint32_t>(workspace)},
      {S::ReservedSmemOffset0, memory::reserved_shared_offset},
      {S::ReservedSmemOffset1, memory::reserved_shared_offset},
      {S::GridIdLo, static_cast<std::uint32_t>(grid_.id())},
      {S::GridIdHi, static_cast<std::uint32_t>(grid_.id() >> 32)},
  };
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    for (const auto& [which, value] : uniform) {
      set_special(w, which, value);
    }
    set_special(w, S::WarpId, static_cast<std::uint32_t>(w));
    auto* values = reinterpret_cast<std::uint32_t*>(specials_.data() + w * S::bytes);
    for (int lane = 0; lane < isa::warp_size; ++lane) {
      const auto set = [&](std::uint32_t which, std::uint32_t value) {
        values[which * isa::warp_size + static_cast<std::uint32_t>(lane)] = value;
      };
      const Dim3 tid = thread_index(w, lane);
      const isa::LaneMask own = isa::LaneMask{1} << lane;
      set(S::TidX, tid.x);
      set(S::TidY, tid.y);
      set(S::TidZ, tid.z);
      set(S::LaneId, static_cast<std::uint32_t>(lane));
      set(S::LanemaskEq, own);
      set(S::LanemaskLt, own - 1);
      set(S::LanemaskLe, own | (own - 1));
      set(S::LanemaskGt, ~(own | (own - 1)));
      set(S::LanemaskGe, ~(own - 1));
    }
  }
}

/// Of the first warps.
void Block::write_block_specials(std::uint64_t cluster_index, std::size_t warps) {
  const Dim3& cluster = grid_.config().cluster;
  const Dim3 in_cluster =
      rank_ == 0
          ? Dim3{0, 0, 0}
          : Dim3{rank_ % cluster.x, rank_ / cluster.x % cluster.y, rank_ / cluster.x / cluster.y};
  const Dim3 of_cluster =
      cluster.count() == 1 ? index_
                           : Dim3{index_.x / cluster.x, index_.y / cluster.y, index_.z / cluster.z};
  const std::pair<std::uint32_t, std::uint32_t> own[] = {
      {S::CtaidX, index_.x},
      {S::CtaidY, index_.y},
      {S::CtaidZ, index_.z},
      {S::SmId,
       static_cast<std::uint32_t>(cluster_index % grid_.services().model().multiprocessors)},
      {S::ClusterIdX, of_cluster.x},
      {S::ClusterIdY, of_cluster.y},
      {S::ClusterIdZ, of_cluster.z},
      {S::ClusterCtaidX, in_cluster.x},
      {S::ClusterCtaidY, in_cluster.y},
      {S::ClusterCtaidZ, in_cluster.z},
      {S::ClusterCtarank, rank_},
  };
  for (std::size_t w = 0; w < warps; ++w) {
    for (const auto& [which, value] : own) {
      set_special(w, which, value);
    }
  }
}

} // namespace heddle::machine

// ClusterMoves: what the threads, or warps, of a cluster can do next: the moves of its image.
//
//   images.intern(work, cluster, cluster_moves);
#pragma once

#include "reduce/free_moves/lane_choices.h"
#include "reduce/free_moves/warp_settling.h"
#include "reduce/states/images.h"

#include <span>
#include <vector>

namespace heddle::reduce {

class ClusterMoves final : public MoveFinder {
public:
  ClusterMoves(const StepperParts& parts, LaneChoices& choices, WarpSettling& warps)
      : parts_(parts),
        choices_(choices),
        warps_(warps) {}
  /// `turns`: by thread, which of the moves is one of its.
  void find_moves(
      Work& work,
      std::size_t cluster,
      Image& image,
      std::vector<std::size_t>& turns
  ) override;
  void find_warp_moves(
      Work& work,
      std::size_t cluster,
      Image& image,
      std::span<const Hash128> lanes
  ) override;

private:
  StepperParts parts_;
  LaneChoices& choices_;
  WarpSettling& warps_;
};

} // namespace heddle::reduce

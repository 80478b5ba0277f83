#include "reduce/states/move_names.h"

#include <fmt/format.h>

namespace heddle::reduce {

std::string MoveNames::kernel(const Move& move) const {
  const Work& work = *works_[move.work];
  if (!work.kernel()) {
    return work.command->label;
  }
  return fmt::format("kernel '{}'{}", work.command->grid->describe(), work.command->which);
}

std::string MoveNames::cluster(const Move& move) const {
  const Work& work = *works_[move.work];
  return !move.thread || work.cooperative()
             ? kernel(move)
             : fmt::format("cluster {} of {}", move.cluster, kernel(move));
}

std::string MoveNames::thread(const Move& move) const {
  Block& block = works_[move.work]->clusters[move.cluster]->block(move.block);
  const Dim3 t = block.thread_index(move.warp, move.lane);
  const Dim3 b = block.index();
  return fmt::format("thread ({},{},{}) of block ({},{},{})", t.x, t.y, t.z, b.x, b.y, b.z);
}

std::string MoveNames::actor(const Move& move) const {
  if (!by_warps_) {
    return thread(move);
  }
  const Dim3 b = works_[move.work]->clusters[move.cluster]->block(move.block).index();
  return fmt::format("warp {} of block ({},{},{})", move.warp, b.x, b.y, b.z);
}

std::pair<std::uint64_t, std::uint64_t> MoveNames::id(const Move& move) const {
  const Work& work = *works_[move.work];
  if (!move.thread) {
    return {work.command->id, ~0ULL};
  }
  const std::uint64_t warps = work.clusters[move.cluster]->block(0).warps().size();
  const std::uint64_t block = move.cluster * work.clusters[move.cluster]->size() + move.block;
  return {
      work.command->id,
      (block * warps + move.warp) * isa::warp_size +
          (by_warps_ ? 0 : static_cast<std::uint64_t>(move.lane))
  };
}

} // namespace heddle::reduce

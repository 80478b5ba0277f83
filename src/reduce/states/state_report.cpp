#include "reduce/states/state_report.h"

#include <bit>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;

std::vector<LeftBehind> StateReport::left_behind() const {
  std::vector<LeftBehind> result;
  for (std::size_t n = 0; n < parts_.machine.works.size(); ++n) {
    for (std::size_t c = 0; c < parts_.machine.works[n]->images.size(); ++c) {
      const Image* image = parts_.machine.works[n]->images[c];
      for (std::size_t i = 0; image != nullptr && image->made && i < image->left.size(); ++i) {
        const Image::Left& left = image->left[i];
        Move move{.work = n, .thread = true, .cluster = c, .block = left.block, .warp = left.warp};
        move.lane = std::countr_zero(left.behind.lanes);
        result.push_back({move, left.behind});
      }
    }
  }
  return result;
}

std::vector<Wait> StateReport::waits() {
  std::vector<Wait> result;
  for (std::size_t n = 0; n < parts_.machine.works.size(); ++n) {
    for (std::size_t c = 0; c < parts_.machine.works[n]->images.size(); ++c) {
      if (parts_.machine.works[n]->images[c] == nullptr) {
        continue; // it failed before it came to anything
      }
      present_.load(*parts_.machine.works[n], c);
      Cluster& cluster = *parts_.machine.works[n]->clusters[c];
      for (std::size_t b = 0; b < cluster.size(); ++b) {
        for (std::size_t w = 0; w < cluster.block(b).warps().size(); ++w) {
          const Block::WarpState& state = cluster.block(b).warps()[w];
          for (LaneMask m = state.warp.live & state.warp.blocked; m != 0; m &= m - 1) {
            Move move{.work = n, .thread = true, .cluster = c, .block = b, .warp = w};
            move.lane = std::countr_zero(m);
            add_wait(state, move, result);
          }
        }
      }
    }
  }
  return result;
}

void StateReport::add_wait(
    const Block::WarpState& state,
    const Move& move,
    std::vector<Wait>& result
) {
  const auto lane = static_cast<std::size_t>(move.lane);
  const Op* op = state.warp.pc[lane] - 1; // it goes on behind what it waits at
  for (Wait& known : result) {
    if (known.op == op && known.first.work == move.work) {
      ++known.threads;
      return;
    }
  }
  const WaitKind kind = Block::wait_of(state, move.lane);
  result.push_back({
      .first = move,
      .threads = 1,
      .op = op,
      .code = state.warp.frame[lane]->code,
      .what = kind == WaitKind::Collective       ? "waits for other lanes of its warp"
              : kind == WaitKind::ClusterBarrier ? "waits at the barrier of the cluster"
              : kind == WaitKind::Grids          ? "waits for the grids before its own"
                                                 : "waits at a barrier of the block",
  });
}

} // namespace heddle::reduce

// What can be told of a stepper's state: names and places for reports.
#include "reduce/stepper_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;

// --- Reports -------------------------------------------------------------------------------------

void Stepper::collect_accesses(MemoryJournal::Accesses* all) {
  move_cache_.forget();
  journal_.collect(all);
}
std::vector<Stepper::LeftBehind> Stepper::left_behind() const {
  std::vector<LeftBehind> result;
  for (std::size_t n = 0; n < works_.size(); ++n) {
    for (std::size_t c = 0; c < works_[n]->images.size(); ++c) {
      const Image* image = works_[n]->images[c];
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
std::vector<Stepper::Wait> Stepper::waits() {
  std::vector<Wait> result;
  for (std::size_t n = 0; n < works_.size(); ++n) {
    for (std::size_t c = 0; c < works_[n]->images.size(); ++c) {
      if (works_[n]->images[c] == nullptr) {
        continue; // it failed before it came to anything
      }
      load(*works_[n], c);
      Cluster& cluster = *works_[n]->clusters[c];
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
void Stepper::add_wait(
    const Block::WarpState& state,
    const Move& move,
    std::vector<Wait>& result
) const {
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

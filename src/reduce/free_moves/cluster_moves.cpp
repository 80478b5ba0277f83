// Implements cluster_moves.h.
#include "reduce/free_moves/cluster_moves.h"

#include "reduce/states/stepper_work.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>

namespace heddle::reduce {

using isa::LaneMask;

void ClusterMoves::find_moves(
    Work& work,
    std::size_t c,
    Image& image,
    std::vector<std::size_t>& turns
) {
  Cluster& cluster = *work.clusters[c];
  std::size_t first = 0; // thread of the warp
  // With weak memory no threads are alike, so each first step of a cluster would be a move. Of
  // those that are free once it is made, one stands for all ([RED-START]).
  const bool one_starts = parts_.weak && !image.made && !image.joins_are_moves &&
                          parts_.options.independence.eager &&
                          parts_.options.model.progress != ProgressModel::Hsa;
  std::optional<std::size_t> starting; // its move
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    Block& block = cluster.block(b);
    for (std::size_t w = 0; w < block.warps().size(); ++w, first += isa::warp_size) {
      const isa::Warp& warp = block.warps()[w].warp;
      for (LaneMask m = warp.live & ~warp.blocked; m != 0; m &= m - 1) {
        const Lane at{&work, c, b, w, std::countr_zero(m)};
        const ThreadClass who = image.threads[first + slot(at.lane)];
        const auto like = std::ranges::find(image.ready, who, &Image::Ready::who);
        if (parts_.options.renaming.symmetry && like != image.ready.end()) {
          for (auto same = like; same != image.ready.end() && same->who == who; ++same) {
            ++same->count;
          }
          turns[first + slot(at.lane)] = static_cast<std::size_t>(like - image.ready.begin());
          continue;
        }
        // Whoever stands at an aligned barrier may go on when another one leaves its warp.
        if (choices_.waits_for_warp(at) || choices_.waits_for_phase(at)) {
          image.by_thread = false;
          continue;
        }
        Image::Ready ready;
        ready.block = static_cast<std::uint32_t>(b);
        ready.warp = static_cast<std::uint32_t>(w);
        ready.lane = at.lane;
        ready.endless = (work.progress[c].loops[b][w].endless & bit(at.lane)) != 0;
        ready.operation = ready.endless ? choices_.loop_operation(at)
                                        : parts_.independence.operations().classify(at);
        const bool starts = one_starts && !ready.endless &&
                            (choices_.waiting(at) & bit(at.lane)) == 0 &&
                            (ready.operation.is_free_step(parts_.options.independence.turns) ||
                             parts_.mutant_is(Mutant::OneStartsForAll));
        turns[first + slot(at.lane)] = starts && starting ? *starting : image.ready.size();
        if (starts && starting) {
          continue;
        }
        starting = starts ? image.ready.size() : starting;
        ready.op = warp.pc[slot(at.lane)];
        ready.code = warp.frame[slot(at.lane)]->code;
        image.by_thread = image.by_thread && ready.operation.kind != OperationKind::Aligned &&
                          !asks_for_active(*ready.code, *ready.op);
        ready.who = who;
        if (parts_.weak && !ready.endless && ready.operation.kind == OperationKind::Access) {
          if (const auto next = parts_.weak->next(at)) {
            ready.weak_next = std::make_shared<const WeakNext>(*next);
          }
        }
        if (!ready.endless && ready.operation.kind == OperationKind::Clock) {
          image.by_thread = false; // two moves of one thread
          if (parts_.independence.operations().clocks().is_last_step(at)) {
            ready.time = Time::Soon;
          } else {
            parts_.seen.left_out_looks |=
                !image.add_soon(ready, work.progress[c].loops[b][w].soon[slot(at.lane)]);
          }
        }
        // Together with others the answer of activemask is another one.
        const std::vector<LaneMask> sets = choices_.active_with(at);
        const bool all = sets.size() == 1 && std::popcount(sets.front()) > LaneChoices::few_active;
        parts_.seen.left_out_active = parts_.seen.left_out_active || all;
        if (!all || std::countr_zero(sets.front()) == at.lane) {
          image.ready.push_back(ready);
        }
        for (const LaneMask with : sets) {
          ready.lanes = with;
          image.ready.push_back(ready);
        }
      }
    }
  }
}

void ClusterMoves::find_warp_moves(
    Work& work,
    std::size_t c,
    Image& image,
    std::span<const Hash128> lanes
) {
  Cluster& cluster = *work.clusters[c];
  std::size_t number = 0;
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    Block& block = cluster.block(b);
    const std::span<const Hash128> like = lanes.first(block.warps().size() * isa::warp_size);
    lanes = lanes.subspan(like.size());
    parts_.machine.exec.enter_block(block.exec_block());
    for (std::size_t w = 0; w < block.warps().size(); ++w, ++number) {
      Lane at{&work, c, b, w, 0};
      for (const WarpRules::Behind& behind : warps_.rules(at).behind(w)) {
        image.left.push_back(
            {static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(w), behind}
        );
      }
      const WarpRules::Next next = warps_.rules(at).next(parts_.machine.exec, w);
      if (next.lanes == 0) {
        continue;
      }
      at.lane = std::countr_zero(next.lanes);
      const ThreadClass who = image.threads[number];
      if (parts_.options.renaming.symmetry &&
          std::ranges::find(image.ready, who, &Image::Ready::who) != image.ready.end()) {
        for (Image::Ready& known : image.ready) {
          known.count += known.who == who ? 1 : 0;
        }
        continue;
      }
      Image::Ready ready;
      ready.block = static_cast<std::uint32_t>(b);
      ready.warp = static_cast<std::uint32_t>(w);
      ready.lane = at.lane;
      ready.lanes = next.lanes;
      ready.endless = (work.progress[c].loops[b][w].endless & next.lanes) != 0;
      const LaneMask acts = warps_.acting(at, next);
      ready.operation = ready.endless ? choices_.loop_operation(at)
                                      : warps_.classify(at, acts != 0 ? acts : next.lanes);
      ready.op = next.op;
      ready.code = next.code;
      ready.who = who;
      const std::vector<WarpRules::Pick> open =
          ready.endless ? std::vector<WarpRules::Pick>() : warps_.open_choices(at, next, like);
      for (const WarpRules::Pick& pick : open) {
        image.picks.push_back(pick);
        ready.pick = static_cast<std::uint32_t>(image.picks.size());
        image.ready.push_back(ready);
      }
      if (open.empty()) {
        if (!ready.endless && ready.operation.kind == OperationKind::Clock) {
          parts_.seen.left_out_looks |=
              !image.add_soon(ready, work.progress[c].loops[b][w].soon[slot(at.lane)]);
        }
        image.ready.push_back(ready);
      }
    }
  }
}

} // namespace heddle::reduce

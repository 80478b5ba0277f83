// What the threads of a cluster can do next: the moves of its image.
#include "reduce/lane.h"
#include "reduce/stepper_work.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace heddle::reduce {

using isa::LaneMask;

/// What a thread in a loop that has no choices does in it.
Operation Stepper::loop_operation(const Lane& at) const {
  const auto& loops = at.work->progress[at.cluster].loops[at.block][at.warp];
  Operation result{OperationKind::Access, StepKind::None, "a loop without a step"};
  if ((loops.stepping & bit(at.lane)) != 0) {
    result.step = StepKind::Sync;
    result.what = "a loop that no other thread ends";
  } else if ((loops.local & bit(at.lane)) != 0) {
    result.what = "a loop that accesses only local variables";
  } else if ((loops.sleeping & bit(at.lane)) != 0) {
    result.what = "a loop that only sleeps";
  }
  return result;
}

/// `turns`: by thread, which of the moves is one of its.
void Stepper::find_moves(Work& work, std::size_t c, Image& image, std::vector<std::size_t>& turns) {
  Cluster& cluster = *work.clusters[c];
  std::size_t first = 0; // thread of the warp
  // With weak memory no threads are alike, so each first step of a cluster would be a move. Of
  // those that are free once it is made, one stands for all ([RED-START]).
  const bool one_starts = weak_ && !image.made && !image.joins_are_moves && options_.eager &&
                          options_.progress != ProgressModel::Hsa;
  std::optional<std::size_t> starting; // its move
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    Block& block = cluster.block(b);
    for (std::size_t w = 0; w < block.warps().size(); ++w, first += isa::warp_size) {
      const isa::Warp& warp = block.warps()[w].warp;
      for (LaneMask m = warp.live & ~warp.blocked; m != 0; m &= m - 1) {
        const Lane at{&work, c, b, w, std::countr_zero(m)};
        const ThreadClass who = image.threads[first + slot(at.lane)];
        const auto like = std::ranges::find(image.ready, who, &Image::Ready::who);
        if (options_.symmetry && like != image.ready.end()) {
          for (auto same = like; same != image.ready.end() && same->who == who; ++same) {
            ++same->count;
          }
          turns[first + slot(at.lane)] = static_cast<std::size_t>(like - image.ready.begin());
          continue;
        }
        // Whoever stands at an aligned barrier may go on when another one leaves its warp.
        if (waits_for_warp(at) || waits_for_phase(at)) {
          image.by_thread = false;
          continue;
        }
        Image::Ready ready;
        ready.block = static_cast<std::uint32_t>(b);
        ready.warp = static_cast<std::uint32_t>(w);
        ready.lane = at.lane;
        ready.endless = (work.progress[c].loops[b][w].endless & bit(at.lane)) != 0;
        ready.operation = ready.endless ? loop_operation(at) : classify(at);
        const bool starts =
            one_starts && !ready.endless && (waiting(at) & bit(at.lane)) == 0 &&
            (ready.operation.is_free_step(options_.turns) || mutant_is(Mutant::OneStartsForAll));
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
        if (weak_ && !ready.endless && ready.operation.kind == OperationKind::Access) {
          if (const auto next = weak_next(at)) {
            ready.weak_next = std::make_shared<const WeakNext>(*next);
          }
        }
        if (!ready.endless && ready.operation.kind == OperationKind::Clock) {
          image.by_thread = false; // two moves of one thread
          if (operations_.clocks().is_last_step(at)) {
            ready.time = Time::Soon;
          } else {
            seen_.left_out_looks |=
                !image.add_soon(ready, work.progress[c].loops[b][w].soon[slot(at.lane)]);
          }
        }
        // Together with others the answer of activemask is another one.
        const std::vector<LaneMask> sets = active_with(at);
        const bool all = sets.size() == 1 && std::popcount(sets.front()) > few_active;
        seen_.left_out_active = seen_.left_out_active || all;
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

} // namespace heddle::reduce

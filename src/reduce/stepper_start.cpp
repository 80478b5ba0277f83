// Implements the part of stepper.h that is about how clusters start. Nobody is obliged to take the
// first step of a cluster, so each thread's is a move of its own; but if what all of them come to
// first commutes with every move of others, it makes no difference which of them it is. (Where that
// is true of some threads only, see find_moves.) Clusters that run through from there to their end,
// so that nobody ever can tell which of them have started, all start together.
//
// To know that, the threads of a cluster that becomes ready are tried out, then everything is taken
// back. May be wrong: as with all plain accesses, of a program with a data race on what they read
// before their first step not every interleaving is explored.
#include "reduce/stepper_work.h"

#include <bit>

namespace heddle::reduce {

using isa::LaneMask;

/// Lets each thread run until right before its first step; true if all of these commute
/// ([RED-START]).
bool Stepper::first_steps_are_joins(Work& work, std::size_t c) {
  Cluster& cluster = *work.clusters[c];
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    for (std::size_t w = 0; w < cluster.block(b).warps().size(); ++w) {
      const isa::Warp& warp = cluster.block(b).warps()[w].warp;
      if (!settling_.settle_lanes({&work, c, b, w, 0})) {
        return false;
      }
      for (LaneMask m = warp.live; m != 0; m &= m - 1) {
        const Lane at{&work, c, b, w, std::countr_zero(m)};
        if (!choices_.is_choice(at)) {
          return false; // it loops
        }
        const Operation first = operations_.classify(at);
        if (mutant_is(Mutant::EagerStartsByAnything)) {
          continue;
        }
        if (!first.is_free_step(options_.independence.turns)) {
          return false; // what it does is a choice, or others may take the cluster's first step
        }
      }
    }
  }
  return true;
}

void Stepper::find_start(Work& work, std::size_t c) {
  if (!options_.independence.eager || options_.model.progress == ProgressModel::Hsa ||
      work.images[c]->ready.empty()) {
    return;
  }
  const Mark here = mark();
  if (weak_) {
    weak_->order().keep();
  }
  under_way_.bundling = under_way_.tried = true;
  const bool alike = by_warps() || first_steps_are_joins(work, c);
  under_way_.bundling = false;
  if (alike) {
    work.starts[c] = by_warps() ? Start::Free : Start::Alike;
    work.progress[c].made = true;
    settling_.settle(work, c);
    note_doubts(work, c);
    Cluster& cluster = *work.clusters[c];
    bool ended = !under_way_.failure && !(weak_ && weak_->order().made_unchosen());
    for (std::size_t b = 0; b < cluster.size(); ++b) {
      ended = ended && cluster.block(b).ended();
    }
    if (ended || mutant_is(Mutant::ThroughUnended)) {
      work.starts[c] = Start::Through;
    }
  }
  under_way_.tried = false;
  absorb_writes(work, c);
  work.loaded[c] = nullptr;
  undo_to(here);
}

/// `known` has the starts of clusters with the same memory.
void Stepper::find_start(Work& work, std::size_t c, Starts& known) {
  const Image* image = work.images[c];
  const auto [start, is_new] = known.try_emplace(image, Start::Free);
  if (is_new && !under_way_.failure) {
    find_start(work, c);
    start->second = work.starts[c];
  }
  work.starts[c] = start->second;
  if (work.passed && !runs_through(work, c) && !image->ended &&
      !mutant_is(Mutant::HostFirstForgetsLasting)) {
    seen_.lasting |= Works::lasting_bit(work);
  }
}

/// Not if it would end at once: others may be submitted yet that are under way at the same time
/// (sums.h).
void Stepper::start_at_once(std::size_t n, std::size_t c) {
  Work& work = *works_[n];
  const Mark here = mark();
  const std::size_t made_before = access_monitor_.made().size();
  load(work, c);
  work.progress[c].made = true;
  settling_.settle(work, c);
  capture(n, c);
  meet_open_since(n, made_before);
  if (!under_way_.failure && work.images[c]->ended) {
    undo_to(here);
    work.loaded[c] = nullptr;
  }
}

/// Does the move start its cluster, and everything like it in its grid ([RED-THROUGH])?
bool Stepper::runs_through(const Work& work, std::size_t c) {
  const Image& image = *work.images[c];
  return !image.made && !image.ended && work.starts[c] == Start::Through;
}

/// The move and, if its cluster runs through, those of the clusters behind it that do as well.
bool Stepper::move_all(const Move& move, const Again& again) {
  const Work& work = *works_[move.work];
  if (!runs_through(work, move.cluster)) {
    return move_thread(move, again);
  }
  Move next = move;
  for (; next.cluster < work.images.size(); ++next.cluster) {
    if (!runs_through(work, next.cluster)) {
      continue;
    }
    const Image::Ready& first = work.images[next.cluster]->ready.front();
    next.block = first.block;
    next.warp = first.warp;
    next.lane = first.lane;
    next.ready = 0;
    if (!move_thread(next, {})) {
      return false;
    }
  }
  return true;
}

} // namespace heddle::reduce

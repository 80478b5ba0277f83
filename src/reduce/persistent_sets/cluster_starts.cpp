#include "reduce/persistent_sets/cluster_starts.h"

#include <bit>

namespace heddle::reduce {

using isa::LaneMask;

/// Lets each thread run until right before its first step; true if all of these commute
/// ([RED-START]).
bool ClusterStarts::first_steps_are_joins(Work& work, std::size_t c) {
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
        const Operation first = parts_.independence.operations().classify(at);
        if (parts_.mutant_is(Mutant::EagerStartsByAnything)) {
          continue;
        }
        if (!first.is_free_step(parts_.options.independence.turns)) {
          return false; // what it does is a choice, or others may take the cluster's first step
        }
      }
    }
  }
  return true;
}

void ClusterStarts::find(Work& work, std::size_t c) {
  if (!parts_.options.independence.eager || parts_.options.model.progress == ProgressModel::Hsa ||
      work.images[c]->ready.empty()) {
    return;
  }
  const Present::Mark here = present_.mark();
  if (parts_.weak) {
    parts_.weak->order().keep();
  }
  parts_.under_way.bundling = parts_.under_way.tried = true;
  const bool alike = parts_.by_warps() || first_steps_are_joins(work, c);
  parts_.under_way.bundling = false;
  if (alike) {
    work.starts[c] = parts_.by_warps() ? Start::Free : Start::Alike;
    work.progress[c].made = true;
    settling_.settle(work, c);
    parts_.independence.note_doubts(work, c);
    Cluster& cluster = *work.clusters[c];
    bool ended =
        !parts_.under_way.failure && !(parts_.weak && parts_.weak->order().made_unchosen());
    for (std::size_t b = 0; b < cluster.size(); ++b) {
      ended = ended && cluster.block(b).ended();
    }
    if (ended || parts_.mutant_is(Mutant::ThroughUnended)) {
      work.starts[c] = Start::Through;
    }
  }
  parts_.under_way.tried = false;
  present_.absorb_writes(work, c);
  work.loaded[c] = nullptr;
  present_.undo_to(here);
}

void ClusterStarts::find(Work& work, std::size_t c, Known& known) {
  const Image* image = work.images[c];
  const auto [start, is_new] = known.try_emplace(image, Start::Free);
  if (is_new && !parts_.under_way.failure) {
    find(work, c);
    start->second = work.starts[c];
  }
  work.starts[c] = start->second;
  if (work.passed && !runs_through(work, c) && !image->ended &&
      !parts_.mutant_is(Mutant::HostFirstForgetsLasting)) {
    lasting_ |= Works::lasting_bit(work);
  }
}

void ClusterStarts::start_at_once(std::size_t n, std::size_t c) {
  Work& work = *parts_.machine.works[n];
  const Present::Mark here = present_.mark();
  const std::size_t made_before = parts_.independence.accesses().made().size();
  present_.load(work, c);
  work.progress[c].made = true;
  settling_.settle(work, c);
  present_.capture(n, c);
  parts_.independence.open().meet_since(n, made_before);
  if (!parts_.under_way.failure && work.images[c]->ended) {
    present_.undo_to(here);
    work.loaded[c] = nullptr;
  }
}

bool ClusterStarts::runs_through(const Work& work, std::size_t c) {
  const Image& image = *work.images[c];
  return !image.made && !image.ended && work.starts[c] == Start::Through;
}

} // namespace heddle::reduce

#include "reduce/states/enabled_moves.h"

#include "machine/device_launches.h"
#include "reduce/persistent_sets/cluster_starts.h"
#include "reduce/states/stepper_work.h"

#include <algorithm>
#include <utility>

namespace heddle::reduce {

Guarantee EnabledMoves::guarantee(const Work& work, std::size_t cluster) const {
  const bool alone =
      work.clusters[cluster]->size() == 1 && work.command->grid->config().block.count() == 1;
  const Guarantee own = work.cooperative() ? Guarantee::Cooperative
                        : alone            ? Guarantee::Itself
                                           : Guarantee::Cluster;
  if (work.images[cluster]->made && parts_.options.model.progress != ProgressModel::Hsa) {
    return own;
  }
  switch (parts_.options.model.progress) {
  case ProgressModel::Cuda:
  case ProgressModel::Obe:
    return Guarantee::None;
  case ProgressModel::Fair:
    return own;
  case ProgressModel::Hsa: {
    const auto first = std::ranges::find(work.images, false, &Image::ended);
    return work.cooperative() || first - work.images.begin() == static_cast<std::ptrdiff_t>(cluster)
               ? own
               : Guarantee::None;
  }
  case ProgressModel::Lobe:
    return std::any_of(
               work.images.begin() + static_cast<std::ptrdiff_t>(cluster),
               work.images.end(),
               [](const Image* image) { return image->made; }
           )
               ? own
               : Guarantee::None;
  }
  return Guarantee::None;
}

void EnabledMoves::list(std::vector<Move>& result) {
  result.clear();
  for (std::size_t n = 0; n < parts_.machine.works.size(); ++n) {
    const Work& work = *parts_.machine.works[n];
    if (work.done || !work.ready || work.begun) {
      continue;
    }
    if (work.kernel() && !work.ended()) {
      add_threads(n, result);
    } else {
      add_command(n, result);
    }
  }
}

void EnabledMoves::add_command(std::size_t n, std::vector<Move>& result) const {
  const Work& work = *parts_.machine.works[n];
  if (work.kernel()) {
    if (work.command->grid->launches()->next_is_tail()) {
      result.push_back(
          {.work = n, .command = work.command->id, .what = "goes on with its tail launches"}
      );
    }
    return;
  }
  const auto& wait = work.command->value;
  if (wait ? wait->holds() : all_done(work.parts)) {
    result.push_back(
        {.work = n,
         .command = work.command->id,
         .may_wait = parts_.machine.works.may_wait(work),
         .what = wait ? "finds its value" : "is ready to be carried out"}
    );
  }
}

void EnabledMoves::count_alike(const Work& work) {
  ++pass_;
  for (const Image* image : work.images) {
    const Image& like = *image->alike;
    like.like_it = like.looked_at == pass_ ? like.like_it + 1 : 1;
    like.looked_at = pass_;
  }
}

void EnabledMoves::add_threads(std::size_t n, std::vector<Move>& result) {
  const Work& work = *parts_.machine.works[n];
  const bool symmetry = parts_.options.renaming.symmetry;
  if (symmetry) {
    count_alike(work);
  }
  ++pass_;
  loose_.clear();
  bool one_runs_through = false;
  const bool put_off = parts_.machine.works.may_wait(work);
  const bool one_starts_all = work.cooperative() && work.starts_alike();
  for (std::size_t c = 0; c < work.images.size() && !(one_starts_all && c != 0); ++c) {
    const Image& image = *work.images[c];
    const Image& like = *image.alike;
    if (image.ready.empty() || (symmetry && like.looked_at == pass_)) {
      continue; // a cluster like it has had its turn
    }
    const bool through = ClusterStarts::runs_through(work, c);
    if (through && std::exchange(one_runs_through, true)) {
      continue; // moves with that one
    }
    like.looked_at = pass_;
    Move move{.work = n, .command = work.command->id, .thread = true, .through = through};
    move.may_wait = put_off && !image.made;
    move.guarantee = guarantee(work, c);
    move.count = symmetry ? like.like_it : 1;
    add_cluster(n, c, move, result);
  }
}

/// `like`: what all moves of the cluster have in common; its count: clusters like this one.
void EnabledMoves::add_cluster(
    std::size_t n,
    std::size_t c,
    const Move& like,
    std::vector<Move>& result
) {
  const Work& work = *parts_.machine.works[n];
  const Image& image = *work.images[c];
  const bool starts = !image.made && work.starts[c] != Start::Free;
  for (std::size_t r = 0; r < image.ready.size(); ++r) {
    const Image::Ready& ready = image.ready[r];
    const std::uint64_t count = std::uint64_t{ready.count} * like.count;
    if (image.loose) {
      const ThreadClass who = ready.who + static_cast<ThreadClass>(ready.time);
      const auto [known, is_new] = loose_.try_emplace(who, result.size());
      if (!is_new) { // a thread of another cluster that is like it has its turn
        result[known->second].count += count;
        continue;
      }
    }
    const Move move{
        .work = n,
        .command = like.command,
        .thread = true,
        .endless = ready.endless,
        .through = like.through,
        .may_wait = like.may_wait,
        .guarantee = like.guarantee,
        .cluster = c,
        .block = ready.block,
        .warp = ready.warp,
        .lane = ready.lane,
        .ready = r,
        .who = ready.who,
        .count = count,
        .step = ready.operation.step,
        .what = ready.operation.what,
        .op = ready.op,
        .code = ready.code,
        .heap = ready.operation.kind == OperationKind::Heap,
        .pick = ready.pick,
        .lanes = ready.lanes,
        .first = ready.pick != 0 ? image.picks[ready.pick - 1].first : 0,
        .time = ready.time,
    };
    if (parts_.weak) {
      parts_.weak->add_ways(move, image, result);
    } else {
      result.push_back(move);
    }
    if (starts) {
      break;
    }
  }
}

} // namespace heddle::reduce

#include "reduce/cache/cached_moves.h"

#include "reduce/persistent_sets/cluster_starts.h"
#include "reduce/states/lane.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace heddle::reduce {

namespace {

/// Has every other cluster ended?
bool is_last(const Work& work, std::size_t cluster) {
  for (std::size_t c = 0; c < work.images.size(); ++c) {
    if (c != cluster && !work.images[c]->ended) {
      return false;
    }
  }
  return true;
}

} // namespace

std::optional<Ahead> CachedMoves::look_ahead(const Move& move, const Hash128& now) {
  if (!move.thread || move.through || !cache_.is_current() ||
      parts_.machine.works.has_dependents(*parts_.machine.works[move.work])) {
    return std::nullopt;
  }
  if (move.endless) {
    if (!parts_.seen.choice) {
      return std::nullopt; // this one will be the first
    }
    return Ahead{now, names_.unnumbered(now), move.step, {}, nullptr, {}};
  }
  if (parts_.weak) {
    return std::nullopt; // who may read what is no part of an image
  }
  const MoveCache::Found found = cache_.find(move);
  if (found.of_lane) {
    return ahead_of_lane(move, found.of_lane, now);
  }
  const auto& known = found.of_image;
  const Work& work = *parts_.machine.works[move.work];
  if (!known || (known->result.image->ended && is_last(work, move.cluster))) {
    return std::nullopt; // the end may complete the command
  }
  const Image* before = work.images[move.cluster];
  const Outcome& outcome = known->result;
  parts_.independence.open().meet(move, outcome.made, OpenMonitor::Whose::Cluster);
  const bool others = Renaming::like_others(work, move.cluster, *before, move.who);
  Outcome::Changes& changes = outcome.changes[others ? 1 : 0];
  if (!std::exchange(changes.known, true)) {
    parts_.under_way.changes.clear();
    note_changes(*before, *outcome.image, parts_.under_way.changes);
    if (others) {
      note_kept(*before, parts_.under_way.changes);
    }
    changes.list = parts_.under_way.changes;
  }
  const Hash128 after =
      names_.fingerprint_after(now, known->writes, work, before->hash, outcome.image->hash);
  return Ahead{
      after,
      names_.unnumbered_after(after, work, *before, outcome.image->hash, outcome.image->unnumbered),
      outcome.taken,
      changes.list,
      &changes.note,
      {known.transition, nullptr, epoch()}
  };
}

/// For a cluster that no other one can be like.
Ahead CachedMoves::ahead_of_lane(
    const Move& move,
    const MoveCache::KnownOfLane& known,
    const Hash128& now
) {
  const Work& work = *parts_.machine.works[move.work];
  const Image& before = *work.images[move.cluster];
  const LaneOutcome& outcome = known->result;
  const std::size_t thread = thread_of(work, move);
  parts_.independence.open().meet(move, outcome.made, OpenMonitor::Whose::Thread);
  const ImageThread* to = outcome.thread;
  HashSum lanes = before.sum;
  lanes.subtract(before.parts[thread]->in_sum);
  if (to != nullptr) {
    lanes.add(to->in_sum);
  }
  const HashSum shared = before.shared->after(outcome.shared);
  const Hash128 after = image_hash(work, outcome.rest->hash, shared, lanes, before.where);
  Hash128 unnumbered = after;
  HashSum plain = before.unnumbered_sum;
  plain.subtract(before.parts[thread]->unnumbered);
  if (to != nullptr) {
    plain.add(to->unnumbered);
  }
  const std::uint64_t asked_where =
      before.owner ? parts_.images.renaming().asked_where_after(before, thread, to) : before.where;
  if (!(plain == lanes) || asked_where != before.where) {
    unnumbered = image_hash(work, outcome.rest->hash, shared, plain, asked_where);
  }
  parts_.under_way.changes.clear();
  const ThreadClass was = before.threads[thread];
  const ThreadClass is =
      to != nullptr ? parts_.images.renaming()
                          .class_of(work, move.cluster, before, thread, to->lane, to->placed)
                    : 0;
  bool others = false; // of its class
  if (was != is) {
    parts_.under_way.changes.push_back({was, is});
    others = std::ranges::count(before.threads, was) > 1;
    if (others) {
      parts_.under_way.changes.push_back({was, was});
    }
  }
  const Hash128 state = names_.fingerprint_after(now, known->writes, work, before.hash, after);
  return {
      state,
      names_.unnumbered_after(state, work, before, after, unnumbered),
      outcome.taken,
      parts_.under_way.changes,
      &outcome.notes[others ? 1 : 0],
      {nullptr, known.transition, epoch()}
  };
}

bool CachedMoves::make(const Move& move, const Again& again) {
  const Work& work = *parts_.machine.works[move.work];
  if (!ClusterStarts::runs_through(work, move.cluster)) {
    return make_one(move, again);
  }
  Move next = move;
  for (; next.cluster < work.images.size(); ++next.cluster) {
    if (!ClusterStarts::runs_through(work, next.cluster)) {
      continue;
    }
    const Image::Ready& first = work.images[next.cluster]->ready.front();
    next.block = first.block;
    next.warp = first.warp;
    next.lane = first.lane;
    next.ready = 0;
    if (!make_one(next, {})) {
      return false;
    }
  }
  return true;
}

bool CachedMoves::make_one(const Move& move, const Again& again) {
  cache_.forget_if_changed();
  const bool known = again.epoch == epoch() &&
                     !parts_.machine.works.has_dependents(*parts_.machine.works[move.work]);
  const MoveCache::Found found = known || parts_.weak ? MoveCache::Found() : cache_.find(move);
  const auto* of_image =
      known ? static_cast<const OfImage*>(again.of_image) : found.of_image.transition;
  const auto* of_lane =
      known ? static_cast<const OfLane*>(again.of_lane) : found.of_lane.transition;
  if (make_known(move, of_image, of_lane)) {
    parts_.under_way.made_again = known;
    return true;
  }
  return execute(move);
}

/// False: it has to be executed.
bool CachedMoves::make_known(const Move& move, const OfImage* of_image, const OfLane* of_lane) {
  if (of_image != nullptr) {
    const Outcome& outcome = of_image->result;
    parts_.independence.open().meet(move, outcome.made, OpenMonitor::Whose::Cluster);
    parts_.machine.journal.write(of_image->writes);
    present_.replace_image(move.work, move.cluster, outcome.image);
    parts_.under_way.taken = outcome.taken;
    return true;
  }
  if (of_lane == nullptr) {
    return false;
  }
  const Work& work = *parts_.machine.works[move.work];
  const LaneOutcome& outcome = of_lane->result;
  const Image* after =
      parts_.images
          .derive(work, move.cluster, *work.images[move.cluster], thread_of(work, move), outcome);
  if (after->ready.empty()) {
    return false; // the grid may be over, or stuck
  }
  parts_.independence.open().meet(move, outcome.made, OpenMonitor::Whose::Thread);
  parts_.machine.journal.write(of_lane->writes);
  present_.replace_image(move.work, move.cluster, after);
  parts_.under_way.taken = outcome.taken;
  return true;
}

/// … and remembers what it does.
bool CachedMoves::execute(const Move& move) {
  Work& work = *parts_.machine.works[move.work];
  const Image* before = work.images[move.cluster];
  Operations& operations = parts_.independence.operations();
  AccessMonitor& accesses = parts_.independence.accesses();
  parts_.under_way.repeatable = true;
  operations.take_call();
  accesses.begin_move(move.alone ? std::optional(parts_.weak->note_settled(move)) : std::nullopt);
  const std::size_t changed = present_.changes();
  const bool done = threads_.make(move);
  const bool order_has_news = parts_.independence.order().take_news();
  if (operations.clocks().data().take_news() || order_has_news) {
    cache_.forget(); // what is known may read what has been marked, or write what is
  }
  parts_.independence.open().meet(move, accesses.made(), OpenMonitor::Whose::Anybody);
  if (!done) {
    return false;
  }
  if (parts_.under_way.repeatable && !operations.take_call() && !parts_.weak) {
    const Image* after = work.images[move.cluster];
    const bool cooperative = work.cooperative();
    const bool made_others = !before->made && after->made && cooperative;
    // If all others wait for the grid, they now do so forever (GridSettling).
    const bool may_be_stuck = cooperative && parts_.options.independence.phases &&
                              after->ready.empty() && !parts_.mutant_is(Mutant::AheadForgetsGrid);
    if (!made_others && !may_be_stuck && present_.changes() <= changed + 1) {
      cache_.remember(move, *before, parts_.under_way.taken);
    }
  }
  return true;
}

} // namespace heddle::reduce

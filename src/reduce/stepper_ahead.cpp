// Implements the part of stepper.h that looks ahead: what a move would do, said without making it.
#include "ptx/module.h"
#include "reduce/stepper_work.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::reduce {

std::optional<Stepper::Ahead> Stepper::look_ahead(const Move& move, const Hash128& now) {
  if (!move.thread || move.through || !move_cache_.is_current() ||
      works_.has_dependents(*works_[move.work])) {
    return std::nullopt;
  }
  if (move.endless) {
    if (!seen_.choice) {
      return std::nullopt; // this one will be the first
    }
    return Ahead{now, unnumbered(now), move.step, {}, nullptr, {}};
  }
  if (weak_) {
    return std::nullopt; // who may read what is no part of an image
  }
  const MoveCache::Found found = move_cache_.find(move);
  if (found.of_lane) {
    return ahead_of_lane(move, found.of_lane, now);
  }
  const auto& known = found.of_image;
  const Work& work = *works_[move.work];
  if (!known || (known->result.image->ended && is_last(work, move.cluster))) {
    return std::nullopt; // the end may complete the command
  }
  const Image* before = work.images[move.cluster];
  const Outcome& outcome = known->result;
  meet_open(move, outcome.made, Whose::Cluster);
  const bool others = Renaming::like_others(work, move.cluster, *before, move.who);
  Outcome::Changes& changes = outcome.changes[others ? 1 : 0];
  if (!std::exchange(changes.known, true)) {
    under_way_.changes.clear();
    note_changes(*before, *outcome.image, under_way_.changes);
    if (others) {
      note_kept(*before, under_way_.changes);
    }
    changes.list = under_way_.changes;
  }
  const Hash128 after =
      state_names_.fingerprint_after(now, known->writes, work, before->hash, outcome.image->hash);
  return Ahead{
      after,
      state_names_
          .unnumbered_after(after, work, *before, outcome.image->hash, outcome.image->unnumbered),
      outcome.taken,
      changes.list,
      &changes.note,
      {known.transition, nullptr, epoch()}
  };
}

/// For a cluster that no other one can be like.
Stepper::Ahead
Stepper::ahead_of_lane(const Move& move, const MoveCache::KnownOfLane& known, const Hash128& now) {
  const Work& work = *works_[move.work];
  const Image& before = *work.images[move.cluster];
  const LaneOutcome& outcome = known->result;
  const std::size_t thread = thread_of(work, move);
  meet_open(move, outcome.made, Whose::Thread);
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
      before.owner ? images_.renaming().asked_where_after(before, thread, to) : before.where;
  if (!(plain == lanes) || asked_where != before.where) {
    unnumbered = image_hash(work, outcome.rest->hash, shared, plain, asked_where);
  }
  under_way_.changes.clear();
  const ThreadClass was = before.threads[thread];
  const ThreadClass is =
      to != nullptr
          ? images_.renaming().class_of(work, move.cluster, before, thread, to->lane, to->placed)
          : 0;
  bool others = false; // of its class
  if (was != is) {
    under_way_.changes.push_back({was, is});
    others = std::ranges::count(before.threads, was) > 1;
    if (others) {
      under_way_.changes.push_back({was, was});
    }
  }
  const Hash128 state =
      state_names_.fingerprint_after(now, known->writes, work, before.hash, after);
  return {
      state,
      state_names_.unnumbered_after(state, work, before, after, unnumbered),
      outcome.taken,
      under_way_.changes,
      &outcome.notes[others ? 1 : 0],
      {nullptr, known.transition, epoch()}
  };
}

/// Has every other cluster ended?
bool Stepper::is_last(const Work& work, std::size_t cluster) {
  for (std::size_t c = 0; c < work.images.size(); ++c) {
    if (c != cluster && !work.images[c]->ended) {
      return false;
    }
  }
  return true;
}

} // namespace heddle::reduce

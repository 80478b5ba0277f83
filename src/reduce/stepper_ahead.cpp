// Looking ahead ([RED-MEMO]): what a move would do, said without making it.
//
// Known is what was done before: by a cluster that looked the same, or by a thread that did while
// everything about its cluster that is not the other threads' own (registers, place in the code,
// local memory) looked the same; of shared memory, as of global memory, those words that it reads.
// The second is what a block of several threads needs: no two of its states are alike, but most
// moves concern one thread. Errs to the safe side: what depends on where other lanes stand (aligned
// barriers, activemask) is not looked up by thread.
#include "ptx/module.h"
#include "reduce/stepper_work.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::reduce {

std::optional<Stepper::Ahead> Stepper::look_ahead(const Move& move, const Hash128& now) {
  if (!move.thread || move.through || world_.space().generation() != known_moves_.generation() ||
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
  const Found found = find(move);
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

/// What the move does. By thread where no other cluster can be like this one, so that no image has
/// to be made for it; else this one may look the same while others do not.
Stepper::Found Stepper::find(const Move& move) {
  const Work& work = *works_[move.work];
  const Image* before = work.images[move.cluster];
  const bool alone = Renaming::is_alone(work, *before) && !options_.by_decisions;
  Found found;
  if (alone) {
    found.of_lane = find_lane(work, move);
    if (found.of_lane) {
      return found;
    }
  }
  const auto key = known_moves_.of_images.key(before, move.ready);
  found.of_image = known_moves_.of_images.find(key, before->ready[move.ready].hint);
  if (const KnownOfLane lane = found.of_image || alone ? KnownOfLane() : find_lane(work, move)) {
    const std::size_t thread = thread_of(work, move);
    const Image* after = images_.derive(work, move.cluster, *before, thread, lane->result);
    if (!after->ready.empty()) {  // else the grid may be over, or stuck
      std::vector<WordPart> read; // shared memory is part of the image
      for (const WordPart& part : *lane.places) {
        if (!is_shared(part.at)) {
          read.push_back({part.at, part.mask, *part.at & part.mask});
        }
      }
      std::vector<MadeAccess> made = lane->result.made;
      for (MadeAccess& access : made) {
        access.thread = static_cast<std::uint32_t>(thread);
      }
      known_moves_.of_images
          .add(key, read, {lane->writes, {after, lane->result.taken, std::move(made), {}}});
      found.of_image = known_moves_.of_images.find(key, nullptr);
    }
  }
  return found;
}

/// What the thread did before where everything of its cluster that is not the other threads' own
/// looked the same; nothing if that is not known, or could concern others.
Stepper::KnownOfLane Stepper::find_lane(const Work& work, const Move& move) {
  const Image& before = *work.images[move.cluster];
  if (!before.by_thread || move.lanes != 0) {
    return {};
  }
  const std::size_t thread = thread_of(work, move);
  const ImageThread& part = *before.parts[thread];
  const KnownOfLane known = known_moves_.of_lanes.find(
      known_moves_.of_lanes.key(before.rest, &part),
      before.shared->bytes.data()
  );
  if (!known) {
    return {};
  }
  const std::uint8_t identity = known->result.thread != nullptr ? known->result.thread->identity
                                                                : std::uint8_t{LiveState::Nothing};
  if (identity != part.identity) {
    std::uint8_t all = identity;
    for (std::size_t t = 0; t < before.parts.size(); ++t) {
      all |= t != thread && before.parts[t] != nullptr ? before.parts[t]->identity : 0;
    }
    if (images_.renaming().tells_places_apart(work, all) != before.places ||
        images_.renaming().tells_blocks_apart(all) != (before.where != 0) ||
        (before.owner && (all & LiveState::Owns) == 0)) {
      return {}; // all of them will be called something else
    }
  }
  return known;
}

/// Keeps the move by what the thread was, if that will do for other states of its cluster too.
bool Stepper::remember_lane(const Move& move, const Image& before, const Image& after) {
  // What is done at once changes when the cluster has begun.
  if (move.lanes != 0 || !before.by_thread || !after.by_thread || before.made != after.made ||
      before.joins_are_moves != after.joins_are_moves || before.owner != after.owner ||
      before.places != after.places || before.where != after.where || after.ended ||
      after.ready.empty()) {
    return false;
  }
  // The shared memory of a block that has ended is gone, whatever it was.
  if (works_[move.work]->clusters[move.cluster]->block(move.block).ended()) {
    return false;
  }
  // The cluster has had its number and may have lost it again: that depends on all of its threads.
  if (!before.owner && access_monitor_.made_owned()) {
    return false;
  }
  const std::size_t thread = thread_of(*works_[move.work], move);
  if (!std::ranges::all_of(access_monitor_.made(), [&](const MadeAccess& made) {
        return made.thread == thread;
      })) {
    return false;
  }
  for (std::size_t t = 0; t < before.parts.size(); ++t) {
    if (t != thread && before.parts[t] != after.parts[t]) {
      return false;
    }
  }
  const Image::Ready& ready = before.ready[move.ready];
  const auto& body = ready.code->function->body;
  if (ready.op->instruction >= body.size()) {
    return false;
  }
  const ptx::Effect& effect = ptx::effect_of(body[ready.op->instruction]);
  if (!effect.is_access() && effect.step != StepKind::End) {
    return false; // it may depend on where others stand, as activemask does
  }
  if (images_.store().written(*before.shared, journal_.written_shared()) != after.shared) {
    return false; // something has changed it of which the journal knows nothing
  }
  std::vector<WordPart> read = *journal_.read();
  if (!mutant_is(Mutant::AheadForgetsShared)) {
    read.insert(read.end(), journal_.read_shared().begin(), journal_.read_shared().end());
  }
  known_moves_.of_lanes.add(
      known_moves_.of_lanes.key(before.rest, before.parts[thread]),
      read,
      {journal_.written(),
       {after.parts[thread],
        after.rest,
        journal_.written_shared(),
        under_way_.taken,
        access_monitor_.made(),
        {}}}
  );
  return true;
}

/// For a cluster that no other one can be like.
Stepper::Ahead
Stepper::ahead_of_lane(const Move& move, const KnownOfLane& known, const Hash128& now) {
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

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
  const bool others = like_others(work, move.cluster, *before, move.who);
  Outcome::Changes& changes = outcome.changes[others ? 1 : 0];
  if (!std::exchange(changes.known, true)) {
    under_way_.changes.clear();
    note_changes(*before, *outcome.image);
    if (others) {
      note_kept(*before);
    }
    changes.list = under_way_.changes;
  }
  const Hash128 after =
      fingerprint_after(now, known->writes, work, before->hash, outcome.image->hash);
  return Ahead{
      after,
      unnumbered_after(after, work, *before, outcome.image->hash, outcome.image->unnumbered),
      outcome.taken,
      changes.list,
      &changes.note,
      {known.transition, nullptr, epoch()}
  };
}

/// Which one of its cluster's threads makes the move.
std::size_t Stepper::thread_of(const Work& work, const Move& move) {
  const std::size_t warps = work.clusters[move.cluster]->block(0).warps().size();
  return (move.block * warps + move.warp) * isa::warp_size + static_cast<std::size_t>(move.lane);
}

/// What the move does. By thread where no other cluster can be like this one, so that no image has
/// to be made for it; else this one may look the same while others do not.
Stepper::Found Stepper::find(const Move& move) {
  const Work& work = *works_[move.work];
  const Image* before = work.images[move.cluster];
  const bool alone = is_alone(work, *before) && !options_.by_decisions;
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
    const Image* after = derive(work, move.cluster, *before, thread, lane->result);
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
    if (tells_places_apart(work, all) != before.places ||
        tells_blocks_apart(all) != (before.where != 0) ||
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
  if (images_.written(*before.shared, journal_.written_shared()) != after.shared) {
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
      before.owner ? asked_where_after(before, thread, to) : before.where;
  if (!(plain == lanes) || asked_where != before.where) {
    unnumbered = image_hash(work, outcome.rest->hash, shared, plain, asked_where);
  }
  under_way_.changes.clear();
  const ThreadClass was = before.threads[thread];
  const ThreadClass is =
      to != nullptr ? class_of(work, move.cluster, before, thread, to->lane, to->placed) : 0;
  bool others = false; // of its class
  if (was != is) {
    under_way_.changes.push_back({was, is});
    others = std::ranges::count(before.threads, was) > 1;
    if (others) {
      under_way_.changes.push_back({was, was});
    }
  }
  const Hash128 state = fingerprint_after(now, known->writes, work, before.hash, after);
  return {
      state,
      unnumbered_after(state, work, before, after, unnumbered),
      outcome.taken,
      under_way_.changes,
      &outcome.notes[others ? 1 : 0],
      {nullptr, known.transition, epoch()}
  };
}

/// Image::asked_where if a thread of the cluster becomes `to`.
std::uint64_t
Stepper::asked_where_after(const Image& before, std::size_t thread, const ImageThread* to) const {
  std::uint8_t asked = to != nullptr ? to->asked : std::uint8_t{LiveState::Nothing};
  for (std::size_t t = 0; t < before.parts.size(); ++t) {
    asked |= t != thread && before.parts[t] != nullptr ? before.parts[t]->asked : 0;
  }
  return tells_blocks_apart(asked) ? before.where : 0;
}

/// unnumbered() of the state `after`, in which an image of this one is called `hash`, or
/// `unnumbered`.
Hash128 Stepper::unnumbered_after(
    const Hash128& after,
    const Work& work,
    const Image& before,
    const Hash128& hash,
    const Hash128& unnumbered
) const {
  const Hash128 here = this->unnumbered(after); // as far as the others are concerned
  HashSum state{here.low, here.high};
  HashSum change{unnumbered.low, unnumbered.high};
  change.subtract(hash);
  change.subtract(before.unnumbered);
  change.add(before.hash);
  add_images(state, work, {change.low, change.high});
  return {state.low, state.high};
}

/// Threads of a loose cluster are known by themselves wherever they are. Those of another one have
/// classes of their own if no other one can be like it; those of which
/// that is true within the cluster too, one for as long as it lasts.
ThreadClass Stepper::class_of(
    const Work& work,
    std::size_t c,
    const Image& image,
    std::size_t t,
    const Hash128& mover,
    bool placed
) const {
  if (mover == Hash128{}) { // it has ended
    return 0;
  }
  const bool alone = !by_warps() && is_alone(work, image);
  const Hash128 name = image.loose
                           ? combine(work.identity, mover.low, mover.high, image.rest->apart)
                       : !alone ? combine(image.hash.low, image.hash.high, mover.low, mover.high)
                       : placed ? combine(work.identity, std::uint64_t{c}, std::uint64_t{t})
                                : combine(work.identity, std::uint64_t{c}, mover.low, mover.high);
  return name.low | 1ULL << 63; // 0 to 2^16 are left to others
}

/// Has another cluster of the work threads of the same classes? If they are loose, only `who`
/// matters, who moves: the others keep theirs.
bool Stepper::like_others(
    const Work& work,
    std::size_t cluster,
    const Image& image,
    ThreadClass who
) {
  for (std::size_t c = 0; c < work.images.size(); ++c) {
    const Image& other = *work.images[c];
    if (c != cluster &&
        (image.loose ? other.loose && std::ranges::find(other.threads, who) != other.threads.end()
                     : other.hash == image.hash)) {
      return true;
    }
  }
  return false;
}

void Stepper::note_changes(const Image& before, const Image& after) {
  bool some_kept = false;
  for (std::size_t t = 0; t < before.threads.size(); ++t) {
    const Change change{before.threads[t], after.threads[t]};
    some_kept = some_kept || (change.from != 0 && change.from == change.to);
    if (change.from != change.to &&
        std::ranges::find(under_way_.changes, change) == under_way_.changes.end()) {
      under_way_.changes.push_back(change);
    }
  }
  // Threads of a class of which others have left it.
  for (std::size_t t = 0; some_kept && t < before.threads.size(); ++t) {
    const Change kept{before.threads[t], before.threads[t]};
    if (kept.from == after.threads[t] &&
        std::ranges::find(under_way_.changes, kept.from, &Change::from) !=
            under_way_.changes.end() &&
        std::ranges::find(under_way_.changes, kept) == under_way_.changes.end()) {
      under_way_.changes.push_back(kept);
    }
  }
}

/// Threads of other clusters that are like those of one that has moved have kept their classes.
void Stepper::note_kept(const Image& image) {
  for (const ThreadClass who : image.threads) {
    const Change kept{who, who};
    if (std::ranges::find(under_way_.changes, who, &Change::from) != under_way_.changes.end() &&
        std::ranges::find(under_way_.changes, kept) == under_way_.changes.end()) {
      under_way_.changes.push_back(kept);
    }
  }
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

/// Can no other cluster be like it?
bool Stepper::is_alone(const Work& work, const Image& image) {
  return image.where != 0 || work.clusters.size() == 1;
}

/// The image of a cluster that was `before`, after one thread of it has made a move that is known.
const Image* Stepper::derive(
    const Work& work,
    std::size_t c,
    const Image& before,
    std::size_t thread,
    const LaneOutcome& outcome
) {
  const ImageThread& from = *before.parts[thread];
  const ImageThread* to = outcome.thread;
  HashSum sum_of_bytes = before.sum_of_bytes;
  sum_of_bytes.subtract(from.summand);
  if (to != nullptr) {
    sum_of_bytes.add(to->summand);
  }
  const ImageShared& shared = *images_.written(*before.shared, outcome.shared);
  const Hash128 content = ImageStore::content_of(*outcome.rest, shared, sum_of_bytes);
  if (const Image* known = images_.find(content)) {
    return known;
  }
  auto image = std::make_unique<Image>();
  image->content = content;
  image->rest = outcome.rest;
  image->shared = &shared;
  image->parts = before.parts;
  image->parts[thread] = to;
  image->sum_of_bytes = sum_of_bytes;
  image->sum = before.sum;
  image->sum.subtract(from.in_sum);
  if (to != nullptr) {
    image->sum.add(to->in_sum);
  }
  image->unnumbered_sum = before.unnumbered_sum;
  image->unnumbered_sum.subtract(from.unnumbered);
  if (to != nullptr) {
    image->unnumbered_sum.add(to->unnumbered);
  }
  image->made = before.made;
  image->joins_are_moves = before.joins_are_moves;
  image->owner = before.owner;
  image->places = before.places;
  image->where = before.where;
  image->asked_where = asked_where_after(before, thread, to);
  image->by_thread = true;
  for (const ImageThread* part : image->parts) {
    image->open_places |= part != nullptr ? places_of(part->open) : 0;
  }
  std::uint8_t identity = LiveState::Nothing;
  std::uint64_t read = 0, written = 0;
  for (const ImageThread* part : image->parts) {
    identity |= part != nullptr ? part->identity : 0;
    read |= part != nullptr ? part->reads_shared : 0;
    written |= part != nullptr ? part->writes_shared : 0;
  }
  image->left_out = left_out_of_shared(work, read, written);
  set_hash(work, identity, *image);
  const bool alone = is_alone(work, before);
  if (alone) {
    image->threads = before.threads;
  } else {
    image->threads.resize(before.threads.size());
  }
  for (std::size_t t = 0; t < image->parts.size(); ++t) {
    const ImageThread* part = image->parts[t];
    ThreadClass& who = image->threads[t];
    if (!alone || t == thread) {
      who = part != nullptr ? class_of(work, c, *image, t, part->lane, part->placed) : 0;
    }
    if (part == nullptr || !part->can_move) {
      continue;
    }
    if (options_.symmetry && !part->placed) {
      const auto like = std::ranges::find(image->ready, who, &Image::Ready::who);
      if (like != image->ready.end()) {
        ++like->count;
        continue;
      }
    }
    image->ready.push_back(part->ready);
    image->ready.back().who = who;
  }
  return images_.add(std::move(image));
}

} // namespace heddle::reduce

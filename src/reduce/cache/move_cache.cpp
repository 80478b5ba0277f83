#include "reduce/cache/move_cache.h"

#include "ptx/effect.h"
#include "reduce/states/lane.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace heddle::reduce {

MoveCache::Found MoveCache::find(const Move& move) {
  const Found found = find_known(move);
  const Work& work = *works_[move.work];
  if (found.of_image) {
    monitor_.note_again(work, move.cluster, found.of_image->result.owned, std::nullopt);
  } else if (found.of_lane) {
    const auto thread = static_cast<std::uint32_t>(thread_of(work, move));
    monitor_.note_again(work, move.cluster, found.of_lane->result.owned, thread);
  }
  return found;
}

MoveCache::Found MoveCache::find_known(const Move& move) {
  const Work& work = *works_[move.work];
  const Image* before = work.images[move.cluster];
  const bool alone = Renaming::is_alone(work, *before) && !by_decisions_;
  Found found;
  if (alone) {
    found.of_lane = find_lane(work, move);
    if (found.of_lane) {
      return found;
    }
  }
  const auto key = known_.of_images.key(before, move.ready);
  found.of_image = known_.of_images.find(key, before->ready[move.ready].hint);
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
      std::vector<Sums::Access> owned = lane->result.owned;
      for (Sums::Access& access : owned) {
        access.thread = thread;
      }
      known_.of_images.add(
          key,
          read,
          {lane->writes, {after, lane->result.taken, std::move(made), std::move(owned), {}}}
      );
      found.of_image = known_.of_images.find(key, nullptr);
    }
  }
  return found;
}

/// What the thread did before where everything of its cluster that is not the other threads' own
/// looked the same; nothing if that is not known, or could concern others.
MoveCache::KnownOfLane MoveCache::find_lane(const Work& work, const Move& move) {
  const Image& before = *work.images[move.cluster];
  if (!before.by_thread || move.lanes != 0) {
    return {};
  }
  const std::size_t thread = thread_of(work, move);
  const ImageThread& part = *before.parts[thread];
  const KnownOfLane known =
      known_.of_lanes.find(known_.of_lanes.key(before.rest, &part), before.shared->bytes.data());
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

void MoveCache::remember(const Move& move, const Image& before, StepKind taken) {
  constexpr std::size_t most_writes = 64;
  const Image* after = works_[move.work]->images[move.cluster];
  // The next cluster that looks like this one will be told apart by another number.
  if (before.where == 0 && after->where != 0 && works_[move.work]->clusters.size() > 1) {
    return;
  }
  if (!journal_.read() ||
      journal_.written().size() + journal_.written_shared().size() > most_writes ||
      space_.generation() != known_.generation()) {
    return;
  }
  // With several clusters, this one will look the same while others do not.
  if (!remember_lane(move, before, *after, taken) || works_[move.work]->clusters.size() > 1) {
    known_.of_images.add(
        known_.of_images.key(&before, move.ready),
        *journal_.read(),
        {journal_.written(), {after, taken, monitor_.made(), monitor_.owned(), {}}}
    );
  }
}

/// Keeps the move by what the thread was, if that will do for other states of its cluster too.
bool MoveCache::remember_lane(
    const Move& move,
    const Image& before,
    const Image& after,
    StepKind taken
) {
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
  if (!before.owner && monitor_.made_owned()) {
    return false;
  }
  const std::size_t thread = thread_of(*works_[move.work], move);
  if (!std::ranges::all_of(monitor_.made(), [&](const MadeAccess& access) {
        return access.thread == thread;
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
  if (mutant_ != Mutant::AheadForgetsShared) {
    read.insert(read.end(), journal_.read_shared().begin(), journal_.read_shared().end());
  }
  known_.of_lanes.add(
      known_.of_lanes.key(before.rest, before.parts[thread]),
      read,
      {journal_.written(),
       {after.parts[thread],
        after.rest,
        journal_.written_shared(),
        taken,
        monitor_.made(),
        monitor_.owned(),
        {}}}
  );
  return true;
}

} // namespace heddle::reduce

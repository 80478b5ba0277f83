// Looking ahead: what a move would do, said without making it.
//
// Known is what was done before: by a cluster that looked the same, or by a thread that did while
// everything about its cluster that is not the other threads' own (registers, place in the code,
// local memory) looked the same. The second is what a block of several threads needs: no two of its
// states are alike, but most moves concern one thread. Errs to the safe side: what depends on where
// other lanes stand (aligned barriers, activemask) is not looked up by thread.
#include "machine/stepper_work.h"
#include "ptx/module.h"

#include <algorithm>
#include <utility>

namespace heddle::machine {

std::optional<Stepper::Ahead> Stepper::look_ahead(const Move& move) {
  if (!move.thread || move.through || world_.space().generation() != allocations_) {
    return std::nullopt;
  }
  if (move.endless) {
    if (!saw_choice_) {
      return std::nullopt; // this one will be the first
    }
    return Ahead{fingerprint(), move.step, {}, nullptr};
  }
  const Work& work = *works_[move.work];
  const Image* before = work.images[move.cluster];
  if (auto ahead = look_ahead_of_lane(move)) {
    return ahead;
  }
  const auto* known = transitions_.find(transitions_.key(before, move.ready));
  if (known == nullptr || known->result.image->ended) {
    return std::nullopt; // an end may complete the command
  }
  const Outcome& outcome = known->result;
  const bool others = like_others(work, move.cluster, *before);
  Outcome::Changes& changes = outcome.changes[others ? 1 : 0];
  if (!std::exchange(changes.known, true)) {
    changes_.clear();
    note_changes(*before, *outcome.image);
    if (others) {
      note_kept(*before);
    }
    changes.list = changes_;
  }
  HashSum sum = work.sum;
  sum.subtract(before->hash);
  sum.add(outcome.image->hash);
  return Ahead{
      fingerprint(journal_.fingerprint_after(known->writes), &work, sum),
      outcome.taken,
      changes.list,
      &changes.note
  };
}

/// Which one of its cluster's threads makes the move.
std::size_t Stepper::thread_of(const Work& work, const Move& move) {
  const std::size_t warps = work.clusters[move.cluster]->block(0).warps().size();
  return (move.block * warps + move.warp) * isa::warp_size + static_cast<std::size_t>(move.lane);
}

Transitions<Stepper::LaneOutcome>::Key
Stepper::lane_key(const Work& work, const Image& image, std::size_t cluster, std::size_t thread) {
  const Image::Parts& parts = image.parts;
  const std::uint64_t words[] = {
      work.identity,
      cluster,
      thread,
      parts.lanes[thread].low,
      parts.lanes[thread].high,
      parts.context.low,
      parts.context.high
  };
  const XXH128_hash_t h = XXH3_128bits(words, sizeof words);
  return {h.low64, h.high64};
}

/// Keeps the move by what the thread was, if that will do for other states of its cluster too.
/// True: that is enough.
bool Stepper::remember_lane(const Move& move, const Image& before, const Image& after) {
  const Image::Parts& from = before.parts;
  const Image::Parts& to = after.parts;
  // Whoever stands at an aligned barrier may go on when another one leaves its warp; what is done
  // at once changes when the cluster has begun.
  if (by_warps() || move.lanes != 0 || !from.usable || !to.usable || from.aligned || to.aligned ||
      before.made != after.made || from.joins_are_moves != to.joins_are_moves ||
      from.places != to.places || from.where != to.where || after.ended) {
    return false;
  }
  const Work& work = *works_[move.work];
  const std::size_t thread = thread_of(work, move);
  for (std::size_t t = 0; t < from.lanes.size(); ++t) {
    if (t != thread && from.lanes[t] != to.lanes[t]) {
      return false;
    }
  }
  const Image::Ready& ready = before.ready[move.ready];
  const auto& body = ready.code->function->body;
  if (ready.op->instruction >= body.size()) {
    return false;
  }
  switch (body[ready.op->instruction].opcode) {
  case ptx::Opcode::Ld:
  case ptx::Opcode::St:
  case ptx::Opcode::Atom:
  case ptx::Opcode::Red:
  case ptx::Opcode::Ret:
  case ptx::Opcode::Exit:
    break;
  default: // may depend on where others stand, as activemask does
    return false;
  }
  lane_transitions_.add(
      lane_key(work, before, move.cluster, thread),
      *journal_.read(),
      {journal_.written(),
       {to.lanes[thread], to.rest, to.identities[thread], after.threads[thread], taken_, {}}}
  );
  // With several clusters, this one will look the same while others do not.
  return work.clusters.size() == 1;
}

std::optional<Stepper::Ahead> Stepper::look_ahead_of_lane(const Move& move) {
  const Work& work = *works_[move.work];
  const Image& before = *work.images[move.cluster];
  const Image::Parts& parts = before.parts;
  if (!parts.usable || parts.aligned || move.lanes != 0) {
    return std::nullopt;
  }
  const std::size_t thread = thread_of(work, move);
  const auto* known = lane_transitions_.find(lane_key(work, before, move.cluster, thread));
  if (known == nullptr) {
    return std::nullopt;
  }
  const LaneOutcome& outcome = known->result;
  if (outcome.identity != parts.identities[thread]) {
    std::uint8_t all = outcome.identity;
    for (std::size_t t = 0; t < parts.identities.size(); ++t) {
      all |= t != thread ? parts.identities[t] : 0;
    }
    if (tells_places_apart(work, all) != parts.places ||
        tells_blocks_apart(all) != (parts.where != 0)) {
      return std::nullopt; // all of them will be called something else
    }
  }
  HashSum lanes = parts.sum;
  lanes.subtract(name_in_sum(parts.lanes[thread]));
  if (outcome.lane != Hash128{}) {
    lanes.add(name_in_sum(outcome.lane));
  }
  HashSum sum = work.sum;
  sum.subtract(before.hash);
  sum.add(image_hash(work, outcome.rest, lanes, parts.where));
  changes_.clear();
  const ThreadClass who = before.threads[thread];
  bool others = false; // of its class
  if (who != outcome.who) {
    changes_.push_back({who, outcome.who});
    others = std::ranges::count(before.threads, who) > 1;
    if (others) {
      changes_.push_back({who, who});
    }
  }
  return Ahead{
      fingerprint(journal_.fingerprint_after(known->writes), &work, sum),
      outcome.taken,
      changes_,
      &outcome.notes[others ? 1 : 0]
  };
}

} // namespace heddle::machine

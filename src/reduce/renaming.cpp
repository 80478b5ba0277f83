#include "reduce/renaming.h"

#include <algorithm>

namespace heddle::reduce {

bool Renaming::tells_blocks_apart(std::uint8_t identity) const {
  return !symmetry_ || ((identity & LiveState::Block) != 0 && !is(Mutant::SymmetryForgetsBlocks));
}

bool Renaming::tells_places_apart(const Work& work, std::uint8_t identity) const {
  return !symmetry_ || (identity & LiveState::Place) != 0 || work.clusters.front()->size() > 1;
}

bool Renaming::is_alone(const Work& work, const Image& image) {
  return image.where != 0 || work.clusters.size() == 1;
}

ThreadClass Renaming::class_of(
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
  const bool alone = !by_warps_ && is_alone(work, image);
  const Hash128 name = image.loose
                           ? combine(work.identity, mover.low, mover.high, image.rest->apart)
                       : !alone ? combine(image.hash.low, image.hash.high, mover.low, mover.high)
                       : placed ? combine(work.identity, std::uint64_t{c}, std::uint64_t{t})
                                : combine(work.identity, std::uint64_t{c}, mover.low, mover.high);
  return name.low | 1ULL << 63; // 0 to 2^16 are left to others
}

bool Renaming::like_others(
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

std::uint64_t
Renaming::asked_where_after(const Image& before, std::size_t thread, const ImageThread* to) const {
  std::uint8_t asked = to != nullptr ? to->asked : std::uint8_t{LiveState::Nothing};
  for (std::size_t t = 0; t < before.parts.size(); ++t) {
    asked |= t != thread && before.parts[t] != nullptr ? before.parts[t]->asked : 0;
  }
  return tells_blocks_apart(asked) ? before.where : 0;
}

Hash128 image_hash(
    const Work& work,
    const Hash128& rest,
    const HashSum& shared,
    const HashSum& lanes,
    std::uint64_t where
) {
  return combine(
      rest.low,
      rest.high,
      shared.low,
      shared.high,
      lanes.low,
      lanes.high,
      where,
      work.identity
  );
}

void Renaming::set_name(
    const Work& work,
    std::uint8_t identity,
    const HashSum& shared,
    Image& image
) const {
  const bool has_shared = work.clusters.front()->block(0).shared_bytes() != 0;
  const int meeting = LiveState::Together | (has_shared ? LiveState::Generic : 0);
  image.loose = symmetry_ && !by_warps_ && work.clusters.size() > 1 && image.made &&
                image.rest->apart != 0 && !image.places && image.where == 0 &&
                (identity & meeting) == 0;
  const auto called = [&](const HashSum& threads, std::uint64_t where) {
    return image.loose ? Hash128{threads.low * image.rest->apart, threads.high * image.rest->apart}
                       : image_hash(work, image.rest->hash, shared, threads, where);
  };
  image.hash = called(image.sum, image.where);
  const bool numbered = !(image.sum == image.unnumbered_sum) || image.where != image.asked_where;
  image.unnumbered = numbered ? called(image.unnumbered_sum, image.asked_where) : image.hash;
}

void note_changes(const Image& before, const Image& after, std::vector<Change>& changes) {
  bool some_kept = false;
  for (std::size_t t = 0; t < before.threads.size(); ++t) {
    const Change change{before.threads[t], after.threads[t]};
    some_kept = some_kept || (change.from != 0 && change.from == change.to);
    if (change.from != change.to && std::ranges::find(changes, change) == changes.end()) {
      changes.push_back(change);
    }
  }
  // Threads of a class of which others have left it.
  for (std::size_t t = 0; some_kept && t < before.threads.size(); ++t) {
    const Change kept{before.threads[t], before.threads[t]};
    if (kept.from == after.threads[t] &&
        std::ranges::find(changes, kept.from, &Change::from) != changes.end() &&
        std::ranges::find(changes, kept) == changes.end()) {
      changes.push_back(kept);
    }
  }
}

void note_kept(const Image& image, std::vector<Change>& changes) {
  for (const ThreadClass who : image.threads) {
    const Change kept{who, who};
    if (std::ranges::find(changes, who, &Change::from) != changes.end() &&
        std::ranges::find(changes, kept) == changes.end()) {
      changes.push_back(kept);
    }
  }
}

} // namespace heddle::reduce

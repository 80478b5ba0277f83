#include "reduce/renaming/renaming.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

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

namespace {

/// A list of changes, each of them once, in the order in which they came. Most lists are short;
/// of a long one it is not looked at each element.
class ChangeList {
public:
  explicit ChangeList(std::vector<Change>& all) : all_(all) { find_by_class(0); }
  bool leaves(ThreadClass who) const {
    return few() ? std::ranges::find(all_, who, &Change::from) != all_.end() : to_.contains(who);
  }
  void add(const Change& change) {
    const auto known = to_.find(change.from);
    const bool is_known = few()
                              ? std::ranges::find(all_, change) != all_.end()
                              : known != to_.end() && std::ranges::find(known->second, change.to) !=
                                                          known->second.end();
    if (!is_known) {
      all_.push_back(change);
      find_by_class(to_.empty() ? 0 : all_.size() - 1);
    }
  }

private:
  static constexpr std::size_t most_few = 16;
  bool few() const { return all_.size() <= most_few; }
  void find_by_class(std::size_t begin) {
    for (std::size_t n = begin; !few() && n < all_.size(); ++n) {
      to_[all_[n].from].push_back(all_[n].to);
    }
  }
  std::vector<Change>& all_;
  std::unordered_map<ThreadClass, std::vector<ThreadClass>> to_; // once they are many
};

} // namespace

void note_changes(const Image& before, const Image& after, std::vector<Change>& all) {
  ChangeList changes(all);
  bool some_kept = false;
  for (std::size_t t = 0; t < before.threads.size(); ++t) {
    const Change change{before.threads[t], after.threads[t]};
    some_kept = some_kept || (change.from != 0 && change.from == change.to);
    if (change.from != change.to) {
      changes.add(change);
    }
  }
  // Threads of a class of which others have left it.
  for (std::size_t t = 0; some_kept && t < before.threads.size(); ++t) {
    const ThreadClass who = before.threads[t];
    if (who == after.threads[t] && changes.leaves(who)) {
      changes.add({who, who});
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

// Parts of images: each is kept once for each content, and thrown away when nobody has it.
#include "reduce/stepper_work.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>
#include <utility>

namespace heddle::reduce {

/// What an image is called whose threads add up to `lanes`.
Hash128 Stepper::image_hash(
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

/// What the image is called, its parts, its threads' sum and `where` being known; `identity`: what
/// all of its threads together may still learn and do.
///
/// As long as threads may meet, as at a barrier, it matters who is in a block with whom. If that is
/// over, and nobody asks for the block's number, threads of different blocks can change places like
/// those of one: then a cluster is called by nothing but the sum of its threads, and a state by
/// that of all such clusters.
void Stepper::set_hash(const Work& work, std::uint8_t identity, Image& image) const {
  const bool has_shared = work.clusters.front()->block(0).shared_bytes() != 0;
  const int meeting = LiveState::Together | (has_shared ? LiveState::Generic : 0);
  image.loose = options_.symmetry && !by_warps() && work.clusters.size() > 1 && image.made &&
                image.rest->apart != 0 && !image.places && image.where == 0 &&
                (identity & meeting) == 0;
  const auto called = [&](const HashSum& threads, std::uint64_t where) {
    return image.loose ? Hash128{threads.low * image.rest->apart, threads.high * image.rest->apart}
                       : image_hash(
                             work,
                             image.rest->hash,
                             shared_hash(work, *image.shared, image.left_out),
                             threads,
                             where
                         );
  };
  image.hash = called(image.sum, image.where);
  const bool numbered = !(image.sum == image.unnumbered_sum) || image.where != image.asked_where;
  image.unnumbered = numbered ? called(image.unnumbered_sum, image.asked_where) : image.hash;
}

/// Which variables of a cluster's shared memory nothing is decided by, or are written before they
/// are read again: its threads may read some, and some of them certainly write others, before they
/// meet.
std::uint64_t
Stepper::left_out_of_shared(const Work& work, std::uint64_t read, std::uint64_t written) const {
  if (!options_.by_decisions || work.clusters.front()->size() != 1) {
    return 0;
  }
  read = mutant_is(Mutant::OverwrittenForgetsReads) ? 0 : read;
  written = mutant_is(Mutant::OverwrittenForgetsWrites) ? ~std::uint64_t{0} : written;
  return (written & ~read) | followed_.cone.data_in_shared(work.command->grid->kernel());
}

/// The sum of shared memory without the contents of some variables of the kernel.
HashSum Stepper::shared_hash(const Work& work, const ImageShared& shared, std::uint64_t left_out) {
  const auto& variables = work.command->grid->kernel().shared_variables;
  if (left_out == 0 || variables.empty()) {
    return shared.sum;
  }
  const auto [known, is_new] =
      shared.without.try_emplace(combine(work.identity, left_out).low, shared.sum);
  if (is_new) {
    std::map<std::uint64_t, std::uint64_t> words; // by offset: the bits that are left out
    for (std::size_t v = 0; v < std::min<std::size_t>(variables.size(), 64); ++v) {
      for (std::uint64_t b = 0; (left_out >> v & 1) != 0 && b < variables[v].bytes; ++b) {
        const std::uint64_t at = variables[v].offset + b;
        words[at / sizeof at * sizeof at] |= std::uint64_t{0xff} << 8 * (at % sizeof at);
      }
    }
    for (const auto& [offset, bits] : words) {
      const std::uint64_t* name = shared_word(offset);
      const std::uint64_t value = contents(name, shared.bytes.data());
      known->second.subtract(MemoryJournal::hash(name, value));
      known->second.add(MemoryJournal::hash(name, value & ~bits));
    }
  }
  return known->second;
}

/// The shared memory of a cluster; one that has moved mostly differs little from what it was.
const ImageShared* Stepper::intern_shared(const Work& work, std::size_t c) {
  Cluster& cluster = *work.clusters[c];
  const std::size_t each = cluster.block(0).all_shared().size(), size = each * cluster.size();
  const ImageShared* like = work.loaded[c] != nullptr ? work.loaded[c]->shared : nullptr;
  HashSum sum;
  if (like != nullptr) {
    sum = like->sum;
  } else {
    sum.add(combine(std::uint64_t{size}));
  }
  constexpr std::size_t step = 128; // bytes that are compared at once
  static constexpr std::array<std::byte, step> zeros{};
  bool changed = false;
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    const Block& block = cluster.block(b);
    for (std::size_t at = 0; at < each; at += step) {
      const std::size_t bytes = std::min(step, each - at);
      const std::byte* is = block.ended() ? zeros.data() : block.all_shared().data() + at;
      const std::byte* was = like != nullptr ? like->bytes.data() + b * each + at : zeros.data();
      if (std::memcmp(is, was, bytes) == 0) {
        continue;
      }
      changed = true;
      for (std::size_t word = 0; word < bytes; word += sizeof(std::uint64_t)) {
        std::uint64_t before = 0, after = 0;
        std::memcpy(&before, was + word, sizeof before);
        std::memcpy(&after, is + word, sizeof after);
        if (before != after) {
          const std::uint64_t* name = shared_word(b * each + at + word);
          sum.subtract(MemoryJournal::hash(name, before));
          sum.add(MemoryJournal::hash(name, after));
        }
      }
    }
  }
  if (like != nullptr && !changed) {
    return like;
  }
  return images_.shared(sum, [&] {
    decltype(ImageShared::bytes) bytes(size);
    for (std::size_t b = 0; b < cluster.size(); ++b) {
      if (!cluster.block(b).ended()) {
        std::ranges::copy(
            cluster.block(b).all_shared(),
            bytes.begin() + static_cast<std::ptrdiff_t>(b * each)
        );
      }
    }
    return bytes;
  });
}

void Stepper::forget() {
  constexpr std::size_t worth_it = 1024; // images
  log_.clear();
  journal_.forget();
  if (weak_) {
    weak_->forget_undo();
  }
  if (images_.size() < worth_it) {
    return;
  }
  known_moves_.forget(); // names images
  std::unordered_set<const Image*> used;
  for (const auto& work : works_) {
    used.insert(work->images.begin(), work->images.end());
    used.insert(work->loaded.begin(), work->loaded.end());
  }
  images_.keep_only(used);
}

} // namespace heddle::reduce

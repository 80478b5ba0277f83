// FoundRanges: ranges of memory that a worker has found, by address.
//
//   if (const memory::Range* range = found.at(a)) …      // found.keep(a, range) otherwise
//   found.forget();                                       // some of them may not live any more
//   found.forget(base, bytes);                            // this one does not
//
// An op remembers the one range in which it was last (Exec::last_range). Where each thread has an
// object of its own from the device's heap, or a list of arrays, the lanes of one access lie in as
// many ranges, and to find one takes a lock and a search. Which ops remember one is noted here, too
// (their sites), so that one range can be taken from them without a look at all.
#pragma once

#include "isa/op.h"
#include "memory/address_space.h"

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

namespace heddle::isa {

class FoundRanges {
public:
  /// The range that holds `a`; nullptr: it is not known here.
  const memory::Range* at(memory::Address a) const {
    if (all_ == nullptr) {
      return nullptr;
    }
    const Place& place = all_->places[index(a)];
    return place.epoch == epoch_ && a - place.range.base < place.range.size ? &place.range
                                                                            : nullptr;
  }
  void keep(memory::Address a, const memory::Range& range) {
    if (all_ == nullptr) {
      all_ = std::make_unique<All>();
    }
    all_->places[index(a)] = {range, epoch_};
  }
  void note_site(std::size_t site) {
    if (all_ != nullptr) {
      all_->sites[site / 64] |= std::uint64_t{1} << site % 64;
    }
  }
  /// Calls f(site) for each that has been noted since forget().
  template <class F> void each_site(F f) const {
    for (std::size_t word = 0; all_ != nullptr && word < all_->sites.size(); ++word) {
      for (std::uint64_t bits = all_->sites[word]; bits != 0; bits &= bits - 1) {
        f(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      }
    }
  }
  void forget() {
    ++epoch_;
    if (all_ != nullptr) {
      all_->sites.fill(0);
    }
  }
  /// The one that begins at `base`.
  void forget(memory::Address base, std::uint64_t bytes) {
    if (all_ == nullptr) {
      return;
    }
    const std::uint64_t granules = (bytes >> granule_bits) + 2; // bytes of one lie in two
    const bool all = granules > count;
    for (std::uint64_t n = 0; n < (all ? count : granules); ++n) {
      Place& place = all_->places[all ? n : index(base + (n << granule_bits))];
      place.epoch = place.range.base == base ? 0 : place.epoch;
    }
  }

private:
  // Allocations of the device's heap are at least as far from each other.
  static constexpr unsigned granule_bits = 8;
  static constexpr std::uint64_t count = 4096;
  struct Place {
    memory::Range range;
    std::uint64_t epoch = 0;
  };
  struct All {
    std::array<Place, count> places;
    std::array<std::uint64_t, range_sites / 64> sites{};
  };
  static std::uint64_t index(memory::Address a) {
    const std::uint64_t granule = a >> granule_bits;
    return (granule ^ granule >> 12) % count;
  }

  std::unique_ptr<All> all_; // made when first wanted
  std::uint64_t epoch_ = 1;
};

} // namespace heddle::isa

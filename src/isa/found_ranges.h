// FoundRanges: ranges of memory that a worker has found, by address.
//
//   if (const memory::Range* range = found.at(a)) …      // found.keep(a, range) otherwise
//   found.forget();                                       // some of them may not live any more
//
// An op remembers the one range in which it was last (Exec::last_range). Where each thread has an
// object of its own from the device's heap, or a list of arrays, the lanes of one access lie in as
// many ranges, and to find one takes a lock and a search in a tree.
#pragma once

#include "memory/address_space.h"

#include <cstdint>
#include <memory>

namespace heddle::isa {

class FoundRanges {
public:
  /// The range that holds `a`; nullptr: it is not known here.
  const memory::Range* at(memory::Address a) const {
    if (places_ == nullptr) {
      return nullptr;
    }
    const Place& place = places_[index(a)];
    return place.epoch == epoch_ && a - place.range.base < place.range.size ? &place.range
                                                                            : nullptr;
  }
  void keep(memory::Address a, const memory::Range& range) {
    if (places_ == nullptr) {
      places_ = std::make_unique<Place[]>(count);
    }
    places_[index(a)] = {range, epoch_};
  }
  void forget() { ++epoch_; }

private:
  // Allocations of the device's heap are at least as far from each other.
  static constexpr unsigned granule_bits = 8;
  static constexpr std::uint64_t count = 4096;
  struct Place {
    memory::Range range;
    std::uint64_t epoch = 0;
  };
  static std::uint64_t index(memory::Address a) {
    const std::uint64_t granule = a >> granule_bits;
    return (granule ^ granule >> 12) % count;
  }

  std::unique_ptr<Place[]> places_; // made when first wanted
  std::uint64_t epoch_ = 1;
};

} // namespace heddle::isa

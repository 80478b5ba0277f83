// Rows: which bytes of a region a copy or a set accesses. What lies between its rows is others'.
#pragma once

#include "machine/world.h"

#include <cstdint>
#include <vector>

namespace heddle::runtime {

/// `height` rows of `width` bytes, each `pitch` behind the last one, and that again after each
/// `slice`. Without a pitch: all bytes.
struct Rows {
  std::uint64_t width = 0, height = 1;
  std::uint64_t pitch = 0, slice = 0;

  /// `offset`: within the region.
  bool hold(std::uint64_t offset) const {
    if (pitch == 0) {
      return true;
    }
    const std::uint64_t in_slice = slice == 0 ? offset : offset % slice;
    return in_slice / pitch < height && in_slice % pitch < width;
  }
};

/// Of a copy or a set: which bytes of each region that it touches, in the same order. Empty: all.
std::vector<Rows> rows_of(const machine::Command& command);

} // namespace heddle::runtime

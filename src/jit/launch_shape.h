// LaunchShape: what the blocks of the launches have in common for which a region is made.
#pragma once

#include <cstdint>
#include <string>

namespace heddle::jit {

struct LaunchShape {
  /// Lanes that are executed together: 32, 16 or 8.
  std::uint32_t lanes = 16;
  /// Each group of so many lanes lies in one row of the block: %tid.x counts up, %tid.y and %tid.z
  /// are the same.
  bool rows = true;

  static LaunchShape of(std::uint32_t block_x) {
    return block_x % 32 == 0   ? LaunchShape{32, true}
           : block_x % 16 == 0 ? LaunchShape{16, true}
           : block_x % 8 == 0  ? LaunchShape{8, true}
                               : LaunchShape{16, false};
  }
  /// "32", "16", "8" or "any": how heddle-jit is told.
  std::string name() const { return rows ? std::to_string(lanes) : "any"; }
  bool operator==(const LaunchShape&) const = default;
};

} // namespace heddle::jit

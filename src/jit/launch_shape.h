// LaunchShape: what the blocks of the launches have in common for which a region is made.
#pragma once

#include "isa/program.h"
#include "ptx/effect.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::jit {

/// A collective of a warp whose membermask is Ref{op.imm2}: isa/lower_collective.h.
inline bool is_collective(const ptx::Effect& effect) {
  return effect.is(ptx::Effect::Kind::Collective) ||
         (effect.is(ptx::Effect::Kind::Barrier) && effect.meets == ptx::Effect::Meets::Warp);
}

/// What the lanes of a warp do together, or tell each other: a whole warp executes it, as in the
/// interpreter.
inline bool is_of_whole_warps(const ptx::Effect& effect) {
  return is_collective(effect) || effect.is(ptx::Effect::Kind::WarpWide) ||
         effect.is(ptx::Effect::Kind::ActiveLanes);
}

/// Has the kernel such instructions?
inline bool communicates(const isa::Kernel& kernel) {
  for (const auto& [address, code] : kernel.functions) {
    for (const ptx::Instruction& i : code->function->body) {
      if (is_of_whole_warps(ptx::effect_of(i))) {
        return true;
      }
    }
  }
  return false;
}

struct LaunchShape {
  /// Lanes that are executed together: 32, 16 or 8.
  std::uint32_t lanes = 16;
  /// Each group of so many lanes lies in one row of the block: %tid.x counts up, %tid.y and %tid.z
  /// are the same.
  bool rows = true;
  /// The program is watched by a monitor (isa::RegionWatch), which is to be told of accesses to
  /// memory that threads share, or of those to each thread's own memory, too.
  enum class Watch : std::uint8_t {
    Nothing,
    Shared,
    All
  };
  Watch watch = Watch::Nothing;
  /// What is likely to be regular is taken to be (lane_values.h), and results of f64 operations to
  /// be numbers (nan_chains.h). For kernels that show that this is wrong there is code without
  /// guesses.
  bool guesses = true;
  /// Accesses ask whether their memory is there. Only a benchmark does without, in its own process:
  /// heddle-jit knows no name of such a shape.
  bool checks = true;

  /// `row`: isa::region_row().
  static LaunchShape
  of(const isa::Kernel& kernel, std::uint32_t row, Watch watch = Watch::Nothing) {
    if (watch != Watch::Nothing) { // a monitor is told of the accesses of a whole warp
      return {32, row % 32 == 0, watch};
    }
    return row % 32 == 0          ? LaunchShape{32, true}
           : communicates(kernel) ? LaunchShape{32, false}
           : row % 16 == 0        ? LaunchShape{16, true}
           : row % 8 == 0         ? LaunchShape{8, true}
                                  : LaunchShape{16, false};
  }
  bool fits(std::uint32_t row) const { return !rows || row % lanes == 0; }
  /// "32", "16", "8", "any16", "any32", with "plain" in front of it if nothing is guessed, and
  /// "shared" or "all" if the program is watched: how heddle-jit is told.
  std::string name() const {
    const char* watched = watch == Watch::Nothing ? "" : watch == Watch::Shared ? "shared" : "all";
    return std::string(checks ? "" : "unchecked") + watched + (guesses ? "" : "plain") +
           (rows ? "" : "any") + std::to_string(lanes);
  }
  static std::optional<LaunchShape> named(std::string_view name) {
    for (const bool guesses : {true, false}) {
      for (const Watch watch : {Watch::Nothing, Watch::Shared, Watch::All}) {
        for (const LaunchShape& shape : {
                 LaunchShape{32, true, watch, guesses},
                 LaunchShape{16, true, watch, guesses},
                 LaunchShape{8, true, watch, guesses},
                 LaunchShape{16, false, watch, guesses},
                 LaunchShape{32, false, watch, guesses},
             }) {
          if (shape.name() == name) {
            return shape;
          }
        }
      }
    }
    return std::nullopt;
  }
  bool operator==(const LaunchShape&) const = default;
};

} // namespace heddle::jit

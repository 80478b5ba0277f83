// The state of a lockstep warp: which lanes execute now, and who waits where for whom.
//
// This is the warp of every GPU before sm_70, in the form that spec/simt.md defines: a stack of
// tokens (mask, pc, reconvergence pc). The lanes of the topmost token execute, all of them the same
// instruction; the lanes of the tokens below wait until it is popped. A lane may be in several
// tokens: the topmost of them says where it stands. Nothing here knows PTX: a program counter is a
// number, and so is an activation (one call of a function by some lanes).
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::simt {

using LaneMask = std::uint32_t;
using Pc = std::uint64_t;
using Activation = std::uint64_t;

inline constexpr Pc no_pc = ~Pc{0};
inline constexpr int warp_size = 32;

struct Token {
  LaneMask mask = 0;
  Activation activation = 0;
  Pc pc = 0;                // of the next instruction of these lanes
  Pc reconvergence = no_pc; // where they meet the lanes of the token below, in the same
                            // activation; no_pc: nowhere before the activation ends
  Pc branch = no_pc;        // what pushed it, for reports; no_pc: the start of the kernel

  bool operator==(const Token&) const = default;
};

struct Warp {
  std::vector<Token> stack; // the last one is on top
  LaneMask live = 0;        // lanes that have not ended
  bool waits = false;       // for a barrier or a collective: [SIMT-RELEASE] has to come first

  bool operator==(const Warp&) const = default;
};

/// The topmost token that holds `lane`, as an index into the stack.
inline std::size_t token_of(const Warp& warp, int lane) {
  std::size_t i = warp.stack.size();
  while (i > 0 && (warp.stack[i - 1].mask >> lane & 1) == 0) {
    --i;
  }
  return i - 1;
}

} // namespace heddle::simt

// Warp collectives: which lane each lane reads, and what each computes from the values of all.
//
// Implements PTX ISA 9.0, 9.7.9.6 (shfl.sync), 9.7.13.9 (vote.sync), 9.7.13.10 (match.sync),
// 9.7.13.12 (redux.sync), 9.7.13.14 (elect.sync), as plain functions. PTX leaves open what
// shfl reads from a lane that does not take part (ended, or outside the membermask): 0 here, which
// is what an H200 gives.
#pragma once

#include "isa/op.h"
#include "isa/ops_float.h"
#include "ptx/module.h"

#include <array>
#include <bit>
#include <optional>

namespace heddle::isa::ops {

enum class Shuffle : std::uint8_t {
  Up,
  Down,
  Bfly,
  Idx
};

struct ShuffleSource {
  int lane = 0;
  bool in_range = false; // the predicate that shfl returns
};

/// b: offset or index; c: clamp in bits 0-4, segment mask in bits 8-12.
template <Shuffle Mode>
constexpr ShuffleSource shuffle_source(int lane, std::uint32_t b, std::uint32_t c) {
  const int offset = static_cast<int>(b & 31);
  const int clamp = static_cast<int>(c & 31);
  const int segment = static_cast<int>(c >> 8 & 31);
  const int lowest = lane & segment;
  const int limit = lowest | (clamp & ~segment);
  int from = 0;
  bool in_range = false;
  if constexpr (Mode == Shuffle::Up) {
    from = lane - offset;
    in_range = from >= limit;
  } else {
    if constexpr (Mode == Shuffle::Down) {
      from = lane + offset;
    } else if constexpr (Mode == Shuffle::Bfly) {
      from = lane ^ offset;
    } else {
      from = lowest | (offset & ~segment);
    }
    in_range = from <= limit;
  }
  return {in_range ? from : lane, in_range};
}

inline ShuffleSource
shuffle_source(const ptx::Instruction& shfl, int lane, std::uint32_t b, std::uint32_t c) {
  using ptx::Mod;
  return shfl.has(Mod::Up)     ? shuffle_source<Shuffle::Up>(lane, b, c)
         : shfl.has(Mod::Down) ? shuffle_source<Shuffle::Down>(lane, b, c)
         : shfl.has(Mod::Bfly) ? shuffle_source<Shuffle::Bfly>(lane, b, c)
                               : shuffle_source<Shuffle::Idx>(lane, b, c);
}

/// Of each of `lanes`: those that have the same value; of others: none. One comparison with all
/// lanes for each value that occurs.
template <class V>
void match_lanes(const V* value, LaneMask lanes, std::array<LaneMask, warp_size>& same) {
  same.fill(0);
  for (LaneMask left = lanes; left != 0;) {
    const V one = value[std::countr_zero(left)];
    LaneMask equal = 0;
    for (int lane = 0; lane < warp_size; ++lane) {
      equal |= static_cast<LaneMask>(value[lane] == one) << lane;
    }
    equal &= lanes;
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      same[lane] = (equal >> lane & 1) != 0 ? equal : same[lane];
    }
    left &= ~equal;
  }
}

/// The reductions of integers, whose order does not matter.
enum class Fold : std::uint8_t {
  Add,
  And,
  Or,
  Xor,
  MinU32,
  MaxU32,
  MinS32,
  MaxS32
};

// Reductions: new = f(sum so far, value of the next lane).
constexpr std::uint32_t reduce_add(std::uint32_t a, std::uint32_t b) {
  return a + b;
}
constexpr std::uint32_t reduce_and(std::uint32_t a, std::uint32_t b) {
  return a & b;
}
constexpr std::uint32_t reduce_or(std::uint32_t a, std::uint32_t b) {
  return a | b;
}
constexpr std::uint32_t reduce_xor(std::uint32_t a, std::uint32_t b) {
  return a ^ b;
}
constexpr std::uint32_t reduce_min_u32(std::uint32_t a, std::uint32_t b) {
  return b < a ? b : a;
}
constexpr std::uint32_t reduce_max_u32(std::uint32_t a, std::uint32_t b) {
  return b > a ? b : a;
}
constexpr std::uint32_t reduce_min_s32(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(b) < static_cast<std::int32_t>(a) ? b : a;
}
constexpr std::uint32_t reduce_max_s32(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(b) > static_cast<std::int32_t>(a) ? b : a;
}
/// Which of them a function is.
template <auto F> constexpr std::optional<Fold> fold_of() {
  const auto is = [](std::uint32_t (*other)(std::uint32_t, std::uint32_t)) { return F == other; };
  return is(reduce_add)       ? std::optional(Fold::Add)
         : is(reduce_and)     ? std::optional(Fold::And)
         : is(reduce_or)      ? std::optional(Fold::Or)
         : is(reduce_xor)     ? std::optional(Fold::Xor)
         : is(reduce_min_u32) ? std::optional(Fold::MinU32)
         : is(reduce_max_u32) ? std::optional(Fold::MaxU32)
         : is(reduce_min_s32) ? std::optional(Fold::MinS32)
         : is(reduce_max_s32) ? std::optional(Fold::MaxS32)
                              : std::nullopt;
}
template <bool Max, bool Abs, bool KeepNan>
constexpr std::uint32_t reduce_f32(std::uint32_t a_bits, std::uint32_t b_bits) {
  auto a = from_bits<float>(a_bits);
  auto b = from_bits<float>(b_bits);
  if constexpr (Abs) {
    a = float_abs(a);
    b = float_abs(b);
  }
  return bits(float_extremum<float, Max, /*Ftz=*/false, KeepNan>(a, b));
}

} // namespace heddle::isa::ops

// Video instructions of one thread: scalar (vadd vsub vabsdiff vmin vmax vshl vshr vset vmad) and
// SIMD on two halves or four bytes (vadd2 … vset4) (PTX ISA 9.0, 9.7.18).
//
// Their many modifiers are data here (Video), not template arguments: these instructions are rare,
// and one function reads like the manual.
#pragma once

#include "isa/ops_bits.h"
#include "isa/ops_convert.h"

namespace heddle::isa::ops {

enum class VideoOperation : std::uint8_t {
  Add,
  Sub,
  AbsDiff,
  Min,
  Max,
  Average,
  Shl,
  Shr,
  Set
};
enum class VideoSecond : std::uint8_t {
  None,
  Add,
  Min,
  Max
};
enum class VideoCompare : std::uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge
};

/// A part of a 32-bit value: width 8, 16 or 32 bits, at `shift`.
struct VideoPart {
  std::uint8_t width = 32;
  std::uint8_t shift = 0;
};

/// What a scalar or SIMD video instruction does.
struct Video {
  VideoOperation operation{};
  VideoSecond second = VideoSecond::None;
  VideoCompare compare{};
  bool a_signed : 1 = false;
  bool b_signed : 1 = false;
  bool d_signed : 1 = false;
  bool saturate : 1 = false;
  bool clamp : 1 = false; // shifts: amounts above 32 are 32; else modulo 32
  bool merge : 1 = false; // scalar: the result replaces part `d` of c
  // Scalar:
  VideoPart a, b, d;
  // SIMD: elements in use, and for each of them which element of {b, a} the operands are.
  std::uint8_t mask = 0;
  std::uint16_t a_select = 0, b_select = 0; // 3 bits per element, lowest first
};
static_assert(sizeof(Video) <= 16);

/// The part of `value` as a number.
constexpr std::int64_t
video_part(std::uint64_t value, unsigned shift, unsigned width, bool is_signed) {
  const std::uint64_t up = value << (64 - shift - width);
  return is_signed ? static_cast<std::int64_t>(up) >> (64 - width)
                   : static_cast<std::int64_t>(up >> (64 - width));
}
constexpr std::int64_t video_saturate(std::int64_t value, unsigned width, bool is_signed) {
  const std::int64_t high = (std::int64_t{1} << (is_signed ? width - 1 : width)) - 1;
  return clamp(value, is_signed ? -high - 1 : std::int64_t{0}, high);
}
constexpr bool video_compare(VideoCompare what, std::int64_t a, std::int64_t b) {
  switch (what) {
  case VideoCompare::Eq:
    return a == b;
  case VideoCompare::Ne:
    return a != b;
  case VideoCompare::Lt:
    return a < b;
  case VideoCompare::Le:
    return a <= b;
  case VideoCompare::Gt:
    return a > b;
  case VideoCompare::Ge:
    return a >= b;
  }
  return false;
}

constexpr std::int64_t video_primary(const Video& v, std::int64_t a, std::int64_t b) {
  const auto amount = static_cast<std::uint32_t>(b);
  const std::uint32_t shift = v.clamp ? (amount < 32 ? amount : 32) : amount & 31U;
  switch (v.operation) {
  case VideoOperation::Add:
    return a + b;
  case VideoOperation::Sub:
    return a - b;
  case VideoOperation::AbsDiff:
    return a < b ? b - a : a - b;
  case VideoOperation::Min:
    return a < b ? a : b;
  case VideoOperation::Max:
    return a < b ? b : a;
  case VideoOperation::Average:
    return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
  case VideoOperation::Shl: { // intermediate results are signed numbers of 34 bits
    const auto shifted = static_cast<std::uint64_t>(a) << shift;
    return video_part(shifted, 0, 34, true);
  }
  case VideoOperation::Shr:
    return a >> shift;
  case VideoOperation::Set:
    return video_compare(v.compare, a, b) ? 1 : 0;
  }
  return 0;
}

/// .sat of a scalar instruction. As compiled: sums and differences are not clamped above for .u32,
/// and where the result is merged into c the upper bound is compared with the wrong sign.
constexpr std::int64_t video_saturate_scalar(const Video& v, std::int64_t t) {
  if (v.merge) {
    if (!v.d_signed) {
      return 0;
    }
    const auto high = (std::uint32_t{1} << (v.d.width - 1)) - 1;
    const auto word = static_cast<std::uint32_t>(t);
    return word < high ? word : high;
  }
  const bool arithmetic = v.operation == VideoOperation::Add ||
                          v.operation == VideoOperation::Sub ||
                          v.operation == VideoOperation::AbsDiff;
  if (arithmetic && !v.d_signed) {
    return t < 0 ? 0 : t;
  }
  return video_saturate(t, 32, v.d_signed);
}

constexpr std::uint32_t
video_scalar(const Video& v, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::int64_t t = video_primary(
      v,
      video_part(a, v.a.shift, v.a.width, v.a_signed),
      video_part(b, v.b.shift, v.b.width, v.b_signed)
  );
  if (v.saturate) {
    t = video_saturate_scalar(v, t);
  }
  const auto word = static_cast<std::uint32_t>(t);
  if (v.merge) {
    const std::uint32_t mask = low_bits<std::uint32_t>(v.d.width) << v.d.shift;
    return (c & ~mask) | ((word << v.d.shift) & mask);
  }
  // The secondary operation is one of 32-bit numbers of the result's type. As compiled: for .u32 a
  // result of 2^31 and more that may have been negative is above every c.
  const bool may_be_negative = v.a_signed || v.b_signed || v.operation == VideoOperation::Add ||
                               v.operation == VideoOperation::Sub;
  const bool above = !v.d_signed && may_be_negative && word >> 31 != 0;
  const std::int64_t x = above ? std::int64_t{1} << 32 : video_part(word, 0, 32, v.d_signed);
  const std::int64_t y = video_part(c, 0, 32, v.d_signed);
  switch (v.second) {
  case VideoSecond::None:
    return word;
  case VideoSecond::Add:
    return word + c;
  case VideoSecond::Min:
    return x < y ? word : c;
  case VideoSecond::Max:
    return x < y ? c : word;
  }
  return word;
}

/// N elements of 32 / N bits.
template <unsigned N>
constexpr std::uint32_t
video_simd(const Video& v, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  constexpr unsigned width = 32 / N;
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  std::uint32_t sum = c;
  std::uint32_t merged = 0;
#pragma GCC unroll 4 // compiled code executes what has no loops for all lanes at once
  for (unsigned i = 0; i < N; ++i) {
    const unsigned x = (v.a_select >> (3 * i)) & 7U;
    const unsigned y = (v.b_select >> (3 * i)) & 7U;
    std::int64_t t = video_primary(
        v,
        video_part(both, x * width, width, v.a_signed),
        video_part(both, y * width, width, v.b_signed)
    );
    if (v.saturate) {
      t = video_saturate(t, width, v.d_signed);
    }
    const bool used = ((v.mask >> i) & 1U) != 0;
    const auto word = static_cast<std::uint32_t>(t);
    sum += used ? word : 0;
    const std::uint32_t field = low_bits<std::uint32_t>(width) << (width * i);
    merged |= field & (used ? word << (width * i) : c);
  }
  return v.second == VideoSecond::Add ? sum : merged;
}

/// vmad: (a × b + c) scaled and saturated, with negations and plus one.
struct VideoMad {
  VideoPart a, b;
  bool a_signed = false, b_signed = false;
  bool negate_product = false, negate_c = false;
  bool plus_one = false;
  bool saturate = false;
  std::uint8_t scale = 0;
};
static_assert(sizeof(VideoMad) <= 16);
/// As compiled: operands of 32 bits are signed whatever their type, and an unsigned result is
/// scaled as an unsigned number of 64 bits.
constexpr std::uint32_t
video_mad(const VideoMad& v, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const bool is_signed = v.a_signed || v.b_signed || v.negate_product || v.negate_c;
  const std::int64_t x = video_part(a, v.a.shift, v.a.width, v.a_signed || v.a.width == 32);
  const std::int64_t y = video_part(b, v.b.shift, v.b.width, v.b_signed || v.b.width == 32);
  const Int128 product = Int128{x} * y;
  const Int128 sum = (v.negate_product ? ~product : product) +
                     static_cast<std::int32_t>(v.negate_c ? ~c : c) +
                     (v.plus_one || v.negate_product || v.negate_c ? 1 : 0);
  const Int128 scaled = is_signed || v.scale == 0
                            ? sum >> v.scale
                            : Int128{static_cast<std::uint64_t>(sum) >> v.scale};
  const Int128 high = is_signed ? 0x7fff'ffff : 0xffff'ffff;
  return static_cast<std::uint32_t>(
      v.saturate ? clamp(scaled, is_signed ? -high - 1 : Int128{0}, high) : scaled
  );
}

} // namespace heddle::isa::ops

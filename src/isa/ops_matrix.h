// Matrix multiplication as one H200 does it: one element of D = A × B + C.
//
// PTX leaves accuracy and order of the floating-point sums of mma and wmma open (9.7.14); this is
// what was found on an H200 (sm_90) by comparing bits.
// - f16, bf16, tf32: products are exact; all products of one step (16 of k, tf32 8, in wmma 4) and
//   c are aligned to the largest exponent among them, cut off (towards zero) two bits below the
//   last place of an f32 there and added exactly; the sum is cut to f32. An f16 result is rounded
//   to nearest instead.
// - e4m3, e5m2: the same in two steps (k mod 4 in {0, 1}, then {2, 3}) without c, which is added
//   last, rounding to nearest. In wgmma: 32 products and c in one step, cut off 13 bits below the
//   largest exponent; an f32 result keeps 13 bits behind the point.
// - f64: a chain of fma in order of k.
// - Integers wrap, or saturate at the end with .satfinite.
// Other architectures round otherwise: there the results are within what PTX promises, but not the
// hardware's bits.
#pragma once

#include "isa/ops_half.h"

#include <algorithm>
#include <limits>

namespace heddle::isa::ops {

/// An element of A or B: mantissa × 2^(top - mantissa_bits), where top is the exponent as stored
/// (subnormal numbers have the smallest), the place of the bit before the binary point. For zero,
/// infinity (sign in mantissa) and NaN top is one of the values below, which show in sums of two.
struct Factor {
  static constexpr std::int32_t top_of_zero = -(1 << 16);
  static constexpr std::int32_t top_of_infinity = 1 << 20;
  static constexpr std::int32_t top_of_nan = 1 << 21;
  static constexpr std::int32_t special = 1 << 19; // products above it are infinite or NaN

  std::int32_t mantissa = 0;
  std::int32_t top = top_of_zero;
};

constexpr Factor factor(std::uint32_t word, const Format& format) {
  const auto magnitude = static_cast<std::uint32_t>(word & (format.sign() - 1));
  const int sign = (word & format.sign()) != 0 ? -1 : 1;
  if (magnitude == 0) {
    return {};
  }
  if (magnitude > format.largest()) {
    const bool infinite =
        format.specials == Format::Specials::Ieee && magnitude == format.infinity();
    return {sign, infinite ? Factor::top_of_infinity : Factor::top_of_nan};
  }
  const auto exponent = static_cast<std::int32_t>(magnitude >> format.mantissa_bits);
  const std::uint32_t one = std::uint32_t{1} << format.mantissa_bits;
  const std::uint32_t mantissa = (magnitude & (one - 1)) | (exponent != 0 ? one : 0);
  return {sign * static_cast<std::int32_t>(mantissa), std::max(exponent, 1) - format.bias()};
}

/// A sum on its way: value × 2^exponent, or infinite, or NaN.
struct MatrixSum {
  std::int64_t value = 0;
  std::int32_t exponent = 0;
  bool positive_infinity = false;
  bool negative_infinity = false;
  bool nan = false;

  bool special() const { return positive_infinity || negative_infinity || nan; }
};

/// What infinite and NaN products make of a sum.
inline void add_specials(MatrixSum& sum, const Factor& x, const Factor& y) {
  if (x.top + y.top < Factor::special) {
    return;
  }
  if (x.top == Factor::top_of_nan || y.top == Factor::top_of_nan || x.mantissa == 0 ||
      y.mantissa == 0) {
    sum.nan = true;
  } else {
    ((x.mantissa < 0) != (y.mantissa < 0) ? sum.negative_infinity : sum.positive_infinity) = true;
  }
}

inline constexpr int largest_step = 32;

/// How sums are made: so many products at a time, with so many bits below the largest exponent.
struct Accumulation {
  int step = 16;
  int kept = 23 + 2;
};

/// The sum of c and the products a[i] × b[i], as the tensor core adds one step.
inline MatrixSum
matrix_step(const Factor* a, const Factor* b, Accumulation how, int product_bits, std::uint32_t c) {
  const int count = how.step;
  const int kept = how.kept;
  const Factor addend = factor(c, f32_format);
  std::int32_t top[largest_step];
  std::int32_t largest = addend.top;
  for (int i = 0; i < count; ++i) {
    top[i] = a[i].top + b[i].top;
    largest = std::max(largest, top[i]);
  }
  MatrixSum sum;
  if (largest >= Factor::special) {
    for (int i = 0; i < count; ++i) {
      add_specials(sum, a[i], b[i]);
    }
    add_specials(sum, addend, Factor{1, 0});
    return sum;
  }
  sum.exponent = largest - kept;
  // Cut towards zero: magnitudes are shifted, then get their sign.
  const auto aligned = [](std::int64_t mantissa, std::int32_t up) {
    const std::int64_t sign = mantissa >> 63;
    const auto magnitude = static_cast<std::uint64_t>((mantissa ^ sign) - sign);
    const std::uint64_t shifted = up >= 0 ? magnitude << (up & 63) : magnitude >> std::min(-up, 63);
    return (static_cast<std::int64_t>(shifted) ^ sign) - sign;
  };
  for (int i = 0; i < count; ++i) {
    const std::int64_t product = std::int64_t{a[i].mantissa} * b[i].mantissa;
    sum.value += aligned(product, top[i] - product_bits - sum.exponent);
  }
  sum.value += aligned(addend.mantissa, addend.top - f32_format.mantissa_bits - sum.exponent);
  return sum;
}

inline std::uint32_t finish_sum(const MatrixSum& sum, const Format& format, Round round) {
  if (sum.nan || (sum.positive_infinity && sum.negative_infinity)) {
    return static_cast<std::uint32_t>(format.canonical_nan());
  }
  if (sum.special()) {
    return static_cast<std::uint32_t>(
        format.infinity() | (sum.negative_infinity ? format.sign() : 0)
    );
  }
  Exact exact;
  if (sum.value != 0) {
    exact.kind = Exact::Kind::Finite;
    exact.sign = sum.value < 0;
    exact.mantissa = static_cast<Uint128>(exact.sign ? -sum.value : sum.value);
    exact.exponent = sum.exponent;
  }
  // Too large for the format is infinite, also where sums are cut.
  if (exact.finite() && exact.exponent + top_bit(exact.mantissa) > format.bias()) {
    return static_cast<std::uint32_t>(format.infinity() | (exact.sign ? format.sign() : 0));
  }
  return static_cast<std::uint32_t>(round_to(exact, format, round));
}

/// An f32 word with so many bits behind the point, cut towards zero; NaN stays as it is.
constexpr std::uint32_t cut_mantissa(std::uint32_t word, int bits) {
  const std::uint32_t below =
      bits < f32_format.mantissa_bits ? (1U << (f32_format.mantissa_bits - bits)) - 1 : 0;
  return (word & 0x7fff'ffffU) > 0x7f80'0000U ? word : word & ~below;
}

/// Factors of any format; product_bits: mantissa bits of both formats together. c is an f32 word,
/// the result an f32 or (Half) an f16 word.
template <bool Half>
std::uint32_t matrix_dot(
    const Factor* a,
    const Factor* b,
    int k,
    Accumulation how,
    int product_bits,
    std::uint32_t c
) {
  MatrixSum sum;
  for (int i = 0; i < k; i += how.step) {
    sum = matrix_step(a + i, b + i, how, product_bits, c);
    c = cut_mantissa(finish_sum(sum, f32_format, Round::Zero), how.kept);
  }
  return Half ? finish_sum(sum, f16_format, Round::Nearest) : c;
}
/// 8-bit factors of mma, those of k mod 4 in {0, 1} first.
inline std::uint32_t
matrix_dot_f8(const Factor* a, const Factor* b, int k, int product_bits, std::uint32_t c) {
  const std::uint32_t sum = matrix_dot<false>(a, b, k, {k / 2}, product_bits, 0);
  return bits(float_add<float>(from_bits<float>(sum), from_bits<float>(c)));
}

inline std::uint64_t
matrix_dot_f64(const std::uint64_t* a, const std::uint64_t* b, int k, std::uint64_t c) {
  auto sum = from_bits<double>(c);
  for (int i = 0; i < k; ++i) {
    sum = float_fma<double>(from_bits<double>(a[i]), from_bits<double>(b[i]), sum);
  }
  return bits(sum);
}

/// Integer factors are sign- or zero-extended already.
inline std::uint32_t matrix_dot_s32(
    const std::int32_t* a,
    const std::int32_t* b,
    int k,
    std::uint32_t c,
    bool saturate_result
) {
  std::int64_t sum = static_cast<std::int32_t>(c);
  for (int i = 0; i < k; ++i) {
    sum += std::int64_t{a[i]} * b[i];
  }
  if (saturate_result) {
    sum = std::clamp<std::int64_t>(
        sum,
        std::numeric_limits<std::int32_t>::min(),
        std::numeric_limits<std::int32_t>::max()
    );
  }
  return static_cast<std::uint32_t>(sum);
}

} // namespace heddle::isa::ops

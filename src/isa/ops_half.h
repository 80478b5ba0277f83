// f16 and bf16 of one thread: conversion to and from f32, and arithmetic (PTX ISA 9.0, 9.7.4
// and 9.7.5).
//
// Bit-exact: f32 arithmetic on f16 operands followed by one rounding to f16 is correctly rounded
// for add, sub and mul, because f32 keeps more than twice as many bits; fma rounds to odd in
// between. NaN results are 0x7fff.
#pragma once

#include "isa/ops_float.h"

namespace heddle::isa::ops {

/// IEEE binary16.
struct Half {
  std::uint16_t word;
  static constexpr Format format = f16_format;
};
/// The upper half of an f32.
struct Bfloat {
  std::uint16_t word;
  static constexpr Format format = bf16_format;
};
inline constexpr std::uint16_t half_nan = 0x7fff;
inline constexpr std::uint16_t half_sign = 0x8000;

constexpr bool is_nan(Half a) {
  return (a.word & 0x7fffU) > 0x7c00U;
}
constexpr bool is_nan(Bfloat a) {
  return (a.word & 0x7fffU) > 0x7f80U;
}

/// Exact.
inline float to_float(Half a) {
  return static_cast<float>(std::bit_cast<_Float16>(a.word));
}
constexpr float to_float(Bfloat a) {
  return from_bits<float>(static_cast<std::uint32_t>(a.word) << 16);
}

/// Rounded to nearest even.
template <class H> H from_float(float a);
template <> inline Half from_float<Half>(float a) {
  const auto word = std::bit_cast<std::uint16_t>(static_cast<_Float16>(a));
  return {a == a ? word : half_nan};
}
template <> constexpr Bfloat from_float<Bfloat>(float a) {
  const std::uint32_t word = bits(a);
  const std::uint32_t rounded = word + 0x7fffU + ((word >> 16) & 1U);
  return {a == a ? static_cast<std::uint16_t>(rounded >> 16) : half_nan};
}

// --- NaN, flushing, saturation -------------------------------------------------------------------

template <class H> constexpr H flush_half(H a) {
  constexpr auto exponent = static_cast<std::uint16_t>(H::format.infinity());
  return {(a.word & exponent) == 0 ? static_cast<std::uint16_t>(a.word & half_sign) : a.word};
}
template <bool Ftz, class H> constexpr H flush_half_if(H a) {
  if constexpr (Ftz) {
    return flush_half(a);
  } else {
    return a;
  }
}

/// What is done to a result: .sat clamps to [0, 1] and makes NaN zero, .relu makes negative numbers
/// zero and keeps NaN.
enum class After : std::uint8_t {
  Nothing,
  Saturate,
  Relu
};
template <After What> constexpr float after(float r) {
  if constexpr (What == After::Saturate) {
    return saturate(r);
  } else if constexpr (What == After::Relu) {
    return r < 0.0F || bits(r) == FloatBits<float>::sign ? 0.0F : r;
  } else {
    return r;
  }
}
template <class H, bool Ftz, After What> inline H finished(float exact_enough) {
  // Clamping and rounding commute: 0 and 1 are numbers of every format.
  const float clamped = after<What>(exact_enough);
  if constexpr (Ftz) {
    // What would be rounded to the smallest normal number with an unbounded exponent, is not
    // flushed.
    constexpr float limit = 0x1p-14F - 0x1p-26F;
    const float magnitude = from_bits<float>(bits(clamped) & ~FloatBits<float>::sign);
    return magnitude < limit ? H{static_cast<std::uint16_t>((bits(clamped) >> 16) & half_sign)}
                             : from_float<H>(clamped);
  } else {
    return from_float<H>(clamped);
  }
}

// --- add, sub, mul, fma --------------------------------------------------------------------------

template <class H, bool Ftz = false, After What = After::Nothing> inline H half_add(H a, H b) {
  return finished<H, Ftz, What>(to_float(flush_half_if<Ftz>(a)) + to_float(flush_half_if<Ftz>(b)));
}
template <class H, bool Ftz = false, After What = After::Nothing> inline H half_sub(H a, H b) {
  return finished<H, Ftz, What>(to_float(flush_half_if<Ftz>(a)) - to_float(flush_half_if<Ftz>(b)));
}
template <class H, bool Ftz = false, After What = After::Nothing> inline H half_mul(H a, H b) {
  return finished<H, Ftz, What>(to_float(flush_half_if<Ftz>(a)) * to_float(flush_half_if<Ftz>(b)));
}

/// The product of f16 numbers is exact in f32; that of bf16 numbers only in f64.
inline float fused_to_odd(Half a, Half b, Half c) {
  return sum_to_odd(to_float(a) * to_float(b), to_float(c));
}
inline float fused_to_odd(Bfloat a, Bfloat b, Bfloat c) {
  const double product = static_cast<double>(to_float(a)) * static_cast<double>(to_float(b));
  const double sum = sum_to_odd(product, static_cast<double>(to_float(c)));
  // To f32, to odd again: the part that f32 cannot hold becomes its last bit.
  const auto rounded_sum = static_cast<float>(sum);
  const double error = sum - static_cast<double>(rounded_sum);
  const std::uint32_t word = bits(rounded_sum);
  const bool inexact =
      (error < 0 || error > 0) && std::fabs(rounded_sum) < from_bits<float>(0x7f80'0000U);
  const std::uint32_t step = (error > 0) == (sum > 0) ? 1U : ~0U;
  return from_bits<float>(inexact && (word & 1U) == 0 ? word + step : word);
}
template <class H, bool Ftz = false, After What = After::Nothing> inline H half_fma(H a, H b, H c) {
  return finished<H, Ftz, What>(
      fused_to_odd(flush_half_if<Ftz>(a), flush_half_if<Ftz>(b), flush_half_if<Ftz>(c))
  );
}

/// fma.oob: zero if a or b is the NaN that stands for elements outside a tensor (on an H200 0x7ff7
/// of either sign, in both formats).
template <class H> constexpr bool is_out_of_bounds(H a) {
  return (a.word & 0x7fffU) == 0x7ff7U;
}
template <class H, After What> inline H half_fma_oob(H a, H b, H c) {
  const H sum = half_fma<H, false, What>(a, b, c);
  return is_out_of_bounds(a) || is_out_of_bounds(b) ? H{0} : sum;
}

// --- Signs and order -----------------------------------------------------------------------------

template <class H, bool Ftz = false> constexpr H half_neg(H a) {
  a = flush_half_if<Ftz>(a);
  return {is_nan(a) ? half_nan : static_cast<std::uint16_t>(a.word ^ half_sign)};
}
template <class H, bool Ftz = false> constexpr H half_abs(H a) {
  a = flush_half_if<Ftz>(a);
  return {is_nan(a) ? half_nan : static_cast<std::uint16_t>(a.word & ~half_sign)};
}

/// A number whose integer order is the order of a's values, -0 below +0.
constexpr std::int32_t half_order(std::uint16_t word) {
  const std::int32_t magnitude = word & 0x7fff;
  return (word & half_sign) != 0 ? -magnitude - 1 : magnitude;
}
/// min, max: see float_extremum.
template <class H, bool Max, bool Ftz = false, bool HandNan = false, bool Magnitude = false>
constexpr H half_extremum(H a, H b) {
  a = flush_half_if<Ftz>(a);
  b = flush_half_if<Ftz>(b);
  const auto sign = static_cast<std::uint16_t>(Magnitude ? (a.word ^ b.word) & half_sign : 0);
  const auto x = static_cast<std::uint16_t>(Magnitude ? a.word & ~half_sign : a.word);
  const auto y = static_cast<std::uint16_t>(Magnitude ? b.word & ~half_sign : b.word);
  const bool a_nan = is_nan(a);
  const bool b_nan = is_nan(b);
  const bool first = (half_order(x) < half_order(y)) != Max;
  const bool take_a = b_nan || (first && !a_nan);
  const bool nan = HandNan ? a_nan || b_nan : a_nan && b_nan;
  return {nan ? half_nan : static_cast<std::uint16_t>((take_a ? x : y) | sign)};
}

// --- Approximate functions -----------------------------------------------------------------------

/// In double, rounded twice; PTX allows an error of 2^-9.9 and more.
template <class H> inline H half_tanh(H a) {
  return from_float<H>(static_cast<float>(std::tanh(static_cast<double>(to_float(a)))));
}
template <class H, bool Ftz = false> inline H half_ex2(H a) {
  a = flush_half_if<Ftz>(a);
  return flush_half_if<Ftz>(
      from_float<H>(static_cast<float>(std::exp2(static_cast<double>(to_float(a)))))
  );
}

// --- Packed pairs --------------------------------------------------------------------------------

/// F on both halves of 32-bit values.
template <class H, auto F, class... Words> inline std::uint32_t packed(Words... words) {
  const H low = F(H{static_cast<std::uint16_t>(words)}...);
  const H high = F(H{static_cast<std::uint16_t>(words >> 16)}...);
  return static_cast<std::uint32_t>(low.word) | static_cast<std::uint32_t>(high.word) << 16;
}

} // namespace heddle::isa::ops

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

} // namespace heddle::isa::ops

// Exact binary floating point in integers, rounded once at the end into any format and direction.
//
// The reference for everything that the host's arithmetic cannot do directly: rounding towards
// zero, down and up, conversions between all of PTX's formats (f16 bf16 tf32 f32 f64 and the 8-, 6-
// and 4-bit ones), stochastic rounding. Round-to-nearest f32 and f64 arithmetic uses the host
// (ops_float.h) and is tested against this. Follows IEEE 754-2019; PTX ISA 9.0, 5.2.3 for the small
// formats.
#pragma once

#include "isa/ops_integer.h"

namespace heddle::isa::ops {

/// Nearest: ties to even (.rn); NearestAway: ties away from zero (.rna).
enum class Round : std::uint8_t {
  Nearest,
  Zero,
  Down,
  Up,
  NearestAway
};

/// A format: sign, exponent_bits, mantissa_bits from the top down.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  /// What the largest exponent means: IEEE (infinity and NaN), one NaN and the rest finite (e4m3),
  /// or all finite (the 6- and 4-bit formats).
  enum class Specials : std::uint8_t {
    Ieee,
    OneNan,
    None
  } specials = Specials::Ieee;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// Exponent of the last mantissa bit of subnormal numbers.
  constexpr int lowest_bit() const { return 1 - bias() - mantissa_bits; }
  constexpr std::uint64_t sign() const {
    return std::uint64_t{1} << (exponent_bits + mantissa_bits);
  }
  constexpr std::uint64_t infinity() const { // IEEE formats
    return ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  }
  /// All ones below the sign: the NaN that NVIDIA hardware makes in 32-bit and smaller formats.
  constexpr std::uint64_t canonical_nan() const { return sign() - 1; }
  constexpr std::uint64_t largest() const {
    switch (specials) {
    case Specials::Ieee:
      return infinity() - 1;
    case Specials::OneNan:
      return sign() - 2;
    case Specials::None:
      return sign() - 1;
    }
    return 0;
  }
};

inline constexpr Format f64_format{11, 52};
inline constexpr Format f32_format{8, 23};
inline constexpr Format tf32_format{8, 10};
inline constexpr Format bf16_format{8, 7};
inline constexpr Format f16_format{5, 10};
inline constexpr Format e5m2_format{5, 2};
inline constexpr Format e4m3_format{4, 3, Format::Specials::OneNan};
inline constexpr Format e3m2_format{3, 2, Format::Specials::None};
inline constexpr Format e2m3_format{2, 3, Format::Specials::None};
inline constexpr Format e2m1_format{2, 1, Format::Specials::None};

/// (-1)^sign × mantissa × 2^exponent. With `sticky` the magnitude is strictly between this and the
/// same with mantissa + 1; the mantissa then has more bits than any format keeps.
struct Exact {
  enum class Kind : std::uint8_t {
    Zero,
    Finite,
    Infinity,
    Nan
  } kind = Kind::Zero;
  bool sign = false;
  bool sticky = false;
  int exponent = 0;
  Uint128 mantissa = 0;

  constexpr bool nan() const { return kind == Kind::Nan; }
  constexpr bool infinite() const { return kind == Kind::Infinity; }
  constexpr bool zero() const { return kind == Kind::Zero; }
  constexpr bool finite() const { return kind == Kind::Finite; }
};

constexpr int top_bit(Uint128 m) { // m != 0
  const auto high = static_cast<std::uint64_t>(m >> 64);
  return high != 0 ? 127 - std::countl_zero(high)
                   : 63 - std::countl_zero(static_cast<std::uint64_t>(m));
}

constexpr Exact unpack(std::uint64_t bits, const Format& format) {
  Exact x;
  x.sign = (bits & format.sign()) != 0;
  const std::uint64_t magnitude = bits & (format.sign() - 1);
  if (magnitude == 0) {
    return x;
  }
  if (magnitude > format.largest()) {
    x.kind = format.specials == Format::Specials::Ieee && magnitude == format.infinity()
                 ? Exact::Kind::Infinity
                 : Exact::Kind::Nan;
    return x;
  }
  x.kind = Exact::Kind::Finite;
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const std::uint64_t hidden = std::uint64_t{1} << format.mantissa_bits;
  x.mantissa = (magnitude & (hidden - 1)) | (exponent != 0 ? hidden : 0);
  x.exponent = format.lowest_bit() + (exponent != 0 ? exponent - 1 : 0);
  return x;
}

constexpr Exact exact_integer(std::uint64_t magnitude, bool sign) {
  Exact x;
  x.sign = sign;
  x.kind = magnitude != 0 ? Exact::Kind::Finite : Exact::Kind::Zero;
  x.mantissa = magnitude;
  return x;
}

/// The integer part of mantissa × 2^-shift and what was cut off: half compares the rest with 1/2.
struct Cut {
  Uint128 kept = 0;
  enum class Rest : std::uint8_t {
    Nothing,
    BelowHalf,
    Half,
    AboveHalf
  } rest = Rest::Nothing;
};
constexpr Cut cut(Uint128 mantissa, int shift, bool sticky) {
  Cut c;
  if (shift <= 0) {
    c.kept = mantissa << -shift;
    c.rest = sticky ? Cut::Rest::BelowHalf : Cut::Rest::Nothing;
    return c;
  }
  if (shift > 127) {
    c.rest = Cut::Rest::BelowHalf; // mantissas have fewer than 127 bits
    return c;
  }
  c.kept = mantissa >> shift;
  const Uint128 half = Uint128{1} << (shift - 1);
  const Uint128 rest = mantissa & (half | (half - 1));
  if (rest == 0 && !sticky) {
    c.rest = Cut::Rest::Nothing;
  } else if (rest < half) {
    c.rest = Cut::Rest::BelowHalf;
  } else {
    c.rest = rest == half && !sticky ? Cut::Rest::Half : Cut::Rest::AboveHalf;
  }
  return c;
}
constexpr bool rounds_away(const Cut& c, bool sign, Round round) {
  switch (round) {
  case Round::Nearest:
    return c.rest == Cut::Rest::AboveHalf ||
           (c.rest == Cut::Rest::Half && (static_cast<std::uint64_t>(c.kept) & 1U) != 0);
  case Round::NearestAway:
    return c.rest == Cut::Rest::AboveHalf || c.rest == Cut::Rest::Half;
  case Round::Zero:
    return false;
  case Round::Down:
    return sign && c.rest != Cut::Rest::Nothing;
  case Round::Up:
    return !sign && c.rest != Cut::Rest::Nothing;
  }
  return false;
}

/// x in `format`. Overflow gives infinity or the largest number, by direction; formats without
/// infinity, and all with `satfinite`, give the largest number. NaN is canonical; in formats
/// without NaN it is the largest number.
constexpr std::uint64_t round_to(
    const Exact& x,
    const Format& format,
    Round round,
    bool satfinite = false,
    bool ftz = false
) {
  const std::uint64_t sign = x.sign ? format.sign() : 0;
  const bool has_infinity = format.specials == Format::Specials::Ieee;
  switch (x.kind) {
  case Exact::Kind::Zero:
    return sign;
  case Exact::Kind::Nan:
    return format.canonical_nan();
  case Exact::Kind::Infinity:
    return sign | (satfinite || !has_infinity ? format.largest() : format.infinity());
  case Exact::Kind::Finite:
    break;
  }
  const int top = x.exponent + top_bit(x.mantissa);
  const int lowest = format.lowest_bit();
  if (ftz && top < 1 - format.bias()) {
    const Cut c = cut(x.mantissa, top - format.mantissa_bits - x.exponent, x.sticky);
    const bool carries =
        c.kept == (Uint128{2} << format.mantissa_bits) - 1 && rounds_away(c, x.sign, round);
    const bool normal = carries && top == -format.bias();
    return sign | (normal ? std::uint64_t{1} << format.mantissa_bits : 0);
  }
  const int last = top - format.mantissa_bits > lowest ? top - format.mantissa_bits : lowest;
  Cut c = cut(x.mantissa, last - x.exponent, x.sticky);
  const bool away = rounds_away(c, x.sign, round);
  // A carry out of the mantissa runs into the exponent field, which is just right.
  std::uint64_t magnitude = static_cast<std::uint64_t>(c.kept) + (away ? 1 : 0) +
                            (static_cast<std::uint64_t>(last - lowest) << format.mantissa_bits);
  if (magnitude > format.largest() || top > format.bias() + 1) {
    const bool to_infinity = round == Round::Nearest || round == Round::NearestAway ||
                             (round == Round::Up && !x.sign) || (round == Round::Down && x.sign);
    magnitude = has_infinity && to_infinity && !satfinite ? format.infinity() : format.largest();
  }
  return sign | magnitude;
}

/// The value rounded to an integer, clamped to [low, high].
constexpr Int128 round_to_integer(const Exact& x, Round round, Int128 low, Int128 high) {
  if (x.zero() || x.nan()) {
    return 0;
  }
  if (x.infinite() || x.exponent + top_bit(x.mantissa) > 64) {
    return x.sign ? low : high;
  }
  Cut c = cut(x.mantissa, -x.exponent, x.sticky);
  const Uint128 magnitude = c.kept + (rounds_away(c, x.sign, round) ? 1 : 0);
  const Int128 value = x.sign ? -static_cast<Int128>(magnitude) : static_cast<Int128>(magnitude);
  return value < low ? low : value > high ? high : value;
}

// --- Arithmetic ----------------------------------------------------------------------------------

constexpr Exact exact_nan() {
  Exact x;
  x.kind = Exact::Kind::Nan;
  return x;
}
constexpr Exact exact_infinity(bool sign) {
  Exact x;
  x.kind = Exact::Kind::Infinity;
  x.sign = sign;
  return x;
}

/// The sign of an exact zero sum depends on the rounding direction.
constexpr Exact exact_add(Exact a, Exact b, Round round) {
  if (a.nan() || b.nan() || (a.infinite() && b.infinite() && a.sign != b.sign)) {
    return exact_nan();
  }
  if (a.infinite() || b.infinite()) {
    return a.infinite() ? a : b;
  }
  if (a.zero() && b.zero()) {
    a.sign = a.sign == b.sign ? a.sign : round == Round::Down;
    return a;
  }
  if (a.zero() || b.zero()) {
    return a.zero() ? b : a;
  }
  // Both with their top bit at 125: a is the one of larger exponent.
  const auto normalise = [](Exact& x) {
    const int shift = 125 - top_bit(x.mantissa);
    x.mantissa <<= shift;
    x.exponent -= shift;
  };
  normalise(a);
  normalise(b);
  if (a.exponent < b.exponent) {
    const Exact swap = a;
    a = b;
    b = swap;
  }
  const int distance = a.exponent - b.exponent;
  bool sticky = false;
  if (distance > 125) {
    b.mantissa = 0;
    sticky = true;
  } else {
    sticky = (b.mantissa & ((Uint128{1} << distance) - 1)) != 0;
    b.mantissa >>= distance;
  }
  Exact r = a;
  r.sticky = sticky;
  if (a.sign == b.sign) {
    r.mantissa = a.mantissa + b.mantissa;
    return r;
  }
  if (a.mantissa >= b.mantissa) {
    // The part of b that was cut off makes the difference smaller: one less, and sticky.
    r.mantissa = a.mantissa - b.mantissa - (sticky ? 1 : 0);
  } else {
    r.mantissa = b.mantissa - a.mantissa;
    r.sign = b.sign;
  }
  if (r.mantissa == 0) { // sticky is false here: cancellation needs nearly equal exponents
    r = Exact{};
    r.sign = round == Round::Down;
  }
  return r;
}

/// Exact for mantissas of up to 53 bits.
constexpr Exact exact_mul(const Exact& a, const Exact& b) {
  if (a.nan() || b.nan() || (a.infinite() && b.zero()) || (a.zero() && b.infinite())) {
    return exact_nan();
  }
  Exact r;
  r.sign = a.sign != b.sign;
  if (a.infinite() || b.infinite()) {
    r.kind = Exact::Kind::Infinity;
  } else if (a.finite() && b.finite()) {
    r.kind = Exact::Kind::Finite;
    r.mantissa = a.mantissa * b.mantissa;
    r.exponent = a.exponent + b.exponent;
  }
  return r;
}

constexpr Exact exact_fma(const Exact& a, const Exact& b, const Exact& c, Round round) {
  return exact_add(exact_mul(a, b), c, round);
}

/// At least 60 bits of the quotient, and sticky. Mantissas of up to 53 bits.
constexpr Exact exact_div(const Exact& a, const Exact& b) {
  if (a.nan() || b.nan() || (a.infinite() && b.infinite()) || (a.zero() && b.zero())) {
    return exact_nan();
  }
  Exact r;
  r.sign = a.sign != b.sign;
  if (a.infinite() || b.zero()) {
    r.kind = Exact::Kind::Infinity;
  } else if (a.finite() && b.finite()) {
    const int shift = 125 - top_bit(a.mantissa);
    const Uint128 dividend = a.mantissa << shift;
    r.kind = Exact::Kind::Finite;
    r.mantissa = dividend / b.mantissa;
    r.sticky = dividend % b.mantissa != 0;
    r.exponent = a.exponent - shift - b.exponent;
  }
  return r;
}

/// At least 60 bits of the root, and sticky.
constexpr Exact exact_sqrt(Exact a) {
  if (a.nan() || (a.sign && !a.zero())) {
    return exact_nan();
  }
  if (!a.finite()) {
    return a;
  }
  int shift = 125 - top_bit(a.mantissa);
  shift -= (a.exponent - shift) & 1; // the exponent must be even
  Uint128 rest = a.mantissa << shift;
  a.exponent -= shift;
  // Digit by digit.
  Uint128 root = 0;
  for (Uint128 bit = Uint128{1} << 124; bit != 0; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  a.mantissa = root;
  a.sticky = rest != 0;
  a.exponent /= 2;
  return a;
}

} // namespace heddle::isa::ops

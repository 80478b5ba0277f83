// f32 and f64 arithmetic of one thread: add sub mul fma div rcp sqrt rsqrt, abs neg min max
// copysign, in all rounding directions, with .ftz and .sat (PTX ISA 9.0, 9.7.3).
//
// Bit-exact with NVIDIA hardware: results of f32 operations that are NaN are 0x7fffffff; f64
// operations hand a NaN operand on, made quiet. Round-to-nearest is the host's own arithmetic, the
// directed roundings are computed in integers (ops_soft_float.h): the host's rounding mode is never
// changed.
#pragma once

#include "isa/ops_soft_float.h"

#include <cmath>

namespace heddle::isa::ops {

template <class T> struct FloatBits;
template <> struct FloatBits<float> {
  using Word = std::uint32_t;
  static constexpr Word sign = 0x8000'0000U;
  static constexpr Word infinity = 0x7f80'0000U;
  static constexpr Word smallest_normal = 0x0080'0000U;
  static constexpr Word quiet = 0x0040'0000U;
  static constexpr Format format = f32_format;
};
template <> struct FloatBits<double> {
  using Word = std::uint64_t;
  static constexpr Word sign = 0x8000'0000'0000'0000ULL;
  static constexpr Word infinity = 0x7ff0'0000'0000'0000ULL;
  static constexpr Word smallest_normal = 0x0010'0000'0000'0000ULL;
  static constexpr Word quiet = 0x0008'0000'0000'0000ULL;
  static constexpr Format format = f64_format;
};
template <class T> using Word = typename FloatBits<T>::Word;
template <class T> constexpr Word<T> bits(T value) {
  return std::bit_cast<Word<T>>(value);
}
template <class T> constexpr T from_bits(Word<T> word) {
  return std::bit_cast<T>(word);
}

// --- NaN, flushing, saturation -------------------------------------------------------------------

/// The NaN an f32 operation yields, whatever its operands.
template <class... Operands> constexpr float nan_of(float, Operands...) {
  return from_bits<float>(0x7fff'ffffU);
}
/// The NaN an f64 operation yields: the first of these operands that is one, made quiet; else the
/// default NaN. Which operand comes first is the operation's: b before a, of fma b, c, a, only of
/// div a before b.
constexpr std::uint64_t nan_word(double a, std::uint64_t otherwise) {
  return a != a ? bits(a) | FloatBits<double>::quiet : otherwise;
}
inline constexpr std::uint64_t default_nan = 0xfff8'0000'0000'0000ULL;
constexpr double nan_of(double a) {
  return from_bits<double>(nan_word(a, default_nan));
}
constexpr double nan_of(double a, double b) {
  return from_bits<double>(nan_word(a, nan_word(b, default_nan)));
}
constexpr double nan_of(double a, double b, double c) {
  return from_bits<double>(nan_word(a, nan_word(b, nan_word(c, default_nan))));
}

/// Subnormal numbers become zero of the same sign.
template <class T> constexpr T flush(T value) {
  using B = FloatBits<T>;
  const Word<T> word = bits(value);
  return from_bits<T>((word & B::infinity) == 0 ? word & B::sign : word);
}
template <bool Ftz, class T> constexpr T flush_if(T value) {
  if constexpr (Ftz) {
    return flush(value);
  } else {
    return value;
  }
}

/// .sat: clamped to [0, 1]; NaN and -0 become +0.
template <class T> constexpr T saturate(T value) {
  return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
}

template <class T> constexpr Exact exact(T value) {
  return unpack(bits(value), FloatBits<T>::format);
}
template <Round R, class T, bool Ftz = false> constexpr T rounded(const Exact& value) {
  return from_bits<T>(static_cast<Word<T>>(round_to(value, FloatBits<T>::format, R, false, Ftz)));
}
/// .ftz of a product, quotient or fma: `scaled` is the same result computed 2^64 larger, so that it
/// was rounded as if exponents had no lower bound. Smaller than the smallest normal number: zero.
constexpr float flush_by(float r, float scaled) {
  const float magnitude = from_bits<float>(bits(scaled) & ~FloatBits<float>::sign);
  return magnitude < 0x1p-62F ? from_bits<float>(bits(r) & FloatBits<float>::sign) : r;
}

// --- Directed rounding of f32
//
// f64 holds sums, products and fused products of f32 numbers exactly, or all but a part that only
// matters for which side of a number they lie on: such a result is *rounded to odd*, to the
// neighbour whose last bit is one. Rounding it once more, to f32, is as good as rounding the exact
// result.

/// p + c rounded to odd.
template <class T> constexpr T sum_to_odd(T p, T c) {
  const T sum = p + c;
  const T c_part = sum - p;
  const T error = (p - (sum - c_part)) + (c - c_part); // exact, unless something overflowed
  const Word<T> word = bits(sum);
  const bool inexact = error < 0 || error > 0; // false for NaN
  const Word<T> step = (error > 0) == (sum > 0) ? Word<T>{1} : ~Word<T>{0};
  return from_bits<T>(inexact && (word & 1U) == 0 ? word + step : word);
}
/// q rounded to odd, where rest has the sign of the exact result's magnitude less that of q.
constexpr double to_odd(double q, double rest) {
  const Word<double> word = bits(q);
  const Word<double> step = rest > 0 ? Word<double>{1} : ~Word<double>{0};
  return from_bits<double>((rest < 0 || rest > 0) && (word & 1U) == 0 ? word + step : word);
}

/// value, which was rounded to odd, as f32; with Ftz zero if its magnitude, rounded to 24 bits, is
/// below the smallest normal number.
template <Round R, bool Ftz> constexpr float directed(double value) {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  const bool negative = bits(value) >> 63 != 0;
  // Toward zero is down for positive numbers and up for negative ones; a step down in magnitude is
  // one less in the bits.
  const bool inward = R == Round::Zero || (R == Round::Down) != negative;
  const bool too_large = negative ? back < value : back > value;
  const bool too_small = negative ? back > value : back < value;
  const std::uint32_t step = inward ? (too_large ? ~0U : 0U) : (too_small ? 1U : 0U);
  float r = from_bits<float>(bits(nearest) + step);
  if constexpr (Ftz) {
    const double magnitude = negative ? -value : value;
    const bool tiny = inward ? magnitude < 0x1p-126 : magnitude <= 0x1p-126 - 0x1p-150;
    r = tiny ? from_bits<float>(negative ? FloatBits<float>::sign : 0) : r;
  }
  return r;
}
/// The sign of an exactly zero sum rounded down is that of either operand that is negative.
template <Round R, class T> constexpr double zero_sum_sign(double sum, T a, T b) {
  if constexpr (R == Round::Down) {
    return sum == 0 && ((bits(a) | bits(b)) & FloatBits<T>::sign) != 0 ? -0.0 : sum;
  } else {
    return sum;
  }
}

template <Round R, bool Ftz> constexpr float directed_add(float a, float b) {
  const double sum = sum_to_odd(static_cast<double>(a), static_cast<double>(b));
  return directed<R, Ftz>(zero_sum_sign<R>(sum, a, b));
}
template <Round R, bool Ftz> constexpr float directed_mul(float a, float b) {
  return directed<R, Ftz>(static_cast<double>(a) * static_cast<double>(b));
}
template <Round R, bool Ftz> constexpr float directed_fma(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const auto addend = static_cast<double>(c);
  return directed<R, Ftz>(zero_sum_sign<R>(sum_to_odd(product, addend), product, addend));
}
template <Round R, bool Ftz> inline float directed_div(float a, float b) {
  const double x = std::fabs(static_cast<double>(a));
  const double y = std::fabs(static_cast<double>(b));
  const double quotient = x / y;
  const bool negative = ((bits(a) ^ bits(b)) & FloatBits<float>::sign) != 0;
  const double odd = to_odd(quotient, std::fma(-quotient, y, x));
  return directed<R, Ftz>(negative ? -odd : odd);
}
template <Round R, bool Ftz> inline float directed_sqrt(float a) {
  const auto x = static_cast<double>(a);
  const double root = std::sqrt(x);
  return directed<R, Ftz>(to_odd(root, std::fma(-root, root, x)));
}

// --- Correctly rounded arithmetic ----------------------------------------------------------------

template <class T, Round R = Round::Nearest, bool Ftz = false> constexpr T float_add(T a, T b) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  T r;
  if constexpr (R == Round::Nearest) {
    r = a + b;
  } else {
    if constexpr (sizeof(T) == 4) {
      r = directed_add<R, Ftz>(a, b);
    } else {
      r = rounded<R, T>(exact_add(exact(a), exact(b), R));
    }
  }
  return r == r ? flush_if<Ftz>(r) : nan_of(b, a);
}

template <class T, Round R = Round::Nearest, bool Ftz = false> constexpr T float_sub(T a, T b) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  T r;
  if constexpr (R == Round::Nearest) {
    r = a - b;
  } else {
    if constexpr (sizeof(T) == 4) {
      r = directed_add<R, Ftz>(a, -b);
    } else {
      r = rounded<R, T>(exact_add(exact(a), exact(-b), R));
    }
  }
  return r == r ? flush_if<Ftz>(r) : nan_of(b, a);
}

template <class T, Round R = Round::Nearest, bool Ftz = false> constexpr T float_mul(T a, T b) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  T r;
  if constexpr (R == Round::Nearest) {
    r = a * b;
    if constexpr (Ftz) {
      r = flush_by(r, (a * 0x1p64F) * b);
    }
  } else {
    if constexpr (sizeof(T) == 4) {
      r = directed_mul<R, Ftz>(a, b);
    } else {
      r = rounded<R, T>(exact_mul(exact(a), exact(b)));
    }
  }
  return r == r ? flush_if<Ftz>(r) : nan_of(b, a);
}

template <class T, Round R = Round::Nearest, bool Ftz = false> inline T float_fma(T a, T b, T c) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  c = flush_if<Ftz>(c);
  T r;
  if constexpr (R == Round::Nearest) {
    r = std::fma(a, b, c);
    if constexpr (Ftz) {
      r = flush_by(r, std::fma(a * 0x1p64F, b, c * 0x1p64F));
    }
  } else {
    if constexpr (sizeof(T) == 4) {
      r = directed_fma<R, Ftz>(a, b, c);
    } else {
      r = rounded<R, T>(exact_fma(exact(a), exact(b), exact(c), R));
    }
  }
  return r == r ? r : nan_of(b, c, a);
}

template <class T, Round R = Round::Nearest, bool Ftz = false> constexpr T float_div(T a, T b) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  T r;
  if constexpr (R == Round::Nearest) {
    r = a / b;
    if constexpr (Ftz) {
      r = flush_by(r, (a * 0x1p64F) / b);
    }
  } else {
    if constexpr (sizeof(T) == 4) {
      r = directed_div<R, Ftz>(a, b);
    } else {
      r = rounded<R, T>(exact_div(exact(a), exact(b)));
    }
  }
  return r == r ? flush_if<Ftz>(r) : nan_of(a, b);
}

template <class T, Round R = Round::Nearest, bool Ftz = false> constexpr T float_rcp(T a) {
  return float_div<T, R, Ftz>(T{1}, a);
}

template <class T, Round R = Round::Nearest, bool Ftz = false> inline T float_sqrt(T a) {
  a = flush_if<Ftz>(a);
  T r;
  if constexpr (R == Round::Nearest) {
    r = std::sqrt(a);
  } else {
    if constexpr (sizeof(T) == 4) {
      r = directed_sqrt<R, Ftz>(a);
    } else {
      r = rounded<R, T>(exact_sqrt(exact(a)));
    }
  }
  return r == r ? flush_if<Ftz>(r) : nan_of(a);
}

// --- Signs and order -----------------------------------------------------------------------------

template <class T, bool Ftz = false> constexpr T float_neg(T a) {
  a = flush_if<Ftz>(a);
  return a == a ? from_bits<T>(bits(a) ^ FloatBits<T>::sign) : nan_of(a);
}
template <class T, bool Ftz = false> constexpr T float_abs(T a) {
  a = flush_if<Ftz>(a);
  return a == a ? from_bits<T>(bits(a) & ~FloatBits<T>::sign) : nan_of(a);
}
/// copysign: the sign of a, the rest of b.
template <class T> constexpr T float_copysign(T a, T b) {
  constexpr Word<T> sign = FloatBits<T>::sign;
  return from_bits<T>((bits(a) & sign) | (bits(b) & ~sign));
}

/// min, max: -0 is below +0. One NaN: the other operand, or with HandNan (.NaN) NaN; two: NaN.
/// With Magnitude (.xorsign.abs): of the absolute values, the sign is that of the product.
template <class T, bool Max, bool Ftz = false, bool HandNan = false, bool Magnitude = false>
constexpr T float_extremum(T a, T b) {
  constexpr Word<T> sign = FloatBits<T>::sign;
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  const Word<T> result_sign = Magnitude ? (bits(a) ^ bits(b)) & sign : 0;
  if constexpr (Magnitude) {
    a = from_bits<T>(bits(a) & ~sign);
    b = from_bits<T>(bits(b) & ~sign);
  }
  // Equal operands differ at most in the sign of zero.
  const Word<T> equal = Max ? bits(a) & bits(b) : bits(a) | bits(b);
  const Word<T> ordered_result = (Max ? b < a : a < b)   ? bits(a)
                                 : (Max ? a < b : b < a) ? bits(b)
                                                         : equal;
  Word<T> r = ordered_result | result_sign;
  if constexpr (HandNan) {
    return a == a && b == b ? from_bits<T>(r) : nan_of(b, a);
  } else {
    r = a == a ? r : bits(b) | result_sign;
    r = b == b ? r : bits(a) | result_sign;
    return a == a || b == b ? from_bits<T>(r) : nan_of(b, a);
  }
}
template <class T, bool Ftz = false> constexpr T float_min(T a, T b) {
  return float_extremum<T, false, Ftz>(a, b);
}
template <class T, bool Ftz = false> constexpr T float_max(T a, T b) {
  return float_extremum<T, true, Ftz>(a, b);
}

} // namespace heddle::isa::ops

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
constexpr double nan_of(double a) {
  return from_bits<double>(a != a ? bits(a) | FloatBits<double>::quiet : 0xfff8'0000'0000'0000ULL);
}
template <class... Operands> constexpr double nan_of(double a, Operands... rest) {
  return a != a ? nan_of(a) : nan_of(rest...);
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

// --- Correctly rounded arithmetic ----------------------------------------------------------------

template <class T, Round R = Round::Nearest, bool Ftz = false> constexpr T float_add(T a, T b) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  T r;
  if constexpr (R == Round::Nearest) {
    r = a + b;
  } else {
    r = rounded<R, T, Ftz>(exact_add(exact(a), exact(b), R));
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
    r = rounded<R, T, Ftz>(exact_add(exact(a), exact(-b), R));
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
    r = rounded<R, T, Ftz>(exact_mul(exact(a), exact(b)));
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
    r = rounded<R, T, Ftz>(exact_fma(exact(a), exact(b), exact(c), R));
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
    r = rounded<R, T, Ftz>(exact_div(exact(a), exact(b)));
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
    r = rounded<R, T, Ftz>(exact_sqrt(exact(a)));
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

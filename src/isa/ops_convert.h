// cvt of one thread: between integers, between integers and floats, between floats (PTX
// ISA 9.0, 9.7.9.21).
//
// Integers narrower than their register and results narrower than theirs are dealt with by
// `extend`; the other functions work on types of exactly the register's width. Conversions to
// integers always saturate, as PTX says.
#pragma once

#include "isa/ops_half.h"

namespace heddle::isa::ops {

// --- Between integers ----------------------------------------------------------------------------

/// The low bits of a, as the integer type Part, extended by Part's sign to D.
template <class D, class Part, class A> constexpr D extend(A a) {
  return static_cast<D>(static_cast<Part>(a));
}
/// cvt.sat: clamped to [low, high]; wide enough for all types of up to 64 bits.
template <class A> constexpr A clamp(A a, A low, A high) {
  return a < low ? low : a > high ? high : a;
}

// --- Integer to float ----------------------------------------------------------------------------

template <class F, class I, Round R> constexpr F integer_to_float(I a) {
  if constexpr (R == Round::Nearest) {
    return static_cast<F>(a);
  } else {
    const bool negative = a < 0;
    const auto magnitude = static_cast<std::uint64_t>(a);
    return rounded<R, F>(exact_integer(negative ? 0 - magnitude : magnitude, negative));
  }
}

// --- Float to integer ----------------------------------------------------------------------------

template <Round R, class F> inline F to_integral(F a) {
  if constexpr (R == Round::Nearest) {
    return std::nearbyint(a);
  } else if constexpr (R == Round::Zero) {
    return std::trunc(a);
  } else if constexpr (R == Round::Down) {
    return std::floor(a);
  } else {
    return std::ceil(a);
  }
}

/// NaN gives zero.
template <class I, class F, Round R, bool Ftz = false> inline I float_to_integer(F a) {
  // Both bounds are powers of two, or zero: exact in any format.
  constexpr F below = static_cast<F>(std::numeric_limits<I>::min());
  constexpr F above = static_cast<F>(std::numeric_limits<I>::max() / 2 + 1) * F{2};
  const F value = to_integral<R>(flush_if<Ftz>(a));
  if (value >= above) {
    return std::numeric_limits<I>::max();
  }
  if (value <= below) {
    return std::numeric_limits<I>::min();
  }
  return value == value ? static_cast<I>(value) : I{0};
}

// --- Float to float ------------------------------------------------------------------------------

/// cvt.rni.f32.f32 and its kin: to an integral value of the same type.
template <class F, Round R, bool Ftz = false> inline F float_to_integral(F a) {
  const F value = to_integral<R>(flush_if<Ftz>(a));
  return value == value ? value : nan_of(a);
}
/// cvt.ftz.f32.f32, cvt.f64.f64: the value itself.
template <class F, bool Ftz = false> constexpr F float_to_same(F a) {
  a = flush_if<Ftz>(a);
  return a == a ? a : nan_of(a);
}
template <Round R, bool Ftz = false> constexpr float double_to_float(double a) {
  float r;
  if constexpr (R == Round::Nearest) {
    r = static_cast<float>(a);
  } else {
    r = rounded<R, float>(exact(a));
  }
  return r == r ? flush_if<Ftz>(r) : nan_of(r);
}
template <bool Ftz = false> constexpr double float_to_double(float a) {
  a = flush_if<Ftz>(a);
  return static_cast<double>(a == a ? a : nan_of(a));
}

// --- Half precision ------------------------------------------------------------------------------

template <class H, bool Ftz = false> inline float half_to_float(H a) {
  const float r = to_float(a);
  return r == r ? flush_if<Ftz>(r) : nan_of(r);
}
template <class H, Round R, bool Ftz = false> inline H float_to_half(float a) {
  a = flush_if<Ftz>(a);
  if constexpr (R == Round::Nearest) {
    return from_float<H>(a);
  } else {
    return {static_cast<std::uint16_t>(round_to(exact(a), H::format, R))};
  }
}

} // namespace heddle::isa::ops

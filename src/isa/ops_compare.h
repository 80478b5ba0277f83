// Comparisons and selections of one thread: the base relations of set and setp, slct, testp (PTX
// ISA 9.0, 9.7.3.1, 9.7.6 and 9.7.7).
//
// Every comparison of PTX is one of these with operands swapped or the result inverted: a >= b is
// !(a < b) on integers; on floats `ge` is `le` swapped and `geu` (true for NaN) is !lt.
#pragma once

#include "isa/ops_float.h"

namespace heddle::isa::ops {

template <class T> constexpr bool equal(T a, T b) {
  return a == b;
}
template <class T> constexpr bool less(T a, T b) {
  return a < b;
}
/// For floats only: false if either is NaN, as `equal` and `less` are.
template <class T> constexpr bool less_equal(T a, T b) {
  return a <= b;
}
template <class T> constexpr bool unequal_ordered(T a, T b) {
  return a < b || b < a;
}
template <class T> constexpr bool ordered(T a, T b) {
  return a == a && b == b;
}

/// The same with subnormal inputs taken as zero (.ftz).
template <bool (*F)(float, float)> constexpr bool flushed(float a, float b) {
  return F(flush(a), flush(b));
}

/// slct: a if c >= 0, else b; NaN counts as negative.
template <class T, class C> constexpr T slct(T a, T b, C c) {
  return c >= 0 ? a : b;
}
template <class T> constexpr T slct_ftz(T a, T b, float c) {
  return flush(c) >= 0 ? a : b;
}

// --- testp (zero is a normal number to hardware)

enum class Test : std::uint8_t {
  Finite,
  Infinite,
  Number,
  NotANumber,
  Normal,
  Subnormal
};

template <Test Which, class T> constexpr bool testp(T value) {
  using B = FloatBits<T>;
  const auto magnitude = std::bit_cast<typename B::Word>(value) & ~B::sign;
  switch (Which) {
  case Test::Finite:
    return magnitude < B::infinity;
  case Test::Infinite:
    return magnitude == B::infinity;
  case Test::Number:
    return magnitude <= B::infinity;
  case Test::NotANumber:
    return magnitude > B::infinity;
  case Test::Normal:
    return (magnitude == 0 || magnitude >= B::smallest_normal) && magnitude < B::infinity;
  case Test::Subnormal:
    return magnitude != 0 && magnitude < B::smallest_normal;
  }
  return false;
}

} // namespace heddle::isa::ops

// Integer arithmetic of one thread: add sub mul mad mul24 mad24 sad div rem abs neg min max dp4a
// dp2a and the extended-precision forms with a carry flag (PTX ISA 9.0, 9.7.1 and 9.7.2).
//
// T is the instruction's type as a C++ integer. All functions are total: where PTX leaves a result
// open (division by zero) they give what NVIDIA hardware gives. Arithmetic wraps, so it is done on
// unsigned values wide enough that C++'s promotions cannot overflow.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace heddle::isa::ops {

using Int128 = __int128;
using Uint128 = unsigned __int128;

/// An unsigned type in which sums and products of T wrap without undefined behaviour.
template <class T>
using Wrap = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

/// The type of twice the width and the same signedness.
template <class T> struct DoubleWidth;
// clang-format off
template <> struct DoubleWidth<std::int16_t> { using type = std::int32_t; };
template <> struct DoubleWidth<std::uint16_t> { using type = std::uint32_t; };
template <> struct DoubleWidth<std::int32_t> { using type = std::int64_t; };
template <> struct DoubleWidth<std::uint32_t> { using type = std::uint64_t; };
template <> struct DoubleWidth<std::int64_t> { using type = Int128; };
template <> struct DoubleWidth<std::uint64_t> { using type = Uint128; };
// clang-format on
template <class T> using Wide = typename DoubleWidth<T>::type;

// --- add, sub, mul, mad --------------------------------------------------------------------------

template <class T> constexpr T add(T a, T b) {
  return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
}
template <class T> constexpr T sub(T a, T b) {
  return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b));
}
template <class T> constexpr T clamp_to(std::int64_t value) {
  constexpr std::int64_t low = std::numeric_limits<T>::min();
  constexpr std::int64_t high = std::numeric_limits<T>::max();
  return static_cast<T>(value < low ? low : value > high ? high : value);
}
/// add.sat.s32, sub.sat.s32
constexpr std::int32_t add_sat(std::int32_t a, std::int32_t b) {
  return clamp_to<std::int32_t>(std::int64_t{a} + b);
}
constexpr std::int32_t sub_sat(std::int32_t a, std::int32_t b) {
  return clamp_to<std::int32_t>(std::int64_t{a} - b);
}

template <class T> constexpr T mul_lo(T a, T b) {
  return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
}
template <class T> constexpr Wide<T> mul_wide(T a, T b) {
  return static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b);
}
template <class T> constexpr T mul_hi(T a, T b) {
  return static_cast<T>(mul_wide(a, b) >> (8 * sizeof(T)));
}
template <class T> constexpr T mad_lo(T a, T b, T c) {
  return add(mul_lo(a, b), c);
}
template <class T> constexpr T mad_hi(T a, T b, T c) {
  return add(mul_hi(a, b), c);
}
template <class T> constexpr Wide<T> mad_wide(T a, T b, Wide<T> c) {
  return add<Wide<T>>(mul_wide(a, b), c);
}
/// mad.hi.sat.s32
constexpr std::int32_t mad_hi_sat(std::int32_t a, std::int32_t b, std::int32_t c) {
  return add_sat(mul_hi(a, b), c);
}

// --- mul24, mad24: the low 24 bits of a and b, 48-bit product -----------------------------------

template <class T> constexpr std::int64_t product24(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    // Shifting through 64 bits sign-extends bit 23.
    return (static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << 40) >> 40) *
           (static_cast<std::int64_t>(static_cast<std::uint64_t>(b) << 40) >> 40);
  } else {
    return std::int64_t{a & 0xff'ffffU} * (b & 0xff'ffffU);
  }
}
template <class T> constexpr T mul24_lo(T a, T b) {
  return static_cast<T>(product24(a, b));
}
template <class T> constexpr T mul24_hi(T a, T b) {
  return static_cast<T>(product24(a, b) >> 16);
}
template <class T> constexpr T mad24_lo(T a, T b, T c) {
  return add(mul24_lo(a, b), c);
}
template <class T> constexpr T mad24_hi(T a, T b, T c) {
  return add(mul24_hi(a, b), c);
}
/// mad24.hi.sat.s32
constexpr std::int32_t mad24_hi_sat(std::int32_t a, std::int32_t b, std::int32_t c) {
  return add_sat(mul24_hi(a, b), c);
}

/// sad: c + |a - b|, the difference taken without overflow.
template <class T> constexpr T sad(T a, T b, T c) {
  return add(c, a < b ? sub(b, a) : sub(a, b));
}

// --- div, rem ------------------------------------------------------------------------------------

/// a / b for a b that is neither 0 nor -1. Up to 32 bits by way of double, which many lanes can do
/// at once: two numbers below 2^32 have no quotient so close below a whole number (at least
/// 2^-33 of it) that the one rounding, 2^-53 of it, would reach that.
template <class T> constexpr T quotient(T a, T b) {
  if constexpr (sizeof(T) <= 4) {
    return static_cast<T>(static_cast<double>(a) / static_cast<double>(b));
  } else {
    return static_cast<T>(a / b);
  }
}
/// b if it is neither 0 nor -1, else 1.
template <class T> constexpr T plain_divisor(T b) {
  if constexpr (std::is_signed_v<T>) {
    return b == 0 || b == -1 ? T{1} : b;
  } else {
    return b == 0 ? T{1} : b;
  }
}
/// Division by zero gives all ones, as on hardware; the smallest number divided by -1 wraps.
template <class T> constexpr T div(T a, T b) {
  T result = quotient<T>(a, plain_divisor<T>(b));
  if constexpr (std::is_signed_v<T>) {
    result = b == -1 ? sub<T>(0, a) : result;
  }
  return b == 0 ? static_cast<T>(~T{0}) : result;
}
template <class T> constexpr T rem(T a, T b) {
  const T divisor = plain_divisor<T>(b);
  using U = std::make_unsigned_t<T>;
  const auto whole = static_cast<std::uint64_t>(static_cast<U>(quotient<T>(a, divisor))) *
                     static_cast<std::uint64_t>(static_cast<U>(divisor));
  T result = static_cast<T>(static_cast<U>(static_cast<std::uint64_t>(static_cast<U>(a)) - whole));
  if constexpr (std::is_signed_v<T>) {
    result = b == -1 ? T{0} : result;
  }
  return b == 0 ? static_cast<T>(~T{0}) : result;
}

// --- abs, neg, min, max --------------------------------------------------------------------------

template <class T> constexpr T neg(T a) {
  return sub<T>(0, a);
}
template <class T> constexpr T abs(T a) {
  return a < 0 ? neg(a) : a; // the smallest number stays as it is
}
template <class T> constexpr T min(T a, T b) {
  return a < b ? a : b;
}
template <class T> constexpr T max(T a, T b) {
  return a < b ? b : a;
}
/// min.relu.s32, max.relu.s32
template <class T> constexpr T min_relu(T a, T b) {
  return max<T>(min(a, b), 0);
}
template <class T> constexpr T max_relu(T a, T b) {
  return max<T>(max(a, b), 0);
}

// --- Packed pairs of 16-bit integers (.u16x2, .s16x2) --------------------------------------------

/// F on both halves of 32-bit values.
template <auto F, class Half> constexpr std::uint32_t halves(std::uint32_t a, std::uint32_t b) {
  const auto low = static_cast<std::uint16_t>(F(static_cast<Half>(a), static_cast<Half>(b)));
  const auto high =
      static_cast<std::uint16_t>(F(static_cast<Half>(a >> 16), static_cast<Half>(b >> 16)));
  return static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16;
}

// --- Extended precision: the carry flag CC.CF ----------------------------------------------------

/// A result and the carry that goes with it.
template <class T> struct Carried {
  T value;
  bool carry;
};
template <class T> // unsigned
constexpr Carried<T> add_carry(T a, T b, bool carry) {
  const T sum = static_cast<T>(a + b);
  const T value = static_cast<T>(sum + (carry ? 1 : 0));
  return {value, sum < a || value < sum};
}
/// Hardware's carry of a subtraction is that of a + ~b + 1: set when there is no borrow. PTX's
/// CC.CF can be told apart only by mixing additions and subtractions in one chain.
template <class T> // unsigned
constexpr Carried<T> sub_carry(T a, T b, bool carry) {
  return add_carry<T>(a, static_cast<T>(~b), carry);
}
template <class T> // any signedness: it matters for the high half only
constexpr Carried<T> mad_lo_carry(T a, T b, T c, bool carry) {
  using U = std::make_unsigned_t<T>;
  const auto r = add_carry<U>(static_cast<U>(mul_lo(a, b)), static_cast<U>(c), carry);
  return {static_cast<T>(r.value), r.carry};
}
template <class T> constexpr Carried<T> mad_hi_carry(T a, T b, T c, bool carry) {
  using U = std::make_unsigned_t<T>;
  const auto r = add_carry<U>(static_cast<U>(mul_hi(a, b)), static_cast<U>(c), carry);
  return {static_cast<T>(r.value), r.carry};
}

// --- Dot products --------------------------------------------------------------------------------

/// dp4a.atype.btype: A and B are the element types (8-bit), the accumulator wraps.
template <class A, class B>
constexpr std::uint32_t dp4a(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (int i = 0; i < 4; ++i) {
    const std::int32_t x = static_cast<A>(a >> (8 * i));
    const std::int32_t y = static_cast<B>(b >> (8 * i));
    c += static_cast<std::uint32_t>(x * y);
  }
  return c;
}
/// dp2a.mode.atype.btype: two 16-bit elements of a, two bytes of b: the lower or upper pair.
template <class A, class B, bool Upper>
constexpr std::uint32_t dp2a(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  if (Upper) {
    b >>= 16;
  }
  for (int i = 0; i < 2; ++i) {
    const std::int64_t x = static_cast<A>(a >> (16 * i));
    const std::int64_t y = static_cast<B>(b >> (8 * i));
    c += static_cast<std::uint32_t>(x * y);
  }
  return c;
}

} // namespace heddle::isa::ops

// The types of elements of matrices and vectors, and the types in which their values are computed.
//
// f16 and bf16 are computed in f32 and rounded to nearest even when they are stored. May be wrong:
// hardware rounds sums of f16 in another order, so last digits may differ.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <cstring>

namespace heddle::libraries {

struct Half {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};

inline float to_float(Bfloat16 x) {
  return std::bit_cast<float>(std::uint32_t{x.bits} << 16);
}
inline float to_float(Half x) {
  return static_cast<float>(std::bit_cast<_Float16>(x.bits));
}
inline Half to_half(float x) {
  return {std::bit_cast<std::uint16_t>(static_cast<_Float16>(x))};
}
inline Bfloat16 to_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) { // not a number
    return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};
  }
  return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16)};
}

/// Computed<T>: the type in which values of T are computed.
template <class T> struct ComputedAs {
  using Type = T;
};
template <> struct ComputedAs<Half> {
  using Type = float;
};
template <> struct ComputedAs<Bfloat16> {
  using Type = float;
};
template <class T> using Computed = typename ComputedAs<T>::Type;

/// The value of an element that may lie anywhere.
template <class T> Computed<T> load(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::is_same_v<T, Computed<T>>) {
    return value;
  } else {
    return to_float(value);
  }
}

template <class T> void store(void* at, Computed<T> value) {
  T element;
  if constexpr (std::is_same_v<T, Half>) {
    element = to_half(value);
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    element = to_bfloat16(value);
  } else {
    element = value;
  }
  std::memcpy(at, &element, sizeof element);
}

template <class T> T conjugate(T x) {
  return x;
}
template <class T> std::complex<T> conjugate(std::complex<T> x) {
  return std::conj(x);
}

} // namespace heddle::libraries

// Vectors of lanes, where clang and gcc have different words for the same.
#pragma once

#include <cmath>
#include <cstddef>

/// Before a loop over lanes that is faster one by one. gcc 12 has no word for it.
#ifdef __clang__
#define HEDDLE_ONE_BY_ONE _Pragma("clang loop vectorize(disable)")
#else
#define HEDDLE_ONE_BY_ONE
#endif

namespace heddle::isa::ops {

// In a template gcc takes a vector's type only as a member of another one.
template <class T, std::size_t count> struct VectorType {
  typedef T Type __attribute__((vector_size(count * sizeof(T))));
};
template <class T, std::size_t count> using Vector = typename VectorType<T, count>::Type;

/// a * b + c, rounded once.
template <class Doubles>
[[gnu::always_inline]] inline void
fused_sum(const Doubles& a, const Doubles& b, const Doubles& c, Doubles& result) {
#ifdef __clang__
  result = __builtin_elementwise_fma(a, b, c);
#else
  for (std::size_t i = 0; i < sizeof(Doubles) / sizeof(double); ++i) {
    result[i] = std::fma(a[i], b[i], c[i]);
  }
#endif
}

/// Is one not a number?
template <class Doubles> [[gnu::always_inline]] inline bool some_nan(const Doubles& of) {
#ifdef __clang__
  return __builtin_reduce_or(of != of) != 0;
#else
  bool found = false;
  for (std::size_t i = 0; i < sizeof(Doubles) / sizeof(double); ++i) {
    found |= std::isnan(of[i]);
  }
  return found;
#endif
}

} // namespace heddle::isa::ops

// Matrix multiplication for eight columns of B and a few rows of A at once: what ops_matrix.h
// defines for one element of D, in vectors of the processor.
//
// Same bits, or nothing: where a value is infinite or NaN, or a sum leaves the range of normal f32
// numbers, the functions answer false, and the caller takes the definition. tests/unit/isa compares
// both.
#pragma once

#include "isa/ops_matrix.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace heddle::isa::ops {

inline constexpr int columns_at_once = 8;
using Columns = std::int32_t __attribute__((vector_size(columns_at_once * sizeof(std::int32_t))));
using FloatColumns = float __attribute__((vector_size(sizeof(Columns))));
using HalfColumns = _Float16 __attribute__((vector_size(columns_at_once * sizeof(_Float16))));
using HalfWords = std::uint16_t __attribute__((vector_size(sizeof(HalfColumns))));
using UnsignedColumns = std::uint32_t __attribute__((vector_size(sizeof(Columns))));

inline Columns all_columns(std::int32_t value) {
  return Columns{} + value;
}
inline Columns larger(Columns a, Columns b) {
  return a > b ? a : b;
}
inline FloatColumns as_floats(Columns words) {
  return reinterpret_cast<FloatColumns>(words);
}
inline Columns as_words(FloatColumns floats) {
  return reinterpret_cast<Columns>(floats);
}
/// Wraps around.
inline Columns wrapping_sum(Columns a, Columns b) {
  return reinterpret_cast<Columns>(
      reinterpret_cast<UnsignedColumns>(a) + reinterpret_cast<UnsignedColumns>(b)
  );
}
/// Where `sum`, which is wrapping_sum(a, b), is not a + b: all ones.
inline Columns overflows(Columns a, Columns b, Columns sum) {
  return ((a ^ sum) & (b ^ sum)) < 0;
}
template <class Mask> bool any_column(Mask mask) {
  std::uint64_t words[4];
  static_assert(sizeof words == sizeof mask);
  std::memcpy(words, &mask, sizeof mask);
  return (words[0] | words[1] | words[2] | words[3]) != 0;
}

/// Eight f16 words, each in the low half of an element, as numbers of f32; exact.
inline FloatColumns halves_to_floats(Columns words) {
  return __builtin_convertvector(
      reinterpret_cast<HalfColumns>(__builtin_convertvector(words, HalfWords)),
      FloatColumns
  );
}

/// Eight factors. What `factor` calls mantissa × 2^(top - mantissa_bits) is a number of f32 here;
/// the top of infinity is that of NaN, too, and then the number is any.
struct FactorColumns {
  FloatColumns value;
  Columns top;
};

/// factor() of eight words. Each has an element in its low bits and zeros above it.
template <Format format> FactorColumns factor_columns(Columns words) {
  const auto sign = static_cast<std::int32_t>(format.sign());
  const Columns magnitude = words & (sign - 1);
  const Columns exponent = magnitude >> format.mantissa_bits;
  const Columns top = larger(exponent, all_columns(1)) - format.bias();
  const Columns special = magnitude > static_cast<std::int32_t>(format.largest());
  FactorColumns result;
  result.top = special          ? all_columns(Factor::top_of_infinity)
               : magnitude == 0 ? all_columns(Factor::top_of_zero)
                                : top;
  if constexpr (format.bias() == f32_format.bias()) { // the upper bits of an f32
    result.value = as_floats(words << (f32_format.mantissa_bits - format.mantissa_bits));
  } else if constexpr (format.exponent_bits == f16_format.exponent_bits) { // … of an f16
    result.value = halves_to_floats(words << (f16_format.mantissa_bits - format.mantissa_bits));
  } else {
    const std::int32_t one = 1 << format.mantissa_bits;
    const Columns mantissa = (magnitude & (one - 1)) | ((exponent != 0) & one);
    // Both multiplications are exact.
    const auto below =
        from_bits<float>(static_cast<std::uint32_t>(127 - format.mantissa_bits) << 23);
    const FloatColumns number =
        __builtin_convertvector(mantissa, FloatColumns) * below * as_floats((top + 127) << 23);
    const Columns negative = (words & sign) != 0;
    result.value =
        as_floats(as_words(number) | (negative & std::numeric_limits<std::int32_t>::min()));
  }
  return result;
}

/// A row of A.
struct FactorRow {
  const float* value;
  const std::int32_t* top;
};

/// Of one step: value × 2^exponent in each column, unless the value is too large for its type.
struct SumColumns {
  Columns value;
  Columns exponent;
  Columns overflow;
};

/// One step of several rows. A product of two factors is exact in f32, and so is that times
/// 2^(kept - largest); what that makes of it when it becomes an integer is what cutting off makes
/// of the aligned mantissa. A product or an addend that is subnormal, or becomes so, is below one
/// then: 0. All of that holds while `largest` keeps away from the ends of f32's exponents.
template <int rows>
bool matrix_step_columns(
    const FactorRow* a,
    int from,
    const FactorColumns* b,
    Accumulation how,
    const Columns* c,
    SumColumns* sum
) {
  constexpr std::int32_t farthest = 100;
  constexpr std::int32_t nothing = Factor::top_of_zero / 2; // all products and c are zero
  const int kept = how.kept;
  const int count = how.step;
  // Products take two bits more than are kept when aligned: eight and an addend fit in 32 bits.
  const int first = std::min(count, 8);
  Columns largest[rows];
  Columns bad{};
  for (int r = 0; r < rows; ++r) {
    const Columns stored = (c[r] >> f32_format.mantissa_bits) & 0xff;
    bad |= stored == 0xff;
    // Subnormal and zero addends have the smallest exponent; a zero's does not count.
    const Columns exponent = larger(stored, all_columns(1)) - f32_format.bias();
    largest[r] = (c[r] & 0x7fff'ffff) == 0 ? all_columns(Factor::top_of_zero) : exponent;
  }
  for (int i = 0; i < count; ++i) {
    const Columns top = b[i].top;
    for (int r = 0; r < rows; ++r) {
      largest[r] = larger(largest[r], top + a[r].top[from + i]);
    }
  }
  FloatColumns scale[rows];
  Columns total[rows];
  for (int r = 0; r < rows; ++r) {
    bad |= (largest[r] > farthest) | ((largest[r] < -farthest) & (largest[r] > nothing));
    const Columns exponent = kept - larger(largest[r], all_columns(-farthest));
    scale[r] = as_floats((exponent + f32_format.bias()) << 23);
    sum[r].exponent = largest[r] - kept;
  }
  if (any_column(bad)) {
    return false;
  }
  for (int r = 0; r < rows; ++r) {
    total[r] = __builtin_convertvector(as_floats(c[r]) * scale[r], Columns);
  }
  const auto add_products = [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const FloatColumns value = b[i].value;
      for (int r = 0; r < rows; ++r) {
        total[r] += __builtin_convertvector(value * a[r].value[from + i] * scale[r], Columns);
      }
    }
  };
  add_products(0, first);
  for (int r = 0; r < rows; ++r) {
    sum[r].value = total[r];
    sum[r].overflow = Columns{};
  }
  for (int begin = first; begin < count; begin += first) {
    for (int r = 0; r < rows; ++r) {
      total[r] = Columns{};
    }
    add_products(begin, std::min(begin + first, count));
    for (int r = 0; r < rows; ++r) {
      const Columns both = wrapping_sum(sum[r].value, total[r]);
      sum[r].overflow |= overflows(sum[r].value, total[r], both);
      sum[r].value = both;
    }
  }
  return true;
}

/// As f32 words, cut towards zero to so many bits behind the point; `sticky`: not so, but with the
/// last bit set where something was cut off, so that rounding to a shorter format afterwards is
/// right. Answers in which columns that is not a normal number or cannot be said: there it is any.
inline Columns finish_columns(const SumColumns& sum, int bits_kept, bool sticky, Columns& result) {
  const Columns value = sum.value;
  const Columns sign = value >> 31;
  const Columns magnitude = (value ^ sign) - sign;
  // Of what does not fit in an f32, the first bit decides how it is rounded, and is 24 below the
  // first of all. Without it, and maybe some behind it, the conversion cuts off.
  const Columns rounded_down = magnitude & ~(magnitude >> (f32_format.mantissa_bits + 1));
  const FloatColumns cut = __builtin_convertvector(rounded_down, FloatColumns);
  Columns words = as_words(cut);
  const Columns exponent = (words >> f32_format.mantissa_bits) + sum.exponent;
  const Columns some = value != 0;
  const Columns bad = (some & ((exponent < 1) | (exponent > 2 * f32_format.bias()))) |
                      (magnitude < 0) | sum.overflow;
  words += some & (sum.exponent << f32_format.mantissa_bits);
  words |= sign << 31;
  if (sticky) {
    words |= (__builtin_convertvector(cut, Columns) != magnitude) & 1;
  } else if (bits_kept < f32_format.mantissa_bits) {
    words &= ~((1 << (f32_format.mantissa_bits - bits_kept)) - 1);
  }
  result = words;
  return bad;
}

/// f32 words that are normal numbers or zero, as f16 words rounded to nearest.
inline Columns floats_to_halves(Columns words) {
  return __builtin_convertvector(
      reinterpret_cast<HalfWords>(__builtin_convertvector(as_floats(words), HalfColumns)),
      Columns
  );
}

/// matrix_dot for eight columns of several rows: c and d are f32 words, or (half) d is made of f16
/// words.
template <int rows>
bool matrix_dot_columns(
    const FactorRow* a,
    const FactorColumns* b,
    int k,
    Accumulation how,
    bool half,
    const Columns* c,
    Columns* d
) {
  Columns sums[rows];
  std::copy(c, c + rows, sums);
  for (int i = 0; i < k; i += how.step) {
    SumColumns sum[rows];
    const bool last = i + how.step >= k;
    if (!matrix_step_columns<rows>(a, i, b + i, how, sums, sum)) {
      return false;
    }
    Columns bad{};
    for (int r = 0; r < rows; ++r) {
      bad |= finish_columns(sum[r], how.kept, half && last, sums[r]);
    }
    if (any_column(bad)) {
      return false;
    }
  }
  for (int r = 0; r < rows; ++r) {
    d[r] = half ? floats_to_halves(sums[r]) : sums[r];
  }
  return true;
}

/// matrix_dot_f8 for eight columns of several rows.
template <int rows>
bool matrix_dot_f8_columns(
    const FactorRow* a,
    const FactorColumns* b,
    int k,
    const Columns* c,
    Columns* d
) {
  const Columns nothing[rows] = {};
  if (!matrix_dot_columns<rows>(a, b, k, {k / 2}, /*half=*/false, nothing, d)) {
    return false;
  }
  for (int r = 0; r < rows; ++r) {
    const FloatColumns sum = as_floats(d[r]) + as_floats(c[r]);
    if (any_column(sum != sum)) {
      return false;
    }
    d[r] = as_words(sum);
  }
  return true;
}

/// matrix_dot_s32 for eight columns of several rows, which lie `words` words after each other.
/// Neighbours along k share a word, 16 bits each. Sums of k products fit in 32 bits, as long as k
/// is not above 2^15.
template <int rows>
void matrix_dot_s32_columns(
    const std::int32_t* a,
    const Columns* b,
    int words,
    bool saturate_result,
    const Columns* c,
    Columns* d
) {
  __m256i sum[rows];
  for (int r = 0; r < rows; ++r) {
    sum[r] = _mm256_setzero_si256();
  }
  for (int i = 0; i < words; ++i) {
    const auto column = reinterpret_cast<__m256i>(b[i]);
    for (int r = 0; r < rows; ++r) {
      const __m256i row = _mm256_set1_epi32(a[r * words + i]);
      sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(column, row));
    }
  }
  for (int r = 0; r < rows; ++r) {
    const auto products = reinterpret_cast<Columns>(sum[r]);
    const Columns result = wrapping_sum(products, c[r]);
    const Columns overflow = overflows(products, c[r], result);
    const Columns limit = (c[r] >> 31) ^ std::numeric_limits<std::int32_t>::max();
    d[r] = saturate_result && any_column(overflow) ? (overflow ? limit : result) : result;
  }
}

} // namespace heddle::isa::ops

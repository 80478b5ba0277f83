// Matrix multiplication for eight columns of B at once: what ops_matrix.h defines for one element
// of D, in vectors of the processor.
//
// Same bits, or nothing: where a value is infinite or NaN, or a sum leaves the range of normal f32
// numbers, the functions answer false, and the caller takes the definition. tests/unit/isa compares
// both.
#pragma once

#include "isa/ops_matrix.h"

#include <cstring>
#include <limits>

namespace heddle::isa::ops {

inline constexpr int columns_at_once = 8;
using Columns = std::int32_t __attribute__((vector_size(columns_at_once * sizeof(std::int32_t))));
using FloatColumns = float __attribute__((vector_size(sizeof(Columns))));

inline Columns all_columns(std::int32_t value) {
  return Columns{} + value;
}
inline Columns larger(Columns a, Columns b) {
  return a > b ? a : b;
}
inline FloatColumns as_floats(Columns words) {
  return reinterpret_cast<FloatColumns>(words);
}
template <class Mask> bool any_column(Mask mask) {
  std::uint64_t words[4];
  static_assert(sizeof words == sizeof mask);
  std::memcpy(words, &mask, sizeof mask);
  return (words[0] | words[1] | words[2] | words[3]) != 0;
}

/// Eight factors. What `factor` calls mantissa × 2^(top - mantissa_bits) is a number of f32 here;
/// the top of infinity is that of NaN, too, and then the number is any.
struct FactorColumns {
  FloatColumns value;
  Columns top;
};

/// factor() of eight words, of which the low bits count.
inline FactorColumns factor_columns(Columns words, const Format& format) {
  const auto sign = static_cast<std::int32_t>(format.sign());
  const std::int32_t one = 1 << format.mantissa_bits;
  const Columns magnitude = words & (sign - 1);
  const Columns exponent = magnitude >> format.mantissa_bits;
  const Columns mantissa = (magnitude & (one - 1)) | ((exponent != 0) & one);
  const Columns top = larger(exponent, all_columns(1)) - format.bias();
  // Two steps, each of which is exact.
  const auto below = from_bits<float>(static_cast<std::uint32_t>(127 - format.mantissa_bits) << 23);
  const FloatColumns number =
      __builtin_convertvector(mantissa, FloatColumns) * below * as_floats((top + 127) << 23);
  const Columns negative = (words & sign) != 0;
  const Columns special = magnitude > static_cast<std::int32_t>(format.largest());
  return {
      as_floats(
          reinterpret_cast<Columns>(number) | (negative & std::numeric_limits<std::int32_t>::min())
      ),
      special          ? all_columns(Factor::top_of_infinity)
      : magnitude == 0 ? all_columns(Factor::top_of_zero)
                       : top
  };
}

/// A row of A.
struct FactorRow {
  const float* value;
  const std::int32_t* top;
};

/// Of one step: (first + second) × 2^exponent in each column. Products take two bits more than are
/// kept when aligned, so eight of them and an addend fit, or 16 where less is kept.
struct SumColumns {
  Columns first;
  Columns second;
  Columns exponent;
};

/// A product of two factors is exact in f32, and so is that times 2^(kept - largest); what that
/// makes of it when it becomes an integer is what cutting off makes of the aligned mantissa. A
/// product or an addend that is subnormal, or becomes so, is below one then: 0. All of that holds
/// while `largest` keeps away from the ends of f32's exponents.
inline bool matrix_step_columns(
    FactorRow a,
    const FactorColumns* b,
    Accumulation how,
    Columns c,
    SumColumns& sum
) {
  constexpr std::int32_t farthest = 100;
  constexpr std::int32_t nothing = Factor::top_of_zero / 2; // all products and c are zero
  const int kept = how.kept;
  const int count = how.step;
  const int half = (count + 1) / 2;
  const Columns c_stored = (c >> f32_format.mantissa_bits) & 0xff;
  // Subnormal and zero addends have the smallest exponent; a zero's does not count.
  const Columns c_exponent = larger(c_stored, all_columns(1)) - f32_format.bias();
  Columns largest = (c & 0x7fff'ffff) == 0 ? all_columns(Factor::top_of_zero) : c_exponent;
  for (int i = 0; i < count; ++i) {
    largest = larger(largest, b[i].top + a.top[i]);
  }
  const Columns too_small = (largest < -farthest) & (largest > nothing);
  if (any_column((largest > farthest) | too_small | (c_stored == 0xff))) {
    return false;
  }
  const Columns scale_exponent = kept - larger(largest, all_columns(-farthest));
  const FloatColumns scale = as_floats((scale_exponent + f32_format.bias()) << 23);
  sum.first = __builtin_convertvector(as_floats(c) * scale, Columns);
  sum.second = Columns{};
  for (int i = 0; i < half; ++i) {
    sum.first += __builtin_convertvector(b[i].value * a.value[i] * scale, Columns);
  }
  for (int i = half; i < count; ++i) {
    sum.second += __builtin_convertvector(b[i].value * a.value[i] * scale, Columns);
  }
  sum.exponent = largest - kept;
  return true;
}

/// As f32 words, cut towards zero to so many bits behind the point; `sticky`: not so, but with the
/// last bit set where something was cut off, so that rounding to a shorter format afterwards is
/// right. False: not a normal number.
inline bool finish_columns(const SumColumns& sum, int bits_kept, bool sticky, Columns& result) {
  constexpr int at_once = columns_at_once / 2;
  using Words = std::int32_t __attribute__((vector_size(at_once * sizeof(std::int32_t))));
  using Longs = std::int64_t __attribute__((vector_size(at_once * sizeof(std::int64_t))));
  using Doubles = double __attribute__((vector_size(at_once * sizeof(double))));
  constexpr int cut = 52 - 23;
  constexpr std::int64_t sign = std::int64_t{1} << 31;
  const std::int64_t below = !sticky && bits_kept < f32_format.mantissa_bits
                                 ? (std::int64_t{1} << (f32_format.mantissa_bits - bits_kept)) - 1
                                 : 0;
  for (int part = 0; part < 2; ++part) {
    const auto half = [part](const Columns& all) {
      Words words;
      std::memcpy(
          &words,
          reinterpret_cast<const std::byte*>(&all) + sizeof words * part,
          sizeof words
      );
      return words;
    };
    const Doubles value = __builtin_convertvector(half(sum.first), Doubles) +
                          __builtin_convertvector(half(sum.second), Doubles); // exact
    const auto word = reinterpret_cast<Longs>(value);
    const Longs exponent =
        (word >> 52 & 0x7ff) - 1023 + __builtin_convertvector(half(sum.exponent), Longs);
    const Longs zero = value == 0;
    if (any_column(~zero & ((exponent < 1 - f32_format.bias()) | (exponent > f32_format.bias())))) {
      return false;
    }
    const Longs mantissa = word & ((std::int64_t{1} << 52) - 1);
    const Longs lost = (mantissa & ((std::int64_t{1} << cut) - 1)) != 0;
    Longs finished = (word >> 32 & sign) | (exponent + f32_format.bias()) << 23 | mantissa >> cut;
    finished = sticky ? finished | (lost & 1) : finished & ~below;
    const Words words = __builtin_convertvector(finished & ~zero, Words);
    std::memcpy(reinterpret_cast<std::byte*>(&result) + sizeof words * part, &words, sizeof words);
  }
  return true;
}

/// matrix_dot for eight columns: c and d are f32 words, or (half) d is made of f16 words.
inline bool matrix_dot_columns(
    FactorRow a,
    const FactorColumns* b,
    int k,
    Accumulation how,
    bool half,
    Columns c,
    Columns& d
) {
  for (int i = 0; i < k; i += how.step) {
    SumColumns sum;
    const bool last = i + how.step >= k;
    if (!matrix_step_columns({a.value + i, a.top + i}, b + i, how, c, sum) ||
        !finish_columns(sum, how.kept, half && last, c)) {
      return false;
    }
  }
  if (!half) {
    d = c;
    return true;
  }
  for (int j = 0; j < columns_at_once; ++j) {
    d[j] = from_float<Half>(from_bits<float>(static_cast<std::uint32_t>(c[j]))).word;
  }
  return true;
}

/// matrix_dot_f8 for eight columns.
inline bool
matrix_dot_f8_columns(FactorRow a, const FactorColumns* b, int k, Columns c, Columns& d) {
  Columns sum;
  if (!matrix_dot_columns(a, b, k, {k / 2}, /*half=*/false, Columns{}, sum)) {
    return false;
  }
  for (int j = 0; j < columns_at_once; ++j) {
    d[j] = static_cast<std::int32_t>(bits(
        float_add<float>(
            from_bits<float>(static_cast<std::uint32_t>(sum[j])),
            from_bits<float>(static_cast<std::uint32_t>(c[j]))
        )
    ));
  }
  return true;
}

/// matrix_dot_s32 without saturation.
inline Columns matrix_dot_s32_columns(const std::int32_t* a, const Columns* b, int k, Columns c) {
  using Wrapping = std::uint32_t __attribute__((vector_size(sizeof(Columns))));
  auto sum = reinterpret_cast<Wrapping>(c);
  for (int i = 0; i < k; ++i) {
    sum += reinterpret_cast<Wrapping>(b[i]) * static_cast<std::uint32_t>(a[i]);
  }
  return reinterpret_cast<Columns>(sum);
}

} // namespace heddle::isa::ops

// Matrix multiplication for eight columns of B at once: what ops_matrix.h defines for one element
// of D, in vectors of the processor.
//
// Same bits, or nothing: where a value is infinite or NaN, or a sum leaves the range of normal f32
// numbers, the functions answer false, and the caller takes the definition. tests/unit/isa compares
// both.
#pragma once

#include "isa/ops_matrix.h"

#include <cstring>
#include <span>

namespace heddle::isa::ops {

inline constexpr int columns_at_once = 8;
using Columns = std::int32_t __attribute__((vector_size(columns_at_once * sizeof(std::int32_t))));

/// One row of B: the factors of eight columns.
struct FactorColumns {
  Columns mantissa;
  Columns top;
};

inline Columns all_columns(std::int32_t value) {
  return Columns{} + value;
}
inline Columns larger(Columns a, Columns b) {
  return a > b ? a : b;
}
inline bool any_column(Columns mask) {
  std::uint64_t words[4];
  static_assert(sizeof words == sizeof mask);
  std::memcpy(words, &mask, sizeof mask);
  return (words[0] | words[1] | words[2] | words[3]) != 0;
}

/// The magnitude moved `up` bits (down, if it is negative), then `down` bits, cut towards zero,
/// with its sign.
inline Columns aligned_columns(Columns value, int up, Columns down) {
  const Columns sign = value >> 31;
  const Columns magnitude = (value ^ sign) - sign;
  const Columns most = all_columns(31);
  if (up < 0) {
    down -= up;
    up = 0;
  }
  const Columns shifted = (magnitude << up) >> (down < most ? down : most);
  return (shifted ^ sign) - sign;
}

/// Of one step: (first + second) × 2^exponent in each column. Products take two bits more than are
/// kept when aligned, so eight of them and an addend fit, or 16 where less is kept.
struct SumColumns {
  Columns first;
  Columns second;
  Columns exponent;
};

inline bool matrix_step_columns(
    const Factor* a,
    const FactorColumns* b,
    Accumulation how,
    int product_bits,
    Columns c,
    SumColumns& sum
) {
  const int kept = how.kept;
  const int count = how.step;
  const int half = (count + 1) / 2;
  constexpr int c_mantissa_bits = f32_format.mantissa_bits;
  const Columns c_stored = (c >> c_mantissa_bits) & 0xff;
  const Columns c_word = c & ((1 << c_mantissa_bits) - 1);
  // Subnormal and zero addends have the smallest exponent; a zero's does not count.
  const Columns c_normal = c_stored != 0;
  const Columns c_zero = (c & 0x7fff'ffff) == 0;
  const Columns c_magnitude = c_word | (c_normal & (1 << c_mantissa_bits));
  const Columns c_exponent = larger(c_stored, all_columns(1)) - f32_format.bias();
  const Columns c_top = c_zero ? all_columns(Factor::top_of_zero) : c_exponent;
  Columns top[largest_step];
  Columns largest = c_top;
  for (int i = 0; i < count; ++i) {
    top[i] = b[i].top + a[i].top;
    largest = larger(largest, top[i]);
  }
  if (any_column(largest >= Factor::special) || any_column(c_stored == 0xff)) {
    return false;
  }
  const int up = kept - product_bits;
  sum.first =
      aligned_columns(c < 0 ? -c_magnitude : c_magnitude, kept - c_mantissa_bits, largest - c_top);
  sum.second = Columns{};
  for (int i = 0; i < count; ++i) {
    const Columns product = aligned_columns(b[i].mantissa * a[i].mantissa, up, largest - top[i]);
    (i < half ? sum.first : sum.second) += product;
  }
  sum.exponent = largest - kept;
  return true;
}

/// As f32 words, cut towards zero to so many bits behind the point; `sticky`: not so, but with the
/// last bit set where something was cut off, so that rounding to a shorter format afterwards is
/// right. False: not a normal number.
inline bool finish_columns(const SumColumns& sum, int bits_kept, bool sticky, Columns& result) {
  constexpr int cut = 52 - 23;
  for (int j = 0; j < columns_at_once; ++j) {
    const std::int64_t value = std::int64_t{sum.first[j]} + sum.second[j];
    const auto word = bits(static_cast<double>(value)); // exact
    const int exponent = static_cast<int>(word >> 52 & 0x7ff) - 1023 + sum.exponent[j];
    if (value == 0) {
      result[j] = 0;
      continue;
    }
    if (exponent < 1 - f32_format.bias() || exponent > f32_format.bias()) {
      return false;
    }
    const std::uint64_t mantissa = word & ((std::uint64_t{1} << 52) - 1);
    const std::uint64_t lost = mantissa & ((std::uint64_t{1} << cut) - 1);
    result[j] = static_cast<std::int32_t>(
        static_cast<std::uint32_t>(word >> 63 << 31) |
        static_cast<std::uint32_t>(exponent + f32_format.bias()) << 23 |
        static_cast<std::uint32_t>(mantissa >> cut) | (sticky && lost != 0 ? 1U : 0U)
    );
    if (!sticky) {
      result[j] =
          static_cast<std::int32_t>(cut_mantissa(static_cast<std::uint32_t>(result[j]), bits_kept));
    }
  }
  return true;
}

/// matrix_dot for eight columns: c and d are f32 words, or (half) d is made of f16 words.
inline bool matrix_dot_columns(
    const Factor* a,
    const FactorColumns* b,
    int k,
    Accumulation how,
    int product_bits,
    bool half,
    Columns c,
    Columns& d
) {
  for (int i = 0; i < k; i += how.step) {
    SumColumns sum;
    const bool last = i + how.step >= k;
    if (!matrix_step_columns(a + i, b + i, how, product_bits, c, sum) ||
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
inline bool matrix_dot_f8_columns(
    const Factor* a,
    const FactorColumns* b,
    int k,
    int product_bits,
    Columns c,
    Columns& d
) {
  Columns sum;
  if (!matrix_dot_columns(a, b, k, {k / 2}, product_bits, /*half=*/false, Columns{}, sum)) {
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

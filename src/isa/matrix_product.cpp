// Implements matrix_product.h, eight columns of D at a time.
#include "isa/matrix_product.h"

#include "base/check.h"
#include "isa/ops_matrix_columns.h"
#include "isa/vector_words.h"

#include <bit>
#include <cmath>

namespace heddle::isa {

using ptx::Mod;

std::optional<MatrixType> matrix_type(ptx::Type type) {
  switch (type) {
  case Mod::F16:
    return MatrixType::F16;
  case Mod::Bf16:
    return MatrixType::Bf16;
  case Mod::Tf32:
    return MatrixType::Tf32;
  case Mod::F32:
    return MatrixType::F32;
  case Mod::F64:
    return MatrixType::F64;
  case Mod::S8:
    return MatrixType::S8;
  case Mod::U8:
    return MatrixType::U8;
  case Mod::S4:
    return MatrixType::S4;
  case Mod::U4:
    return MatrixType::U4;
  case Mod::B1:
    return MatrixType::B1;
  case Mod::S32:
    return MatrixType::S32;
  case Mod::E4m3:
    return MatrixType::E4m3;
  case Mod::E5m2:
    return MatrixType::E5m2;
  default:
    return std::nullopt;
  }
}

namespace {

constexpr int rows_at_once = 4;

constexpr ops::Format format_of(MatrixType type) {
  switch (type) {
  case MatrixType::F16:
    return ops::f16_format;
  case MatrixType::Bf16:
    return ops::bf16_format;
  case MatrixType::E4m3:
    return ops::e4m3_format;
  case MatrixType::E5m2:
    return ops::e5m2_format;
  default:
    return ops::tf32_format;
  }
}

/// Element `at` of a packed line of floats: its format's bits.
std::uint32_t float_word(const std::uint32_t* line, int at, MatrixType type) {
  const int bits = matrix_bits(type);
  if (bits == 32) { // tf32 is an f32 whose last 13 bits do not count
    return line[at] >> 13;
  }
  return line[at * bits / 32] >> (at * bits % 32) & ((1U << bits) - 1);
}

/// The word at `at` of eight lines.
ops::Columns eight_lines(const std::uint32_t* at, int words_of_line) {
  ops::Columns result;
  for (int j = 0; j < ops::columns_at_once; ++j) {
    result[j] = static_cast<std::int32_t>(at[j * words_of_line]);
  }
  return result;
}

using ops::UnsignedColumns;

/// Calls f<type>() for a type of floats.
template <class F> void with_float_type(MatrixType type, F f) {
  switch (type) {
  case MatrixType::F16:
    return f.template operator()<MatrixType::F16>();
  case MatrixType::Bf16:
    return f.template operator()<MatrixType::Bf16>();
  case MatrixType::E4m3:
    return f.template operator()<MatrixType::E4m3>();
  case MatrixType::E5m2:
    return f.template operator()<MatrixType::E5m2>();
  default:
    return f.template operator()<MatrixType::Tf32>();
  }
}

/// The factors of eight words whose low bits are an element; tf32: whose upper bits.
template <MatrixType type> ops::FactorColumns factors(UnsignedColumns words) {
  constexpr int bits = matrix_bits(type);
  const UnsignedColumns element =
      bits == 32 ? words >> 13 : words & static_cast<std::uint32_t>((1ULL << bits) - 1);
  return ops::factor_columns<format_of(type)>(reinterpret_cast<ops::Columns>(element));
}

/// Calls f(at, factors) for each element of eight packed lines.
template <MatrixType type, class F>
void each_of_eight_lines(const std::uint32_t* lines, int length, F f) {
  constexpr int bits = matrix_bits(type);
  constexpr int per_word = 32 / bits;
  for (int at = 0; at < length; at += per_word) {
    const auto words =
        reinterpret_cast<UnsignedColumns>(eight_lines(lines + at / per_word, length / per_word));
    for (int e = 0; e < per_word; ++e) {
      f(at + e, factors<type>(words >> (e * bits)));
    }
  }
}

/// Eight elements of packed lines, from a multiple of eight on.
template <MatrixType type> ops::FactorColumns eight_factors(const std::uint32_t* lines, int at) {
  constexpr int bits = matrix_bits(type);
  using Element = std::conditional_t<
      bits == 8,
      std::uint8_t,
      std::conditional_t<bits == 16, std::uint16_t, std::uint32_t>>;
  using Eight = ops::Vector<Element, ops::columns_at_once>;
  Eight elements;
  std::memcpy(&elements, reinterpret_cast<const Element*>(lines) + at, sizeof elements);
  return factors<type>(__builtin_convertvector(elements, UnsignedColumns));
}

/// Element `at` of a packed line of integers.
std::int16_t integer(const std::uint32_t* line, int at, MatrixType type) {
  const int bits = matrix_bits(type);
  const std::uint32_t word = line[at * bits / 32] << (32 - bits - at * bits % 32);
  const bool is_signed = type == MatrixType::S8 || type == MatrixType::S4;
  return static_cast<std::int16_t>(
      is_signed ? static_cast<std::int32_t>(word) >> (32 - bits)
                : static_cast<std::int32_t>(word >> (32 - bits))
  );
}

template <class Byte> void widen(const std::uint32_t* line, int count, std::int16_t* to) {
  const auto* from = reinterpret_cast<const Byte*>(line);
  for (int i = 0; i < count; ++i) {
    to[i] = from[i];
  }
}

/// A packed line of integers with 16 bits for each.
void widen(const std::uint32_t* line, int count, MatrixType type, std::int16_t* to) {
  if (type == MatrixType::S8) {
    return widen<std::int8_t>(line, count, to);
  }
  if (type == MatrixType::U8) {
    return widen<std::uint8_t>(line, count, to);
  }
  for (int i = 0; i < count; ++i) {
    to[i] = integer(line, i, type);
  }
}

/// An array of `most` elements; a matrix uses the first `used` of them.
template <class T, std::size_t most> class Elements {
public:
  explicit Elements(int used) {
    HEDDLE_CHECK(static_cast<std::size_t>(used) <= most, "a matrix of this size");
  }
  T* data() { return all_; }
  T& operator[](int at) { return all_[at]; }

private:
  alignas(64) T all_[most];
};

constexpr std::size_t longest = 128;       // along k: 4-bit integers with a sparse A
constexpr std::size_t longest_floats = 64; // 8-bit floats with a sparse A
constexpr std::size_t most_rows = 16;      // 32, where they are half as long

} // namespace

int Product::in_order_of_sums(int at, int count, int log2_together) const {
  if (!halves) {
    return at;
  }
  // See ops::matrix_dot_f8.
  const int pair = at >> log2_together;
  const int inside = at - (pair << log2_together);
  return (pair & 1) * (count / 2) + (pair / 2 << log2_together) + inside;
}

void Product::operator()(
    const std::uint32_t* a,
    const std::uint32_t* b,
    const std::int32_t* c,
    std::int32_t* d
) const {
  HEDDLE_CHECK(m % 8 == 0 && n % ops::columns_at_once == 0, "a matrix of this shape");
  switch (types.a) {
  case MatrixType::B1:
    return single_bits(a, b, c, d);
  case MatrixType::S8:
  case MatrixType::U8:
  case MatrixType::S4:
  case MatrixType::U4:
    return integers(a, b, c, d);
  default:
    return floats(a, b, c, d);
  }
}

void Product::single_bits(
    const std::uint32_t* a,
    const std::uint32_t* b,
    const std::int32_t* c,
    std::int32_t* d
) const {
  const int words = k / 32;
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      auto sum = static_cast<std::uint32_t>(c[row * n + column]);
      for (int i = 0; i < words; ++i) {
        const std::uint32_t x = a[row * words + i];
        const std::uint32_t y = b[column * words + i];
        sum += static_cast<std::uint32_t>(std::popcount(bits_and ? x & y : x ^ y));
      }
      d[row * n + column] = static_cast<std::int32_t>(sum);
    }
  }
}

void Product::integers(
    const std::uint32_t* a,
    const std::uint32_t* b,
    const std::int32_t* c,
    std::int32_t* d
) const {
  // What a sparse A does not have is zero here.
  const int of_a = stored() * matrix_bits(types.a) / 32;
  const int of_b = k * matrix_bits(types.b) / 32;
  Elements<std::int16_t, most_rows * longest> rows(m * k);
  for (int row = 0; row < m; ++row) {
    std::int16_t* to = rows.data() + row * k;
    if (places == nullptr) {
      widen(a + row * of_a, k, types.a, to);
      continue;
    }
    std::fill_n(to, k, 0);
    for (int i = 0; i < stored(); ++i) {
      to[places[row * stored() + i]] = integer(a + row * of_a, i, types.a);
    }
  }
  const int words = k / 2;
  Elements<std::int16_t, ops::columns_at_once * longest> lines(ops::columns_at_once * k);
  Elements<ops::Columns, longest / 2> column(words);
  for (int first = 0; first < n; first += ops::columns_at_once) {
    for (int j = 0; j < ops::columns_at_once; ++j) {
      widen(b + (first + j) * of_b, k, types.b, lines.data() + j * k);
    }
    for (int i = 0; i < words; ++i) {
      column[i] = eight_lines(reinterpret_cast<const std::uint32_t*>(lines.data()) + i, words);
    }
    for (int row = 0; row < m; row += rows_at_once) {
      ops::Columns from[rows_at_once];
      ops::Columns to[rows_at_once];
      for (int r = 0; r < rows_at_once; ++r) {
        std::memcpy(&from[r], c + (row + r) * n + first, sizeof from[r]);
      }
      ops::matrix_dot_s32_columns<rows_at_once>(
          reinterpret_cast<const std::int32_t*>(rows.data()) + row * words,
          column.data(),
          words,
          saturate,
          from,
          to
      );
      for (int r = 0; r < rows_at_once; ++r) {
        std::memcpy(d + (row + r) * n + first, &to[r], sizeof to[r]);
      }
    }
  }
}

std::uint32_t Product::float_element(
    const std::uint32_t* a,
    const std::uint32_t* b,
    int row,
    std::uint32_t c
) const {
  ops::Factor x[ops::largest_step * 2];
  ops::Factor y[ops::largest_step * 2];
  const int length = stored();
  HEDDLE_CHECK(length <= ops::largest_step * 2, "a line of this length");
  for (int i = 0; i < length; ++i) {
    const int to = in_order_of_sums(i, length, 1);
    const int of_b = places != nullptr ? places[row * length + i] : i;
    x[to] = ops::factor(float_word(a, i, types.a), format_of(types.a));
    y[to] = ops::factor(float_word(b, of_b, types.b), format_of(types.b));
  }
  const int product_bits = format_of(types.a).mantissa_bits + format_of(types.b).mantissa_bits;
  if (halves) {
    return ops::matrix_dot_f8(x, y, length, product_bits, c);
  }
  return types.d == MatrixType::F16 ? ops::matrix_dot<true>(x, y, length, how, product_bits, c)
                                    : ops::matrix_dot<false>(x, y, length, how, product_bits, c);
}

void Product::floats(
    const std::uint32_t* a,
    const std::uint32_t* b,
    const std::int32_t* c,
    std::int32_t* d
) const {
  // What a sparse A does not have is zero here, which counts for nothing: where B has an infinity
  // or NaN, the definition is asked. A step is twice as long then.
  const int log2_together = places != nullptr ? 2 : 1;
  const int of_a = stored() * matrix_bits(types.a) / 32;
  const int of_b = k * matrix_bits(types.b) / 32;
  Elements<float, most_rows * longest_floats> values(m * k);
  Elements<std::int32_t, most_rows * longest_floats> tops(m * k);
  if (places != nullptr) {
    std::fill_n(values.data(), m * k, 0.0F);
    std::fill_n(tops.data(), m * k, ops::Factor::top_of_zero);
  }
  const bool as_they_are = places == nullptr && !halves;
  with_float_type(types.a, [&]<MatrixType type>() {
    int row = 0;
    int along = 0;
    for (int at = 0; at < m * stored(); at += ops::columns_at_once) {
      const ops::FactorColumns eight = eight_factors<type>(a, at);
      if (as_they_are) {
        std::memcpy(&values[at], &eight.value, sizeof eight.value);
        std::memcpy(&tops[at], &eight.top, sizeof eight.top);
        continue;
      }
      for (int j = 0; j < ops::columns_at_once; ++j) {
        const int place = places != nullptr ? places[at + j] : along;
        const int to = row * k + in_order_of_sums(place, k, log2_together);
        values[to] = eight.value[j];
        tops[to] = eight.top[j];
        if (++along == stored()) {
          along = 0;
          ++row;
        }
      }
    }
  });
  ops::Accumulation steps = how;
  if (places != nullptr) {
    steps.step *= 2;
  }
  const bool to_half = types.d == MatrixType::F16;
  Elements<ops::FactorColumns, longest_floats> of_columns(k);
  for (int first = 0; first < n; first += ops::columns_at_once) {
    with_float_type(types.b, [&]<MatrixType type>() {
      each_of_eight_lines<type>(b + first * of_b, k, [&](int at, const ops::FactorColumns& eight) {
        of_columns[in_order_of_sums(at, k, log2_together)] = eight;
      });
    });
    for (int row = 0; row < m; row += rows_at_once) {
      ops::FactorRow x[rows_at_once];
      ops::Columns from[rows_at_once];
      ops::Columns to[rows_at_once];
      for (int r = 0; r < rows_at_once; ++r) {
        x[r] = {values.data() + (row + r) * k, tops.data() + (row + r) * k};
        std::memcpy(&from[r], c + (row + r) * n + first, sizeof from[r]);
      }
      const bool done =
          halves ? ops::matrix_dot_f8_columns<rows_at_once>(x, of_columns.data(), k, from, to)
                 : ops::matrix_dot_columns<
                       rows_at_once>(x, of_columns.data(), k, steps, to_half, from, to);
      for (int r = 0; r < rows_at_once; ++r) {
        for (int j = 0; !done && j < ops::columns_at_once; ++j) {
          to[r][j] = static_cast<std::int32_t>(float_element(
              a + (row + r) * of_a,
              b + (first + j) * of_b,
              row + r,
              static_cast<std::uint32_t>(from[r][j])
          ));
        }
        std::memcpy(d + (row + r) * n + first, &to[r], sizeof to[r]);
      }
    }
  }
}

void Product::operator()(
    const std::uint64_t* a,
    const std::uint64_t* b,
    const std::uint64_t* c,
    std::uint64_t* d
) const {
  constexpr int columns = ops::columns_at_once;
  using Doubles = ops::Vector<double, columns>;
  Elements<Doubles, most_rows> column(k);
  for (int first = 0; first < n; first += columns) {
    for (int i = 0; i < k; ++i) {
      for (int j = 0; j < columns; ++j) {
        column[i][j] = ops::from_bits<double>(b[(first + j) * k + i]);
      }
    }
    for (int row = 0; row < m; ++row) {
      const int at = row * n + first;
      Doubles sum;
      std::memcpy(&sum, c + at, sizeof sum);
      for (int i = 0; i < k; ++i) {
        ops::fused_sum(Doubles{} + ops::from_bits<double>(a[row * k + i]), column[i], sum, sum);
      }
      std::memcpy(d + at, &sum, sizeof sum);
      const bool some_nan = ops::some_nan(sum);
      for (int j = 0; some_nan && j < columns; ++j) { // which one depends on the order of operands
        d[at + j] = ops::matrix_dot_f64(a + row * k, b + (first + j) * k, k, c[at + j]);
      }
    }
  }
}

} // namespace heddle::isa

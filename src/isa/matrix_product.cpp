// Implements matrix_product.h, eight columns of D at a time.
#include "isa/matrix_product.h"

#include "base/check.h"
#include "isa/ops_matrix_columns.h"

namespace heddle::isa {

using ptx::Mod;

int matrix_bits(MatrixType type) {
  switch (type) {
  case MatrixType::B1:
    return 1;
  case MatrixType::S4:
  case MatrixType::U4:
    return 4;
  case MatrixType::S8:
  case MatrixType::U8:
  case MatrixType::E4m3:
  case MatrixType::E5m2:
    return 8;
  case MatrixType::F16:
  case MatrixType::Bf16:
    return 16;
  case MatrixType::F64:
    return 64;
  case MatrixType::Tf32:
  case MatrixType::F32:
  case MatrixType::S32:
    return 32;
  }
  return 0;
}

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

const ops::Format& format_of(MatrixType type) {
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

/// tf32 is an f32 whose last 13 bits do not count.
template <class Words> Words significant(Words words, MatrixType type) {
  return type == MatrixType::Tf32 ? words >> 13 : words;
}

/// Eight elements with a distance of `step`.
ops::Columns eight_of(const void* first, std::ptrdiff_t step) {
  const auto* words = static_cast<const std::int32_t*>(first);
  ops::Columns result;
  for (int j = 0; j < ops::columns_at_once; ++j) {
    result[j] = words[j * step];
  }
  return result;
}

ops::FactorColumns factors(ops::Columns words, MatrixType type) {
  using Unsigned = std::uint32_t __attribute__((vector_size(sizeof words)));
  return ops::factor_columns(
      reinterpret_cast<ops::Columns>(significant(reinterpret_cast<Unsigned>(words), type)),
      format_of(type)
  );
}

/// For each row of A and eight columns of B: `columns(row's first element, rows of B, c, d)`
/// answers eight elements of D or false, then `element(row of A, column of B, c)` does each. Row:
/// what eight columns of B have in one place along k, `row_of` their elements.
template <class Row, class T, class RowOf, class EightDots, class Dot>
void each_dot(
    const Product& product,
    const Operands<T>& operands,
    const std::int32_t* c,
    std::int32_t* d,
    RowOf row_of,
    EightDots columns,
    Dot element
) {
  const int k = product.k;
  const int stored = product.stored();
  const int groups = product.n / ops::columns_at_once;
  std::vector<Row> rows(static_cast<std::size_t>(k));
  std::vector<Row> chosen(static_cast<std::size_t>(product.places != nullptr ? stored : 0));
  std::vector<T> column(chosen.size());
  for (int group = 0; group < groups; ++group) {
    const T* eight =
        operands.b.data() + static_cast<std::ptrdiff_t>(group) * ops::columns_at_once * k;
    for (int i = 0; i < k; ++i) {
      rows[static_cast<std::size_t>(i)] = row_of(eight_of(eight + i, k));
    }
    for (int row = 0; row < product.m; ++row) {
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(row) * stored;
      const std::uint16_t* places = product.places != nullptr ? product.places + first : nullptr;
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        chosen[i] = rows[places[i]];
      }
      const std::ptrdiff_t at =
          static_cast<std::ptrdiff_t>(row) * product.n + group * ops::columns_at_once;
      ops::Columns from;
      ops::Columns to;
      std::memcpy(&from, c + at, sizeof from);
      if (columns(first, places != nullptr ? chosen.data() : rows.data(), from, to)) {
        std::memcpy(d + at, &to, sizeof to);
        continue;
      }
      for (int j = 0; j < ops::columns_at_once; ++j) {
        const T* of_b = eight + static_cast<std::ptrdiff_t>(j) * k;
        for (std::size_t i = 0; i < column.size(); ++i) {
          column[i] = of_b[places[i]];
        }
        d[at + j] = static_cast<std::int32_t>(element(
            operands.a.data() + first,
            places != nullptr ? column.data() : of_b,
            static_cast<std::uint32_t>(c[at + j])
        ));
      }
    }
  }
}

} // namespace

std::int32_t integer_factor(std::uint64_t word, MatrixType type) {
  switch (type) {
  case MatrixType::S8:
    return static_cast<std::int8_t>(word);
  case MatrixType::S4:
    return static_cast<std::int32_t>(word) - ((word & 8) != 0 ? 16 : 0);
  default:
    return static_cast<std::int32_t>(word);
  }
}

void Product::operator()(
    const Operands<std::int32_t>& operands,
    const std::int32_t* c,
    std::int32_t* d
) const {
  const int length = stored();
  each_dot<ops::Columns>(
      *this,
      operands,
      c,
      d,
      [](ops::Columns words) { return words; },
      [&](std::ptrdiff_t a, const ops::Columns* b, ops::Columns from, ops::Columns& to) {
        if (saturate) {
          return false;
        }
        to = ops::matrix_dot_s32_columns(operands.a.data() + a, b, length, from);
        return true;
      },
      [&](const std::int32_t* a, const std::int32_t* b, std::uint32_t from) {
        return ops::matrix_dot_s32(a, b, length, from, saturate);
      }
  );
}

void Product::operator()(
    const Operands<std::uint32_t>& operands,
    const std::int32_t* c,
    std::int32_t* d
) const {
  const int length = stored();
  const int product_bits = format_of(types.a).mantissa_bits + format_of(types.b).mantissa_bits;
  const bool to_half = types.d == MatrixType::F16;
  std::vector<float> values(operands.a.size());
  std::vector<std::int32_t> tops(operands.a.size());
  HEDDLE_CHECK(values.size() % ops::columns_at_once == 0, "an A of this size");
  for (std::size_t i = 0; i < values.size(); i += ops::columns_at_once) {
    const ops::FactorColumns eight = factors(eight_of(operands.a.data() + i, 1), types.a);
    std::memcpy(&values[i], &eight.value, sizeof eight.value);
    std::memcpy(&tops[i], &eight.top, sizeof eight.top);
  }
  const auto factors_of = [length](const std::uint32_t* words, MatrixType type, ops::Factor* to) {
    for (int i = 0; i < length; ++i) {
      to[i] = ops::factor(significant(words[i], type), format_of(type));
    }
  };
  std::vector<ops::Factor> a_factors(static_cast<std::size_t>(length));
  std::vector<ops::Factor> b_factors(a_factors.size());
  each_dot<ops::FactorColumns>(
      *this,
      operands,
      c,
      d,
      [&](ops::Columns words) { return factors(words, types.b); },
      [&](std::ptrdiff_t a, const ops::FactorColumns* b, ops::Columns from, ops::Columns& to) {
        const ops::FactorRow row{values.data() + a, tops.data() + a};
        return halves ? ops::matrix_dot_f8_columns(row, b, length, from, to)
                      : ops::matrix_dot_columns(row, b, length, how, to_half, from, to);
      },
      [&](const std::uint32_t* a, const std::uint32_t* b, std::uint32_t from) -> std::uint32_t {
        factors_of(a, types.a, a_factors.data());
        factors_of(b, types.b, b_factors.data());
        const ops::Factor* x = a_factors.data();
        const ops::Factor* y = b_factors.data();
        if (halves) {
          return ops::matrix_dot_f8(x, y, length, product_bits, from);
        }
        return to_half ? ops::matrix_dot<true>(x, y, length, how, product_bits, from)
                       : ops::matrix_dot<false>(x, y, length, how, product_bits, from);
      }
  );
}

} // namespace heddle::isa

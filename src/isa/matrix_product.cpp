// Implements matrix_product.h, eight columns of D at a time.
#include "isa/matrix_product.h"

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

/// What eight columns of B have in one place along k.
void set_column(ops::FactorColumns& row, int j, const ops::Factor& element) {
  row.mantissa[j] = element.mantissa;
  row.top[j] = element.top;
}
void set_column(ops::Columns& row, int j, std::int32_t element) {
  row[j] = element;
}

/// For each row of A and eight columns of B: `columns(row of A, rows of B, c, d)` answers eight
/// elements of D or false, then `element(row of A, column of B, c)` does each.
template <class T, class Row, class EightDots, class Dot>
void each_dot(
    const Product& product,
    const Operands<T>& operands,
    const std::int32_t* c,
    std::int32_t* d,
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
      for (int j = 0; j < ops::columns_at_once; ++j) {
        set_column(rows[static_cast<std::size_t>(i)], j, eight[j * k + i]);
      }
    }
    for (int row = 0; row < product.m; ++row) {
      const T* line = operands.a.data() + static_cast<std::ptrdiff_t>(row) * stored;
      const std::uint16_t* places = product.places != nullptr
                                        ? product.places + static_cast<std::ptrdiff_t>(row) * stored
                                        : nullptr;
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        chosen[i] = rows[places[i]];
      }
      const std::ptrdiff_t at =
          static_cast<std::ptrdiff_t>(row) * product.n + group * ops::columns_at_once;
      ops::Columns from;
      ops::Columns to;
      std::memcpy(&from, c + at, sizeof from);
      if (columns(line, places != nullptr ? chosen.data() : rows.data(), from, to)) {
        std::memcpy(d + at, &to, sizeof to);
        continue;
      }
      for (int j = 0; j < ops::columns_at_once; ++j) {
        const T* of_b = eight + static_cast<std::ptrdiff_t>(j) * k;
        for (std::size_t i = 0; i < column.size(); ++i) {
          column[i] = of_b[places[i]];
        }
        d[at + j] = static_cast<std::int32_t>(element(
            line,
            places != nullptr ? column.data() : of_b,
            static_cast<std::uint32_t>(c[at + j])
        ));
      }
    }
  }
}

} // namespace

ops::Factor float_factor(std::uint64_t word, MatrixType type) {
  // tf32 is an f32 whose last 13 bits do not count.
  return ops::factor(
      static_cast<std::uint32_t>(type == MatrixType::Tf32 ? word >> 13 : word),
      format_of(type)
  );
}

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
  each_dot<std::int32_t, ops::Columns>(
      *this,
      operands,
      c,
      d,
      [&](const std::int32_t* a, const ops::Columns* b, ops::Columns from, ops::Columns& to) {
        if (saturate) {
          return false;
        }
        to = ops::matrix_dot_s32_columns(a, b, length, from);
        return true;
      },
      [&](const std::int32_t* a, const std::int32_t* b, std::uint32_t from) {
        return ops::matrix_dot_s32(a, b, length, from, saturate);
      }
  );
}

void Product::operator()(
    const Operands<ops::Factor>& operands,
    const std::int32_t* c,
    std::int32_t* d
) const {
  const int length = stored();
  const int product_bits = format_of(types.a).mantissa_bits + format_of(types.b).mantissa_bits;
  const bool to_half = types.d == MatrixType::F16;
  each_dot<ops::Factor, ops::FactorColumns>(
      *this,
      operands,
      c,
      d,
      [&](const ops::Factor* a, const ops::FactorColumns* b, ops::Columns from, ops::Columns& to) {
        return halves ? ops::matrix_dot_f8_columns(a, b, length, product_bits, from, to)
                      : ops::matrix_dot_columns(a, b, length, how, product_bits, to_half, from, to);
      },
      [&](const ops::Factor* a, const ops::Factor* b, std::uint32_t from) -> std::uint32_t {
        if (halves) {
          return ops::matrix_dot_f8(a, b, length, product_bits, from);
        }
        return to_half ? ops::matrix_dot<true>(a, b, length, how, product_bits, from)
                       : ops::matrix_dot<false>(a, b, length, how, product_bits, from);
      }
  );
}

} // namespace heddle::isa

// Which shape an instruction has, and which elements of B those of a sparse A belong to: Metadata
// of lower_collective_mma.h.
#include "isa/lower_collective_mma.h"

#include <array>
#include <utility>

namespace heddle::isa {

std::optional<MatrixShape> matrix_shape(const ptx::Instruction& i) {
  const auto mod = i.one_of(ptx::Category::Shape);
  if (!mod) {
    return std::nullopt;
  }
  MatrixShape shape;
  std::string_view text = ptx::text(*mod);
  for (const auto& [letter, field] :
       {std::pair{'m', &shape.m}, std::pair{'n', &shape.n}, std::pair{'k', &shape.k}}) {
    if (text.empty() || text[0] != letter) {
      return std::nullopt;
    }
    text.remove_prefix(1);
    while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
      *field = static_cast<std::uint16_t>(*field * 10 + (text[0] - '0'));
      text.remove_prefix(1);
    }
  }
  return text.empty() ? std::optional(shape) : std::nullopt;
}

Metadata Metadata::of(MatrixType a, int stored) {
  const int bits = matrix_bits(a);
  Metadata m;
  m.stored = stored;
  m.together = bits == 4 ? 2 : 1;
  m.index_bits = bits == 32 ? 4 : 2;
  m.by_rows = bits < 16;
  return m;
}

/// Where bit `at` of a row's indices is: lane × 32 + bit.
int Metadata::bit(int row, int at, int selector) const {
  const int first = row % 8 * 4;
  const int upper = row / 8;
  if (row_bits() == 16) { // one lane has both rows
    return (first + selector) * 32 + upper * 16 + at;
  }
  if (!by_rows) { // two lanes, each has half of both rows
    return (first + selector * 2 + at / 16) * 32 + upper * 16 + at % 16;
  }
  return (first + selector * 2 + at / 32 * 2 + upper) * 32 + at % 32;
}

std::vector<std::uint16_t>
Metadata::places(int selector, const std::array<std::uint32_t, warp_size>& words) const {
  constexpr int rows = 16;
  std::vector<std::uint16_t> result;
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < stored; ++i) {
      const int number = i / together;
      const int at = bit(row, number * index_bits, selector);
      const auto index = static_cast<int>(
          words[static_cast<std::size_t>(at / 32)] >> (at % 32) & ((1U << index_bits) - 1)
      );
      result.push_back(
          static_cast<std::uint16_t>(
              index_bits == 4 ? 2 * number + (index >> 1 & 1)
                              : (number / 2 * 4 + index) * together + i % together
          )
      );
    }
  }
  return result;
}

} // namespace heddle::isa

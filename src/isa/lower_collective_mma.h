// What mma, wmma.mma and wgmma have in common: shapes, sparse matrices, lowering.
#pragma once

#include "isa/lower_collective_matrix.h"
#include "isa/matrix_fragment.h"
#include "isa/matrix_product.h"

namespace heddle::isa {

enum class Fragment : std::uint8_t {
  A,
  B,
  C // and D
};

/// One multiplication: fits in op.imm and op.imm2.
struct MatrixShape {
  std::uint16_t m = 0;
  std::uint16_t n = 0;
  std::uint16_t k = 0;
  bool wmma = false; // places are wmma's
  bool saturate = false;

  /// Rows and columns change places: B is what A is elsewhere, and D has columns.
  bool turned() const { return wmma && n == 32; }
  /// Of a matrix of `type`; `stored`: elements of A along k.
  FragmentLayout layout(Fragment f, MatrixType type, int stored) const {
    FragmentLayout result;
    result.bits = matrix_bits(type);
    switch (f) {
    case Fragment::A:
      result.lines = m;
      result.length = stored;
      result.along_first = m == block_lines;
      break;
    case Fragment::B:
      result.lines = n;
      result.length = k;
      result.along_first = !turned();
      break;
    case Fragment::C:
      result.lines = turned() ? n : m;
      result.length = turned() ? m : n;
      result.along_first = m == block_lines && !turned();
      result.in_pairs = result.bits >= 32;
      break;
    }
    return result;
  }
};

/// From a modifier such as .m16n8k16; nullopt: not a shape of mma, wmma or wgmma.
std::optional<MatrixShape> matrix_shape(const ptx::Instruction& i);

/// Which elements of a column of B those of a sparse A belong to (9.7.14.6.1), for 16 rows of a
/// warp: of each four elements two are there and two bits for each say which, of each two tf32 one,
/// with four bits, and 4-bit integers count in pairs.
struct Metadata {
  int stored = 0;   // elements of a row
  int together = 1; // elements that an index is for
  int index_bits = 2;
  bool by_rows = false;

  static Metadata of(MatrixType a, int stored);
  int row_bits() const { return stored / together * index_bits; } // 16, 32 or 64
  /// Of four neighbouring lanes so many have the indices of two rows; a selector says which.
  bool fits(int selector) const {
    return row_bits() >= 16 && (selector + 1) * (row_bits() * 2 / 32) <= 4;
  }
  /// Row by row; `words`: what each lane has.
  std::vector<std::uint16_t>
  places(int selector, const std::array<std::uint32_t, warp_size>& words) const;

private:
  int bit(int row, int at, int selector) const;
};

/// Emits d = a × b + c over vectors of registers.
Result<void> emit_multiply(
    Lowering& l,
    const ptx::Instruction& i,
    const MatrixShape& shape,
    const MatrixTypes& types,
    bool bits_and
);

} // namespace heddle::isa

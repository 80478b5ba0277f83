// What mma, wmma.mma and wgmma have in common: who holds which element.
//
// Registers of a lane hold elements one after the other, low bits first. mma.sync's places are
// PTX's (9.7.14.5), and wgmma's are the same for the 16 rows of each warp (9.7.15.5.1); PTX leaves
// wmma's open (9.7.14.4), here element e of lane l is number l·n + e of the matrix row by row,
// starting again at its end where a fragment has room for more than the matrix.
#pragma once

#include "isa/lower_collective_matrix.h"
#include "isa/matrix_product.h"

namespace heddle::isa {

enum class Fragment : std::uint8_t {
  A,
  B,
  C // and D
};
struct MatrixPlace {
  int row = 0;
  int column = 0;
};

/// One multiplication: fits in op.imm and op.imm2.
struct MatrixShape {
  std::uint16_t m = 0;
  std::uint16_t n = 0;
  std::uint16_t k = 0;
  bool wmma = false; // places are wmma's
  bool saturate = false;

  int rows(Fragment f) const { return f == Fragment::B ? k : m; }
  int columns(Fragment f) const { return f == Fragment::A ? k : n; }
  /// Of element `index` of `lane`; `count`: elements that a lane holds, `bits`: of an element.
  MatrixPlace place(Fragment f, int lane, int index, int count, int bits) const;
};
/// Calls f(lane, place, register, half) for each executing lane and each element of C or D that it
/// holds in `registers` registers of `bits` per element; `half`: which half of a register, of f16.
template <class F>
void each_element(const Exec& exec, const MatrixShape& shape, int registers, int bits, F&& f) {
  const int per_register = bits == 16 ? 2 : 1;
  const int count = registers * per_register;
  exec.each([&](int lane) {
    for (int e = 0; e < count; ++e) {
      const MatrixPlace p = shape.place(Fragment::C, lane, e, count, bits);
      f(lane, p, per_register == 2 ? e >> 1 : e, e & 1);
    }
  });
}

/// An element of C as Product takes it, and one of D from what it gives.
inline std::int32_t addend(std::uint32_t word, int half, int bits) {
  const auto short_word = static_cast<std::uint16_t>(half == 0 ? word : word >> 16);
  return static_cast<std::int32_t>(
      bits == 16 ? ops::bits(ops::to_float(ops::Half{short_word})) : word
  );
}
inline void set_element(std::uint32_t& word, int half, int bits, std::int32_t element) {
  const auto result = static_cast<std::uint32_t>(element);
  if (bits == 16) {
    word = half == 0 ? (word & 0xffff'0000U) | (result & 0xffffU) : (word & 0xffffU) | result << 16;
  } else {
    word = result;
  }
}

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

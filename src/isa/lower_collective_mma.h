// What mma and wmma.mma have in common: who holds which element, and the multiplication of a warp.
//
// Registers of a lane hold elements one after the other, low bits first. mma.sync's places are
// PTX's (9.7.14.5); PTX leaves wmma's open (9.7.14.4), here element e of lane l is number l·n + e
// of the matrix row by row, starting again at its end where a fragment has room for more than the
// matrix.
#pragma once

#include "isa/lower_collective_matrix.h"

namespace heddle::isa {

enum class MatrixType : std::uint8_t {
  F16,
  Bf16,
  Tf32,
  F32,
  F64,
  S8,
  U8,
  S4,
  U4,
  B1,
  S32,
  E4m3,
  E5m2
};
int matrix_bits(MatrixType type);
std::optional<MatrixType> matrix_type(ptx::Type type);

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
/// From a modifier such as .m16n8k16; nullopt: not a shape of mma or wmma.
std::optional<MatrixShape> matrix_shape(const ptx::Instruction& i);

struct MatrixTypes {
  MatrixType a{};
  MatrixType b{};
  MatrixType c{};
  MatrixType d{};
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

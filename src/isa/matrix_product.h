// D = A × B + C on plain matrices: what mma, wmma and wgmma have in common once it is known which
// lane or which byte of shared memory holds which element. The arithmetic is that of ops_matrix.h.
#pragma once

#include "isa/ops_matrix.h"
#include "ptx/module.h"

#include <optional>
#include <vector>

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

struct MatrixTypes {
  MatrixType a{};
  MatrixType b{};
  MatrixType c{};
  MatrixType d{};
};

/// Rows of A and columns of B, one after the other, each along k. T: for integers the values that
/// are multiplied, for floats words with the element in their low bits.
template <class T> struct Operands {
  std::vector<T> a;
  std::vector<T> b;
};

/// An element as what is multiplied; its bits are the low ones of `word`.
std::int32_t integer_factor(std::uint64_t word, MatrixType type);

struct Product {
  int m = 0;
  int n = 0; // a multiple of 8
  int k = 0; // of B
  MatrixTypes types;
  bool saturate = false; // integers
  /// Of floats; 8-bit ones are added as mma does if `halves`, see ops::matrix_dot_f8.
  ops::Accumulation how;
  bool halves = false;
  /// A is sparse: half as long, element i of row r belongs to element places[r × k / 2 + i] of a
  /// column of B.
  const std::uint16_t* places = nullptr;

  int stored() const { return places != nullptr ? k / 2 : k; } // along k of A

  /// C and D row by row: s32 or f32 words; D may be f16 words.
  void
  operator()(const Operands<std::int32_t>& operands, const std::int32_t* c, std::int32_t* d) const;
  void
  operator()(const Operands<std::uint32_t>& operands, const std::int32_t* c, std::int32_t* d) const;
};

} // namespace heddle::isa

// D = A × B + C on plain matrices: what mma, wmma and wgmma have in common once it is known which
// lane or which byte of shared memory holds which element. The arithmetic is that of ops_matrix.h.
#pragma once

#include "isa/ops_matrix.h"
#include "ptx/module.h"

#include <optional>

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
constexpr int matrix_bits(MatrixType type) {
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
std::optional<MatrixType> matrix_type(ptx::Type type);

struct MatrixTypes {
  MatrixType a{};
  MatrixType b{};
  MatrixType c{};
  MatrixType d{};
};

/// Rows of A and columns of B are lines along k. They are packed: in memory order, low bits of a
/// word first, and each begins with a word of its own.
struct Product {
  int m = 0; // a multiple of 8
  int n = 0; // a multiple of 8
  int k = 0; // of B
  MatrixTypes types;
  bool saturate = false; // integers
  bool bits_and = false; // single bits: and instead of xor
  /// Of floats; 8-bit ones are added as mma does if `halves`, see ops::matrix_dot_f8.
  ops::Accumulation how;
  bool halves = false;
  /// A is sparse: half as long, element i of row r belongs to element places[r × k / 2 + i] of a
  /// column of B.
  const std::uint16_t* places = nullptr;

  int stored() const { return places != nullptr ? k / 2 : k; } // along k of A

  /// C and D row by row: s32 or f32 words; D may be f16 words.
  void operator()(
      const std::uint32_t* a,
      const std::uint32_t* b,
      const std::int32_t* c,
      std::int32_t* d
  ) const;
  /// On doubles; they are sums of one product after the other, in order of k.
  void operator()(
      const std::uint64_t* a,
      const std::uint64_t* b,
      const std::uint64_t* c,
      std::uint64_t* d
  ) const;

private:
  void integers(
      const std::uint32_t* a,
      const std::uint32_t* b,
      const std::int32_t* c,
      std::int32_t* d
  ) const;
  void floats(
      const std::uint32_t* a,
      const std::uint32_t* b,
      const std::int32_t* c,
      std::int32_t* d
  ) const;
  void single_bits(
      const std::uint32_t* a,
      const std::uint32_t* b,
      const std::int32_t* c,
      std::int32_t* d
  ) const;
  /// One element of D by the definition; `a` and `b`: the lines.
  std::uint32_t
  float_element(const std::uint32_t* a, const std::uint32_t* b, int row, std::uint32_t c) const;
  /// Where an element of a line of so many stands in the order in which its type is added;
  /// 2^log2_together elements stay neighbours.
  int in_order_of_sums(int at, int count, int log2_together) const;
};

} // namespace heddle::isa

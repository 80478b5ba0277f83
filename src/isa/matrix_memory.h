// Where an instruction on matrices accesses memory: ldmatrix, stmatrix, and wmma's loads and
// stores, lane by lane.
//
//   for (const MatrixPiece& piece : matrix_pieces(exec, op, lane, address)) …
//
// A lane of wmma accesses its own elements. One of ldmatrix and stmatrix is taken to access the row
// whose address it gives, though its registers hold parts of other rows: nobody can tell which lane
// it is.
#pragma once

#include "isa/exec.h"
#include "memory/access_value.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::isa {

struct MatrixPiece {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
};

/// `address`: what the lane gives. `op` is such an instruction.
std::vector<MatrixPiece>
matrix_pieces(const Exec& exec, const Op& op, std::size_t lane, std::uint64_t address);

/// The row that stmatrix stores at the address of `lane`, which has not been done yet. Nothing
/// where lanes of the warp are missing, and for other instructions.
std::optional<memory::AccessValue> stored_row(const Exec& exec, const Op& op, std::size_t lane);

} // namespace heddle::isa

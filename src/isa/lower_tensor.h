// Copies of tensors (lower_tensor.cpp).
#pragma once

#include "isa/exec.h"
#include "isa/lowering.h"

namespace heddle::isa {

/// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, cp.async.bulk.prefetch.tensor.
Result<void> lower_tensor_copy(Lowering& l, const ptx::Instruction& i);

/// Of the box that `lane` is about to copy, for monitors; 0: its map is none.
std::uint32_t tensor_box_bytes(Exec& exec, const Op& op, int lane);

} // namespace heddle::isa

// Copies of tensors (lower_tensor.cpp).
#pragma once

#include "isa/lowering.h"

namespace heddle::isa {

/// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, cp.async.bulk.prefetch.tensor.
Result<void> lower_tensor_copy(Lowering& l, const ptx::Instruction& i);

} // namespace heddle::isa

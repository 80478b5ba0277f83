// Maps of tensors in memory (lower_tensor_map.cpp).
#pragma once

#include "isa/exec.h"
#include "isa/lowering.h"
#include "isa/tensor_map.h"

namespace heddle::isa {

void register_tensor_map(LowerTable&); // tensormap

/// Reads the map at a generic address. False: fault() has been filled in.
bool read_map(Exec& exec, int lane, std::uint64_t address, TensorMap& map);

/// Stops at what a map holds, or is to hold.
const Op* bad_map(Exec& exec, int lane, std::uint64_t address, const char* what);

} // namespace heddle::isa

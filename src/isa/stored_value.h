// What a lane is about to store, for monitors that compare values.
#pragma once

#include "isa/exec.h"
#include "memory/access_value.h"

#include <cstddef>
#include <optional>

namespace heddle::isa {

/// The bytes, all elements of a vector one after the other, that `lane` stores by `op`: an `st`
/// that has been lowered as an access (lower_memory.cpp) and has not been executed yet.
/// Nothing for other instructions.
std::optional<memory::AccessValue> stored_value(const Exec& exec, const Op& op, std::size_t lane);

} // namespace heddle::isa

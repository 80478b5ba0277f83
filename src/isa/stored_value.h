// What a lane is about to store, for monitors that compare values.
#pragma once

#include "isa/exec.h"
#include "memory/access_value.h"

#include <cstddef>
#include <optional>
#include <span>

namespace heddle::isa {

/// Registers or constants from which a store takes its elements.
inline std::span<const Ref> stored_elements(const Code& code, const Op& op) {
  return op.count == 0 ? std::span(&op.b, 1) : std::span(code.refs).subspan(op.list, op.count);
}

/// The bytes, all elements of a vector one after the other, that `lane` stores by `op`: an `st`
/// that has been lowered as an access (lower_memory.cpp) and has not been executed yet.
/// Nothing for other instructions.
std::optional<memory::AccessValue> stored_value(const Exec& exec, const Op& op, std::size_t lane);

/// The same, and for stmatrix the row that it stores at the address of `lane`.
std::optional<memory::AccessValue> stored_bytes(const Exec& exec, const Op& op, std::size_t lane);

} // namespace heddle::isa

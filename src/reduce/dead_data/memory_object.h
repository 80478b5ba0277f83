// Objects in memory: the variable or allocation that a byte lies in, for monitors that count all of
// it ([RED-CONE], [RED-DATA-ORDER]).
#pragma once

#include "isa/program.h"
#include "memory/address_space.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace heddle::reduce {

/// Where the host has them.
inline std::span<const std::byte> bytes_of(const memory::Allocation& allocation) {
  const std::uint64_t begin = allocation.base + static_cast<std::uint64_t>(allocation.delta);
  return {reinterpret_cast<const std::byte*>(begin), allocation.size};
}

/// Which of the kernel's variables in shared memory has the byte at `offset` of a block's; none: it
/// belongs to no variable of a fixed size.
inline std::optional<std::size_t>
shared_variable_at(const isa::Kernel& kernel, std::uint64_t offset) {
  const auto& variables = kernel.shared_variables;
  const auto found = std::ranges::find_if(variables, [&](const isa::SharedVariable& variable) {
    return offset - variable.offset < variable.bytes;
  });
  return found != variables.end()
             ? std::optional(static_cast<std::size_t>(found - variables.begin()))
             : std::nullopt;
}

} // namespace heddle::reduce

// Swizzling of shared memory: units of 16 bytes change places within spans of 32, 64 or 128 bytes,
// by the number of the 128-byte line (PTX ISA 9.0, 5.5.6 and 9.7.15.5.1). Copies of tensors write
// what wgmma reads.
#pragma once

#include <cstdint>

namespace heddle::isa {

/// Where the byte at `address` is kept; `span`: 32, 64 or 128 bytes, 16: nothing changes places.
/// `first_line`: of the pattern, which else begins where addresses are multiples of 1024.
constexpr std::uint64_t
swizzled(std::uint32_t span, std::uint64_t address, std::uint64_t first_line = 0) {
  const std::uint64_t units = span / 16 - 1;
  return address ^ ((((address >> 7) - first_line) & units) << 4);
}

} // namespace heddle::isa

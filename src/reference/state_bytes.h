// How a block is written down as bytes, and put back: threads with all of their registers,
// barriers, shared and local memory.
//
//   save_block(block, bytes);
//   const std::byte* rest = load_block(block, bytes.data());
//
// Each thread has call frames of its own afterwards. Which lanes share a frame matters to nobody:
// an instruction that lanes execute together is a collective, and collectives go by lanes.
#pragma once

#include "machine/block.h"

#include <cstddef>
#include <vector>

namespace heddle::reference {

/// Where a lane stands in the arrays of its warp.
inline std::size_t slot(int lane) {
  return static_cast<std::size_t>(lane);
}

void save_block(machine::Block& block, std::vector<std::byte>& bytes);
/// Returns what is behind the block's bytes.
const std::byte* load_block(machine::Block& block, const std::byte* bytes);

/// The registers of a new frame hold what others have left there, until they are written. Here they
/// are zero, so that equal states have equal bytes. (What is in its local variables is zero
/// already.)
void clear_registers(isa::Frame& frame);

} // namespace heddle::reference

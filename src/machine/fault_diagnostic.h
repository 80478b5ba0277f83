// A device fault as a diagnostic: what the user reads when a kernel does something undefined.
#pragma once

#include "machine/block.h"
#include "report/diagnostic.h"

namespace heddle::machine {

/// What has just stopped `exec`, which executes a warp of the block.
FaultReport report_fault(const Grid& grid, const Block& block, std::size_t warp, isa::Exec& exec);

report::Diagnostic diagnose(const FaultReport& fault);

/// "12 bytes past the end of allocation #3, 4096 bytes at 0x2000…", for an address in global
/// memory.
std::string place_in_memory(const memory::Allocation& nearest, memory::Address at);
/// Near enough that the allocation may have been meant.
bool is_near(const memory::Allocation& nearest, memory::Address at);

} // namespace heddle::machine

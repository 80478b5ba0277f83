// A device fault as a diagnostic: what the user reads when a kernel does something undefined.
#pragma once

#include "machine/block.h"
#include "report/diagnostic.h"

namespace heddle::machine {

/// What has just stopped `exec`, which executes a warp of the block.
FaultReport report_fault(const Grid& grid, const Block& block, std::size_t warp, isa::Exec& exec);

report::Diagnostic diagnose(const FaultReport& fault);

/// Adds a label for what is done at `where`, at the user's own place, and one for each other place
/// of the chain of calls through which it was inlined. `mark` stands before each: "(1) ". Without a
/// place: a note. The functions are noted, too.
void add_place(
    report::Diagnostic& d,
    const FaultReport& where,
    const std::string& text,
    std::string_view mark = ""
);

/// "12 bytes past the end of allocation #3, 4096 bytes at 0x2000…", for an address in global
/// memory.
std::string place_in_memory(const memory::Allocation& nearest, memory::Address at);
/// Near enough that the allocation may have been meant.
bool is_near(const memory::Allocation& nearest, memory::Address at);
/// Notes that, if there is an allocation near enough that it may have been meant.
void note_if_near(
    report::Diagnostic& d,
    const std::optional<memory::Allocation>& nearest,
    memory::Address at
);

} // namespace heddle::machine

// What lower_mbarrier.cpp offers to the other files: completion of asynchronous operations.
#pragma once

#include "isa/exec.h"
#include "isa/lowering.h"

#include <optional>

namespace heddle::isa {

void register_mbarrier(LowerTable&);

/// Emits complete-tx of `bytes` (u32 per lane) on the object at `operand`, which lies in `space`.
Result<void> emit_complete_tx(
    Lowering& l,
    const ptx::Instruction& i,
    const ptx::Operand& operand,
    std::optional<ptx::Mod> space,
    Ref bytes
);

/// complete-tx by `lane` on the object at a shared address (of any block of the cluster), at run
/// time. False: fault() has been filled in.
bool complete_tx(Exec& exec, int lane, std::uint64_t address, std::uint32_t bytes);
/// The same for arrive-on with count 1 and, if `increment`, an expected arrival more before it.
bool arrive_async(Exec& exec, int lane, std::uint64_t address, bool increment);

} // namespace heddle::isa

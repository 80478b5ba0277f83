// lower_access: the address operand of one access, for every instruction that touches memory.
#pragma once

#include "isa/lowering.h"
#include "isa/ops_address.h"

namespace heddle::isa {

/// Fills op.a, op.imm and the AddressFlags of op.imm2 from `operand` ([base+offset]) and sets
/// OpFlags::Visible where other threads may see the access. `space` is the state space as written;
/// none: a generic address, or the space of the variable that is named. Error: Unsupported, if the
/// variable does not lie in `space`.
Result<Space>
lower_access(Lowering& l, const ptx::Operand& operand, std::optional<ptx::Mod> space, Op& op);

/// The first state space among the instruction's modifiers.
std::optional<ptx::Mod> space_of(const ptx::Instruction& i);

/// What stands in { }, or the operand itself.
std::vector<const ptx::Operand*> elements_of(const ptx::Operand& operand);
/// Registers have a width of their own; constants and `_` have that of their instruction.
bool has_width(const ptx::Operand& operand);

} // namespace heddle::isa

// Whether two instructions access the same place, by their text.
//
//   if (const Operand* address = address_of(instruction)) …
//   if (same_place(a, b)) …
//
// That holds as long as the register of the address is not written in between. May say no of two
// that do.
#pragma once

#include "ptx/module.h"

namespace heddle::analysis {

/// What an operation accesses, if that is one register or variable and an offset; else nullptr.
const ptx::Operand* address_of(const ptx::Instruction& instruction);

bool same_place(const ptx::Instruction& a, const ptx::Instruction& b);

} // namespace heddle::analysis

// Accesses of every width, for micro-programs that have one (MicroProgram::width).
//
//   if (auto text = wide_access(program, operation.kind, "%r0", "[%memory+0]", "1")) …
//
// The value lies in the last bytes of what is accessed, and all others are zero: whatever copies
// fewer bytes than an access has sees that nothing changes.
#pragma once

#include "reduce/micro_program.h"

#include <optional>
#include <string>
#include <string_view>

namespace heddle::enumeration {

/// Declares the registers that these pieces have besides; `pieces`: how many there are.
std::string registers_of_widths(std::size_t pieces);
/// `#` stands for the piece's number, `to` is a register of 32 bits. Nothing: an operation that has
/// no such width.
std::optional<std::string> wide_access(
    const MicroProgram& program,
    Kind kind,
    std::string_view to,
    std::string_view at,
    std::string_view value,
    int label
);
/// `volatile` in the place of order and scope.
std::string as_volatile(std::string text);
const char* name_of(Width width);
const char* name_of(Strength strength);

} // namespace heddle::enumeration

// Which of the places of an instruction a user looks at: his own source, not a header of a library
// into which it was inlined.
//
//   const SourcePlace& place = users_place(innermost_first);
#pragma once

#include "machine/world.h"

#include <string_view>
#include <vector>

namespace heddle::machine {

/// Headers of the toolkit (CUB, Thrust, libcu++, cooperative groups) and the system.
bool is_system_file(std::string_view path);

/// Where an instruction stands in the CUDA source, and from where that was inlined, innermost
/// first; empty if its module does not say.
std::vector<SourcePlace> places_of(const ptx::Module& module, const ptx::Instruction& instruction);

/// The innermost place in the user's own source; the innermost of all if there is none.
const SourcePlace& users_place(const std::vector<SourcePlace>& innermost_first);

/// Place, call sites and library of the instruction that `where` names (describe_instruction).
Waiting as_user_sees(const FaultReport& where);

} // namespace heddle::machine

// "did you mean …": the nearest word, for error messages.
#pragma once

#include "ptx/module.h"

#include <string>
#include <string_view>

namespace heddle::ptx {

/// " (did you mean 'mad'?)", or "" if nothing is near.
std::string suggest_opcode(std::string_view word);
/// The same among the modifiers that some form of the opcode takes.
std::string suggest_modifier(Opcode opcode, std::string_view word);

} // namespace heddle::ptx

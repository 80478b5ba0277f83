// Which flags `heddle replay` gives to nvcc: those that say what is compiled, and none that say
// which programs nvcc starts, or what these load.
//
//   TRY_VOID(check_replay_flags({"-O2", "-DN=4", "-Xcompiler", "-fopenmp"}));
//
// A list of what is allowed, so that a flag nobody has thought of is refused. nvcc makes command
// lines for a shell of its words, most of them without quotes: only characters that mean nothing
// there are allowed, whichever flag they belong to; a few more where nvcc quotes. The list does not
// make the flags of a stranger harmless: -D and -I decide what the program does (docs/security.md).
#pragma once

#include "base/result.h"

#include <span>
#include <string>
#include <string_view>

namespace heddle::cli {

/// Input error: names the first flag that is not on the list.
Result<void> check_replay_flags(std::span<const std::string> flags);

/// Would a shell do something with this name of a file, which nvcc gives to it in double quotes?
bool is_for_shell(std::string_view file);

} // namespace heddle::cli

// What is wrong with the environment, and neither with the program nor with Heddle: no memory or no
// addresses left, by a limit that somebody has set.
#pragma once

#include <cstdint>
#include <string_view>

namespace heddle {

/// `what` could not be had, as errno says. If a limit of the process is why, says which and how to
/// lift it. Prints one message to stderr and ends the process with code 2.
[[noreturn]] void no_memory(std::string_view what, std::uint64_t bytes);

} // namespace heddle

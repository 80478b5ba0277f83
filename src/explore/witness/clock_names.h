// May a program look at a clock of the host? Looks are no moves, so an execution does not show
// them.
//
//   if (names_a_clock("build/app")) …
//
// May say so of a program that looks at none, never the other way around, but for what its own
// libraries do.
#pragma once

#include <string>

namespace heddle::explore {

bool names_a_clock(const std::string& program);

} // namespace heddle::explore

// Inputs that the program changes: events of kind Asked whose text is that of the input behind
// these words. All executions of a search find the same files, so one finds what another has
// changed.
#pragma once

#include <string_view>

namespace heddle::explore {

inline constexpr std::string_view changes = "changes ";

} // namespace heddle::explore

// HEDDLE_CHECK(condition, message): an invariant of Heddle itself, on in every build.
//
// A failure is an internal error (exit code 70): it is never a finding about the user's program and
// never our way to say `unsupported`. The message goes through fmt.
#pragma once

#include <fmt/format.h>

#include <source_location>
#include <string>

namespace heddle {

/// Prints "internal error", the place and the message to stderr and ends the process with code 70.
[[noreturn]] void internal_error(
    const char* condition,
    const std::string& message,
    std::source_location where = std::source_location::current()
);

} // namespace heddle

#define HEDDLE_CHECK(condition, ...)                                                               \
  (static_cast<bool>(condition)                                                                    \
       ? void(0)                                                                                   \
       : ::heddle::internal_error(#condition, ::fmt::format(__VA_ARGS__)))

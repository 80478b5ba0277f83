// unreadable.h: what stands for an expression that Clang could not read. It is no reason to report
// anything: neither that threads part nor that a loop never ends.
#pragma once

namespace heddle::lint {

/// Instruction::name of a Known of Effect::Unknown.
inline constexpr const char* unreadable_expression = "an expression with errors";

} // namespace heddle::lint

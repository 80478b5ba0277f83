// The conditions under which a value of a clock is followed, by name, so that a test can leave out
// one of them. Nobody else does.
#pragma once

#include <cstdint>

namespace heddle::analysis {

enum class ClockCondition : std::uint8_t {
  None,
#define CLOCK_CONDITION(NAME, MUTANT) NAME,
#include "analysis/clock_condition.def"
#undef CLOCK_CONDITION
};

} // namespace heddle::analysis

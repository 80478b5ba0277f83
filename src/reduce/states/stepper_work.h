// What several source files that run threads share; included by these only.
#pragma once

#include "ptx/effect.h"
#include "ptx/module.h"
#include "reduce/states/lane.h"

#include <algorithm>
#include <array>

namespace heddle::reduce {

/// Backward branches that a thread may take in one go before it is asked whether it loops forever.
inline constexpr std::int64_t plain_fuel = 1 << 14;
/// How often it is asked that until we give up.
inline constexpr std::uint64_t loop_rounds = 1 << 22;
/// Orderly reads that a thread makes in one go; then each is a choice.
inline constexpr std::uint64_t most_asked = 1 << 9;

/// Does an instruction's result depend on which other lanes stand at it ([WARP-MASK])?
inline bool asks_for_active(const isa::Code& code, const isa::Op& op) {
  const auto& body = code.function->body;
  return op.instruction < body.size() &&
         ptx::effect_of(body[op.instruction]).is(ptx::Effect::Kind::ActiveLanes);
}

inline bool all_done(const std::vector<CommandPtr>& commands) {
  return std::ranges::all_of(commands, [](const CommandPtr& command) {
    return command->done.load();
  });
}

} // namespace heddle::reduce

// What the lanes of a warp tell each other in a LaneFunction: the functions heddle_region_* of
// isa/region_exec.h but for heddle_region_reach. A region has them only if its groups are whole
// warps. The lanes that execute are all that take part, or are several parties of which each has
// come as a whole: tiles of a warp.
#pragma once

#include "jit/lane_values.h"

#include <optional>
#include <span>

namespace heddle::jit {

enum class Talk : std::uint8_t {
  Lane,      // its own number
  Executing, // the lanes that execute
  Ballot,    // their votes
  Read,      // a value of another lane
  Same,      // those of the lanes that execute which have its value
  Fold       // the values of all of them as one: isa::ops::Fold
};

std::optional<Talk> talk_of(const llvm::Instruction& instruction);
/// `party`: of the mask of the lanes that take part.
Shape shape(Talk talk, std::span<const Shape> operands, Shape party);

struct TalkContext {
  LaneValue party; // bits of the lanes that take part
  // Memory of the function.
  llvm::Value* words = nullptr;
  llvm::Value* elements = nullptr;
};
LaneValue emit_talk(
    llvm::IRBuilder<>& b,
    LaneBuilder& lanes,
    Talk talk,
    std::span<const LaneValue> operands,
    const TalkContext& context
);

} // namespace heddle::jit

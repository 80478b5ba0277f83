// Flow: where the values that an instruction reads can go. Every analysis that follows values asks
// here, and no analysis asks opcodes for it.
//
//   switch (flow_of(effect_of(i).kind)) …
//   if (is_closed(function)) …      // nothing that a thread does in it shows in another function
//
// What the destination is made of, as far as more is known than "of all operands", is
// Effect::makes. A kind of instruction that is not listed here does not compile, and what is not
// known of one is Flow::Decides.
#pragma once

#include "ptx/effect.h"

#include <algorithm>
#include <cstdint>

namespace heddle::analysis {

enum class Flow : std::uint8_t {
  Nowhere, // nothing is made of them
  Result,  // into the destination
  Lanes,   // and into the destinations of what lanes meet at that stand elsewhere in the text
  Reads,   // the address says what is read, and so what the destination is
  Writes,  // into memory, at the address
  Updates, // into memory, at the address, and into the destination
  Object,  // into the destination, or into an object if there is none
  Way,     // which way the thread takes
  Decides  // which instructions are executed, who waits for whom, or something that is not known
};

constexpr Flow flow_of(ptx::Effect::Kind kind) {
  using Kind = ptx::Effect::Kind;
  switch (kind) {
  case Kind::Hint:
    return Flow::Nowhere;
  case Kind::Compute:
    return Flow::Result;
  case Kind::Collective:
    return Flow::Lanes;
  case Kind::Load:
    return Flow::Reads;
  case Kind::Store:
    return Flow::Writes;
  case Kind::Update:
    return Flow::Updates;
  case Kind::Object:
  case Kind::WarpWide:
    return Flow::Object;
  case Kind::Branch:
    return Flow::Way;
  case Kind::Barrier: // one that reduces hands values to threads in other functions
  case Kind::Stack:
  case Kind::BranchTable:
  case Kind::Call:
  case Kind::Return:
  case Kind::Exit:
  case Kind::Trap:
  case Kind::Fence:
  case Kind::ActiveLanes:
  case Kind::Mbarrier:
  case Kind::Copy:
  case Kind::Dependency:
  case Kind::Other:
    break;
  }
  return Flow::Decides;
}

/// Does a call lead into code that accesses the memory of its caller, or meets other threads?
inline bool enters_program(const ptx::Instruction& i) {
  return effect_of(i).is(ptx::Effect::Kind::Call) &&
         library_function(i) == ptx::LibraryFunction::None;
}

/// A kernel that calls nothing but functions of the device library: its local memory, and the
/// collectives of its warps, are its own.
inline bool is_closed(const ptx::Function& function) {
  return function.entry && std::ranges::none_of(function.body, enters_program);
}

} // namespace heddle::analysis

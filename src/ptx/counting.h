// Counting: an update that changes what it finds, whatever that is, and whose scope is not the
// system's: a counter of device threads, as for a list that they append to. Nobody waits for the
// host by one.
//
//   if (is_counting(instruction)) …
//
// Misses: numbers that are not written in the instruction (atomicAdd(&count, n)).
#pragma once

#include "ptx/effect.h"

namespace heddle::ptx {

inline bool is_counting(const Instruction& i) {
  const bool adds = i.has(Mod::Add) && !i.operands.empty() &&
                    i.operands.back().kind == OperandKind::Integer && i.operands.back().bits != 0;
  return effect_of(i).is(Effect::Kind::Update) && adds && !i.has(Mod::Sys);
}

} // namespace heddle::ptx

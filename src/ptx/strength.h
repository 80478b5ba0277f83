// Which memory accesses are strong (PTX ISA, memory consistency model).
#pragma once

#include "ptx/effect.h"

namespace heddle::ptx {

/// Does others' order of memory accesses depend on it? Atomic updates are strong without saying so.
inline bool is_strong(const Instruction& i) {
  return effect_of(i).is_strong();
}

} // namespace heddle::ptx

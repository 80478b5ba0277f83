// Which memory accesses are strong (PTX ISA, memory consistency model).
#pragma once

#include "ptx/effect.h"

namespace heddle::ptx {

/// Is it a strong operation? Atomic updates are strong even without a modifier that says so.
inline bool is_strong(const Instruction& i) {
  return effect_of(i).is_strong();
}

} // namespace heddle::ptx

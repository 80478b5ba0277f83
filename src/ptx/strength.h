// Which memory accesses are strong (PTX ISA, memory consistency model).
#pragma once

#include "ptx/module.h"

namespace heddle::ptx {

/// Does a load or store say that it is strong? Atomic operations are, whether they say so or not.
inline bool is_strong(const Instruction& i) {
  return i.has(Mod::Volatile) || i.has(Mod::Relaxed) || i.has(Mod::Acquire) ||
         i.has(Mod::Release) || i.has(Mod::Mmio);
}

} // namespace heddle::ptx

// Results of atomic operations that a thread forgets: they say which way it takes, and the ways
// meet again.
//
//   old = atom.or(word, own);
//   if (((old | own) & all) == all) red.and(word, ~all); else while (ld(word) & own);
//
//   if (forgets_result(function, cfg, instruction)) …
//
// That is how a barrier is made of memory: the last thread that arrives opens it, and the others
// wait. Between the operation and the place where all ways meet the thread only computes and
// accesses the place of the operation, and no register that was written there is read behind it. It
// comes to that place: a way has no loop except one that reads the place of the operation and
// writes nothing there, and none behind an update. So behind it the thread is the same, whichever
// way it took.
#pragma once

#include "analysis/cfg.h"
#include "ptx/module.h"

#include <cstdint>

namespace heddle::analysis {

/// `instruction`: an atomic operation. May say no of one whose result is forgotten.
bool forgets_result(const ptx::Function& function, const Cfg& cfg, std::uint32_t instruction);

} // namespace heddle::analysis

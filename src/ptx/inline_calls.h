// inline_calls(): calls of functions of the same module become the functions' bodies.
//
//   ptx::inline_calls(module, /*alone=*/true);
//
// For `heddle run`: a call and its way back cost as much as some hundred instructions, and compiled
// code ends at a call. Functions are inlined that are defined in the module, do not call
// themselves, and use their parameters as such; a function grows by a bounded number of
// instructions. A call by address is compared with each function that it may mean (the module takes
// its address, and its parameters fit), if these are few; the call itself stays for all others.
// What a call hands over becomes registers where it is only loaded and stored. Source locations say
// which function an instruction is from and where it was called.
//
// Misses nothing and reports nothing by itself: threads do what they did, but they share no frames,
// so which of them are in one call shows no more.
#pragma once

#include "ptx/module.h"

namespace heddle::ptx {

/// `alone`: no other module that is linked with this one defines a function of the same name, so
/// those that others could replace are its own.
void inline_calls(Module& module, bool alone);

} // namespace heddle::ptx

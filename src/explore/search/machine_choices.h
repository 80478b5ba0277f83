// What a kernel asks of the machine and no rule decides: on which multiprocessor a block runs
// (%smid), in which slot for warps a warp lies (%warpid), which number a launch has (%gridid), how
// large the machine is, which lane elect.sync elects, what discarded memory holds, and where memory
// lies. A search gives one answer, so what depends on another one is left out.
//
//   if (const std::string what = left_out_places(kernel); !what.empty()) …   // for the verdict
//
// PTX ISA 10: a block and a warp may move while a thread runs, and a program should use %ctaid and
// %tid where it wants to know who it is. An answer that is used for nothing, or only for how long a
// thread sleeps, does not count; one that is stored does, since nobody follows it further. For
// elections and addresses: analysis/election.h, analysis/address_use.h.
#pragma once

#include "isa/program.h"

#include <string>

namespace heddle::explore {

/// Names the line; empty: nothing that the kernel does depends on it.
std::string left_out_places(const isa::Kernel& kernel);

} // namespace heddle::explore

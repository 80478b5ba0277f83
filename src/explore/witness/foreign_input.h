// What a program reads from outside, where that can differ between two executions: found by looking
// at the system calls of one execution (ptrace).
//
//   for (const ForeignInput& input : find_foreign_inputs(request, schedule)) …
//
// Knows getrandom, the devices of random numbers, and the real time. Only calls that the program
// itself makes are told, not what libraries do on their own behalf. May miss: instructions that
// need no system call (rdrand, rdtsc), and the time as the C library reads it without one (which
// hostwatch replaces in instrumented programs). Finds nothing where tracing is not allowed.
#pragma once

#include "explore/process/explored_process.h"
#include "explore/witness/schedule.h"

#include <vector>

namespace heddle::explore {

struct ForeignInput {
  Site site; // file and line where known; what: "reads /dev/urandom"
};

/// In the order of their first occurrence, each once.
std::vector<ForeignInput>
find_foreign_inputs(const CheckRequest& request, const Schedule& schedule);

} // namespace heddle::explore

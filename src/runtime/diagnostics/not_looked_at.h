// The last line of a run that went wrong by the program's own account: what `heddle run` has not
// looked at, and the command that does.
#pragma once

#include "runtime/config.h"

namespace heddle::runtime {

/// Prints it when the process ends, if its exit status is not 0 and nothing has been found. Call it
/// before everything that announces at exit: what is registered first is called last.
void say_at_exit_what_was_not_looked_at(const Config& config);

/// If kernels are interpreted for want of a compiler: says so once in a run of more than a second.
void say_that_kernels_are_interpreted();

} // namespace heddle::runtime

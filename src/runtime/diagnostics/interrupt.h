// Ctrl-C (SIGINT) and SIGTERM while a program runs: says who waits for what, then ends the process.
#pragma once

#include "machine/world.h"

namespace heddle::runtime {

/// Installs the handlers, unless the program (or its parent: `nohup`) has already said what it
/// wants. The exit code is 128 plus the signal's number. A second signal ends the process at once.
void report_on_interrupt(machine::World& world);

} // namespace heddle::runtime

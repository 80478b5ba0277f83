// Ctrl-C (SIGINT) and SIGTERM while a program runs: says who waits for what, then ends the process.
#pragma once

#include "machine/world.h"

namespace heddle::runtime {

/// Installs the handlers, unless the program (or its parent: `nohup`) has already said what it
/// wants. The exit code is 128 plus the signal's number. A second signal ends the process at once.
void report_on_interrupt(machine::World& world);

/// At the end of the program: a signal has come, and the program was quicker than the thread that
/// would have told. Ends the process as if it had.
void end_if_interrupted();

/// After so many seconds says who waits for what or spins, as a warning, and ends the process with
/// exit code 4, or that of a defect if one was found. report_on_interrupt() comes first. A timer
/// and no thread, so that nobody takes it for a thread of the program.
void end_after(double seconds);

} // namespace heddle::runtime

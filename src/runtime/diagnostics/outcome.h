// Outcome: what the process's exit code must say when the program does not notice by itself.
//
// `heddle run` promises (docs of the CLI): 0 clean, 1 a defect was found, 2 usage, 3 something that
// Heddle does not implement was used. A program may ignore every error code, so the library
// replaces the exit code: an on_exit handler, registered when the library is loaded, runs after the
// program's own handlers and static destructors, flushes stdio and ends the process with the
// recorded code. A program that crashes after an outcome was recorded ends with its code, too
// (host_fault.h). Not covered: programs that end by _exit, quick_exit or another signal; they keep
// their own code.
#pragma once

#include <string_view>

namespace heddle::runtime {

enum class Outcome : int {
  Clean = 0,
  Usage = 2,
  Unsupported = 3,
  Defect = 1
};

/// Records an outcome; the gravest one counts (Defect before Unsupported before Usage).
void record_outcome(Outcome outcome);
Outcome outcome();

/// The exit code where a defect was found, instead of 1 (--error-exitcode).
void set_defect_exit_code(int code);
/// What the process must end with: of the outcome, but for the above.
int exit_code_of(Outcome outcome);

/// Prints "heddle: <text>" to stderr, once for each text in a process.
void complain_once(std::string_view text);
/// The entry point `name` is not implemented: says so once and records Unsupported.
void complain_unsupported(std::string_view name);
/// Registers the exit handler (once).
void install_exit_handler();

} // namespace heddle::runtime

// Starting the program that is checked: without input and output, with its messages in a log, with
// the same random bytes and, if wanted, the same addresses each time.
//
//   TRY(const pid_t process, start_program(request, {.text = …, .log = log}));
//
// Killing the tool kills the process.
#pragma once

#include "base/result.h"
#include "explore/session.h"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace heddle::explore {

enum class Addresses : std::uint8_t {
  Fixed,    // of stack, mappings and libraries: states can be compared
  Elsewhere // fixed, too: what depends on addresses shows, each time
};

struct Start {
  std::string text; // the value of HEDDLE_EXPLORE
  Addresses addresses = Addresses::Fixed;
  int log = -1;
  int socket = -1;     // the only descriptor that it inherits; -1: all that are not closed by exec
  bool traced = false; // stops with SIGTRAP behind its exec, and whenever its tracer wants it to
                       // (ptrace)
};

/// How a process ends that could not be started.
inline constexpr int cannot_start = 126;

/// It leads a process group of its own. Input error: no process could be made.
Result<pid_t> start_program(const CheckRequest& request, const Start& start);

} // namespace heddle::explore

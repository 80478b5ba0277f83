// The explored program as a process: started, watched, and what it left in the table.
//
//   TRY(Search all, search(request, handover, Addresses::Fixed));      // handover.table is set
//   there
//
// Killing the tool kills the process and everything that it has forked.
#pragma once

#include "explore/options.h"
#include "explore/sample_sheet.h"
#include "explore/session.h"
#include "explore/state_table.h"

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

namespace heddle::explore {

enum class Addresses : std::uint8_t {
  Fixed, // of stack and libraries: states can be compared
  Random // as usual: what depends on addresses shows
};

enum class Tracing : std::uint8_t {
  Off,
  On // stops with SIGTRAP behind its exec, and whenever its tracer wants it to (ptrace)
};

struct Search {
  StateTable table;
  bool finished = false;
  std::string limit; // that was reached
};

/// The program under an explorer, with its messages going to `log`. Input error: no process could
/// be started.
Result<pid_t> start_program(
    const CheckRequest& request,
    const Handover& handover,
    Addresses addresses,
    int log,
    Tracing tracing = Tracing::Off
);

/// How many processes search at the same time.
std::uint32_t jobs_of(const Workers& workers);

/// One exploration from beginning to end. Input error: the program could not be started, or it does
/// not use our libcudart.
struct SearchPart {
  double share = 1;                   // of the time limit
  const SampleSheet* sheet = nullptr; // the one of handover.samples
  std::span<const Hash128> keep_to{}; // see StateTable; empty: everywhere
};
Result<Search> search(
    const CheckRequest& request,
    Handover handover,
    Addresses addresses,
    const SearchPart& part = {}
);

} // namespace heddle::explore

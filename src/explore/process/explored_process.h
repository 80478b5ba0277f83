// One exploration: a process of the explored program, watched, and what it left in the table.
//
//   TRY(SearchResult all, search(request, servers.fixed, handover));      // handover.table is set
//   there
#pragma once

#include "explore/options.h"
#include "explore/process/fork_server.h"
#include "explore/session.h"
#include "explore/single/sample_sheet.h"
#include "explore/table/checkpoint.h"
#include "explore/table/state_table.h"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace heddle::explore {

struct SearchResult {
  StateTable table;
  bool finished = false;
  std::string limit; // that was reached
};

/// The first process has done what it was to do.
bool ended_well(const std::optional<int>& status);
/// Writes down why a search has ended, if not because it is over: how its first process ended, a
/// limit, and what it said.
void note_end(
    StateTable& table,
    const std::optional<int>& status,
    const std::string& limit,
    const std::string& said
);
/// What processes have written to their log.
std::string read_log(int fd);

/// How many processes search at the same time.
std::uint32_t jobs_of(const Workers& workers);

/// One exploration from beginning to end. Input error: the program could not be started, or it does
/// not use our libcudart.
struct SearchPart {
  double share = 1; // of the time limit, counted from here; nothing: from now
  std::optional<std::chrono::steady_clock::time_point> begun = std::nullopt;
  const SampleSheet* sheet = nullptr;  // the one of handover.samples
  std::span<const Hash128> keep_to{};  // see StateTable; empty: everywhere
  Checkpoint* checkpoint = nullptr;    // where it goes on, and is kept; nullptr: nowhere
  AfterDefect* after_defect = nullptr; // nullptr: a defect does not end it
};
Result<SearchResult> search(
    const CheckRequest& request,
    ForkServer& server,
    Handover handover,
    const SearchPart& part = {}
);

} // namespace heddle::explore

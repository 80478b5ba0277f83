// What `heddle check` does before the search with --races=N, N single schedules under the race
// monitor, and with --uninitialised, one under the monitor of memory that nobody has written.
#pragma once

#include "cli/launch.h"
#include "cli/ranks.h"
#include "report/diagnostic.h"

namespace heddle::cli {

struct RacesFound {
  std::vector<report::Diagnostic> findings; // each once
  std::vector<std::string> notes;           // what is none of them, counted
  unsigned schedules = 0;                   // that came to an end
  unsigned stopped = 0;                     // that took too long
  bool host = false;                        // its code is instrumented, so that it was watched, too
};

/// Runs the program with the seeds 0 to schedules - 1, at most `seconds` each; if there are ranks,
/// spread over them: the union is that of one machine.
Result<RacesFound> find_races(
    const Target& target,
    const DeviceOptions& device,
    unsigned schedules,
    unsigned seconds,
    Ranks* ranks = nullptr
);

/// The same of uses of unwritten memory, with seed 0.
Result<RacesFound>
find_unwritten(const Target& target, const DeviceOptions& device, unsigned seconds);

/// Puts them into the report: findings, and what its condition "if free of data races" rests on.
void add_races(report::Report& report, RacesFound found);
void add_unwritten(report::Report& report, RacesFound found);

} // namespace heddle::cli

// What `heddle check` does before the search with --races=N, N single schedules under the race
// monitor, and with --uninitialised, one under the monitor of memory that nobody has written.
#pragma once

#include "cli/ranks/ranks.h"
#include "cli/run/launch.h"
#include "cli/run/single_run.h"
#include "report/diagnostic.h"

namespace heddle::cli {

struct RacesFound {
  std::vector<report::Diagnostic> findings; // each once
  std::vector<std::string> notes;           // what is none of them, counted
  unsigned schedules = 0;                   // that came to an end
  bool stopped = false;                     // after these, one that reached a limit
  bool host = false;                        // its code is instrumented, so that it was watched, too
};

/// Which schedules end must not depend on the load of the machine: the number of instructions does
/// not, and takes some seconds. The clock is for a host that never ends.
inline constexpr RunLimits limits_in_check{.seconds = 60, .instructions = 400'000'000};

/// Runs the program with the seeds 0 to schedules - 1, until one reaches a limit; if there are
/// ranks, spread over them: the union is that of one machine.
Result<RacesFound> find_races(
    const Target& target,
    const DeviceOptions& device,
    unsigned schedules,
    const RunLimits& limits = limits_in_check,
    Ranks* ranks = nullptr
);

/// The same of uses of unwritten memory, with seed 0.
Result<RacesFound> find_unwritten(const Target& target, const DeviceOptions& device);

/// Does one schedule under the race monitor that takes little time show a defect?
bool has_race(const Target& target, const DeviceOptions& device);

/// Puts them into the report: findings, and what its condition "if free of data races" rests on.
void add_races(report::Report& report, RacesFound found);
void add_unwritten(report::Report& report, RacesFound found);

} // namespace heddle::cli

// One execution of the program by itself, as `heddle run` makes it, for what `heddle check` asks
// before and beside its search: data races, uses of unwritten memory, a hang under a fair schedule.
//
//   TRY(const SingleRun run, run_once(target, device, "HEDDLE_FOUND_TO", 20));
//
// The program reads and prints nothing. What it finds it writes into a file that one of two
// variables names (report/diagnostic_lines.h): HEDDLE_FOUND_TO what monitors find, HEDDLE_REPORT_TO
// everything.
#pragma once

#include "cli/run/launch.h"
#include "report/diagnostic.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::cli {

struct SingleRun {
  std::vector<report::Diagnostic> found;
  bool timed_out = false;
};

struct RunLimits {
  unsigned seconds = 0;           // on the clock
  unsigned processor_seconds = 0; // 0: any number
  std::uint64_t instructions = 0; // of device threads; 0: any number
};
/// Stopped at these limits, and when the check is interrupted.
Result<SingleRun> run_once(
    const Target& target,
    const DeviceOptions& device,
    std::string_view variable,
    const RunLimits& limits
);

/// Hangs under the fair schedule of `heddle run --seed=1`: proven ones (machine/probe.h). How far
/// the schedule goes is a number of instructions. A host that never ends is stopped after a time of
/// processors, which depends on the load of the machine far less than that of the clock, and after
/// `seconds`, the limit of the whole check.
std::vector<report::Diagnostic>
find_fair_hangs(const Target& target, const DeviceOptions& device, unsigned seconds);

} // namespace heddle::cli

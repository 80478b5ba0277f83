// The lockstep half of `heddle check --warps=both`: the program is run with lockstep warps in
// several orders of the sides of its branches, and a hang there is compared with what the search
// with independent threads has said.
//
//   TRY(auto trial, try_lockstep(own_path().string(), target, options.device, {}));
//   add_lockstep(report, std::move(trial));
//
// Not a search: orders are tried at random (misses hangs that need another one, invents none).
#pragma once

#include "cli/launch.h"
#include "report/diagnostic.h"

#include <optional>
#include <string>
#include <string_view>

namespace heddle::cli {

struct LockstepLimits {
  int orders = 4;   // the machine's own, then random ones
  int seconds = 60; // for each
};

struct LockstepTrial {
  int orders = 0;                         // tried
  int ended = 0;                          // of these
  std::optional<report::Diagnostic> hang; // the first one
};

/// `heddle`: the program of that name. Stops at the first hang.
Result<LockstepTrial> try_lockstep(
    const std::string& heddle,
    const Target& target,
    const DeviceOptions& device,
    const LockstepLimits& limits
);

/// The hang that `heddle run` has reported in this text, if it has.
std::optional<report::Diagnostic> hang_in(std::string_view text);

/// "hang: lockstep only" as a finding if the report has none; what was tried, in any case.
void add_lockstep(report::Report& report, LockstepTrial trial);

} // namespace heddle::cli

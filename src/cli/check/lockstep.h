// The lockstep half of `heddle check --warps=both`: what the search with lockstep warps has found,
// compared with what the one with independent threads has.
//
//   add_lockstep(report, in_lockstep);
#pragma once

#include "report/diagnostic.h"

namespace heddle::cli {

/// Findings of `lockstep` that `report` has not; a hang that is only there says so. Both searches
/// count for whether the result is complete.
void add_lockstep(report::Report& report, report::Report lockstep);
/// The same of two searches of which both are with lockstep warps.
void add_same_machine(report::Report& report, report::Report other);

} // namespace heddle::cli

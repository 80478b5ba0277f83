// edits.h: fixes as changes of text, made only where the text is simple enough to change it safely.
#pragma once

#include "lint/check.h"
#include "report/static_report.h"

namespace heddle::lint {

/// if (c) { …; barrier(); } becomes if (c) { …; } barrier();. `at` is the region of the barrier.
std::optional<report::Fix>
hoist_barrier(const Found& found, const report::Region& at, const std::string& text);

/// if (c) return; … barrier(); … becomes a flag that guards what lies between the barriers. Only
/// for an exit on the top level of a function whose rest declares nothing, jumps nowhere and calls
/// barriers on the top level alone.
std::optional<report::Fix>
guard_instead_of_exit(const Found& found, const report::Region& at, const std::string& text);

} // namespace heddle::lint

// suppress.h: findings that the source says to leave alone, each with a reason.
//
//   __syncthreads(); // NOLINT(cuda-1.14): one warp per block, see launch()
//   // NOLINTNEXTLINE(thread_synchronization_bypassed): …
//   // NOLINTBEGIN(cuda-1.14): …        // NOLINTEND(cuda-1.14)
//
// The names of the checks of clang-tidy (`heddle-cuda-1.14`, `heddle-*`) mean the same rules.
// Comments that name none of Heddle's rules belong to other tools. A comment without a reason does
// not suppress and is reported; so is one that suppresses nothing.
#pragma once

#include "lint/settings.h"
#include "report/static_report.h"

#include <string>
#include <vector>

namespace heddle::lint {

/// Marks what the comments of `file` suppress, and adds findings about the comments themselves.
void apply_suppressions(
    const std::string& file,
    const Settings& settings,
    std::vector<report::StaticFinding>& findings
);

} // namespace heddle::lint

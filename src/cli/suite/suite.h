// `heddle check --suite FILE`: every program of a suite, several at the same time, one report.
#pragma once

#include "cli/options/options.h"
#include "cli/ranks/ranks.h"

namespace heddle::cli {

/// The exit code is that of the suite (report/suite.h).
/// `ranks` may be null.
int suite_command(const CheckOptions& options, Ranks* ranks);

} // namespace heddle::cli

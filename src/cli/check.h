// One check, without the printing: of `heddle check`, and of each program of a suite.
#pragma once

#include "base/result.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "report/diagnostic.h"

namespace heddle::cli {

/// With `ranks` all of them call this, and what rank 0 returns counts.
Result<report::Report> check_program(const CheckOptions& options, Ranks* ranks = nullptr);

/// How a check that has found this ends.
int exit_code_of(const CheckOptions& options, const report::Report& report);

} // namespace heddle::cli

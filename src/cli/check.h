// One check, without the printing: of `heddle check`, and of each program of a suite.
#pragma once

#include "base/result.h"
#include "cli/options.h"
#include "report/diagnostic.h"

namespace heddle::cli {

Result<report::Report> check_program(const CheckOptions& options);

/// How a check that has found this ends.
int exit_code_of(const CheckOptions& options, const report::Report& report);

} // namespace heddle::cli

// The subcommands. Each returns the process's exit code (report/diagnostic.h lists them).
#pragma once

#include "cli/options/options.h"

namespace heddle::cli {

int run_command(const RunOptions& options);
int check_command(const CheckOptions& options);
int test_command(const CheckOptions& options);
int replay_command(const ReplayOptions& options);
int config_command(const ShowConfigOptions& options);
int doctor_command();

/// Becomes heddle-lint, which takes the same arguments; returns only on failure.
int lint_command(const std::vector<std::string>& arguments);

/// Prints "heddle: <message>" to stderr; the exit code that belongs to that kind of error.
int report_error(const Error& error);

} // namespace heddle::cli

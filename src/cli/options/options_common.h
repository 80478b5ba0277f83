// What the command lines of `test`, `run` and `check` have in common, and those of `run`.
#pragma once

#include "cli/options/options.h"

namespace CLI {
class App;
}

namespace heddle::cli {

/// The program and its device, and what counts.
void define_program_options(CLI::App& command, ProgramOptions& options);

/// What is a race, and a barrier.
void define_rules(CLI::App& command, DeviceOptions& device);

/// --after-defect, of a search.
void define_after_defect(CLI::App& command, double& seconds_after);

/// --format and --output.
void define_output(CLI::App& command, OutputOptions& output, const std::string& output_help);

void define_run_options(CLI::App& run, RunOptions& options);

} // namespace heddle::cli

// heddle run: compile if need be, then become the program.
#include "base/process.h"
#include "cli/commands.h"
#include "cli/file.h"

namespace heddle::cli {
namespace {

/// Returns only if the program could not be started.
Result<void> run_program(const RunOptions& options) {
  TRY(const auto nvcc_flags, split_words(options.nvcc));
  TRY(const Target target,
      prepare(options.program, options.arguments, options.device, nvcc_flags, {}));
  TRY(const auto variables, launch_environment(target, options.device, "run"));
  std::vector<std::string> command = {target.path};
  command.insert(command.end(), target.arguments.begin(), target.arguments.end());
  return unexpected(become(command, variables));
}

} // namespace

int run_command(const RunOptions& options) {
  return report_error(run_program(options).error());
}

} // namespace heddle::cli

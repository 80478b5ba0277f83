// heddle check: the program under a driver that tries every schedule (HEDDLE_MODE=check).
#include "cli/commands.h"
#include "cli/file.h"
#include "cli/process.h"

namespace heddle::cli {
namespace {

/// Returns only if the program could not be started.
Result<void> check_program(const CheckOptions& options) {
  TRY(const auto nvcc_flags, split_words(options.nvcc));
  TRY(const Target target,
      prepare(options.program, options.arguments, options.device, nvcc_flags, {}));
  TRY(const auto variables, launch_environment(target, options.device, "check"));
  std::vector<std::string> command = {target.path};
  command.insert(command.end(), target.arguments.begin(), target.arguments.end());
  return unexpected(become(command, variables));
}

} // namespace

int check_command(const CheckOptions& options) {
  return report_error(check_program(options).error());
}

} // namespace heddle::cli

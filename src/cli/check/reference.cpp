// Implements reference.h.
#include "cli/check/reference.h"

#include "base/process.h"
#include "cli/commands.h"
#include "cli/config/config_file.h"
#include "cli/file.h"
#include "cli/run/launch.h"
#include "cli/temporary_file.h"
#include "report/diagnostic.h"

#include <fmt/format.h>

namespace heddle::cli {
namespace {

Result<int> search(const CheckOptions& options) {
  DeviceOptions device = options.device;
  device.seed = 0;
  device.jit = "never";
  TRY(const auto nvcc_flags, split_words(options.nvcc));
  TRY(const Target target, prepare(options.program, options.arguments, device, nvcc_flags, {}));
  const TemporaryFile said("reference");
  TRY(auto variables, launch_environment(target, device, "run"));
  variables["HEDDLE_REFERENCE"] = fmt::format("{} {}", options.search.max_states, said.path());
  std::vector<std::string> command{target.path};
  command.insert(command.end(), target.arguments.begin(), target.arguments.end());
  TRY_VOID(run_as_is(command, variables));
  const std::string text = read_file(said.path()).value_or("");
  if (text.empty()) {
    fmt::print("reference: no kernel was launched\n");
    return report::exit_code::budget;
  }
  fmt::print("{}", text);
  return text.find(": defect: ") != std::string::npos ? report::exit_code::defect
                                                      : report::exit_code::budget;
}

} // namespace

int check_by_reference(const CheckOptions& options) {
  const Result<int> code = search(options);
  return code ? *code : report_error(code.error());
}

} // namespace heddle::cli

// Implements single_run.h.
#include "cli/run/single_run.h"

#include "base/process.h"
#include "cli/file.h"
#include "cli/temporary_file.h"
#include "explore/process/interruption.h"
#include "report/diagnostic_lines.h"

#include <string>
#include <vector>

namespace heddle::cli {

Result<SingleRun> run_once(
    const Target& target,
    const DeviceOptions& device,
    std::string_view variable,
    const RunLimits& limits
) {
  constexpr int timed_out = 124;
  const TemporaryFile file("single");
  TRY(auto variables, launch_environment(target, device, "run"));
  variables[std::string(variable)] = file.path();
  if (limits.instructions != 0) {
    variables["HEDDLE_MAX_INSTRUCTIONS"] = std::to_string(limits.instructions);
  }
  // The program's environment is set last: it is not meant for the shell.
  std::vector<std::string> command = {
      "sh",
      "-c",
      "[ \"$1\" = 0 ] || ulimit -t \"$1\"; shift; exec timeout -k 1 \"$@\" </dev/null >/dev/null "
      "2>&1",
      "sh",
      std::to_string(limits.processor_seconds),
      std::to_string(limits.seconds),
      "env"
  };
  for (const auto& [name, value] : variables) {
    command.push_back(name + "=" + value);
  }
  command.push_back(target.path);
  command.insert(command.end(), target.arguments.begin(), target.arguments.end());
  TRY(const int status, run_until(command, [] { return explore::Interruption::received() != 0; }));
  SingleRun result{
      .found = report::from_lines(read_file(file.path()).value_or("")),
      .timed_out = status == timed_out
  };
  return result;
}

std::vector<report::Diagnostic>
find_fair_hangs(const Target& target, const DeviceOptions& device, unsigned seconds) {
  // That a livelock repeats is noticed after less than half of them: some seconds.
  constexpr std::uint64_t instructions = 1'500'000'000;
  constexpr unsigned processor_seconds = 20; // about as long
  DeviceOptions fair = device;
  fair.warps = "independent";
  fair.stale_reads = false;
  fair.reconvergence = "early-ends";
  fair.jit = "never"; // it is only worth its while in longer runs
  fair.seed = 1;
  auto run = run_once(
      target,
      fair,
      "HEDDLE_REPORT_TO",
      {.seconds = seconds, .processor_seconds = processor_seconds, .instructions = instructions}
  );
  if (!run) {
    return {}; // the search says what is wrong
  }
  std::erase_if(run->found, [](const report::Diagnostic& d) {
    return report::describe(d.finding).group != report::FindingGroup::Hang ||
           d.severity != report::Severity::Error;
  });
  for (report::Diagnostic& d : run->found) {
    d.notes.push_back("seen by: " + shown_command(target, "run --seed=1"));
  }
  return std::move(run->found);
}

} // namespace heddle::cli

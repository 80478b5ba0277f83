// heddle replay: the execution behind a finding, once more.
#include "cli/commands.h"
#include "cli/file.h"
#include "cli/launch.h"
#include "explore/session.h"
#include "report/trace.h"

#include <fmt/format.h>
#include <unistd.h>

namespace heddle::cli {
namespace {

Result<report::Trace> replay(const ReplayOptions& options) {
  TRY(const explore::Schedule schedule, explore::decode(options.schedule));
  const std::string_view warps = schedule.options.lockstep ? "lockstep" : "independent";
  if (!options.warps.empty() && options.warps != warps) {
    return input_error(fmt::format("this is a schedule of --warps={}", warps));
  }
  const auto content = hash_file(schedule.program);
  if (!content) {
    return input_error(
        fmt::format(
            "this is a schedule of '{}', which is not here; go to the folder in which 'heddle "
            "check' was called",
            schedule.program
        )
    );
  }
  if (!schedule.content.empty() && *content != schedule.content) {
    return input_error(
        fmt::format(
            "'{0}' has changed since this schedule was made; 'heddle check {0}' makes a new one",
            schedule.program
        )
    );
  }
  DeviceOptions device;
  device.device = schedule.device;
  device.devices = schedule.devices;
  TRY(const auto nvcc_flags, split_words(schedule.nvcc));
  TRY(const Target target, prepare_check(schedule.program, schedule.arguments, device, nvcc_flags));
  explore::CheckRequest request;
  request.program = target.path;
  request.arguments = target.arguments;
  TRY(request.environment, launch_environment(target, device, "check"));
  request.options.max_seconds = options.max_seconds;
  return explore::replay(request, schedule);
}

} // namespace

int replay_command(const ReplayOptions& options) {
  const auto trace = replay(options);
  if (!trace) {
    return report_error(trace.error());
  }
  if (options.format == "json") {
    fmt::print("{}", report::render_json(*trace));
  } else if (options.trace) {
    report::SourceCache sources;
    fmt::print(
        "{}",
        report::render_text(*trace, sources, {.colour = report::use_colour(STDOUT_FILENO)})
    );
  } else {
    fmt::print("{}", report::render_outcome(*trace));
  }
  return trace->exit_code();
}

} // namespace heddle::cli

// heddle replay: the execution behind a finding, once more.
#include "cli/commands.h"
#include "cli/file.h"
#include "cli/launch.h"
#include "cli/output.h"
#include "cli/page.h"
#include "explore/session.h"
#include "report/trace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace heddle::cli {
namespace {

/// Where the program is: as named, or the longest end of its path that exists below this folder. So
/// a schedule also fits in a copy of the project, on another machine.
Result<std::string> find_program(const ReplayOptions& options, const explore::Schedule& schedule) {
  namespace fs = std::filesystem;
  std::error_code failure;
  if (!options.program.empty()) {
    return options.program;
  }
  fs::path path = schedule.program;
  while (!fs::is_regular_file(path, failure)) {
    const fs::path shorter =
        path.is_absolute() ? path.relative_path() : path.lexically_relative(*path.begin());
    if (!path.has_parent_path()) {
      return input_error(
          fmt::format(
              "this is a schedule of '{}', which is not here; --program=FILE says where it is",
              schedule.program
          )
      );
    }
    path = shorter;
  }
  return path.string();
}

Result<report::Trace> replay(const ReplayOptions& options) {
  TRY(explore::Schedule schedule, explore::decode(options.schedule));
  const std::string_view warps = schedule.options.lockstep ? "lockstep" : "independent";
  if (!options.warps.empty() && options.warps != warps) {
    return input_error(fmt::format("this is a schedule of --warps={}", warps));
  }
  TRY(schedule.program, find_program(options, schedule));
  const auto content = hash_file(schedule.program);
  if (!schedule.content.empty() && content && *content != schedule.content) {
    fmt::print(
        stderr,
        "heddle: note: '{}' is not byte for byte the program that this schedule was made of; the "
        "result says at which step it does something else, if it does\n",
        schedule.program
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

/// The page and the trace events, as far as they are asked for.
Result<void> write_files(const ReplayOptions& options, const report::Trace& trace) {
  if (!options.html.empty()) {
    TRY(const explore::Schedule schedule, explore::decode(options.schedule));
    const std::string program = options.program.empty() ? schedule.program : options.program;
    TRY_VOID(write_page(
        {.program = program, .version = {}, .report = nullptr, .traces = {trace}},
        options.html
    ));
  }
  return options.perfetto.empty() ? Result<void>()
                                  : write_result(report::render_perfetto(trace), options.perfetto);
}

} // namespace

int replay_command(const ReplayOptions& options) {
  const auto trace = replay(options);
  if (!trace) {
    return report_error(trace.error());
  }
  if (const auto written = write_files(options, *trace); !written) {
    return report_error(written.error());
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

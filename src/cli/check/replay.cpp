// heddle replay: the execution behind a finding, once more.
//
// A schedule is a string that somebody may have pasted. What it names runs only where that is no
// news: this user's own check has printed the string (schedule_record.h), or it is a source below
// the current folder with the same contents, or the user has typed it. Flags for nvcc are never the
// string's.
#include "cli/check/schedule_record.h"
#include "cli/commands.h"
#include "cli/compile/nvcc_flags.h"
#include "cli/file.h"
#include "cli/output/output.h"
#include "cli/output/page.h"
#include "cli/run/launch.h"
#include "explore/session.h"
#include "report/trace.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

/// Has this user's own check printed the schedule? Then what it says is what this user has typed.
using Record = std::optional<ScheduleRecord>;

/// What to type where a schedule from elsewhere does not decide. `program`: empty if it does.
std::string to_type(
    const ReplayOptions& options,
    const explore::Schedule& schedule,
    const std::string& program
) {
  std::string line = "heddle replay";
  if (!schedule.nvcc.empty() || !options.nvcc.empty()) {
    const std::string& flags = options.nvcc.empty() ? schedule.nvcc : options.nvcc;
    line += " --nvcc=" + as_shell_word(printable(flags));
  }
  if (!program.empty()) {
    line += " --program=" + as_shell_word(printable(program));
  }
  line += " v1:…";
  if (!schedule.arguments.empty()) {
    line += " --";
    for (const std::string& argument : schedule.arguments) {
      line += " " + as_shell_word(printable(argument));
    }
  }
  return line;
}

tl::unexpected<Error> not_here(const explore::Schedule& schedule) {
  return input_error(
      fmt::format(
          "this is a schedule of '{}', which is not here; --program=FILE says where it is",
          printable(schedule.program)
      )
  );
}

/// As named, or the longest end of the path that exists below this folder. So a schedule also fits
/// in a copy of the project, on another machine. Nothing: it is not here.
std::optional<fs::path> look_for(fs::path path) {
  std::error_code failure;
  while (!path.empty() && !fs::is_regular_file(path, failure)) {
    if (!path.has_parent_path()) {
      return std::nullopt;
    }
    path = path.is_absolute() ? path.relative_path() : path.lexically_relative(*path.begin());
  }
  return path.empty() ? std::nullopt : std::optional(path);
}

/// Does this user, or root, own the file, and does it lie below the current folder?
bool is_own_below_here(const fs::path& file) {
  std::error_code failure;
  const fs::path real = fs::canonical(file, failure);
  const fs::path inside = real.lexically_relative(fs::current_path(failure));
  struct stat about{};
  return !failure && !inside.empty() && *inside.begin() != ".." &&
         ::stat(real.c_str(), &about) == 0 && (about.st_uid == ::geteuid() || about.st_uid == 0) &&
         (about.st_mode & S_IWOTH) == 0;
}

/// The program of a schedule that somebody else has made: a source of the user's, which lies below
/// the current folder and has the same contents. What else a path could name (/bin/sh, a file
/// planted in /tmp) is not executed because a string says so.
Result<std::string>
find_known_source(const ReplayOptions& options, const explore::Schedule& schedule) {
  const auto must_be_typed = [&](const std::string& file, const std::string& why) {
    return input_error(
        fmt::format(
            "this schedule was not made by your own heddle check, so it does not decide which "
            "program "
            "runs: '{}' is {}\n  if that is what you want to run, type: {}",
            printable(file),
            why,
            to_type(options, schedule, file)
        )
    );
  };
  if (!schedule.program.ends_with(".cu")) {
    return must_be_typed(schedule.program, "not a .cu file");
  }
  const fs::path named = schedule.program;
  const auto file = look_for(named.is_absolute() ? named.relative_path() : named);
  if (!file) {
    return not_here(schedule);
  }
  if (!is_own_below_here(*file)) {
    return must_be_typed(file->string(), "not a file of yours below this folder");
  }
  if (schedule.content.empty() || hash_file(*file) != schedule.content) {
    return must_be_typed(file->string(), "not byte for byte the program that it was made of");
  }
  return file->string();
}

Result<std::string> find_program(
    const ReplayOptions& options,
    const explore::Schedule& schedule,
    const Record& record
) {
  if (!options.program.empty()) {
    return options.program;
  }
  if (!record) {
    return find_known_source(options, schedule);
  }
  const auto file = look_for(schedule.program);
  return file ? Result<std::string>(file->string()) : not_here(schedule);
}

/// Flags for nvcc are never the schedule's.
Result<std::vector<std::string>>
flags_for(const ReplayOptions& options, const explore::Schedule& schedule, const Record& record) {
  if (options.nvcc.empty() && !schedule.nvcc.empty()) {
    return input_error(
        fmt::format(
            "this schedule, of an older version of Heddle, carries flags for nvcc, which are not "
            "taken "
            "from it: {}\n  if they are yours, type: {}",
            printable(schedule.nvcc),
            to_type(options, schedule, options.program)
        )
    );
  }
  TRY(auto flags, split_words(!options.nvcc.empty() ? options.nvcc : record ? record->nvcc : ""));
  TRY_VOID(check_replay_flags(flags));
  return flags;
}

/// Those of the schedule are words for the user's own program. A program that is no source may be
/// one that executes its arguments (sh -c).
Result<std::vector<std::string>> arguments_for(
    const ReplayOptions& options,
    const explore::Schedule& schedule,
    const Record& record
) {
  if (!options.arguments.empty()) {
    return options.arguments;
  }
  if (record || schedule.arguments.empty()) {
    return schedule.arguments;
  }
  if (!schedule.program.ends_with(".cu")) {
    return input_error(
        fmt::format(
            "this schedule was not made by your own heddle check, so it does not decide with which "
            "arguments a program runs\n  if these are what you want, type: {}",
            to_type(options, schedule, options.program)
        )
    );
  }
  std::string words;
  for (const std::string& argument : schedule.arguments) {
    words += " " + as_shell_word(printable(argument));
  }
  fmt::print(stderr, "heddle: note: with the arguments that the schedule names:{}\n", words);
  return schedule.arguments;
}

Result<void> check_device(const explore::Schedule& schedule) {
  const bool is_known = std::ranges::find(device_names, schedule.device) != std::end(device_names);
  if (!is_known || schedule.devices > most_devices) {
    return input_error("the schedule is of devices that this version of Heddle does not know");
  }
  return {};
}

Result<report::Trace> replay(const ReplayOptions& options) {
  TRY(explore::Schedule schedule, explore::decode(options.schedule));
  const std::string_view warps = schedule.options.lockstep ? "lockstep" : "independent";
  if (!options.warps.empty() && options.warps != warps) {
    return input_error(fmt::format("this is a schedule of --warps={}", warps));
  }
  TRY_VOID(check_device(schedule));
  const Record record = find_schedule(options.schedule);
  TRY(const auto nvcc_flags, flags_for(options, schedule, record));
  TRY(schedule.program, find_program(options, schedule, record));
  TRY(schedule.arguments, arguments_for(options, schedule, record));
  const auto content = hash_file(schedule.program);
  if (!schedule.content.empty() && content && *content != schedule.content) {
    fmt::print(
        stderr,
        "heddle: note: '{}' is not byte for byte the program that this schedule was made of; the "
        "result says at which step it does something else, if it does\n",
        printable(schedule.program)
    );
  }
  DeviceOptions device;
  device.device = schedule.device;
  device.devices = schedule.devices;
  device.kernel = schedule.kernel;
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

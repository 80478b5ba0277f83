// heddle run: compile if need be, then become the program. If a report is asked for, the program is
// a child whose findings come by a file (HEDDLE_REPORT_TO, report/diagnostic_lines.h); what it
// prints, it prints as ever.
#include "base/process.h"
#include "cli/commands.h"
#include "cli/file.h"
#include "cli/races.h"
#include "report/diagnostic_lines.h"
#include "report/render.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace heddle::cli {
namespace {

bool wants_report(const OutputOptions& output) {
  return output.format != "text" || !output.file.empty();
}

/// Standard output is the program's. So a report goes there only if somebody says so: -o -.
Result<void> check_output(const OutputOptions& output) {
  if (output.format != "text" && output.file.empty()) {
    return input_error(
        fmt::format(
            "--format={} needs -o FILE: standard output is the program's (-o - writes there all "
            "the same)",
            output.format
        )
    );
  }
  return {};
}

/// Ctrl-C reaches the program, too, which says what is under way; we write down what it has found.
class IgnoreInterrupts {
public:
  IgnoreInterrupts() {
    struct sigaction ignore = {};
    ignore.sa_handler = [](int) {}; // not SIG_IGN, which the program would inherit
    ::sigaction(SIGINT, &ignore, &old_);
  }
  ~IgnoreInterrupts() { ::sigaction(SIGINT, &old_, nullptr); }
  IgnoreInterrupts(const IgnoreInterrupts&) = delete;
  IgnoreInterrupts& operator=(const IgnoreInterrupts&) = delete;

private:
  struct sigaction old_ = {};
};

/// What races in a build without optimisation and not in the one that `known` is about: the source
/// has a race of which the compiler has removed an access. May be wrong in this direction: the
/// other build runs for at most five minutes.
Result<std::vector<report::Diagnostic>> find_in_source(
    const RunOptions& options,
    const std::vector<std::string>& nvcc_flags,
    const std::vector<report::Diagnostic>& known
) {
  constexpr unsigned seconds = 300;
  std::vector<std::string> flags = nvcc_flags;
  flags.emplace_back("-G");
  TRY(const Target target, prepare(options.program, options.arguments, options.device, flags, {}));
  TRY(RacesFound found, find_races(target, options.device, 1, seconds));
  std::vector<report::Diagnostic> result;
  for (report::Diagnostic& d : found.findings) {
    const bool same = std::ranges::any_of(known, [&](const report::Diagnostic& other) {
      return other.finding == d.finding && other.place.file == d.place.file &&
             other.place.line == d.place.line;
    });
    if (!same) {
      d.notes.emplace_back(
          "seen in the build without optimisation only (nvcc -G): the other one does not make one "
          "of "
          "the accesses"
      );
      result.push_back(std::move(d));
    }
  }
  if (found.stopped != 0) {
    fmt::print(
        stderr,
        "heddle: the build without optimisation did not end within {} s: what it would have shown "
        "is not known\n",
        seconds
    );
  }
  return result;
}

/// The exit code.
Result<int> run_with_report(
    const RunOptions& options,
    const std::vector<std::string>& nvcc_flags,
    const std::vector<std::string>& command,
    std::map<std::string, std::string> variables
) {
  const auto start = std::chrono::steady_clock::now();
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("heddle-run-{}", ::getpid());
  std::filesystem::remove(file);
  variables["HEDDLE_REPORT_TO"] = file.string();
  report::Report report;
  {
    const IgnoreInterrupts ignored;
    TRY(report.exit_status, run_as_is(command, variables));
  }
  report.findings = report::from_lines(read_file(file.string()).value_or(""));
  std::filesystem::remove(file);
  if (options.source) {
    TRY(const auto more, find_in_source(options, nvcc_flags, report.findings));
    report::SourceCache sources;
    for (const report::Diagnostic& d : more) {
      const std::string text = render_text(
          d,
          sources,
          {.colour = report::use_colour(STDERR_FILENO), .whole_names = report::use_whole_names()}
      );
      fmt::print(stderr, "{}", text);
      if (d.severity == report::Severity::Error && *report.exit_status == 0) {
        report.exit_status =
            static_cast<int>(options.device.error_exit_code.value_or(report::exit_code::defect));
      }
    }
    report.findings.insert(report.findings.end(), more.begin(), more.end());
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (wants_report(options.output)) {
    TRY_VOID(write_result(render(report, options.output, options.program), options.output.file));
  }
  return *report.exit_status;
}

/// The exit code; or the program could not be started.
Result<int> run_program(const RunOptions& options) {
  TRY_VOID(check_output(options.output));
  if (options.source && (!options.device.races || !options.program.ends_with(".cu"))) {
    return input_error("--source needs --races and a .cu file, which can be compiled once more");
  }
  TRY(const auto nvcc_flags, split_words(options.nvcc));
  TRY(const Target target,
      prepare(options.program, options.arguments, options.device, nvcc_flags, {}));
  TRY(const auto variables, launch_environment(target, options.device, "run"));
  std::vector<std::string> command = {target.path};
  command.insert(command.end(), target.arguments.begin(), target.arguments.end());
  if (wants_report(options.output) || options.source) {
    return run_with_report(options, nvcc_flags, command, variables);
  }
  return unexpected(become(command, variables));
}

} // namespace

int run_command(const RunOptions& options) {
  const auto code = run_program(options);
  return code ? *code : report_error(code.error());
}

} // namespace heddle::cli

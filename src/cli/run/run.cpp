// heddle run: compile if need be, then become the program. If a report is asked for, the program is
// a child whose findings come by a file (HEDDLE_REPORT_TO, report/diagnostic_lines.h); what it
// prints, it prints as ever.
#include "base/process.h"
#include "cli/check/races.h"
#include "cli/commands.h"
#include "cli/compile/program_cache.h"
#include "cli/config/config_file.h"
#include "cli/file.h"
#include "cli/output/page.h"
#include "cli/temporary_file.h"
#include "report/diagnostic_lines.h"
#include "report/render.h"
#include "report/suppression.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace heddle::cli {
namespace {

bool wants_report(const OutputOptions& output) {
  return output.format != "text" || !output.file.empty();
}

/// Standard output is the program's. So a report that nobody has given a place goes to standard
/// error, in the place of what the program would print there about its findings.
bool goes_to_standard_error(const OutputOptions& output) {
  return output.format != "text" && output.file.empty();
}

/// Ctrl-C reaches the program, too, which says what is under way; we write down what it has found.
class IgnoreInterrupts {
public:
  IgnoreInterrupts() {
    received_ = 0;
    struct sigaction ignore = {};
    ignore.sa_handler = [](int number) { received_ = number; }; // a program would inherit SIG_IGN
    ::sigaction(SIGINT, &ignore, &old_);
  }
  ~IgnoreInterrupts() { ::sigaction(SIGINT, &old_, nullptr); }
  IgnoreInterrupts(const IgnoreInterrupts&) = delete;
  IgnoreInterrupts& operator=(const IgnoreInterrupts&) = delete;
  /// One has come since the last object was made.
  static bool received() { return received_ != 0; }

private:
  static inline volatile std::sig_atomic_t received_ = 0; // a handler has no argument
  struct sigaction old_ = {};
};

/// What was not printed, and why: the program itself has printed the rest.
void print_suppressed(const report::Report& report) {
  for (const report::Diagnostic& d : report.suppressed) {
    fmt::print(stderr, "heddle: suppressed: {}\n", report::describe_suppressed(d));
  }
  for (const std::string& note : report.notes) {
    fmt::print(stderr, "heddle: note: {}\n", note);
  }
}

/// Lines of host code, which cost a run nothing.
const std::vector<std::string> host_lines = {"-Xcompiler", "-g1"};

/// The program, compiled if it is a source: for monitors so that its host code tells what it
/// accesses.
Result<Target> prepare_run(const RunOptions& options, const std::vector<std::string>& nvcc_flags) {
  return options.device.races || options.device.uninitialised
             ? prepare_check(options.program, options.arguments, options.device, nvcc_flags)
             : prepare(options.program, options.arguments, options.device, nvcc_flags, host_lines);
}

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
  TRY(const Target target, prepare_run(options, flags));
  TRY(RacesFound found, find_races(target, options.device, 1, {.seconds = seconds}));
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
  if (found.stopped) {
    fmt::print(
        stderr,
        "heddle: the build without optimisation did not end within {} s: what it would have shown "
        "is not known\n",
        seconds
    );
  }
  return result;
}

/// Those that have not been suppressed.
std::vector<report::Diagnostic>
left_of(const report::Report& report, std::vector<report::Diagnostic> found) {
  std::erase_if(found, [&](const report::Diagnostic& d) {
    return std::ranges::none_of(report.findings, [&](const report::Diagnostic& left) {
      return left.finding == d.finding && left.message == d.message &&
             left.place.file == d.place.file && left.place.line == d.place.line;
    });
  });
  return found;
}

/// Nobody was left to report it: the program had not yet made a call.
report::Diagnostic ended_by(int signal) {
  if (signal == SIGINT && IgnoreInterrupts::received()) {
    return report::interrupted();
  }
  return {
      report::Finding::HostCrash,
      fmt::format("the program was ended by signal {} ({})", signal, ::strsignal(signal))
  };
}

/// A warning that has become an error when the program ended: of a call whose code it has never
/// asked for.
void drop_told_twice(std::vector<report::Diagnostic>& found) {
  std::erase_if(found, [&](const report::Diagnostic& d) {
    return d.severity == report::Severity::Warning &&
           std::ranges::any_of(found, [&](const report::Diagnostic& other) {
             return other.severity == report::Severity::Error && other.finding == d.finding &&
                    other.message == d.message && other.place.file == d.place.file &&
                    other.place.line == d.place.line;
           });
  });
}

/// The program itself has not seen them.
void print_found(const std::vector<report::Diagnostic>& found) {
  report::SourceCache sources;
  for (const report::Diagnostic& d : found) {
    const std::string text = render_text(
        d,
        sources,
        {.colour = report::use_colour(STDERR_FILENO), .whole_names = report::use_whole_names()}
    );
    fmt::print(stderr, "{}", text);
  }
}

/// The exit code.
Result<int> run_with_report(
    const RunOptions& options,
    const std::vector<std::string>& nvcc_flags,
    const std::vector<std::string>& command,
    std::map<std::string, std::string> variables,
    ProjectConfig& config
) {
  const auto start = std::chrono::steady_clock::now();
  const TemporaryFile found("run");
  variables["HEDDLE_REPORT_TO"] = found.path();
  variables["HEDDLE_OWN_STATUS"] = "1";
  if (goes_to_standard_error(options.output)) {
    variables["HEDDLE_REPORT_ONLY"] = "1";
  }
  const TemporaryFile known("suppressions");
  report::Suppressions suppressions = config.suppressions;
  if (!options.config.write_baseline.empty()) {
    suppressions.add(everything_else(options.config));
  }
  if (!suppressions.empty()) {
    std::ofstream(known.path()) << report::to_lines(suppressions);
    variables["HEDDLE_SUPPRESSIONS"] = known.path();
  }
  report::Report report;
  End end;
  {
    const IgnoreInterrupts ignored;
    TRY(end, run_as_is(command, variables));
  }
  report.exit_status = end.status;
  report.findings = report::from_lines(read_file(found.path()).value_or(""));
  drop_told_twice(report.findings);
  if (end.signal != 0) {
    report.findings.push_back(ended_by(end.signal));
  }
  std::vector<report::Diagnostic> of_source;
  if (options.source) {
    TRY(of_source, find_in_source(options, nvcc_flags, report.findings));
    report.findings.insert(report.findings.end(), of_source.begin(), of_source.end());
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const LookedFor looked_for{
      .by = LookedFor::By::Run,
      .races = options.device.races,
      .uninitialised = options.device.uninitialised,
      .leaks = options.device.leaks
  };
  TRY_VOID(suppress(report, config, options.config, looked_for));
  if (wants_report(options.output)) {
    const std::string text = render(report, options.output, options.program);
    if (goes_to_standard_error(options.output)) {
      fmt::print(stderr, "{}", text);
    } else {
      TRY_VOID(write_result(text, options.output.file));
    }
  } else {
    print_suppressed(report);
    print_found(left_of(report, of_source));
  }
  if (!options.html.empty()) {
    TRY_VOID(write_page(
        {.program = options.program,
         .version = {},
         .report = &report,
         .traces = std::vector<std::optional<report::Trace>>(report.findings.size())},
        options.html
    ));
  }
  if (end.signal != 0 || IgnoreInterrupts::received()) {
    return *report.exit_status;
  }
  if (report.exit_code() == report::exit_code::defect) {
    return static_cast<int>(options.device.error_exit_code.value_or(report::exit_code::defect));
  }
  const bool gap = std::ranges::any_of(report.findings, [](const report::Diagnostic& d) {
    return d.finding == report::Finding::Unsupported && d.severity == report::Severity::Error;
  });
  if (gap) {
    return report::exit_code::unsupported;
  }
  return *report.exit_status;
}

/// The exit code of a program that lies in a folder which this process removes; like a shell, which
/// has no other way, 128 and its number for a signal.
Result<int> run_as_child(
    const std::vector<std::string>& command,
    const std::map<std::string, std::string>& variables
) {
  const IgnoreInterrupts ignored;
  TRY(const End end, run_as_is(command, variables));
  return end.status;
}

/// The exit code; or the program could not be started.
Result<int> run_program(const RunOptions& options) {
  TRY(ProjectConfig config, read_config(options.config, options.program));
  if (options.source && (!options.device.races || !options.program.ends_with(".cu"))) {
    return input_error("--source needs --races and a .cu file, which can be compiled once more");
  }
  TRY(const auto nvcc_flags, split_words(options.nvcc));
  TRY(const Target target, prepare_run(options, nvcc_flags));
  TRY(const auto variables, launch_environment(target, options.device, "run"));
  std::vector<std::string> command = {target.path};
  command.insert(command.end(), target.arguments.begin(), target.arguments.end());
  if (wants_report(options.output) || !options.html.empty() || !config.suppressions.empty() ||
      !options.config.write_baseline.empty() || options.source) {
    return run_with_report(options, nvcc_flags, command, variables, config);
  }
  if (const auto cache = ProgramCache::open(); cache && cache->is_temporary()) {
    return run_as_child(command, variables);
  }
  return unexpected(become(command, variables));
}

} // namespace

int run_command(const RunOptions& options) {
  const auto code = run_program(options);
  return code ? *code : report_error(code.error());
}

} // namespace heddle::cli

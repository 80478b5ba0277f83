// The command line: every subcommand and flag of `heddle`, defined once.
//
// docs/reference/flags.md is generated from these definitions (heddle --reference) and a test
// compares.
#pragma once

#include "cli/config/config_file.h"
#include "cli/lint/lint_options.h"
#include "cli/output/output.h"
#include "cli/run/launch.h"
#include "explore/options.h"

#include <string>
#include <vector>

namespace heddle::cli {

/// What `heddle run` and `heddle check` have in common.
struct ProgramOptions {
  DeviceOptions device;
  ConfigOptions config;
  std::string nvcc; // --nvcc, one string
  std::string program;
  std::vector<std::string> arguments;
};

struct RunOptions : ProgramOptions {
  OutputOptions output;
  std::string html;    // a page about what was found; empty: none
  bool source = false; // with races: look in a build without optimisation, too
};

struct CheckOptions : ProgramOptions {
  OutputOptions output;
  std::string suite;      // a file with many programs, in the place of one; empty: none
  std::string checkpoint; // a file with what has been found so far; empty: none
  bool resume = false;    // what is in the file is not searched, or checked, again
  double checkpoint_every = explore::CheckpointFile().seconds; // of a search
  std::uint32_t stop_after = 0;                                // states of one; 0: not
  std::string html;                      // a page about what was found; empty: none
  std::optional<unsigned> explain_order; // of the atomics in that line, 0: of all
  // Schedules under the race monitor before the search. Nothing: a few after it if it finds
  // nothing, under the monitor of unwritten memory as well.
  std::optional<unsigned> races;
  bool uninitialised = false; // one schedule under the monitor of unwritten memory
  explore::Options search;
  double after_defect = 20; // seconds of search once a defect is certain
  bool reference = false;   // kernels are searched by the reference, without any reduction
  explore::Workers workers;
  int ranks_per_machine = 0; // as if each so many ranks had a machine; 0: as it is
  std::string progress_file;
};

struct ReplayOptions {
  std::string schedule;               // v1:…
  std::string program;                // where it is now; empty: looked for
  std::string nvcc;                   // flags for it; empty: those of the cache's record
  std::vector<std::string> arguments; // empty: as the schedule says
  std::string warps;                  // empty: as the schedule says
  bool trace = false;
  std::string html, perfetto;  // files; empty: none
  std::string format = "text"; // or json
  double max_seconds = 60;
};

struct ShowConfigOptions {
  ConfigOptions config;
  bool explain = false;
};

struct Options {
  RunOptions run;
  CheckOptions check;
  CheckOptions test;
  ReplayOptions replay;
  LintOptions lint;
  ShowConfigOptions show_config;
  std::string explain; // a code
};

enum class Command {
  None,
  Test,
  Run,
  Check,
  Replay,
  Lint,
  Config,
  Doctor,
  Explain,
  Version,
  Reference
};

/// The arguments with the command that they mean if they name none (options_test.h).
std::vector<std::string> with_command(std::vector<std::string> arguments);

/// The arguments with the options of `flags` (the value of HEDDLE_FLAGS) before those of the
/// command, for test, run and check. An option that only another one of them has is left out. Input
/// error: neither has it, or it is not one word (--max-time=5).
Result<std::vector<std::string>>
with_flags(const std::vector<std::string>& arguments, const std::string& flags);

/// What the command line asks for. `text` is what to print where there is nothing (more) to do.
struct Parsed {
  Command command = Command::None;
  int exit_code = 0; // for Command::None
  std::string text;  // help, or the error in words
};
Parsed parse_command_line(const std::vector<std::string>& arguments, Options& options);

/// The reference page of all flags, in Markdown.
std::string flags_reference();

} // namespace heddle::cli

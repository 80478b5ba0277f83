// .heddle.yaml: what a project has decided once for `run`, `check` and `lint`. The format is
// documented by `heddle config --explain`, whose text is in here.
//
//   TRY(ProjectConfig config, read_config({.program = "src/scan.cu"}));
//   config.suppressions.apply(report);
//
// The file is looked for in the current folder and upwards, then in the folder of the program or
// source and upwards. An entry without a reason, or a key that nobody knows, is an error: a typing
// error must not hide findings, or show hidden ones, without a word.
#pragma once

#include "base/result.h"
#include "report/coverage.h"
#include "report/suppression.h"

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace heddle::cli {

/// --config, --baseline, --write-baseline.
struct ConfigOptions {
  std::string file; // empty: looked for; "none": none
  std::string baseline;
  std::string write_baseline;
};
void define_config_options(CLI::App& command, ConfigOptions& options);

struct ProjectConfig {
  std::string file;     // as shown to users; empty: there is none
  std::string baseline; // as shown; empty: none
  report::Suppressions suppressions;
  std::vector<report::Acceptance> accepted; // coverages with which `check` passes
};

/// The nearest .heddle.yaml at or above the current folder, else at or above that of `program`,
/// which may be empty. Nothing: there is none.
std::string find_config_file(const std::string& program);

/// Reads what applies to `program`. Input error: "FILE:LINE:COLUMN: …".
Result<ProjectConfig> read_config(const ConfigOptions& options, const std::string& program);

/// Adds entries to the file unless they are in there; makes it if need be. Several processes may do
/// so at the same time. How many were new.
Result<std::size_t>
add_to_baseline(const std::string& file, std::vector<report::Suppression> entries);

/// Which command it is about, for what could not have been found by it.
struct LookedFor {
  enum class By {
    Run,
    Check,
    Lint
  } by = By::Run;
  bool races = false, uninitialised = false, leaks = false;
};
/// Sentences about entries that were not needed: ".heddle.yaml:4: …". Entries about findings that
/// the command does not look for are left out.
std::vector<std::string>
unused_suppressions(const ProjectConfig& config, const LookedFor& looked_for);

/// An entry for all that --write-baseline takes in.
report::Suppression everything_else(const ConfigOptions& options);
/// Applies the suppressions to a report, adds the rest to the baseline that is to be written, and
/// notes what was not needed.
Result<void> suppress(
    report::Report& report,
    ProjectConfig& config,
    const ConfigOptions& options,
    const LookedFor& looked_for
);
/// The same for lint's.
Result<void>
suppress(report::StaticReport& report, ProjectConfig& config, const ConfigOptions& options);

/// `heddle config`: what applies here; with `explain` also what each setting means.
Result<std::string> describe_config(const ConfigOptions& options, bool explain);

} // namespace heddle::cli

// One check, without the printing: of `heddle check`, and of each program of a suite.
//
//   const auto prepared = prepare_program(options);         // compiled, if it is a source
//   const auto report = check_program(options, prepared, ranks);
//   return report_check(options, report);
#pragma once

#include "base/result.h"
#include "cli/options/options.h"
#include "cli/ranks/ranks.h"
#include "report/diagnostic.h"

#include <cstdint>
#include <map>
#include <string>

namespace heddle::cli {

/// What stands before a check, and after it.
struct Prepared {
  ProjectConfig config;
  Result<Target> target;
  bool interrupted = false; // while it was compiled
};
/// Input error: options that do not go together, or a configuration that cannot be read.
Result<Prepared> prepare_program(const CheckOptions& options);

/// What all ranks have to have in common: version, processor and program.
Result<std::map<std::string, std::string>>
identity_of(const CheckOptions& options, const Result<Prepared>& prepared);
/// How many processes search for `here` ranks of one machine, which may use so many processors.
std::uint32_t jobs_for_ranks(int here, const CheckOptions& options, std::uint32_t processors);

/// With `ranks` all of them call this, and what rank 0 returns counts. `earlier`: what other looks
/// at the program have found, for the page of --html alone.
Result<report::Report> check_program(
    const CheckOptions& options,
    const Result<Prepared>& prepared,
    Ranks* ranks = nullptr,
    const std::vector<report::Diagnostic>& earlier = {}
);

/// How a check that has found this ends.
int exit_code_of(const CheckOptions& options, const report::Report& report);
/// Writes the report, or the error, to where the options say; the exit code.
int report_check(const CheckOptions& options, const Result<report::Report>& report);

} // namespace heddle::cli

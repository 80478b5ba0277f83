// lint.h: `heddle lint` as a library.
//
//   LintRequest request;
//   request.files = {"k.cu"};
//   TRY(const report::StaticReport report, lint(request));
#pragma once

#include "base/result.h"
#include "report/static_report.h"

#include <string>
#include <vector>

namespace heddle::lint {

struct LintRequest {
  std::vector<std::string> files;
  std::vector<std::string> flags; // for the compiler
  std::string database;           // folder of compile_commands.json; empty: none
  std::string toolkit;            // --cuda-path; "none": Heddle's own declarations of CUDA
  std::string architecture = "sm_90";
  std::string version;
  unsigned jobs = 1;
  /// "name=value", over what .heddle-lint says (docs/lint/options.md)
  std::vector<std::string> settings;
};

Result<report::StaticReport> lint(const LintRequest& request);

/// Writes the fixes of findings that are not suppressed into the files, and takes those findings
/// out of the report. A fix that overlaps one before it is left for the next run. Returns how many.
Result<unsigned> apply_fixes(report::StaticReport& report);

/// Every message key with its rule.
const std::vector<report::StaticRule>& all_rules();
/// The page of a rule or of a key, in Markdown; empty if there is none.
std::string explain_rule(const std::string& rule);

} // namespace heddle::lint

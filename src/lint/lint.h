// lint.h: `heddle lint` as a library.
//
//   LintRequest request;
//   request.files = {"k.cu"};
//   TRY(const report::StaticReport report, lint(request));
#pragma once

#include "base/result.h"
#include "report/static_report.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::lint {

/// An option as somebody has given it (docs/lint/options.md).
struct Setting {
  std::string name; // "severity", or "CUDA-1.14.severity"
  std::vector<std::string> values;
  std::string written; // where: ".heddle.yaml:4"
};

/// Results of earlier runs by a key, each with the files that it was made from. Several threads
/// call it.
class KeptResults {
public:
  virtual ~KeptResults() = default;
  /// What was kept under the key, if those files still have the same contents.
  virtual std::optional<std::string> find(const std::string& key) = 0;
  /// The result was made from `files` since `begun`. If it cannot be kept, lint goes on.
  virtual void keep(
      const std::string& key,
      const std::vector<std::string>& files,
      std::chrono::system_clock::time_point begun,
      const std::string& text
  ) = 0;
};

struct LintRequest {
  std::vector<std::string> files;
  std::vector<std::string> flags; // for the compiler
  std::string database;           // folder of compile_commands.json; empty: none
  std::string toolkit;            // --cuda-path; "none": Heddle's own declarations of CUDA
  std::string architecture = "sm_90";
  std::string version;
  unsigned jobs = 1;
  /// What files say about a source; called by several threads at a time. Then `settings`.
  std::function<Result<std::vector<Setting>>(const std::string& file)> file_settings;
  std::vector<Setting> settings;
  KeptResults* kept = nullptr; // nothing is kept
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

#include "lint/lint.h"

#include "lint/check.h"
#include "lint/frontend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace heddle::lint {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

report::Region region(const Unit& unit, const Spot& spot) {
  return {
      unit.files[spot.file],
      spot.line,
      spot.column,
      spot.line,
      spot.column + (spot.end - spot.begin),
      spot.begin,
      spot.end - spot.begin
  };
}

} // namespace

const std::vector<report::StaticRule>& all_rules() {
  using enum report::Severity;
  static const std::vector<report::StaticRule> rules = {
#define HEDDLE_LINT_KEY(key, rule, name, severity, page, description)                              \
  {key, rule, name, description, "docs/lint/" page ".md", severity},
#include "lint/rules.def"
  };
  return rules;
}

Result<report::StaticReport> lint(const LintRequest& request) {
  report::StaticReport report;
  report.version = request.version;
  report.rules = all_rules();
  const std::string toolkit = find_toolkit(request.toolkit);
  for (const std::string& file : request.files) {
    FrontEnd front{
        .file = file,
        .folder = "",
        .flags = request.flags,
        .toolkit = toolkit,
        .architecture = request.architecture,
        .synchronization_functions = {}
    };
    const auto start = std::chrono::steady_clock::now();
    TRY(const Unit unit, read_unit(front));
    report::FileTime
        time{file, seconds_since(start), 0, unit.lines, unit.errors, unit.first_error, 0};
    const auto checking = std::chrono::steady_clock::now();
    const Checked checked = check_unit(unit, {});
    time.check_seconds = seconds_since(checking);
    time.barriers = checked.barriers;
    report.files.push_back(std::move(time));
    for (const Found& found : checked.findings) {
      report::StaticFinding one;
      one.key = found.key;
      one.rule = "CUDA-1.14";
      one.place = region(unit, found.place);
      one.message = found.message;
      one.function = found.function;
      for (const Note& note : found.steps) {
        one.steps.push_back({region(unit, note.where), note.text});
      }
      one.help = found.help;
      report.findings.push_back(std::move(one));
    }
  }
  return report;
}

} // namespace heddle::lint

namespace heddle::lint {
std::string explain_rule(const std::string&) {
  return "";
}
} // namespace heddle::lint

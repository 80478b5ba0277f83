// A report of `heddle check` in the form of a checker that reads sources, so that there is one
// renderer of SARIF. What the form has no place for goes into the message: the replay line.
#include "base/hash.h"
#include "report/render.h"
#include "report/static_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::report {
namespace {

Region region_of(const Place& place) {
  Region region;
  region.file = place.file;
  region.line = region.end_line = std::max(place.line, 1U);
  region.column = std::max(place.column, 1U);
  region.end_column = region.column + std::max(place.length, 1U);
  return region;
}

/// The same for the same defect wherever its lines have moved to.
std::string fingerprint(const Diagnostic& d) {
  Hasher hasher;
  hasher.text(describe(d.finding).code);
  hasher.text(d.rule_id());
  hasher.text(d.message);
  hasher.text(d.place.file);
  return fmt::format("{:016x}", hasher.finish().low);
}

} // namespace

StaticReport as_static(const Report& report, std::string_view program) {
  StaticReport result;
  result.tool = report.exit_status ? "heddle run" : "heddle check";
  std::vector<Diagnostic> all = report.findings;
  all.insert(all.end(), report.suppressed.begin(), report.suppressed.end());
  for (const Diagnostic& d : all) {
    const FindingRow& row = describe(d.finding);
    const std::string rule(d.rule_id());
    const std::string key = fmt::format("{}/{}", row.code, rule);
    if (std::ranges::find(result.rules, key, &StaticRule::key) == result.rules.end()) {
      StaticRule stated;
      stated.key = key;
      stated.rule = rule;
      stated.name = std::string(row.code);
      const std::string text(rule_text(rule));
      stated.description = text.find(row.description) != std::string::npos
                               ? text
                               : fmt::format("{}: {}", row.description, text);
      stated.page = "spec/README.md";
      stated.severity = d.severity;
      result.rules.push_back(std::move(stated));
    }
    StaticFinding finding;
    finding.key = key;
    finding.rule = rule;
    finding.severity = d.severity;
    finding.place = region_of(d.place);
    if (!d.place.known()) {
      finding.place.file = std::string(program);
    }
    finding.message = d.message;
    if (!d.replay.empty()) {
      finding.message += fmt::format("\nreplay: heddle replay {}", d.replay);
    }
    for (const Label& label : d.labels) {
      if (label.place.known()) {
        finding.related.push_back({region_of(label.place), label.text});
      }
    }
    finding.help = d.help;
    finding.suppressed = d.suppressed;
    finding.suppressed_by = d.suppressed_by;
    finding.fingerprint = fingerprint(d);
    result.findings.push_back(std::move(finding));
  }
  for (const std::string& warning : report.warnings) {
    result.notes.push_back(fmt::format("warning: {}", warning));
  }
  result.notes.insert(result.notes.end(), report.notes.begin(), report.notes.end());
  for (const LeftOut& one : report.claims.left_out()) {
    result.notes.push_back(
        fmt::format(
            "{}: {}",
            one.coverage == Coverage::Cut ? "the search ended early" : "not looked at",
            one.what
        )
    );
  }
  if (report.schedules.tried > 0) {
    result.notes.push_back(fmt::format("after that: {}", describe(report.schedules)));
  }
  return result;
}

StaticReport together(const Report& report, std::string_view program, const StaticReport& lint) {
  StaticReport result = as_static(report, program);
  result.tool = "heddle";
  for (const StaticFinding& finding : lint.findings) {
    if (std::ranges::find(result.rules, finding.key, &StaticRule::key) == result.rules.end()) {
      result.rules.push_back(
          {.key = finding.key,
           .rule = finding.rule,
           .name = finding.key,
           .description = fmt::format("heddle lint: {} ({})", finding.key, finding.rule),
           .page = fmt::format("heddle explain {}", finding.key),
           .severity = finding.severity}
      );
    }
    result.findings.push_back(finding);
  }
  return result;
}

} // namespace heddle::report

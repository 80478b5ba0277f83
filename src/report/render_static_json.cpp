// StaticReport as JSON: everything that text and SARIF show, in our own shape. Keys keep the order
// in which they are added.
#include "report/static_json.h"

namespace heddle::report {
namespace {

using Json = nlohmann::ordered_json;

Json region_json(const Region& at) {
  return {
      {"file", at.file},
      {"line", at.line},
      {"column", at.column},
      {"length", at.place().length}
  };
}

Json steps_json(const std::vector<Step>& steps) {
  Json result = Json::array();
  for (const Step& step : steps) {
    Json one = region_json(step.where);
    one["text"] = step.text;
    result.push_back(std::move(one));
  }
  return result;
}

const char* severity_name(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "note";
}

} // namespace

nlohmann::ordered_json findings_json(const StaticReport& report) {
  Json findings = Json::array();
  for (const StaticFinding& finding : report.findings) {
    Json fixes = Json::array();
    for (const Fix& fix : finding.fixes) {
      Json edits = Json::array();
      for (const Edit& edit : fix.edits) {
        edits.push_back(
            {{"file", edit.where.file},
             {"offset", edit.where.offset},
             {"length", edit.where.length},
             {"text", edit.text}}
        );
      }
      fixes.push_back({{"description", fix.description}, {"edits", std::move(edits)}});
    }
    findings.push_back({
        {"key", finding.key},
        {"rule", finding.rule},
        {"severity", severity_name(finding.severity)},
        {"message", finding.message},
        {"location", region_json(finding.place)},
        {"function", finding.function},
        {"chain", steps_json(finding.steps)},
        {"related", steps_json(finding.related)},
        {"help", finding.help},
        {"fixes", std::move(fixes)},
        {"suppressed", finding.suppressed.empty() ? Json(nullptr) : Json(finding.suppressed)},
        {"fingerprint", finding.fingerprint},
    });
  }
  return findings;
}

std::string render_json(const StaticReport& report) {
  Json files = Json::array();
  for (const FileTime& file : report.files) {
    Json one = {
        {"file", file.file},
        {"lines", file.lines},
        {"barriers", file.barriers},
        {"parse_errors", file.errors},
        {"parse_seconds", file.parse_seconds},
        {"check_seconds", file.check_seconds},
    };
    if (!file.first_error.empty()) {
      one["first_error"] = file.first_error;
    }
    files.push_back(std::move(one));
  }
  const Json json = {
      {"tool", report.tool},
      {"version", report.version},
      {"open", report.open_findings()},
      {"findings", findings_json(report)},
      {"files", std::move(files)},
  };
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

} // namespace heddle::report

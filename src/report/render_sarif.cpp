// StaticReport as SARIF 2.1.0 (OASIS), in the subset that GitHub code scanning reads: stable rule
// ids, paths relative to %SRCROOT%, fingerprints, code flows, fixes, suppressions.
//
// `ruleId` is the message key, `properties.rule` the rule it belongs to. Columns count UTF-16 units
// in SARIF and bytes here: they differ only on lines with other than ASCII text before the finding.
#include "report/static_report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace heddle::report {
namespace {

using Json = nlohmann::ordered_json;

const char* level_name(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "note";
}

/// RFC 3986: everything but unreserved characters and slashes is escaped.
std::string escaped_path(const std::string& path) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '-' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

class Sarif {
public:
  explicit Sarif(const StaticReport& report) : report_(report) {}

  Json log() {
    Json rules = Json::array();
    for (const StaticRule& rule : report_.rules) {
      rules.push_back({
          {"id", rule.key},
          {"name", rule.name},
          {"shortDescription", {{"text", rule.description}}},
          {"help", {{"text", rule.rule + ": " + rule.description + ". See " + rule.page + "."}}},
          {"defaultConfiguration", {{"level", level_name(rule.severity)}}},
          {"properties", {{"rule", rule.rule}, {"tags", Json::array({"cuda", rule.rule})}}},
      });
    }
    Json results = Json::array();
    for (const StaticFinding& finding : report_.findings) {
      results.push_back(result(finding));
    }
    Json notifications = Json::array();
    for (const FileTime& file : report_.files) {
      if (file.errors != 0) {
        notifications.push_back({
            {"level", "error"},
            {"message",
             {{"text",
               "parsed with " + std::to_string(file.errors) +
                   " errors; the first: " + file.first_error}}},
            {"locations",
             Json::array({{{"physicalLocation", {{"artifactLocation", artifact(file.file)}}}}})},
        });
      }
    }
    for (const std::string& note : report_.notes) {
      notifications.push_back({{"level", "warning"}, {"message", {{"text", note}}}});
    }
    Json run = {
        {"tool",
         {{"driver",
           {{"name", report_.tool},
            {"semanticVersion", report_.version},
            {"rules", std::move(rules)}}}}},
        {"invocations",
         Json::array(
             {{{"executionSuccessful", report_.parsed()},
               {"toolExecutionNotifications", std::move(notifications)}}}
         )},
        {"columnKind", "utf16CodeUnits"},
        {"results", std::move(results)},
    };
    if (!report_.root.empty()) {
      run["originalUriBaseIds"] = {
          {"%SRCROOT%", {{"uri", "file://" + escaped_path(report_.root) + "/"}}}
      };
    }
    return {
        {"$schema",
         "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
         "sarif-schema-2.1.0.json"},
        {"version", "2.1.0"},
        {"runs", Json::array({std::move(run)})},
    };
  }

private:
  Json artifact(const std::string& file) const {
    const std::string prefix = report_.root + "/";
    if (!report_.root.empty() && file.starts_with(prefix)) {
      return {{"uri", escaped_path(file.substr(prefix.size()))}, {"uriBaseId", "%SRCROOT%"}};
    }
    if (file.starts_with('/')) {
      return {{"uri", "file://" + escaped_path(file)}};
    }
    return {{"uri", escaped_path(file)}};
  }

  static Json region(const Region& at) {
    return {
        {"startLine", std::max(at.line, 1U)},
        {"startColumn", std::max(at.column, 1U)},
        {"endLine", std::max(at.end_line, std::max(at.line, 1U))},
        {"endColumn",
         std::max(at.end_column, std::max(at.column, 1U) + (at.end_line > at.line ? 0U : 1U))},
    };
  }

  Json location(const Region& at, const std::string& text = "") const {
    Json made = {
        {"physicalLocation", {{"artifactLocation", artifact(at.file)}, {"region", region(at)}}}
    };
    if (!text.empty()) {
      made["message"] = {{"text", text}};
    }
    return made;
  }

  Json result(const StaticFinding& finding) const {
    const auto rule = std::ranges::find(report_.rules, finding.key, &StaticRule::key);
    Json made = {{"ruleId", finding.key}};
    if (rule != report_.rules.end()) {
      made["ruleIndex"] = rule - report_.rules.begin();
    }
    made["level"] = level_name(finding.severity);
    made["message"] = {{"text", finding.message}};
    Json place = location(finding.place);
    if (!finding.function.empty()) {
      place["logicalLocations"] =
          Json::array({{{"fullyQualifiedName", finding.function}, {"kind", "function"}}});
    }
    made["locations"] = Json::array({std::move(place)});
    if (!finding.related.empty()) {
      Json related = Json::array();
      for (const Step& step : finding.related) {
        related.push_back(location(step.where, step.text));
      }
      made["relatedLocations"] = std::move(related);
    }
    if (!finding.steps.empty()) {
      Json steps = Json::array();
      for (const Step& step : finding.steps) {
        steps.push_back({{"location", location(step.where, step.text)}});
      }
      made["codeFlows"] =
          Json::array({{{"threadFlows", Json::array({{{"locations", std::move(steps)}}})}}});
    }
    if (!finding.fixes.empty()) {
      made["fixes"] = fixes(finding);
    }
    if (!finding.fingerprint.empty()) {
      made["partialFingerprints"] = {{"heddleFinding/v1", finding.fingerprint}};
    }
    if (!finding.suppressed.empty()) {
      made["suppressions"] = Json::array(
          {{{"kind", finding.suppressed_by.empty() ? "inSource" : "external"},
            {"justification", finding.suppressed}}}
      );
    }
    made["properties"] = {{"rule", finding.rule}};
    return made;
  }

  Json fixes(const StaticFinding& finding) const {
    Json made = Json::array();
    for (const Fix& fix : finding.fixes) {
      Json changes = Json::array();
      for (const Edit& edit : fix.edits) {
        changes.push_back({
            {"artifactLocation", artifact(edit.where.file)},
            {"replacements",
             Json::array(
                 {{{"deletedRegion",
                    {{"byteOffset", edit.where.offset}, {"byteLength", edit.where.length}}},
                   {"insertedContent", {{"text", edit.text}}}}}
             )},
        });
      }
      made.push_back(
          {{"description", {{"text", fix.description}}}, {"artifactChanges", std::move(changes)}}
      );
    }
    return made;
  }

  const StaticReport& report_;
};

} // namespace

std::string render_sarif(const StaticReport& report) {
  return Sarif(report).log().dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) +
         "\n";
}

} // namespace heddle::report

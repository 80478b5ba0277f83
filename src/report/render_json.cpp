// Reports as JSON, for editors, CI and scripts. Keys keep the order in which they are documented.
// The only file that knows a JSON library.
#include "report/render.h"
#include "report/trace.h"

#include <nlohmann/json.hpp>

namespace heddle::report {
namespace {

using Json = nlohmann::ordered_json;

Json place_json(const Place& place, const std::string& text) {
  return {{"file", place.file}, {"line", place.line}, {"column", place.column}, {"text", text}};
}

std::string_view severity_name(Severity severity) {
  switch (severity) {
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  case Severity::Error:
    break;
  }
  return "error";
}

Json finding_json(const Diagnostic& d) {
  Json locations = Json::array();
  if (d.labels.empty() && d.place.known()) {
    locations.push_back(place_json(d.place, ""));
  }
  for (const Label& label : d.labels) {
    locations.push_back(place_json(label.place, label.text));
  }
  Json finding = {
      {"code", describe(d.finding).code},
      {"rule", d.rule_id()},
      {"severity", severity_name(d.severity)},
      {"message", d.message},
      {"locations", std::move(locations)},
      {"threads", d.threads},
      {"functions", d.functions},
      {"replay", d.replay.empty() ? Json(nullptr) : Json(d.replay)},
  };
  if (!d.suppressed.empty()) {
    finding["suppressed"] = {{"reason", d.suppressed}, {"by", d.suppressed_by}};
  }
  return finding;
}

/// What is left out where it is empty.
void add_suppressed(Json& json, const Report& report) {
  for (const Diagnostic& d : report.suppressed) {
    json["suppressed"].push_back(finding_json(d));
  }
  if (!report.notes.empty()) {
    json["notes"] = report.notes;
  }
}

} // namespace

std::string render_json(const Report& report) {
  Json findings = Json::array();
  for (const Diagnostic& d : report.findings) {
    findings.push_back(finding_json(d));
  }
  if (report.exit_status) {
    Json run = {
        {"verdict", name(report.verdict())},
        {"findings", std::move(findings)},
        {"exit_status", *report.exit_status},
        {"seconds", report.seconds},
    };
    add_suppressed(run, report);
    return run.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
  }
  Json json = {
      {"verdict", name(report.verdict())},
      {"complete", report.complete},
      {"findings", std::move(findings)},
      {"states", report.states},
      {"executions", report.executions},
      {"seconds", report.seconds},
      {"bounds", report.bounds},
  };
  if (report.lockstep) {
    json["lockstep"] = {
        {"verdict", name(report.lockstep->verdict)},
        {"complete", report.lockstep->complete},
        {"states", report.lockstep->states},
        {"executions", report.lockstep->executions}
    };
  }
  if (!report.limits.empty()) {
    json["limits"] = report.limits;
  }
  if (!report.warnings.empty()) {
    json["warnings"] = report.warnings;
  }
  if (report.schedules.tried > 0) {
    json["schedules"] = {
        {"tried", report.schedules.tried},
        {"cut_off", report.schedules.cut_off},
        {"steps", report.schedules.steps}
    };
  }
  if (!report.rests_on.empty()) {
    json["rests_on"] = report.rests_on;
  }
  add_suppressed(json, report);
  // Names and paths of the user's may hold any bytes.
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

std::string render_json(const Trace& trace) {
  Json steps = Json::array();
  for (const TraceStep& step : trace.steps) {
    Json calls = Json::array();
    for (const Label& call : step.calls) {
      calls.push_back(place_json(call.place, call.text));
    }
    steps.push_back(
        {{"actor", step.actor},
         {"file", step.place.file},
         {"line", step.place.line},
         {"column", step.place.column},
         {"what", step.what},
         {"note", step.note},
         {"calls", std::move(calls)}}
    );
  }
  const Json json = {
      {"end", name(trace.end)},
      {"outcome", trace.outcome},
      {"actors", trace.actors},
      {"loop_from", trace.loop_from ? Json(*trace.loop_from) : Json(nullptr)},
      {"steps", std::move(steps)},
  };
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

} // namespace heddle::report

// Reports as JSON, for editors, CI and scripts. Keys keep the order in which they are documented.
// The files render_*json.cpp and render_perfetto.cpp are the only ones that know a JSON library.
#include "report/html.h"
#include "report/names.h"
#include "report/render.h"
#include "report/static_json.h"
#include "report/trace.h"
#include "report/wait_graph.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace heddle::report {
namespace {

using Json = nlohmann::ordered_json;

Json place_json(const Place& place, const std::string& text) {
  const std::uint32_t column = place.known() ? std::max(place.column, 1U) : 0;
  return {{"file", place.file}, {"line", place.line}, {"column", column}, {"text", text}};
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

/// {"nodes": [{"name", "state", "role"}], "edges": [{"from", "to", "text"}]}
Json graph_json(const WaitGraph& graph) {
  Json nodes = Json::array(), edges = Json::array();
  for (const WaitGraph::Node& node : graph.nodes) {
    nodes.push_back({{"name", node.name}, {"state", node.state}, {"role", name(node.role)}});
  }
  for (const WaitGraph::Edge& edge : graph.edges) {
    edges.push_back({{"from", edge.from}, {"to", edge.to}, {"text", edge.text}});
  }
  return {{"nodes", std::move(nodes)}, {"edges", std::move(edges)}};
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
  if (const std::string_view rule = rule_text(d.rule_id()); !rule.empty()) {
    finding["rule_text"] = rule;
  }
  if (!d.notes.empty()) {
    finding["notes"] = d.notes;
  }
  if (!d.help.empty()) {
    finding["help"] = d.help;
  }
  if (!d.searched.empty()) {
    finding["searched"] = d.searched;
  }
  if (const auto graph = wait_graph(d)) {
    finding["waits"] = graph_json(*graph);
  }
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

Json left_out_json(const LeftOut& one) {
  Json json = {{"coverage", name(one.coverage)}, {"what", one.what}};
  if (!one.with.empty()) {
    json["looked_at_with"] = one.with;
  }
  if (!one.accepted.empty()) {
    json["accepted"] = {{"reason", one.accepted}, {"by", one.accepted_by}};
  }
  return json;
}

Json report_json(const Report& report) {
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
    return run;
  }
  Json json = {
      {"verdict", name(report.verdict())},
      {"complete", report.is_exhaustive()},
      {"coverage", name(report.claims.coverage())},
      {"findings", std::move(findings)},
      {"states", report.states},
      {"executions", report.executions},
      {"seconds", report.seconds},
      {"bounds", report.bounds},
  };
  if (report.lockstep) {
    json["lockstep"] = {
        {"verdict", name(report.lockstep->verdict)},
        {"complete", report.lockstep->coverage == Coverage::Exhaustive},
        {"coverage", name(report.lockstep->coverage)},
        {"states", report.lockstep->states},
        {"executions", report.lockstep->executions}
    };
  }
  for (const LeftOut& one : report.claims.left_out()) {
    json["limits"].push_back(one.what);
    json["left_out"].push_back(left_out_json(one));
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
  return json;
}

Json trace_json(const Trace& trace) {
  Json steps = Json::array();
  for (const TraceStep& step : trace.steps) {
    Json calls = Json::array();
    for (const Label& call : step.calls) {
      calls.push_back(place_json(call.place, call.text));
    }
    Json json = {
        {"actor", step.actor},
        {"file", step.place.file},
        {"line", step.place.line},
        {"column", step.place.column},
        {"what", step.what},
        {"note", step.note},
        {"calls", std::move(calls)}
    };
    for (const MemoryAccess& access : step.memory) {
      json["memory"].push_back(
          {{"name", access.name},
           {"offset", access.offset},
           {"bytes", access.bytes},
           {"value", fmt::format("{:x}", access.value)}, // a number of JSON holds 53 bits
           {"write", access.write}}
      );
    }
    if (step.is_noise) {
      json["noise"] = true;
    }
    steps.push_back(std::move(json));
  }
  return {
      {"end", name(trace.end)},
      {"outcome", trace.outcome},
      {"actors", trace.actors},
      {"loop_from", trace.loop_from ? Json(*trace.loop_from) : Json(nullptr)},
      {"steps", std::move(steps)},
  };
}

/// Which lines of which files a page shows: those that it names, with the ones around them.
class ShownSource {
public:
  explicit ShownSource(SourceCache& sources) : sources_(sources) {}

  void add(const Place& place) {
    if (place.known()) {
      std::set<std::uint32_t>& lines = lines_[place.file];
      for (std::uint32_t n = place.line > around ? place.line - around : 1;
           n <= place.line + around;
           ++n) {
        lines.insert(n);
      }
    }
  }
  /// [{"file", "chunks": [{"from", "lines"}]}]; without files that cannot be read.
  Json json() {
    Json files = Json::array();
    for (const auto& [file, lines] : lines_) {
      Json chunks = Json::array();
      std::uint32_t before = 0;
      for (const std::uint32_t n : lines) {
        const auto text = sources_.line(file, n);
        if (!text) {
          continue;
        }
        if (before == 0 || n != before + 1) {
          chunks.push_back({{"from", n}, {"lines", Json::array()}});
        }
        chunks.back()["lines"].push_back(std::string(*text));
        before = n;
      }
      if (!chunks.empty()) {
        files.push_back({{"file", file}, {"chunks", std::move(chunks)}});
      }
    }
    return files;
  }

private:
  static constexpr std::uint32_t around = 15;
  SourceCache& sources_;
  std::map<std::string, std::set<std::uint32_t>> lines_;
};

/// Names and paths of the user's may hold any bytes.
std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

constexpr int readable = 2, in_one_line = -1;

} // namespace

std::string render_json(const Report& report) {
  return dumped(report_json(report), readable) + "\n";
}

std::string render_json(const Report& report, const StaticReport& lint) {
  Json json = report_json(report);
  json["lint"] = findings_json(lint);
  return dumped(json, readable) + "\n";
}

std::string render_json(const Trace& trace) {
  return dumped(trace_json(trace), readable) + "\n";
}

std::string render_json(const Page& page, SourceCache& sources) {
  ShownSource shown(sources);
  Json report;
  if (page.report != nullptr) {
    report = report_json(*page.report);
    report.erase("seconds"); // the same page each time
    for (const Diagnostic& d : page.report->findings) {
      shown.add(d.place);
      for (const Label& label : d.labels) {
        shown.add(label.place);
      }
    }
  }
  Json traces = Json::array();
  for (const std::optional<Trace>& trace : page.traces) {
    traces.push_back(trace ? trace_json(*trace) : Json(nullptr));
    if (!trace) {
      continue;
    }
    for (Json& actor : traces.back()["actors"]) { // whole names do not fit a phone
      actor = shortened_names(actor.get<std::string>());
    }
    for (const TraceStep& step : trace->steps) {
      shown.add(step.place);
    }
    if (page.report == nullptr) {
      report = {{"verdict", name(trace->end)}};
    }
  }
  const Json json = {
      {"program", page.program},
      {"version", page.version},
      {"report", std::move(report)},
      {"traces", std::move(traces)},
      {"sources", shown.json()},
  };
  return dumped(json, in_one_line);
}

} // namespace heddle::report

// Traces in the trace-event format ("JSON Object Format" of Chrome's about:tracing, which Perfetto
// reads): complete events (ph X) on a track for each thread, named by metadata events (ph M). Time
// is logical: step n lasts from microsecond n - 1 to n.
#include "report/html.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace heddle::report {
namespace {

using Json = nlohmann::ordered_json;

/// "thread (0,0,0) of block (0,0,0) of kernel 'k<<<1,1>>>'" is a thread of the "process" kernel
/// 'k<<<1,1>>>'; who belongs to no kernel belongs to the host.
std::pair<std::string, std::string> split(const std::string& actor) {
  const std::size_t at = actor.find(" of kernel ");
  return at == std::string::npos
             ? std::pair("host", actor)
             : std::pair(actor.substr(at + std::string_view(" of ").size()), actor.substr(0, at));
}

Json metadata(const char* kind, int process, int thread, const std::string& name) {
  return {
      {"name", kind},
      {"ph", "M"},
      {"pid", process},
      {"tid", thread},
      {"args", {{"name", name}}}
  };
}

} // namespace

std::string render_perfetto(const Trace& trace) {
  Json events = Json::array();
  std::map<std::string, int> processes;
  std::vector<std::pair<int, int>> tracks; // of each actor
  for (const std::string& actor : trace.actors) {
    const auto [process, thread] = split(actor);
    const auto [entry, is_new] =
        processes.try_emplace(process, static_cast<int>(processes.size()) + 1);
    tracks.emplace_back(entry->second, static_cast<int>(tracks.size()) + 1);
    if (is_new) {
      events.push_back(metadata("process_name", entry->second, 0, process));
    }
    events.push_back(metadata("thread_name", entry->second, tracks.back().second, thread));
  }
  if (trace.loop_from && *trace.loop_from < trace.steps.size()) {
    const int process = static_cast<int>(processes.size()) + 1;
    events.push_back(metadata("process_name", process, 0, "endless part"));
    events.push_back(
        {{"name", "from here on forever"},
         {"cat", "loop"},
         {"ph", "X"},
         {"ts", *trace.loop_from},
         {"dur", trace.steps.size() - *trace.loop_from},
         {"pid", process},
         {"tid", 0},
         {"args", {{"outcome", trace.outcome}}}}
    );
  }
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const TraceStep& step = trace.steps[i];
    Json args = {{"step", i + 1}};
    if (step.place.known()) {
      args["source"] = fmt::format("{}:{}", step.place.file, step.place.line);
    }
    if (!step.note.empty()) {
      args["note"] = step.note;
    }
    for (const MemoryAccess& access : step.memory) {
      args["memory"].push_back(
          fmt::format(
              "{} {} + {} ({} bytes): {:#x}",
              access.write ? "writes" : "reads",
              access.name,
              access.offset,
              access.bytes,
              access.value
          )
      );
    }
    const auto [process, thread] = tracks[step.actor];
    events.push_back(
        {{"name", step.what},
         {"cat", trace.loop_from && i >= *trace.loop_from ? "loop" : "step"},
         {"ph", "X"},
         {"ts", i},
         {"dur", 1},
         {"pid", process},
         {"tid", thread},
         {"args", std::move(args)}}
    );
  }
  const Json json = {
      {"traceEvents", std::move(events)},
      {"displayTimeUnit", "ns"},
      {"otherData", {{"outcome", trace.outcome}, {"end", name(trace.end)}}}
  };
  return json.dump(1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

} // namespace heddle::report

// Implements session.h.
#include "explore/session.h"

#include "explore/explored_process.h"
#include "explore/explorer.h"
#include "explore/repetition.h"
#include "explore/source_places.h"
#include "explore/state_table.h"
#include "explore/trace.h"
#include "explore/verdict.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

namespace heddle::explore {

std::vector<std::string> instrumentation_flags(const std::string& library_folder) {
  return {
      "-Xcompiler",
      "-fsanitize=thread,-g,--param=tsan-distinguish-volatile=1",
      // GCC's libtsan knows no volatile accesses; ours does, and is found first.
      "-L" + library_folder
  };
}

Result<report::Report> check(const CheckRequest& request) {
  TRY_VOID(check_implemented(request.options));
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Handover handover;
  handover.options = request.options;
  TRY(const Search all, search(request, handover, Addresses::Fixed));
  HostSources sources(request.program);
  JudgeOptions options;
  options.finished = all.finished;
  options.schedule = request.schedule;
  options.schedule->options = without_limits(request.options);
  report::Report report =
      judge(all.table, [&](const Site& site) { return sources.resolve(site); }, options);
  if (const std::string assumed = to_text(options.schedule->options); !assumed.empty()) {
    report.bounds += ", assuming " + assumed;
  }
  check_determinism(request, all, *options.schedule, report);
  if (report.verdict() == report::Verdict::Terminates && all.table.saw(Fact::Dependency)) {
    // Does it end because grids wait for each other? Only a search without that can tell; it may be
    // far larger, and what it adds is an explanation.
    handover.options.ignore_grid_order = true;
    handover.options.max_states =
        std::min(request.options.max_states, 4 * all.table.state_count() + 1000);
    const auto unordered = search(request, handover, Addresses::Fixed);
    if (unordered && !find_endless(unordered->table.load()).endless.empty()) {
      report.rests_on.emplace_back(rule_id(Rule::Dependency));
    }
  }
  report.seconds = seconds();
  return report;
}

Result<report::Trace> replay(const CheckRequest& request, const Schedule& schedule) {
  TRY_VOID(check_implemented(schedule.options));
  TRY(const Repetition again, repeat(request, schedule, Addresses::Fixed));
  const StateTable& table = again.search.table;
  const ProgressGraph graph = table.load();
  HostSources sources(request.program);
  report::Trace trace;
  std::map<ActorId, std::uint32_t> columns; // in order of appearance
  for (const TraceRow& row : again.rows) {
    if (row.actor >= graph.actors.size()) {
      continue;
    }
    const auto [column, is_new] =
        columns.try_emplace(row.actor, static_cast<std::uint32_t>(trace.actors.size()));
    if (is_new) {
      trace.actors.push_back(graph.actors[row.actor].name);
    }
    const Site site = sources.resolve(table.site(row.site));
    trace.steps.push_back(
        {column->second,
         {site.file, site.line, site.column, 0},
         site.what,
         std::string(table.text(row.note))}
    );
  }
  std::tie(trace.end, trace.outcome) = outcome_of(again, schedule);
  if (trace.end == report::TraceEnd::Loop) {
    trace.loop_from = schedule.loop_from;
  }
  return trace;
}

} // namespace heddle::explore

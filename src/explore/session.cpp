// Implements session.h.
#include "explore/session.h"

#include "explore/process/explored_process.h"
#include "explore/process/interruption.h"
#include "explore/process/phase_time.h"
#include "explore/search/explorer.h"
#include "explore/single/sample_sheet.h"
#include "explore/single/sampler.h"
#include "explore/single/single_schedules.h"
#include "explore/strategy/search_all.h"
#include "explore/table/checkpoint.h"
#include "explore/table/state_table.h"
#include "explore/verdict/early_crash.h"
#include "explore/verdict/other_answers.h"
#include "explore/verdict/source_places.h"
#include "explore/verdict/verdict.h"
#include "explore/verdict/verdict_text.h"
#include "explore/witness/accesses.h"
#include "explore/witness/repetition.h"
#include "explore/witness/trace.h"
#include "report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <tuple>

namespace heddle::explore {

namespace {

// Of the time limit, if single schedules follow: a search that needs more is not likely to end
// soon.
constexpr double share_of_search = 2.0 / 3;
constexpr double least_share = 0.1; // of what follows the search
// Where one order has been searched of several: how many single schedules look at the others.
constexpr std::uint32_t schedules_of_other_orders = 3 * sweep;
constexpr std::uint64_t work_for_other_orders = 500'000; // StateTable::work: some seconds

/// The program and what it is called with, in one line. A program is what its file holds, wherever
/// that lies.
std::string identity_of(const CheckRequest& request) {
  const Schedule& s = request.schedule;
  Hasher hasher;
  for (const std::string& text : {s.content.empty() ? s.program : s.content, s.nvcc, s.device}) {
    hasher.text(text);
  }
  for (const std::string& argument : s.arguments) {
    hasher.text(argument);
  }
  hasher.value(s.devices);
  const Hash128 hash = hasher.finish();
  return fmt::format("check {:016x}{:016x} by {}", hash.high, hash.low, request.checkpoint.version);
}

/// Which of several equal threads is named, and which number a choice has, depends on who has
/// searched where. So what several processes have found is looked for again by one that goes there
/// and nowhere else: a report is the same each time. Returns the limit that ended this early, if
/// any: then other threads may be named the next time.
std::string retrace(
    const CheckRequest& request,
    ForkServer& server,
    const Handover& handover,
    const SearchResult& all,
    double share,
    HostSources& sources,
    report::Report& report
) {
  constexpr auto by_content = StateTable::Numbering::ByContent;
  Judgement judged = judge_search(request, all.table, sources, all.finished, by_content);
  report = std::move(judged.report);
  const std::vector<Hash128> states = all.table.hashes(judged.shown, by_content);
  const auto again = search(
      request,
      server,
      handover,
      {.share = share, .begun = std::chrono::steady_clock::now(), .keep_to = states}
  );
  if (!again) {
    return "";
  }
  std::vector<report::Diagnostic> findings =
      judge_search(request, again->table, sources, /*finished=*/false).report.findings;
  if (findings.size() != report.findings.size()) {
    return again->limit; // what has been found is no less true
  }
  for (report::Diagnostic& finding : findings) {
    if (!finding.searched.empty()) {
      finding.searched = searched(report);
    }
  }
  report.findings = std::move(findings);
  return again->limit;
}

bool is_hang(const report::Diagnostic& d) {
  return report::describe(d.finding).group == report::FindingGroup::Hang;
}

/// Of several threads that spin, one gives a finding its place: which, depends on the search.
bool speaks_of(const report::Diagnostic& d, const report::Place& place) {
  const auto is_it = [&](const report::Place& other) {
    return other.file == place.file && other.line == place.line;
  };
  return is_it(d.place) || std::ranges::any_of(d.labels, is_it, &report::Label::place);
}

// A search that only explains a verdict: so much more than the verdict took, but no more than some
// seconds.
constexpr std::uint64_t times_to_explain = 4, least_to_explain = 1000,
                        most_to_explain = 200'000; // states
std::uint32_t states_to_explain(const Options& options, std::uint64_t states) {
  const std::uint64_t most =
      std::min(times_to_explain * states + least_to_explain, most_to_explain);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(options.max_states, most));
}

/// Why it has ended early; empty: it has not.
std::string limit_of(const SearchResult& explanation, std::uint32_t states) {
  const bool is_full = explanation.table.saw(Fact::OutOfStates);
  return explanation.limit.empty() && is_full
             ? fmt::format("the limit of {} states was reached", report::with_thousands(states))
             : explanation.limit;
}

/// A search that only explains a verdict has ended early, and the verdict stays as it is. What it
/// may do is a number of states; that the time ended it is said, because the next time it may not.
std::string not_found_out(std::string_view what, const std::string& limit) {
  return fmt::format("{} was not found out: {}", what, limit.substr(0, limit.find(';')));
}

constexpr std::string_view prompt_hangs =
    "whether it hangs although all calls return that need not wait";

/// A call of the host that need not return while a kernel runs [API] is the assumption that
/// explains least: says how the program hangs without it, if it does. If the time ends that search,
/// the report stays as it is, whatever has been found so far.
Result<void> prefer_prompt_hangs(
    const CheckRequest& asked,
    ForkServer& server,
    double share,
    report::Report& report
) {
  const auto rests_on_call = [](const report::Diagnostic& d) {
    return is_hang(d) && d.rule == rule_id(Rule::Api);
  };
  if (asked.options.prompt_api || std::ranges::none_of(report.findings, rests_on_call)) {
    return {};
  }
  CheckRequest request = asked;
  request.options.prompt_api = true;
  Handover handover;
  handover.options = request.options;
  const std::uint32_t most = states_to_explain(request.options, report.states);
  handover.options.max_states = most;
  TRY(const SearchResult prompt, search_all(request, server, handover, share));
  std::string limit = prompt.limit;
  HostSources sources(request.program);
  report::Report found = judge_search(request, prompt.table, sources, prompt.finished).report;
  if (limit.empty() && prompt.table.for_several() && !found.findings.empty()) {
    limit = retrace(request, server, handover, prompt, share, sources, found);
  }
  if (!limit.empty()) {
    report.notes.push_back(not_found_out(prompt_hangs, limit));
    return {};
  }
  std::erase_if(found.findings, [](const report::Diagnostic& d) { return !is_hang(d); });
  if (found.findings.empty()) {
    limit = limit_of(prompt, most);
    if (!limit.empty()) {
      report.notes.push_back(not_found_out(prompt_hangs, limit));
    }
    return {};
  }
  std::erase_if(report.findings, [&](const report::Diagnostic& d) {
    return is_hang(d) && std::ranges::any_of(found.findings, [&](const report::Diagnostic& other) {
             return speaks_of(d, other.place);
           });
  });
  for (report::Diagnostic& d : found.findings) {
    d.notes.emplace_back("it hangs although all calls return that need not wait (--api=prompt)");
  }
  report.findings.insert(
      report.findings.begin(),
      std::make_move_iterator(found.findings.begin()),
      std::make_move_iterator(found.findings.end())
  );
  return {};
}

/// A search gives one answer to each question, and shows the host one time at each look. The first
/// execution that goes another way with others is enough.
void leave_out_answers(
    const CheckRequest& request,
    ForkServers& servers,
    const std::optional<Repeated>& repeated,
    const Judgement& judged,
    const StateTable& table,
    HostSources& sources,
    report::Report& report
) {
  const bool found_some = std::ranges::any_of(report.findings, [](const report::Diagnostic& d) {
    return d.severity != report::Severity::Warning;
  });
  if (found_some || report.claims.coverage() == report::Coverage::Cut || !repeated) {
    return;
  }
  std::vector<Repeated> executions;
  const auto look_at = [&](const Repeated& execution) {
    if (execution.how.empty() && execution.failed.empty() && !execution.course.empty()) {
      executions.push_back(execution);
    }
    for (report::LeftOut& one :
         other_answers(execution.decides, places_of_questions(table, sources))) {
      report.claims.leave_out(std::move(one));
    }
  };
  look_at(*repeated);
  // Each costs twice the host's time. Who goes by times is repeated with four others anyway.
  constexpr std::size_t most_without_clock = 2;
  for (const std::string& other :
       judged.other_ends |
           std::views::take(repeated->measures ? judged.other_ends.size() : most_without_clock)) {
    if (report.claims.coverage() != report::Coverage::Exhaustive) {
      return;
    }
    if (const auto again = repeat_twice(request, servers, other)) {
      look_at(*again);
    }
  }
  if (report.claims.coverage() == report::Coverage::Exhaustive &&
      decides_by_measures(request, executions)) {
    report.claims.leave_out(
        {.coverage = report::Coverage::Bounded,
         .what =
             "what the host does if other times pass, or other memory is free, than it is shown"}
    );
  }
}

/// Has a search without a finding left something for single schedules?
bool wants_schedules(const CheckRequest& request, const report::Report& report) {
  const bool others_know = request.after_defect && request.after_defect->others_know();
  return !report.is_exhaustive() && report.findings.empty() && request.options.schedules > 0 &&
         !others_know;
}

} // namespace

Result<report::Report> check(const CheckRequest& asked) {
  CheckRequest request = asked;
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  ForkServers servers(asked);
  Handover handover;
  handover.options = request.options;
  const double share = request.options.schedules > 0 ? share_of_search : 1;
  Checkpoint checkpoint(asked.checkpoint, identity_of(asked));
  TRY_VOID(checkpoint.look());
  FirstLook look(asked, servers.fixed, checkpoint);
  auto found = search_all(request, servers.fixed, handover, share, &look);
  if (!found) {
    return unexpected(found.error());
  }
  if (const auto crash = find_early_crash(found->table)) {
    report::Report report = report_of_early_crash(*crash, request);
    check_determinism(request, servers, "", report);
    report.seconds = seconds();
    return report;
  }
  std::optional<SearchResult> all(std::move(*found));
  const double left = std::max(1 - seconds() / request.options.max_seconds, least_share);
  HostSources sources(request.program);
  RepetitionBeside beside(request, servers);
  Judgement judged = judge_search(
      request,
      all->table,
      sources,
      all->finished,
      StateTable::Numbering::AsFound,
      [&](const std::string& end) { beside.begin(end); }
  );
  report::Report& report = judged.report;
  const std::optional<Repeated> repeated = beside.result();
  if (all->table.for_several() && !report.findings.empty()) {
    const std::string limit =
        retrace(request, servers.fixed, handover, *all, left, sources, report);
    if (!limit.empty()) {
      report.notes.push_back(
          not_found_out("which of several equal threads the findings name each time", limit)
      );
    }
  }
  const bool is_cut = report.claims.coverage() == report::Coverage::Cut;
  if (is_cut && report.findings.empty() && Interruption::received() == 0) {
    look.add_to(report);
  }
  TRY_VOID(prefer_prompt_hangs(asked, servers.fixed, left, report));
  if (const std::string assumed = to_text(without_limits(asked.options)); !assumed.empty()) {
    report.bounds += ", assuming " + assumed;
  }
  if (const std::string& kernel = request.schedule.kernel; !kernel.empty()) {
    report.bounds += fmt::format(
        ", from the launch of kernel '{}' on (what comes before was executed once, in one order)",
        kernel
    );
  }
  PhaseTime repeating("repetition");
  const auto shown = check_determinism(request, servers, judged.ends, report, repeated);
  leave_out_answers(request, servers, shown, judged, all->table, sources, report);
  repeating.end();
  if (wants_schedules(request, report)) {
    if (is_cut) {
      all.reset(); // its memory may be needed
    } else {
      request.options.schedules = std::min(request.options.schedules, schedules_of_other_orders);
    }
    const std::uint64_t most_work = is_cut ? any_work : work_for_other_orders;
    TRY_VOID(try_schedules(request, servers.fixed, most_work, left, sources, report));
    if (!report.findings.empty()) {
      check_determinism(request, servers, "", report);
    }
  }
  if (all && report.verdict() == report::Verdict::Terminates && all->table.saw(Fact::Dependency) &&
      all->table.saw(Fact::Choice)) {
    // Does it end because grids wait for each other? Only a search without that can tell; it may be
    // far larger, and what it adds is an explanation.
    handover.options.ignore_grid_order = true;
    const std::uint32_t most = states_to_explain(request.options, all->table.state_count());
    handover.options.max_states = most;
    CheckRequest freely = request; // more may contend
    const double time_left = std::max(1 - seconds() / request.options.max_seconds, least_share);
    const auto unordered = search_all(freely, servers.fixed, handover, time_left);
    const std::string limit = unordered ? limit_of(*unordered, most) : std::string();
    // What has been found before the time was over, the next time may not be.
    const bool is_the_same_again = unordered && unordered->limit.empty();
    if (is_the_same_again && !find_endless(unordered->table.load()).endless.empty()) {
      report.rests_on.emplace_back(rule_id(Rule::Dependency));
    } else if (!limit.empty()) {
      report.notes.push_back(not_found_out("whether the verdict rests on [DEP]", limit));
    }
  }
  report.warnings
      .insert(report.warnings.end(), checkpoint.problems().begin(), checkpoint.problems().end());
  report.seconds = seconds();
  return std::move(report);
}

Result<report::Trace> replay(const CheckRequest& request, const Schedule& schedule) {
  ForkServers servers(request);
  TRY(const Repetition again, repeat(request, servers.fixed, schedule));
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
    report::TraceStep step{
        .actor = column->second,
        .place = {site.file, site.line, site.column, 0},
        .what = site.what,
        .note = {},
        .calls = {},
        .memory = accesses_from(table.text(row.note)),
        .is_noise = site.of_stub
    };
    const std::string reason = reason_from(table.text(row.note));
    step.note = reason.empty() ? in_words(step.memory) : reason;
    for (const Site::Call& call : site.calls) {
      step.calls.push_back({{call.file, call.line, call.column, 0}, call.how});
    }
    trace.steps.push_back(std::move(step));
  }
  std::tie(trace.end, trace.outcome) = outcome_of(again, schedule);
  if (trace.end == report::TraceEnd::Loop) {
    trace.loop_from = schedule.loop_from;
  }
  return trace;
}

} // namespace heddle::explore

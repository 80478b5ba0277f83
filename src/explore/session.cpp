// Implements session.h.
#include "explore/session.h"

#include "explore/explored_process.h"
#include "explore/explorer.h"
#include "explore/interruption.h"
#include "explore/repetition.h"
#include "explore/sample_sheet.h"
#include "explore/source_places.h"
#include "explore/state_table.h"
#include "explore/trace.h"
#include "explore/verdict.h"
#include "report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
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

namespace {

// Of the time limit, if single schedules follow: a search that needs more is not likely to end
// soon.
constexpr double share_of_search = 2.0 / 3;
constexpr double least_share = 0.1; // of what comes last
constexpr double share_of_straight = 1.0 / 6;
// For a search of all orders where one may do, and how many single schedules look at some of the
// others if it is too large.
constexpr double share_of_every_order = 1.0 / 20;
constexpr std::uint32_t schedules_of_other_orders = 3 * 18;
constexpr double share_of_other_orders = 1.0 / 10;

Judgement judge_search(
    const CheckRequest& request,
    const StateTable& table,
    HostSources& sources,
    bool finished,
    StateTable::Numbering numbering = StateTable::Numbering::AsFound
) {
  JudgeOptions options;
  options.finished = finished;
  options.numbering = numbering;
  options.schedule = request.schedule;
  options.schedule->options = without_limits(request.options);
  return judge(table, [&](const Site& site) { return sources.resolve(site); }, options);
}

/// None of the schedules has ended. That proves nothing, since each was cut off after a number of
/// steps; but a loop that counts its rounds never comes back to a state, and this is all that can
/// be said of it.
report::Diagnostic
still_spinning(const StateTable& table, const SampleSheet& sheet, HostSources& sources) {
  report::Diagnostic d(
      report::Finding::Livelock,
      sheet.done == 1
          ? "the one schedule that was tried still spins when it is cut off"
          : fmt::format(
                "every schedule still spins: {} were tried, with {} steps, and none has ended",
                report::with_thousands(sheet.done),
                report::with_thousands(sheet.steps)
            )
  );
  d.severity = report::Severity::Warning;
  for (std::uint32_t i = 0; i < sheet.spins.count; ++i) {
    const Site site = sources.resolve(table.site(sheet.spins.sites[i]));
    d.labels.push_back(
        {{site.file, site.line, site.column, 0},
         fmt::format("{}: {}", table.text(sheet.spins.words[i]), site.what)}
    );
  }
  std::ranges::sort(d.labels, {}, [](const report::Label& label) {
    return std::tuple(
        label.text.starts_with("part"),
        label.place.file,
        label.place.line,
        label.place.column
    );
  });
  d.place = d.labels.front().place;
  d.notes.emplace_back(
      "a loop that counts its rounds never comes back to a state, so no search can end"
  );
  d.help.emplace_back("leave the counter out while the program is checked, or bound the loop");
  return d;
}

/// After a limit: single schedules for the rest of the time. Adds what they find and their counts.
Result<void> try_schedules(
    const CheckRequest& request,
    ForkServer& server,
    double share,
    HostSources& sources,
    report::Report& report
) {
  Handover handover;
  handover.options = request.options;
  handover.options.max_states = Options().max_states; // of recorded schedules: not a search
  TRY(SharedSheet sheet,
      SharedSheet::create(
          {.seed = request.options.seed,
           .schedules = request.options.schedules,
           .at_once = std::min(jobs_of(request.workers), SampleSheet::most_at_once),
           .runs = {}}
      ));
  handover.samples = sheet.fd();
  TRY(const Search tried, search(request, server, handover, {.share = share, .sheet = &*sheet}));
  report::Report found = judge_search(request, tried.table, sources, /*finished=*/false).report;
  report.schedules = {.tried = sheet->done, .cut_off = sheet->cut_off, .steps = sheet->steps};
  for (report::Diagnostic& finding : found.findings) {
    finding.searched = fmt::format(
        "{}, then {} single schedules",
        searched(report),
        report::with_thousands(sheet->done)
    );
    report.findings.push_back(std::move(finding));
  }
  const bool none_ended = sheet->done > 0 && sheet->cut_off == sheet->done;
  if (none_ended && !report.complete && sheet->spins.count > 0) {
    report.findings.push_back(still_spinning(tried.table, *sheet, sources));
  }
  for (const std::string& limit : found.limits) {
    if (limit != tried.limit && std::ranges::find(report.limits, limit) == report.limits.end()) {
      report.limits.push_back(limit);
    }
  }
  return {};
}

/// The options with what Options::contended, unordered and lasting have to be after a void search.
Options blamed_in(const StateTable& table, Options options) {
  for (const Event& event : table.events()) {
    const std::string_view text = table.text(event.text);
    if (text.starts_with(contended_event)) {
      const auto said = parse_options(text);
      options.contended |= said ? said->contended : 0;
      options.unordered |= said ? said->unordered : 0;
      options.lasting |= said ? said->lasting : 0;
    }
  }
  return options;
}

/// May it be searched with blocks that start at once if no state comes back? Only where somebody is
/// always owed the start of a block, as long as nobody waits for a thread of another block.
bool may_be_straight(const Options& options) {
  return options.straight && options.eager && options.progress == ProgressModel::Cuda &&
         options.host_progress && !options.other_processes && !options.lockstep &&
         !options.ignore_grid_order;
}

/// A search, and then, where it does not hold, one of the next kind:
/// - of every order, with blocks that start at any time, given up early if it is large and either
///   of the two that follow may do;
/// - straight: blocks start at once. A block's start commutes with every move of others. So each
///   infinite execution has one like it here, and if no state comes back, there is none. Then
///   nobody ever waits in a loop for another block, nor does a block stay blocked by one: such a
///   state would have been found. What blocks do before others have started is done here, too. In
///   the same way copies and grids that run through are carried out in one order, unless the host
///   asks what has completed or a thread may choose something by what a copy brings;
/// - where accesses on whose order only data depends (machine/order_data.h) are not chosen:
///   the host may decide by such data, so every order is better;
/// - like the first, to the end.
/// Each begins again without the assumptions about sums and phases (machine/sums.h, phases.h), and
/// about what a host need not wait for, that turn out to be wrong.
Result<Search>
search_all(CheckRequest& request, ForkServer& server, Handover& handover, double share) {
  const Options asked = handover.options;
  Options& options = handover.options;
  std::uint64_t could_be = 0; // unordered
  bool every_order = options.data_order && options.unordered == 0;
  bool small = true;                           // a search of every order is given up early
  bool straight = may_be_straight(asked);      // not tried yet
  std::uint64_t contended = options.contended; // that could not be
  std::optional<Search> found_before;          // by a search that is not exhaustive
  Options found_with;
  const auto in_one_order = [&] {
    every_order = false;
    options.contended = contended;
    options.unordered = could_be;
  };
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start;
    const double left = std::max(share - gone.count() / options.max_seconds, least_share);
    const bool one_order_may_do = every_order && (could_be & ~contended) != 0;
    const bool first = small && !options.starts_at_once;
    double part = options.starts_at_once ? std::min(left, share_of_straight) : left;
    if (one_order_may_do && (first || options.starts_at_once)) {
      part = std::min(left, share_of_every_order);
      options.max_states = std::min(asked.max_states, asked.one_order_after);
    }
    options.gives_up = first && straight;
    auto tried = search(request, server, handover, {.share = part, .sheet = nullptr});
    options.max_states = asked.max_states;
    options.gives_up = false;
    if (!tried) {
      return tried;
    }
    if (tried->table.saw(Fact::HostAllocates) && tried->table.had_several()) {
      request.workers.jobs = 1; // for the same states each time
      continue;
    }
    const bool sums = (options.sums || options.orderly) && tried->table.saw(Fact::SumsClash);
    const bool phases = options.phases && tried->table.saw(Fact::PhasesClash);
    const bool heap = options.allocations && tried->table.saw(Fact::HeapClash);
    const bool host = options.host_first && tried->table.saw(Fact::HostClash);
    if (sums || phases || heap || host) {
      Options blamed = sums || host ? blamed_in(tried->table, options) : options;
      const bool news = blamed != options;
      contended |= sums && !one_order_may_do ? blamed.contended & ~options.contended : 0;
      if (every_order) {
        could_be |= blamed.unordered;
        blamed.contended |= blamed.unordered;
        blamed.unordered = 0;
      }
      options.contended = blamed.contended;
      options.unordered = blamed.unordered;
      options.sums = options.sums && (!sums || news);
      options.orderly = options.orderly && (!sums || news);
      options.phases = options.phases && !phases;
      options.allocations = options.allocations && !heap;
      options.host_first = options.host_first && (!host || news);
      options.lasting = blamed.lasting;
      request.options = options;
      continue;
    }
    if (Interruption::received() != 0) { // what has been seen so far
      if (found_before) {
        request.options = options = found_with;
        return std::move(*found_before);
      }
      return tried;
    }
    const bool retried = options.retries && tried->table.saw(Fact::Retries);
    const bool gave_up = tried->table.saw(Fact::GaveUp);
    const bool last = !options.starts_at_once && !gave_up && (!one_order_may_do || !small);
    if (last && !found_before && !retried) {
      return tried;
    }
    HostSources sources(request.program);
    const Judgement found = judge_search(request, tried->table, sources, tried->finished);
    if (retried && !found.straight) {
      options.retries = false; // somebody may change a place for ever that another one updates
      request.options = options;
      continue;
    }
    if (last && !found_before) {
      return tried;
    }
    const bool clean = found.report.findings.empty();
    if (last) {
      if (!clean || found.report.complete) {
        return tried;
      }
      found_before->table
          .add_event(EventKind::Incomplete, 0, 0, "blocks that all start at once were searched");
      request.options = options = found_with; // later ones have learned more
      return std::move(*found_before);
    }
    const bool circles = tried->table.saw(Fact::Circle) || !found.straight;
    if (found.report.complete && (!options.starts_at_once || (!circles && clean))) {
      return tried;
    }
    if (!clean) { // nothing must be lost
      if (options.starts_at_once) {
        found_before.emplace(std::move(*tried));
        found_with = options;
      }
      small = straight = options.starts_at_once = false;
    } else if (straight && !circles) {
      straight = false;
      options.starts_at_once = true;
    } else if (options.starts_at_once && !circles && one_order_may_do) {
      in_one_order();
    } else {
      straight = options.starts_at_once = small = false;
      if (one_order_may_do) {
        in_one_order();
      }
    }
    request.options = options;
  }
}

/// Which of several equal threads is named, and which number a choice has, depends on who has
/// searched where. So what several processes have found is looked for again by one that goes there
/// and nowhere else: a report is the same each time.
void retrace(
    const CheckRequest& request,
    ForkServer& server,
    const Handover& handover,
    const Search& all,
    double share,
    HostSources& sources,
    report::Report& report
) {
  constexpr auto by_content = StateTable::Numbering::ByContent;
  Judgement judged = judge_search(request, all.table, sources, all.finished, by_content);
  report = std::move(judged.report);
  const std::vector<Hash128> states = all.table.hashes(judged.shown, by_content);
  const auto again =
      search(request, server, handover, {.share = share, .sheet = nullptr, .keep_to = states});
  std::vector<report::Diagnostic> findings;
  if (again) {
    findings = judge_search(request, again->table, sources, /*finished=*/false).report.findings;
  }
  if (findings.size() != report.findings.size()) {
    return; // what has been found is no less true
  }
  for (report::Diagnostic& finding : findings) {
    if (!finding.searched.empty()) {
      finding.searched = searched(report);
    }
  }
  report.findings = std::move(findings);
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
  auto searched = search_all(request, servers.fixed, handover, share);
  if (!searched) {
    return unexpected(searched.error());
  }
  std::optional<Search> all(std::move(*searched));
  const double left = std::max(1 - seconds() / request.options.max_seconds, least_share);
  HostSources sources(request.program);
  auto [report, shown, straight, ends] = judge_search(request, all->table, sources, all->finished);
  if (all->table.for_several() && !report.findings.empty()) {
    retrace(request, servers.fixed, handover, *all, left, sources, report);
  }
  if (const std::string assumed = to_text(without_limits(asked.options)); !assumed.empty()) {
    report.bounds += ", assuming " + assumed;
  }
  check_determinism(request, servers, ends, report);
  const bool one_order = report.complete && all->table.saw(Fact::DataOrder);
  if ((!report.complete || one_order) && report.findings.empty() && request.options.schedules > 0) {
    if (one_order) {
      request.options.schedules = std::min(request.options.schedules, schedules_of_other_orders);
    } else {
      all.reset(); // its memory may be needed
    }
    // Nobody would repeat them if these were wrong.
    request.options.sums = request.options.orderly = request.options.phases = false;
    request.options.allocations = false;
    request.options.starts_at_once = false;
    const double share_of_schedules = one_order ? std::min(left, share_of_other_orders) : left;
    TRY_VOID(try_schedules(request, servers.fixed, share_of_schedules, sources, report));
    if (!report.findings.empty()) {
      if (one_order) {
        report.complete = false;
        report.limits.emplace_back(
            "of accesses on which only data depends only one order was searched exhaustively"
        );
      }
      check_determinism(request, servers, "", report);
    }
  }
  const double time_left = 1 - seconds() / request.options.max_seconds;
  if (report.verdict() == report::Verdict::Terminates && all->table.saw(Fact::Dependency) &&
      all->table.saw(Fact::Choice) && time_left > 0) {
    // Does it end because grids wait for each other? Only a search without that can tell; it may be
    // far larger, and what it adds is an explanation.
    handover.options.ignore_grid_order = true;
    handover.options.max_states =
        std::min(request.options.max_states, 4 * all->table.state_count() + 1000);
    CheckRequest freely = request; // more may contend
    const auto unordered = search_all(freely, servers.fixed, handover, time_left);
    if (unordered && !find_endless(unordered->table.load()).endless.empty()) {
      report.rests_on.emplace_back(rule_id(Rule::Dependency));
    }
  }
  report.seconds = seconds();
  return report;
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

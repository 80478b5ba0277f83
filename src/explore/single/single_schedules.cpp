// Implements single_schedules.h.
#include "explore/single/single_schedules.h"

#include "explore/process/phase_time.h"
#include "explore/single/sampler.h"
#include "explore/verdict/verdict_text.h"
#include "report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>

namespace heddle::explore {

Judgement judge_search(
    const CheckRequest& request,
    const StateTable& table,
    HostSources& sources,
    bool finished,
    StateTable::Numbering numbering,
    const std::function<void(const std::string&)>& end_found
) {
  const PhaseTime time("judgement");
  JudgeOptions options;
  options.finished = finished;
  options.numbering = numbering;
  options.threads = jobs_of(request.workers);
  options.schedule = request.schedule;
  options.schedule->options = without_limits(request.options);
  options.end_found = end_found;
  return judge(table, [&](const Site& site) { return sources.resolve(site); }, options);
}

namespace {

/// Where somebody spins in all schedules: " at line 7", or nothing if there are several places.
std::string at_line(const std::vector<report::Label>& labels) {
  const report::Place& first = labels.front().place;
  const bool one = first.line != 0 && std::ranges::all_of(labels, [&](const report::Label& label) {
                     return label.place.file == first.file && label.place.line == first.line;
                   });
  return one ? fmt::format(" at line {}", first.line) : "";
}

/// None of the schedules has ended. That proves nothing, since each was cut off after a number of
/// steps; but a loop that counts its rounds never comes back to a state, and this is all that can
/// be said of it.
report::Diagnostic
still_spinning(const StateTable& table, const SampleSheet& sheet, HostSources& sources) {
  report::Diagnostic d(report::Finding::Livelock, "");
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
  d.message = sheet.done == 1
                  ? fmt::format(
                        "the one schedule that was tried still spins{} when it is cut off",
                        at_line(d.labels)
                    )
                  : fmt::format(
                        "every schedule still spins{}: {} were tried, with {} steps, and none has "
                        "ended",
                        at_line(d.labels),
                        report::with_thousands(sheet.done),
                        report::with_thousands(sheet.steps)
                    );
  d.place = d.labels.front().place;
  d.notes.emplace_back(
      "a loop that counts its rounds never comes back to a state, so no search can end"
  );
  d.help.emplace_back("leave the counter out while the program is checked, or bound the loop");
  return d;
}

} // namespace

Result<Schedules> make_schedules(
    CheckRequest request,
    ForkServer& server,
    std::uint32_t most,
    std::uint64_t most_work,
    double share,
    HostSources& sources
) {
  // Nobody would repeat them if these were wrong.
  request.options.sums = request.options.orderly = request.options.phases = false;
  request.options.allocations = false;
  request.options.starts = Starts::AtAnyTime;
  Handover handover;
  handover.options = request.options;
  handover.options.max_states = Options().max_states; // of recorded schedules: not a search
  TRY(SharedSheet sheet,
      SharedSheet::create(
          {.seed = request.options.seed,
           .schedules = most,
           .at_once = std::min(jobs_of(request.workers), SampleSheet::most_at_once),
           .most_work = most_work,
           .runs = {}}
      ));
  handover.samples = sheet.fd();
  TRY(SearchResult tried,
      search(
          request,
          server,
          handover,
          {.share = share, .begun = std::chrono::steady_clock::now(), .sheet = &*sheet}
      ));
  report::Report found = judge_search(request, tried.table, sources, /*finished=*/false).report;
  return Schedules{std::move(tried), std::move(sheet), std::move(found)};
}

void add_schedules(const Schedules& tried, report::Report& report) {
  report.schedules =
      {.tried = tried.sheet->done, .cut_off = tried.sheet->cut_off, .steps = tried.sheet->steps};
  for (report::Diagnostic finding : tried.report.findings) {
    finding.searched = fmt::format(
        "{}, then {} single schedules",
        searched(report),
        report::with_thousands(tried.sheet->done)
    );
    report.findings.push_back(std::move(finding));
  }
}

namespace {

/// The time ended the schedules. A search that was cut short says so once more; what another one
/// has looked at is not less for that, and what it claims depends on no clock.
void add_limit(const SampleSheet& sheet, const std::string& limit, report::Report& report) {
  if (limit.empty()) {
    return;
  }
  const std::string words = limit.substr(0, limit.find(';')); // without whose part it was
  if (report.claims.coverage() == report::Coverage::Cut) {
    report.claims.cut(words);
  } else {
    report.notes.push_back(
        fmt::format(
            "{} of {} single schedules were tried: {}",
            report::with_thousands(sheet.done),
            report::with_thousands(sheet.schedules),
            words
        )
    );
  }
}

} // namespace

Result<void> try_schedules(
    const CheckRequest& request,
    ForkServer& server,
    std::uint64_t most_work,
    double share,
    HostSources& sources,
    report::Report& report
) {
  TRY(const Schedules tried,
      make_schedules(request, server, request.options.schedules, most_work, share, sources));
  add_schedules(tried, report);
  const SampleSheet& sheet = *tried.sheet;
  add_limit(sheet, tried.search.limit, report);
  const bool none_ended = sheet.done > 0 && sheet.cut_off == sheet.done;
  if (none_ended && report.claims.coverage() == report::Coverage::Cut && sheet.spins.count > 0) {
    report.findings.push_back(still_spinning(tried.search.table, sheet, sources));
  }
  for (const report::LeftOut& one : tried.report.claims.left_out()) {
    if (one.what != tried.search.limit) {
      report.claims.leave_out(one);
    }
  }
  return {};
}

} // namespace heddle::explore

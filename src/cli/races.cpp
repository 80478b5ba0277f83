// Implements races.h.
//
// Each schedule is an execution of the program by itself, as `heddle run --races --seed=N` makes
// it (single_run.h). Faults and hangs are dropped: the search finds them for itself. May be wrong
// in this direction: misses races that need a schedule that was not among them.
#include "cli/races.h"

#include "cli/single_run.h"
#include "explore/interruption.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace heddle::cli {

namespace {

/// `monitor`: the flag of `heddle run`; `set` sets it.
Result<RacesFound> find(
    const Target& target,
    const DeviceOptions& device,
    std::string_view monitor,
    const std::function<void(DeviceOptions&)>& set,
    unsigned schedules,
    unsigned seconds
) {
  RacesFound found;
  for (unsigned seed = 0; seed < schedules && explore::Interruption::received() == 0; ++seed) {
    DeviceOptions one = device;
    one.warps = "independent";
    one.stale_reads = false;
    one.reconvergence = "early-ends";
    set(one);
    one.seed = seed;
    TRY(SingleRun run, run_once(target, one, "HEDDLE_FOUND_TO", seconds));
    if (explore::Interruption::received() != 0) {
      break;
    }
    if (run.timed_out) {
      ++found.stopped;
    } else {
      ++found.schedules;
    }
    const bool first = found.notes.empty();
    for (report::Diagnostic& d : run.found) {
      if (d.severity == report::Severity::Note) { // counts differ a little from seed to seed
        if (first) {
          found.notes.push_back(std::move(d.message));
        }
        continue;
      }
      const bool known = std::ranges::any_of(found.findings, [&](const report::Diagnostic& other) {
        return other.place.file == d.place.file && other.place.line == d.place.line &&
               other.message == d.message;
      });
      if (!known) {
        d.notes.push_back(fmt::format("seen by: heddle run {} --seed={}", monitor, seed));
        found.findings.push_back(std::move(d));
      }
    }
  }
  return found;
}

void add_findings(report::Report& report, RacesFound found) {
  report.findings.insert(
      report.findings.begin(),
      std::make_move_iterator(found.findings.begin()),
      std::make_move_iterator(found.findings.end())
  );
}

} // namespace

Result<RacesFound> find_races(
    const Target& target,
    const DeviceOptions& device,
    unsigned schedules,
    unsigned seconds
) {
  return find(
      target,
      device,
      "--races",
      [](DeviceOptions& one) { one.races = true; },
      schedules,
      seconds
  );
}

Result<RacesFound>
find_unwritten(const Target& target, const DeviceOptions& device, unsigned seconds) {
  return find(
      target,
      device,
      "--uninitialised",
      [](DeviceOptions& one) { one.uninitialised = true; },
      1,
      seconds
  );
}

void add_unwritten(report::Report& report, RacesFound found) {
  if (found.stopped != 0) {
    report.limits.emplace_back("the schedule for uses of unwritten memory took too long");
  }
  add_findings(report, std::move(found));
}

void add_races(report::Report& report, RacesFound found) {
  constexpr std::string_view condition = "if free of data races";
  if (const auto at = report.bounds.find(condition);
      at != std::string::npos && found.findings.empty()) {
    report.bounds.insert(
        at + condition.size(),
        fmt::format(
            " (none in {} schedule{}{}{})",
            found.schedules,
            found.schedules == 1 ? "" : "s",
            found.notes.empty() ? "" : "; ",
            fmt::join(found.notes, "; ")
        )
    );
  }
  if (found.stopped != 0) {
    report.limits.push_back(
        fmt::format("{} of the schedules for data races took too long", found.stopped)
    );
  }
  add_findings(report, std::move(found));
}

} // namespace heddle::cli

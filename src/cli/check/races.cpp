// Implements races.h.
//
// Each schedule is an execution of the program by itself, as `heddle run --races --seed=N` makes
// it (single_run.h). Faults and hangs are dropped: the search finds them for itself. May be wrong
// in this direction: misses races that need a schedule that was not among them.
#include "cli/check/races.h"

#include "cli/ranks/spread.h"
#include "cli/run/same_race.h"
#include "cli/run/single_run.h"
#include "explore/process/interruption.h"
#include "explore/verdict/verdict_text.h"
#include "report/diagnostic_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace heddle::cli {

namespace {

/// What comes between ranks: "1" if the run reached a limit, else "0", and what it has found.
std::string encode(const SingleRun& run) {
  std::string text(run.timed_out ? "1" : "0");
  for (const report::Diagnostic& d : run.found) {
    text += report::to_lines(d);
  }
  return text;
}
SingleRun decode(std::string_view text) {
  return {.found = report::from_lines(text.substr(1)), .timed_out = text.front() == '1'};
}

/// Every run by whoever has room for it.
Result<std::vector<SingleRun>> run_spread(
    Ranks& ranks,
    unsigned schedules,
    const std::function<Result<SingleRun>(unsigned)>& run_seed
) {
  std::vector<SingleRun> runs(schedules);
  std::string error;
  const Tasks tasks{.count = schedules, .at_once = 1, .work = [&](std::size_t seed) {
                      const auto run = run_seed(static_cast<unsigned>(seed));
                      return run ? encode(*run) : "!" + run.error().message;
                    }};
  spread(&ranks, tasks, [&](std::size_t seed, const Outcome& outcome) {
    if (!outcome.error.empty() || outcome.text.empty() || outcome.text.front() == '!') {
      error = outcome.error.empty()
                  ? outcome.text.substr(std::min<std::size_t>(1, outcome.text.size()))
                  : "a single schedule " + outcome.error;
    } else {
      runs[seed] = decode(outcome.text);
    }
  });
  if (!error.empty()) {
    return input_error(error);
  }
  return runs;
}

/// What `heddle run` is given to see the same.
std::string flags_of(const DeviceOptions& one) {
  std::string flags = one.races ? " --races" : "";
  flags += one.uninitialised ? " --uninitialised" : "";
  flags += one.devices != 1 ? fmt::format(" --devices={}", one.devices) : "";
  return flags + fmt::format(" --seed={}", one.seed.value_or(0));
}

/// `set` sets the monitor's flag.
Result<RacesFound> find(
    const Target& target,
    const DeviceOptions& device,
    const std::function<void(DeviceOptions&)>& set,
    unsigned schedules,
    const RunLimits& limits,
    Ranks* ranks
) {
  RacesFound found;
  found.host = target.inspection.instrumented;
  const auto with_seed = [&](unsigned seed) {
    DeviceOptions one = device;
    one.warps = "independent";
    one.stale_reads = false;
    one.reconvergence = "early-ends";
    set(one);
    one.seed = seed;
    return one;
  };
  const auto run_seed = [&](unsigned seed) {
    return run_once(target, with_seed(seed), "HEDDLE_FOUND_TO", limits);
  };
  std::vector<SingleRun> runs;
  if (ranks != nullptr) {
    TRY(runs, run_spread(*ranks, schedules, run_seed));
  }
  for (unsigned seed = 0; seed < schedules && explore::Interruption::received() == 0; ++seed) {
    SingleRun run;
    if (ranks != nullptr) {
      run = std::move(runs[seed]);
    } else {
      TRY(run, run_seed(seed));
    }
    if (explore::Interruption::received() != 0) {
      break;
    }
    found.stopped = run.timed_out;
    found.schedules += run.timed_out ? 0 : 1;
    const bool first = found.notes.empty();
    for (report::Diagnostic& d : run.found) {
      if (d.severity == report::Severity::Note) { // counts differ a little from seed to seed
        if (first) {
          found.notes.push_back(std::move(d.message));
        }
        continue;
      }
      const bool known = std::ranges::any_of(found.findings, [&](const report::Diagnostic& other) {
        return (other.place.file == d.place.file && other.place.line == d.place.line &&
                other.message == d.message) ||
               is_named_besides(d, other);
      });
      if (!known) {
        d.notes.push_back("seen by: " + shown_command(target, "run" + flags_of(with_seed(seed))));
        found.findings.push_back(std::move(d));
      }
    }
    if (found.stopped) { // the next one would be, too
      break;
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
    const RunLimits& limits,
    Ranks* ranks
) {
  return find(
      target,
      device,
      [](DeviceOptions& one) { one.races = true; },
      schedules,
      limits,
      ranks
  );
}

Result<RacesFound> find_unwritten(const Target& target, const DeviceOptions& device) {
  return find(
      target,
      device,
      [](DeviceOptions& one) { one.uninitialised = true; },
      1,
      limits_in_check,
      nullptr
  );
}

bool has_race(const Target& target, const DeviceOptions& device) {
  constexpr RunLimits short_limits{
      .seconds = 10,
      .processor_seconds = 5,
      .instructions = 50'000'000
  };
  const auto found = find_races(target, device, 1, short_limits);
  return found && std::ranges::any_of(found->findings, [](const report::Diagnostic& d) {
           return d.severity == report::Severity::Error;
         });
}

void add_unwritten(report::Report& report, RacesFound found) {
  if (found.stopped) {
    report.warnings.emplace_back(
        "uses of uninitialised memory were not looked at to the end: the schedule for them was "
        "stopped after 400 million instructions"
    );
  }
  add_findings(report, std::move(found));
}

void add_races(report::Report& report, RacesFound found) {
  if (report.assumes_no_races && found.findings.empty()) {
    explore::say_how_races_were_looked_at(
        report.bounds,
        found.schedules == 0
            ? "races: not looked at"
            : fmt::format(
                  "races: looked at in {} execution{}{}{}{}",
                  found.schedules,
                  found.schedules == 1 ? "" : "s",
                  found.host ? ", host included" : " of device code, not in host code",
                  found.notes.empty() ? "" : "; ",
                  fmt::join(found.notes, "; ")
              )
    );
  }
  if (found.stopped) {
    report.warnings.emplace_back(
        "a schedule in which races are looked for was stopped after 400 million instructions, so "
        "no other one was tried"
    );
  }
  add_findings(report, std::move(found));
}

} // namespace heddle::cli

// Implements races.h.
//
// Each schedule is an execution of the program by itself, as `heddle run --races --seed=N` makes
// it; what it finds it writes into a file that HEDDLE_FOUND_TO names (report/diagnostic_lines.h).
// What it prints is dropped, and so are faults and hangs, which the search finds for itself. May be
// wrong in this direction: misses races that need a schedule that was not among them.
#include "cli/races.h"

#include "base/process.h"
#include "explore/interruption.h"
#include "report/diagnostic_lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

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
  constexpr int timed_out = 124;
  RacesFound found;
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("heddle-races-{}", ::getpid());
  for (unsigned seed = 0; seed < schedules && explore::Interruption::received() == 0; ++seed) {
    DeviceOptions one = device;
    one.warps = "independent";
    one.stale_reads = false;
    set(one);
    one.seed = seed;
    TRY(auto variables, launch_environment(target, one, "run"));
    variables["HEDDLE_FOUND_TO"] = file.string();
    // The program's environment is set last: it is not meant for the shell.
    std::vector<std::string> command = {
        "sh",
        "-c",
        "exec timeout -k 1 \"$@\" >/dev/null 2>&1",
        "sh",
        std::to_string(seconds),
        "env"
    };
    for (const auto& [name, value] : variables) {
      command.push_back(name + "=" + value);
    }
    command.push_back(target.path);
    command.insert(command.end(), target.arguments.begin(), target.arguments.end());
    std::filesystem::remove(file);
    TRY(const Output output, run_and_read(command));
    if (explore::Interruption::received() != 0) {
      break; // whatever it has written
    }
    if (output.status == timed_out) {
      ++found.stopped;
    } else {
      ++found.schedules;
    }
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    const bool first = found.notes.empty();
    for (report::Diagnostic& d : report::from_lines(text.str())) {
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
  std::filesystem::remove(file);
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

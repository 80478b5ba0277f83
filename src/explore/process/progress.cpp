// Implements progress.h.
#include "explore/process/progress.h"

#include "report/render.h"

#include <fmt/format.h>

#include <cmath>

namespace heddle::explore {

namespace {

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  return fmt::format("{:02}:{:02}", whole / 60, whole % 60);
}

std::uint64_t steps_of(const SampleSheet& sheet) {
  std::uint64_t steps = sheet.steps;
  for (const SampleSheet::Run& run : sheet.runs) {
    steps += run.step;
  }
  return steps;
}

/// Rounded down, so that it never says more than is known: 0.0012 is "0.1 %".
std::string per_cent(double part) {
  return part < 0.1 ? fmt::format("{:.1f} %", std::floor(part * 1000) / 10)
                    : fmt::format("{:.0f} %", std::floor(part * 100));
}

} // namespace

Progress progress_of(const StateTable& table) {
  const StateTable::Frontier frontier = table.frontier();
  Progress progress;
  progress.states = table.state_count();
  progress.depth = frontier.depth;
  progress.open_moves = frontier.queue;
  progress.processes = frontier.processes;
  progress.explored = frontier.explored;
  return progress;
}

std::string progress_text(const Progress& p) {
  return fmt::format(
      "{} states, {} states/s, depth {}, {} moves to try, {} {}, {} MiB, {} explored, {}",
      report::with_thousands(p.states),
      report::with_thousands(static_cast<std::uint64_t>(p.states_per_second)),
      report::with_thousands(p.depth),
      report::with_thousands(p.open_moves),
      p.processes,
      p.processes == 1 ? "process" : "processes",
      report::with_thousands(p.memory >> 20),
      per_cent(p.explored),
      clock_text(p.seconds)
  );
}

std::string progress_text(const SampleSheet& sheet, double seconds) {
  return fmt::format(
      "{} of {} schedules, {} steps, {}",
      report::with_thousands(sheet.done),
      report::with_thousands(sheet.schedules),
      report::with_thousands(steps_of(sheet)),
      clock_text(seconds)
  );
}

/// 1 only if everything has been explored.
static double rounded_down(double share) {
  constexpr double digits = 1e6;
  return std::floor(share * digits) / digits;
}

std::string progress_json(const Progress& p, bool is_last) {
  return fmt::format(
      R"({{"what":"search","last":{},"seconds":{:.3f},"search_seconds":{:.3f},"states":{},)"
      R"("states_per_second":{:.0f},"depth":{},"open_moves":{},"processes":{},"memory_bytes":{},)"
      R"("executions_explored":{:.6g}}})",
      is_last,
      p.seconds,
      p.search_seconds,
      p.states,
      p.states_per_second,
      p.depth,
      p.open_moves,
      p.processes,
      p.memory,
      rounded_down(p.explored)
  );
}

std::string progress_json(const SampleSheet& sheet, double seconds, bool is_last) {
  return fmt::format(
      R"({{"what":"schedules","last":{},"seconds":{:.3f},"schedules":{},"of":{},"steps":{}}})",
      is_last,
      seconds,
      sheet.done,
      sheet.schedules,
      steps_of(sheet)
  );
}

} // namespace heddle::explore

// Implements early_crash.h. The text of the event is the message, and behind it, in lines of their
// own, what the program has said.
#include "explore/verdict/early_crash.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>

namespace heddle::explore {

bool add_early_crash(StateTable& table, int status, const std::string& said) {
  if (table.state_count() != 0 || !WIFSIGNALED(status)) {
    return false;
  }
  table.add_event(
      EventKind::Crash,
      0,
      0,
      fmt::format(
          "the host program was ended by {} before its first CUDA call{}{}",
          ::strsignal(WTERMSIG(status)),
          said.empty() ? "" : "\n",
          said
      )
  );
  return true;
}

std::optional<std::string> find_early_crash(const StateTable& table) {
  if (table.state_count() != 0) {
    return std::nullopt;
  }
  for (const Event& event : table.events()) {
    if (event.kind == EventKind::Crash) {
      return std::string(table.text(event.text));
    }
  }
  return std::nullopt;
}

report::Report report_of_early_crash(const std::string& crash, const CheckRequest& request) {
  const std::size_t end = std::min(crash.find('\n'), crash.size());
  report::Diagnostic finding(report::Finding::HostCrash, crash.substr(0, end));
  for (std::size_t at = end + 1; at < crash.size();) { // each line
    const std::size_t line = std::min(crash.find('\n', at), crash.size());
    finding.notes.push_back("it said: " + crash.substr(at, line - at));
    at = line + 1;
  }
  finding.help.emplace_back("'heddle run' ends in the same way, also under a debugger");
  Schedule schedule = request.schedule;
  schedule.options = without_limits(request.options);
  finding.replay = encode(schedule);
  report::Report report;
  report.bounds = "1 input, no kernel ran";
  report.executions = 1;
  report.findings.push_back(std::move(finding));
  return report;
}

} // namespace heddle::explore

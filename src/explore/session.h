// Session: one check, seen from the tool. Starts the program under the explorer, waits, judges.
//
//   CheckRequest request{.program = "./app", .environment = launch_environment(…)};
//   TRY(report::Report report, explore::check(request));
//
// The program runs with address space randomisation off and without input; what it prints is thrown
// away, because it prints it once for every execution. Killing the tool kills the program.
#pragma once

#include "base/result.h"
#include "explore/options.h"
#include "explore/process/after_defect.h"
#include "explore/process/progress_file.h"
#include "explore/ranks/peers.h"
#include "explore/witness/schedule.h"
#include "report/diagnostic.h"
#include "report/trace.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heddle::explore {

struct CheckRequest {
  std::string program;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment; // added to ours
  Options options;
  Schedule schedule;          // what a replay needs to know to find the same program; no choices
  bool show_progress = false; // a line on stderr while it lasts
  std::shared_ptr<ProgressFile> progress_file; // for lines of JSON; null: none
  Workers workers;
  CheckpointFile checkpoint; // of the searches that decide
  // Ranks that take part in searches (divided_search.h); nullptr: this process searches alone. On
  // ranks other than 0, `whole_environment` replaces the environment of this process for the
  // program; `environment` is added to it.
  Peers* peers = nullptr;
  std::vector<std::string> whole_environment;
  // Asked once a search turns out to be large: hangs that one fair schedule of the program shows,
  // within so many seconds. Empty: nobody can tell.
  std::function<std::vector<report::Diagnostic>(unsigned seconds)> fair_hangs;
  std::shared_ptr<AfterDefect> after_defect; // of the searches that decide; null: they go on
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
};

/// Runs `schedule` again: request.program under the choices that it holds. Input error: as for
/// check.
Result<report::Trace> replay(const CheckRequest& request, const Schedule& schedule);

/// Input error: the program could not be started, or it does not use our libcudart.
Result<report::Report> check(const CheckRequest& request);

} // namespace heddle::explore

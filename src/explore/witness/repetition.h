// One execution once more: to show it to a user, and to find out whether a program does the same
// when the same schedule is repeated ([REPLAY]).
//
//   TRY(Repetition again, repeat(request, servers.fixed, schedule));
//   auto [end, words] = outcome_of(again, schedule);     // Loop, "steps 4 to 6 lead back …"
#pragma once

#include "base/outside.h"
#include "explore/process/explored_process.h"
#include "explore/witness/schedule.h"
#include "explore/witness/trace.h"
#include "report/trace.h"

#include <future>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::explore {

struct Repetition {
  SearchResult search;
  std::vector<TraceRow> rows;
};

Result<Repetition>
repeat(const CheckRequest& request, ForkServer& server, const Schedule& schedule);

/// Limits of a search that only repeats `schedule`.
Options limits_of_repetition(const Schedule& schedule, double max_seconds);

using Outcome = std::pair<report::TraceEnd, std::string>;
Outcome outcome_of(const Repetition& again, const Schedule& schedule);

/// What a program decides by that another run may answer otherwise (spec/answers.md).
struct Decides {
  std::vector<SystemAnswer> by; // each of these alone
  bool by_layout = false;       // where stack, heap and libraries lie
  bool by_several = false;      // of both kinds, at once
  bool any() const { return !by.empty() || by_layout || by_several; }
};

/// A schedule string that has been repeated, the second time with other addresses of stack, heap
/// and libraries, and all other answers.
struct Repeated {
  std::string text;
  Schedule schedule;     // with the numbers of the moves that were made
  std::string how;       // the program did something else; empty: it did not
  std::string failed{};  // why it could not be repeated, which says nothing about the program
  bool measures = false; // the host may have been shown a time, or how much memory is free
  std::string course{};  // names its moves, and how it ended
  Decides decides{};
};
/// Empty if the text is not a schedule string.
std::optional<Repeated>
repeat_twice(const CheckRequest& request, ForkServers& servers, const std::string& text);

/// Does the host do something else in one of these executions if clocks and events show it other
/// times, or if other memory is free (base/outside.h)? False if nobody can say. Misses what it does
/// by times between those that it is shown, and in yet other executions.
bool decides_by_measures(const CheckRequest& request, std::span<const Repeated> executions);

/// The same beside something else. Nobody else may use the servers meanwhile.
class RepetitionBeside {
public:
  /// Both outlive it.
  RepetitionBeside(const CheckRequest& request, ForkServers& servers)
      : request_(request),
        servers_(servers) {}
  RepetitionBeside(const RepetitionBeside&) = delete;
  RepetitionBeside& operator=(const RepetitionBeside&) = delete;
  ~RepetitionBeside();
  /// Once, by any thread.
  void begin(const std::string& text);
  /// Waits until it is over. None: it was not begun.
  std::optional<Repeated> result();

private:
  const CheckRequest& request_;
  ForkServers& servers_;
  std::promise<std::optional<Repeated>> result_;
  std::promise<void> end_;
  // What it starts is ended with it (PR_SET_PDEATHSIG), so it stays.
  std::thread thread_;
};

/// Repeats the execution of each finding of `report`, and the one of the schedule string `ends` if
/// that is not empty. Adds a finding if the program does something else, and says what it has read
/// from outside where that can be seen. Misses what comes out the same this time. `before`: one of
/// these executions has been repeated already. Returns the last one that it looked at.
std::optional<Repeated> check_determinism(
    const CheckRequest& request,
    ForkServers& servers,
    const std::string& ends,
    report::Report& report,
    const std::optional<Repeated>& before = std::nullopt
);

} // namespace heddle::explore

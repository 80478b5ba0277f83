// Implements session.h.
#include "explore/session.h"

#include "explore/explorer.h"
#include "explore/source_places.h"
#include "explore/state_table.h"
#include "explore/trace.h"
#include "explore/verdict.h"
#include "explore/watch.h"
#include "explore/witness.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

namespace heddle::explore {

namespace {

constexpr int cannot_start = 126;

enum class Addresses : std::uint8_t {
  Fixed, // of stack and libraries: states can be compared
  Random // as usual: what depends on addresses shows
};

[[noreturn]] void become_program(
    const CheckRequest& request,
    const Handover& handover,
    Addresses addresses,
    int log
) {
  ::setpgid(0, 0); // so that all its processes can be ended together
  ::personality(addresses == Addresses::Fixed ? ADDR_NO_RANDOMIZE : 0);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  for (const auto& [name, value] : request.environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  ::setenv("HEDDLE_MODE", "check", 1);
  ::setenv("HEDDLE_EXPLORE", to_text(handover).c_str(), 1);
  ::setenv("LD_BIND_NOW", "1", 1); // addresses bound on first use would make states differ
  std::vector<char*> argv{const_cast<char*>(request.program.c_str())};
  for (const std::string& argument : request.arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  ::execv(request.program.c_str(), argv.data());
  ::dprintf(STDERR_FILENO, "%s: %s\n", request.program.c_str(), std::strerror(errno));
  ::_exit(cannot_start);
}

std::string read_log(int fd) {
  std::string text(4000, '\0');
  const ssize_t bytes = ::pread(fd, text.data(), text.size(), 0);
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

struct Search {
  StateTable table;
  bool finished = false;
  std::string limit; // that was reached
};

/// One exploration, in a process of its own. `handover.table` is set here.
Result<Search> search(const CheckRequest& request, Handover handover, Addresses addresses) {
  const Options& options = handover.options;
  TRY(StateTable table, StateTable::create({.max_states = options.max_states}));
  handover.table = table.fd();
  const int log = ::memfd_create("heddle-log", 0);
  const pid_t tool = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    return input_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != tool) { // it was killed before that took effect
      ::_exit(cannot_start);
    }
    become_program(request, handover, addresses, log);
  }
  const auto [status, limit] = Watch(table, options, request.show_progress).wait_for(child);
  const std::string said = read_log(log);
  ::close(log);
  const bool orderly = status && WIFEXITED(*status) && WEXITSTATUS(*status) == finished_exit_code;
  if (table.state_count() == 0 && !orderly && (status || said.empty())) {
    return input_error(
        said.empty()
            ? fmt::format("{}: ended without a call that Heddle could see", request.program)
            : said
    );
  }
  if (!limit.empty()) {
    table.add_event(EventKind::Incomplete, 0, 0, limit);
  }
  if (status && WIFSIGNALED(*status)) {
    const auto [from, site] = table.position();
    table.add_event(
        EventKind::Crash,
        from,
        site,
        fmt::format("the host program was ended by {}", ::strsignal(WTERMSIG(*status)))
    );
  }
  return Search{std::move(table), orderly, limit};
}

// --- Repeating one execution ---------------------------------------------------------------------

struct Repetition {
  Search search;
  std::vector<TraceRow> rows;
};

Result<Repetition>
repeat(const CheckRequest& request, const Schedule& schedule, Addresses addresses) {
  TRY(const int choices, write_choices(schedule.choices));
  const int trace = ::memfd_create("heddle-trace", 0);
  Options options = schedule.options;
  options.max_seconds = request.options.max_seconds;
  options.max_states = static_cast<std::uint32_t>(schedule.choices.size()) + 2;
  auto again = search(
      request,
      {.table = -1, .replay = choices, .trace = trace, .options = options},
      addresses
  );
  std::vector<TraceRow> rows = read_rows(trace);
  ::close(choices);
  ::close(trace);
  if (!again) {
    return unexpected(again.error());
  }
  return Repetition{std::move(*again), std::move(rows)};
}

using Outcome = std::pair<report::TraceEnd, std::string>;

/// How the execution ended, if all choices could be taken.
Outcome outcome_of_end(const Repetition& again, const Schedule& schedule) {
  using report::TraceEnd;
  const ProgressGraph graph = again.search.table.load();
  const StateId end = again.rows.back().from;
  const std::size_t steps = schedule.choices.size();
  if (schedule.loop_from < steps) {
    if (again.rows[schedule.loop_from].from != end) {
      return {TraceEnd::Diverged, "the loop does not come back to the state in which it began"};
    }
    return {
        TraceEnd::Loop,
        steps - schedule.loop_from == 1
            ? fmt::format("step {} leads back to where it began and can go on for ever", steps)
            : fmt::format(
                  "steps {} to {} lead back to where they began and can go on for ever",
                  schedule.loop_from + 1,
                  steps
              )
    };
  }
  if (graph.states[end].terminal) {
    return {TraceEnd::Ended, "the program has ended"};
  }
  return {
      TraceEnd::Blocked,
      graph.states[end].expanded
          ? "nobody can move any more"
          : "nobody has to go on: those who could still move are promised nothing"
  };
}

Outcome outcome_of(const Repetition& again, const Schedule& schedule) {
  using report::TraceEnd;
  const StateTable& table = again.search.table;
  if (!again.search.limit.empty()) {
    return {TraceEnd::CutShort, again.search.limit};
  }
  const auto steps = static_cast<std::size_t>(
      std::count_if(again.rows.begin(), again.rows.end(), [](const TraceRow& row) {
        return row.actor != no_actor;
      })
  );
  const bool all_taken = steps == schedule.choices.size();
  const std::vector<Event> events = table.events();
  if (!events.empty() && all_taken) {
    const Event& event = events.front();
    const std::string text(table.text(event.text));
    const std::size_t tab = text.find('\t');
    const bool defect = event.kind == EventKind::Fault || event.kind == EventKind::Crash;
    return {
        defect ? TraceEnd::Defect : TraceEnd::CutShort,
        tab == std::string::npos ? text : text.substr(tab + 1)
    };
  }
  constexpr std::string_view changed =
      "the program, its compiler or its input has changed, or it reads something that Heddle does "
      "not control (random devices, the time, addresses)";
  if (!all_taken || again.rows.size() != steps + 1) {
    return {
        TraceEnd::Diverged,
        fmt::format(
            "this is not the execution that was recorded{}: {}",
            events.empty() ? "" : fmt::format(" ({})", table.text(events.front().text)),
            changed
        )
    };
  }
  if (!schedule.digest.empty() && digest(table, again.rows) != schedule.digest) {
    return {
        TraceEnd::Diverged,
        fmt::format("this is not the execution that was recorded: {}", changed)
    };
  }
  return outcome_of_end(again, schedule);
}

/// A program that does something else when the same schedule is repeated cannot be explored.
void check_determinism(const CheckRequest& request, const Search& all, report::Report& report) {
  std::vector<std::string> replays;
  for (const report::Diagnostic& finding : report.findings) {
    if (!finding.replay.empty()) {
      replays.push_back(finding.replay);
    }
  }
  if (replays.empty()) { // some execution that ends
    const ProgressGraph graph = all.table.load();
    Component ends;
    for (StateId s = 0; s < graph.states.size(); ++s) {
      if (graph.states[s].terminal) {
        ends.states.push_back(s);
      }
    }
    if (!ends.states.empty()) {
      replays.push_back(replay_of(find_witness(graph, ends), graph, all.table, request.schedule));
    }
  }
  for (const std::string& text : replays) {
    const auto schedule = decode(text);
    const auto again = schedule ? repeat(request, *schedule, Addresses::Random)
                                : Result<Repetition>(unexpected(schedule.error()));
    const Outcome outcome = again ? outcome_of(*again, *schedule)
                                  : Outcome(report::TraceEnd::Diverged, again.error().message);
    if (outcome.first == report::TraceEnd::Diverged) {
      report::Diagnostic finding(
          report::Finding::Nondeterminism,
          "the program did something else when the same schedule was repeated"
      );
      finding.notes.push_back(outcome.second);
      finding.help.emplace_back(
          "give it its input by arguments or files, and leave random devices and real time out "
          "while it is checked"
      );
      report.findings.push_back(std::move(finding));
      return;
    }
  }
}

} // namespace

std::vector<std::string> instrumentation_flags(const std::string& library_folder) {
  return {
      "-Xcompiler",
      "-fsanitize=thread,-g,--param=tsan-distinguish-volatile=1",
      // GCC's libtsan knows no volatile accesses; ours does, and is found first.
      "-L" + library_folder
  };
}

Result<report::Report> check(const CheckRequest& request) {
  TRY_VOID(check_implemented(request.options));
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Handover handover;
  handover.options = request.options;
  TRY(const Search all, search(request, handover, Addresses::Fixed));
  HostSources sources(request.program);
  JudgeOptions options;
  options.finished = all.finished;
  options.schedule = request.schedule;
  options.schedule->options = without_limits(request.options);
  report::Report report =
      judge(all.table, [&](const Site& site) { return sources.resolve(site); }, options);
  if (const std::string assumed = to_text(options.schedule->options); !assumed.empty()) {
    report.bounds += ", assuming " + assumed;
  }
  check_determinism(request, all, report);
  if (report.verdict() == report::Verdict::Terminates && all.table.saw(Fact::Dependency)) {
    // Does it end because grids wait for each other? Only a search without that can tell.
    handover.options.ignore_grid_order = true;
    const auto unordered = search(request, handover, Addresses::Fixed);
    if (unordered && !find_endless(unordered->table.load()).endless.empty()) {
      report.rests_on.emplace_back(rule_id(Rule::Dependency));
    }
  }
  report.seconds = seconds();
  return report;
}

Result<report::Trace> replay(const CheckRequest& request, const Schedule& schedule) {
  TRY_VOID(check_implemented(schedule.options));
  TRY(const Repetition again, repeat(request, schedule, Addresses::Fixed));
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

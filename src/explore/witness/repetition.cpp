// Implements repetition.h.
#include "explore/witness/repetition.h"

#include "explore/process/phase_time.h"
#include "explore/witness/accesses.h"
#include "explore/witness/clock_names.h"
#include "explore/witness/foreign_input.h"
#include "report/diagnostic_lines.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace heddle::explore {

Options limits_of_repetition(const Schedule& schedule, double max_seconds) {
  Options options = schedule.options; // the usual table, so that nothing lies elsewhere in memory
  options.max_seconds = max_seconds;
  return options;
}

Result<Repetition>
repeat(const CheckRequest& request, ForkServer& server, const Schedule& schedule) {
  TRY(const int choices, write_choices(schedule.choices));
  const int trace = ::memfd_create("heddle-trace", 0);
  auto again = search(
      request,
      server,
      {.table = -1,
       .replay = choices,
       .trace = trace,
       .options = limits_of_repetition(schedule, request.options.max_seconds)}
  );
  std::vector<TraceRow> rows = read_rows(trace);
  ::close(choices);
  ::close(trace);
  if (!again) {
    return unexpected(again.error());
  }
  return Repetition{std::move(*again), std::move(rows)};
}

namespace {

/// How the execution ended, if all choices could be taken.
Outcome outcome_of_end(const Repetition& again, const Schedule& schedule) {
  using report::TraceEnd;
  const ProgressGraph graph = again.search.table.load();
  const StateId end = again.rows.back().from;
  const std::size_t steps = schedule.choices.size();
  if (schedule.loop_from < steps) {
    if (again.rows[schedule.loop_from].from != end) {
      return {TraceEnd::Diverged, "the loop does not return to the state in which it began"};
    }
    return {
        TraceEnd::Loop,
        steps - schedule.loop_from == 1
            ? fmt::format("step {} leads back to where it began and can repeat forever", steps)
            : fmt::format(
                  "steps {} to {} lead back to where they began and can repeat forever",
                  schedule.loop_from + 1,
                  steps
              )
    };
  }
  if (graph.states[end].unexpected) {
    return {
        TraceEnd::Defect,
        fmt::format("the program has ended with exit status {}", graph.states[end].exit_status)
    };
  }
  if (graph.states[end].terminal) {
    return {TraceEnd::Ended, "the program has ended"};
  }
  return {
      TraceEnd::Blocked,
      graph.states[end].expanded
          ? "no party can move any more"
          : "no party has to advance: those that could still move are promised nothing"
  };
}

} // namespace

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
    const bool fault = event.kind == EventKind::Fault;
    return {
        fault || event.kind == EventKind::Crash ? TraceEnd::Defect : TraceEnd::CutShort,
        fault ? report::from_lines(text).at(0).message : text
    };
  }
  constexpr std::string_view changed =
      "the program, its compiler or its input has changed, or it reads something that Heddle does "
      "not control (the time or random numbers, by system calls of its own)";
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
  if (!schedule.digest.empty() &&
      digest(table, table.load().actors, again.rows) != schedule.digest) {
    return {
        TraceEnd::Diverged,
        fmt::format("this is not the execution that was recorded: {}", changed)
    };
  }
  return outcome_of_end(again, schedule);
}

namespace {

/// Nothing if the program does the same again, or nobody could see it (no processes, no memory);
/// else in which way it does not.
std::string difference(const Result<Repetition>& again, const Schedule& schedule) {
  if (!again) {
    return "";
  }
  const auto [end, words] = outcome_of(*again, schedule);
  return end == report::TraceEnd::Diverged ? words : "";
}

/// A search takes states together whose data differ where nothing goes by them ([RED-DATA-ORDER],
/// [RED-CONE]), and a witness may have its beginning from one of them and its end from another:
/// what comes then may be called otherwise than what was recorded. It is the program's doing only
/// if it does not even repeat itself. (It may do so by chance, going by one random bit: hence so
/// often.)
bool is_doing_of_search(
    const CheckRequest& request,
    ForkServers& servers,
    const Schedule& schedule,
    const Result<Repetition>& once
) {
  constexpr int times = 20;
  for (int n = 0; once && n < times; ++n) {
    const auto again = repeat(request, servers.fixed, schedule);
    if (again && (again->rows != once->rows ||
                  outcome_of(*again, schedule) != outcome_of(*once, schedule))) {
      return false;
    }
  }
  return once.has_value();
}

/// Where it accesses memory: that, and not which values are there, is what a move does to others.
/// Of many accesses only those at the lowest addresses are known, which are others each time. What
/// is side by side may not be so each time: hence bytes.
std::string places_of(std::string_view note) {
  std::array<std::set<std::string>, 2> places; // in no order of addresses
  for (const report::MemoryAccess& access : accesses_from(note, most_compared_places)) {
    for (std::uint64_t byte = 0; byte < access.bytes; ++byte) {
      places[access.write ? 1 : 0].insert(fmt::format("{} {}", access.offset + byte, access.name));
    }
  }
  return fmt::format(
      "{}; {}",
      places[0].size() < most_compared_places ? fmt::to_string(fmt::join(places[0], ", ")) : "many",
      places[1].size() < most_compared_places ? fmt::to_string(fmt::join(places[1], ", ")) : "many"
  );
}

/// The same for executions of the same moves that end alike: addresses count by what lies there.
std::string course_of(const Repetition& again, const Schedule& schedule) {
  const StateTable& table = again.search.table;
  const ProgressGraph graph = table.load();
  const auto [end, words] = outcome_of(again, schedule);
  std::string course = fmt::format(
      "{} {} {}",
      digest(
          table,
          graph.actors,
          again.rows,
          [&](const TraceRow& row) { return places_of(table.text(row.note)); }
      ),
      static_cast<int>(end),
      words
  );
  if (!again.rows.empty()) {
    course += fmt::format(" {}", graph.states[again.rows.back().from].exit_status);
  }
  return course;
}

/// By calls of the API.
bool asks_for_measures(const Repetition& again) {
  return std::ranges::any_of(again.rows, [&](const TraceRow& row) {
    const std::string what(again.search.table.site(row.site).what);
    return what.find("ElapsedTime") != std::string::npos ||
           what.find("MemGetInfo") != std::string::npos;
  });
}

report::Diagnostic
nondeterminism(const CheckRequest& request, const Schedule& schedule, std::string how) {
  report::Diagnostic finding(
      report::Finding::Nondeterminism,
      "the program did something else when the same schedule was repeated"
  );
  for (const ForeignInput& input : find_foreign_inputs(request, schedule)) {
    finding.labels.push_back(
        {{input.site.file, input.site.line, input.site.column, 0}, input.site.what}
    );
    if (!finding.place.known()) {
      finding.place = finding.labels.back().place;
    }
  }
  if (finding.labels.empty()) {
    finding.notes.push_back(std::move(how));
  }
  finding.help.emplace_back(
      "give it its input by arguments or files, and leave random devices and real time out while "
      "it is checked"
  );
  return finding;
}

} // namespace

/// What states look like depends on addresses, and on times; the numbers of the moves do not.
static void leave_states_unchecked(Schedule& schedule, const Repetition& again) {
  std::vector<std::uint32_t>& choices = schedule.choices;
  for (std::size_t i = 0; i < choices.size() && i < again.rows.size(); ++i) {
    choices[i] = pack_choice(again.rows[i].choice, unchecked);
  }
}

/// With all answers otherwise the program goes another way: by which of them? One by one, each
/// takes a process of its own.
static void
find_what_decides(const CheckRequest& request, ForkServers& servers, Repeated& repeated) {
  const Schedule& schedule = repeated.schedule;
  const auto differs = [&](const Result<Repetition>& again) {
    return again && course_of(*again, schedule) != repeated.course;
  };
  const auto usual = repeat(request, servers.fixed, schedule);
  if (differs(usual)) { // nobody's answer: it does not repeat itself
    repeated.how = difference(usual, schedule);
    repeated.decides.by_several = repeated.how.empty();
    return;
  }
  for (const SystemAnswer& answer : all_answers) {
    const CheckRequest other = with_answers(request, {&answer, 1});
    ForkServer server(other, Addresses::Fixed);
    if (differs(repeat(other, server, schedule))) {
      repeated.decides.by.push_back(answer);
    }
  }
  if (!repeated.decides.by.empty()) {
    return;
  }
  ForkServer server(request, Addresses::Elsewhere);
  const auto elsewhere = repeat(request, server, schedule);
  repeated.decides.by_layout = differs(elsewhere);
  repeated.decides.by_several = !repeated.decides.by_layout;
}

std::optional<Repeated>
repeat_twice(const CheckRequest& request, ForkServers& servers, const std::string& text) {
  const auto schedule = decode(text);
  if (!schedule) {
    return std::nullopt;
  }
  Repeated result{.text = text, .schedule = *schedule, .how = {}};
  const auto again = repeat(request, servers.fixed, result.schedule);
  if (!again) {
    result.failed = again.error().message;
    return result;
  }
  result.how = difference(again, result.schedule);
  if (!result.how.empty() && is_doing_of_search(request, servers, result.schedule, again)) {
    result.how.clear();
    return result;
  }
  result.measures = asks_for_measures(*again) || names_a_clock(request.program);
  result.course = course_of(*again, result.schedule);
  if (result.how.empty()) {
    leave_states_unchecked(result.schedule, *again);
    const auto other = repeat(request, servers.otherwise, result.schedule);
    if (other && course_of(*other, result.schedule) != result.course) {
      find_what_decides(request, servers, result);
    }
  }
  return result;
}

bool decides_by_measures(const CheckRequest& request, std::span<const Repeated> executions) {
  if (std::ranges::none_of(executions, &Repeated::measures)) {
    return false;
  }
  return std::ranges::any_of(all_from_outside, [&](FromOutside outside) {
    CheckRequest other = request;
    other.environment[outside_variable] = word_of(outside);
    ForkServer server(other, Addresses::Fixed);
    return std::ranges::any_of(executions, [&](const Repeated& execution) {
      const auto again = repeat(other, server, execution.schedule);
      return again && course_of(*again, execution.schedule) != execution.course;
    });
  });
}

RepetitionBeside::~RepetitionBeside() {
  if (thread_.joinable()) {
    end_.set_value();
    thread_.join();
  }
}

void RepetitionBeside::begin(const std::string& text) {
  thread_ = std::thread([this, text] {
    {
      const PhaseTime time("repetition beside the judgement");
      result_.set_value(repeat_twice(request_, servers_, text));
    }
    end_.get_future().wait();
  });
}

std::optional<Repeated> RepetitionBeside::result() {
  return thread_.joinable() ? result_.get_future().get() : std::nullopt;
}

std::optional<Repeated> check_determinism(
    const CheckRequest& request,
    ForkServers& servers,
    const std::string& ends,
    report::Report& report,
    const std::optional<Repeated>& before
) {
  std::vector<std::string> schedules;
  for (const report::Diagnostic& finding : report.findings) {
    schedules.push_back(finding.replay);
  }
  schedules.push_back(ends);
  std::erase(schedules, "");
  std::optional<Repeated> repeated;
  for (const std::string& text : schedules) {
    repeated = before && before->text == text ? before : repeat_twice(request, servers, text);
    if (repeated && !repeated->failed.empty()) {
      report.notes.push_back(
          fmt::format("an execution could not be repeated: {}", repeated->failed)
      );
      return repeated;
    }
    if (repeated && !repeated->how.empty()) {
      report.findings.push_back(nondeterminism(request, repeated->schedule, repeated->how));
      return repeated;
    }
  }
  return repeated;
}

} // namespace heddle::explore

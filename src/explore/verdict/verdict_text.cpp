// Implements verdict_text.h.
#include "explore/verdict/verdict_text.h"

#include "base/check.h"
#include "explore/table/changed_inputs.h"
#include "explore/witness/trace.h"
#include "reduce/stepper.h"
#include "report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::explore {

std::string no_kernel_ran(bool complete) {
  return complete
             ? "no kernel ran, so this says nothing about device code (if the program wants "
               "several "
               "devices: --devices=N)"
             : "no kernel had run when the search ended, so this says nothing about device code";
}

namespace {

using report::Coverage;

constexpr std::string_view races_condition = "if free of data races";

/// What a fact means for the coverage of the search that met it.
struct LeftOutByFact {
  Fact fact;
  Coverage coverage;
  const char* what;
  const char* with = ""; // the flag that looks at it
};
constexpr LeftOutByFact left_out_by_fact[] = {
    {Fact::DataOrder,
     Coverage::OneOrder,
     "other orders of atomics that affect only data",
     "--no-data-order"},
    {Fact::Reductions,
     Coverage::Bounded,
     "asynchronous reductions that take effect later than they are issued"},
    {Fact::ActiveSets, Coverage::Bounded, "some answers of activemask"},
    {Fact::Reads,
     Coverage::Bounded,
     "some numbers of reads before a loop that waits sees a change"},
    {Fact::Vectors,
     Coverage::Bounded,
     "accesses to the elements of a vector one by one",
     "--memory=ptx"},
    {Fact::OldValues, Coverage::Bounded, "some older values of a place"},
    {Fact::HostShares,
     Coverage::Bounded,
     "accesses of host code that is not instrumented, to memory that devices or other host threads "
     "reach",
     "a .cu file, or heddle-cc,"},
    {Fact::NoSpuriousWakeUps,
     Coverage::Bounded,
     "spurious wake-ups of waits on a condition variable in single schedules"},
    {Fact::FirstWoken, Coverage::Bounded, "other sets of threads that a call may wake"},
    {Fact::ReadersFirst, Coverage::Bounded, "read-write locks that prefer writers"},
    {Fact::TeamsOfTwo,
     Coverage::Bounded,
     "OpenMP teams of another size than two where the program does not state one"},
    {Fact::TasksAtOnce, Coverage::Bounded, "OpenMP tasks that are executed later"},
    {Fact::UsesInOneOrder,
     Coverage::Bounded,
     "other orders in which host threads read from one file, or take numbers from rand() or "
     "lrand48()"},
    {Fact::FilesChanged,
     Coverage::Bounded,
     "what the program does by the contents of files that it changes"},
    {Fact::CallsWait,
     Coverage::Bounded,
     "cudaHostRegister of pages that devices still use since an earlier registration"},
};

} // namespace

std::optional<report::LeftOut> left_out(EventKind kind, std::string_view what, const Site& where) {
  const bool is_bound = kind == EventKind::LeftOut || kind == EventKind::Unchosen;
  if ((where.in_library_wait && what == reads_before_sleeping) ||
      (where.in_library_retry && what == no_weak_failures)) {
    return std::nullopt;
  }
  if (what == no_weak_failures) {
    return report::LeftOut{Coverage::Bounded, std::string(what), "--spurious-failures"};
  }
  const bool known = where.line != 0;
  return report::LeftOut{
      is_bound ? Coverage::Bounded : Coverage::Cut,
      fmt::format(
          "{}{}",
          what,
          known ? fmt::format(" ({}:{})", report::shown_path(where.file), where.line) : ""
      )
  };
}

std::string bounds(const StateTable& table, bool ptx_memory, const std::set<std::string>& kernels) {
  std::string text = "1 input";
  std::set<std::string_view> names;
  for (const std::string_view kernel : kernels) {
    names.insert(kernel.substr(0, kernel.rfind(reduce::MoveNames::launch_number)));
  }
  for (const std::string_view name : names) {
    text += fmt::format(", {}", name);
  }
  if (kernels.empty()) {
    text += ", no kernel ran";
  }
  if (table.saw(Fact::HostUnseen)) {
    text += ", host code seen only at API calls (not compiled with -fsanitize=thread)";
  }
  if (ptx_memory) {
    text += ", memory as in PTX without load buffering, the host's accesses seen at once";
    if (table.saw(Fact::SameValue)) {
      text += ", plain writes of the same value at the same time not reported (--same-value=error)";
    }
  } else if (table.saw(Fact::Choice) || table.saw(Fact::HostAtomics)) {
    text += ", memory sequentially consistent";
  }
  std::set<std::string_view> inputs; // See spec/answers.md.
  for (const Event& event : table.events()) {
    if (event.kind == EventKind::Input) {
      inputs.insert(table.text(event.text));
    }
  }
  for (const std::string_view input : inputs) {
    text += fmt::format(", {} as it is", input);
  }
  if (assumes_no_races(table, ptx_memory)) {
    text += fmt::format(", {}", races_condition);
  }
  return text;
}

void say_how_races_were_looked_at(std::string& bounds, std::string_view words) {
  const auto at = bounds.find(races_condition);
  HEDDLE_CHECK(at != std::string::npos, "no condition in '{}'", bounds);
  bounds.insert(at + races_condition.size(), fmt::format(" ({})", words));
}

bool assumes_no_races(const StateTable& table, bool ptx_memory) {
  return !ptx_memory && (table.saw(Fact::HostAccess) || table.saw(Fact::PlainAccess));
}

/// All executions of a search find the same files, so one finds what another one has changed.
static void add_changed_inputs(const StateTable& table, report::Claims& claims) {
  std::set<std::string_view> inputs, changed;
  for (const Event& event : table.events()) {
    const std::string_view text = table.text(event.text);
    if (event.kind == EventKind::Input) {
      inputs.insert(text);
    } else if (event.kind == EventKind::Asked && text.starts_with(changes)) {
      changed.insert(text.substr(changes.size()));
    }
  }
  for (const std::string_view input : inputs) {
    if (changed.contains(input)) {
      claims.leave_out(
          {.coverage = Coverage::Bounded,
           .what = fmt::format("what the program does by {}, which it changes", input)}
      );
    }
  }
}

void add_left_out(const StateTable& table, const Options* options, report::Claims& claims) {
  add_changed_inputs(table, claims);
  for (const LeftOutByFact& one : left_out_by_fact) {
    if (table.saw(one.fact)) {
      claims.leave_out({.coverage = one.coverage, .what = one.what, .with = one.with});
    }
  }
  if (table.saw(Fact::FenceHeard) ||
      (table.saw(Fact::FencesTook) && table.saw(Fact::FencesApart))) { // [MEM-BOUND]
    claims.leave_out(
        {.coverage = Coverage::Bounded,
         .what = "other orders of fence.sc than the order of execution"}
    );
  }
  const bool host_is_followed =
      options == nullptr || !options->by_decisions || options->host_decides;
  if (!host_is_followed && table.saw(Fact::HostGotData)) {
    claims.leave_out(
        {.coverage = Coverage::OneOrder,
         .what = "what the host decides by data that it copies from devices",
         .with = "--no-cone"}
    );
  }
}

std::string may_wait(ActorKind kind, const std::string& what, bool has_moved) {
  switch (kind) {
  case ActorKind::Host:
    return what.starts_with("inside") ? fmt::format("may stay {} for as long as that", what)
                                      : fmt::format("need not advance; next: {}", what);
  case ActorKind::HostFunction:
    return "need not begin";
  case ActorKind::Command:
    return "need not be carried out";
  case ActorKind::DeviceThread:
    return has_moved ? fmt::format("has not taken a step yet and need not; next: {}", what)
                     : fmt::format("has not started and need not; next: {}", what);
  }
  return {};
}

void add_calls(report::Diagnostic& diagnostic, const Site& site, int number) {
  for (const Site::Call& call : site.calls) {
    const auto known = std::ranges::find_if(diagnostic.labels, [&](const report::Label& other) {
      return other.place.file == call.file && other.place.line == call.line &&
             other.text.ends_with(call.how);
    });
    if (known == diagnostic.labels.end()) {
      diagnostic.labels.push_back(
          {{call.file, call.line, call.column, 0}, fmt::format("({}) {}", number, call.how)}
      );
    } else {
      known->text.insert(known->text.find(')'), fmt::format(", {}", number));
    }
  }
}

std::string searched(const report::Report& report) {
  return fmt::format(
      "{} states, {} executions",
      report::with_thousands(report.states),
      report::with_thousands(report.executions)
  );
}

std::string replay_of(
    const Witness& witness,
    const ProgressGraph& graph,
    const StateTable& table,
    Schedule schedule
) {
  std::vector<std::uint32_t> choices;
  std::vector<TraceRow> rows;
  for (const EdgeId e : witness.edges) {
    const Edge& edge = graph.edges[e];
    choices.push_back(edge.choice);
    rows.push_back({.from = edge.from, .actor = edge.actor, .site = edge.site});
  }
  schedule.choices.insert(schedule.choices.begin(), choices.begin(), choices.end());
  schedule.loop_from = witness.loop_from;
  if (schedule.choices.size() == rows.size()) {
    schedule.digest = digest(table, graph.actors, rows);
  }
  return encode(schedule);
}

namespace {

std::string replay_of_whole_way(
    std::vector<EdgeId> edges,
    const ProgressGraph& graph,
    const StateTable& table,
    const Schedule& schedule
) {
  Witness way{std::move(edges), 0};
  way.loop_from = static_cast<std::uint32_t>(way.edges.size());
  return replay_of(way, graph, table, schedule);
}

} // namespace

std::string replay_of_an_end(
    const ProgressGraph& graph,
    const OutEdges& out,
    const StateTable& table,
    const Schedule& schedule
) {
  const bool some = std::ranges::any_of(graph.states, &State::terminal);
  return some ? replay_of_whole_way(way_to_an_end(graph, out), graph, table, schedule) : "";
}

std::vector<std::string> replays_of_other_ends(
    const ProgressGraph& graph,
    const OutEdges& out,
    const StateTable& table,
    const Schedule& schedule
) {
  constexpr std::uint64_t tries = 24;
  constexpr std::size_t most = 4;
  std::vector<std::string> replays;
  std::set<StateId> seen;
  const auto new_states = [&](const std::vector<EdgeId>& way) {
    return std::ranges::count_if(way, [&](EdgeId e) { return !seen.contains(graph.edges.to(e)); });
  };
  const auto take = [&](const std::vector<EdgeId>& way) {
    for (const EdgeId e : way) {
      seen.insert(graph.edges.to(e));
    }
  };
  std::vector<std::vector<EdgeId>> ways;
  for (std::uint64_t n = 0; n <= tries; ++n) {
    ways.push_back(random_way_to_an_end(graph, out, n));
  }
  take(ways.front()); // that of replay_of_an_end()
  while (replays.size() < most) {
    const auto next = std::ranges::max_element(ways, {}, new_states);
    if (new_states(*next) == 0) {
      break;
    }
    take(*next);
    replays.push_back(replay_of_whole_way(*next, graph, table, schedule));
  }
  return replays;
}

} // namespace heddle::explore

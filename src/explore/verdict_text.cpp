// Implements verdict_text.h.
#include "explore/verdict_text.h"

#include "explore/trace.h"
#include "report/render.h"

#include "reduce/stepper.h"
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::explore {

std::string no_kernel_ran(bool complete) {
  return complete
             ? "no kernel ran, so this says nothing about device code"
             : "no kernel had run when the search ended, so this says nothing about device code";
}

namespace {

constexpr std::pair<Fact, const char*> bounds_by_fact[] = {
    {Fact::Reductions, ", asynchronous reductions when they are issued"},
    {Fact::ActiveSets, ", not every answer of activemask"},
    {Fact::Reads, ", not every number of reads of a loop that waits"},
    {Fact::DataOrder, ", one order for atomics that affect only data"},
    {Fact::NoSpuriousWakeUps, ", no spurious wake-up of a condition variable"},
    {Fact::FirstWoken, ", not every set of threads that a call wakes"},
    {Fact::ReadersFirst, ", read-write locks that prefer readers"},
    {Fact::TeamsOfTwo, ", OpenMP with two threads where the program does not say how many"},
    {Fact::TasksAtOnce, ", OpenMP tasks executed at once"},
};

} // namespace

std::string bounds(const StateTable& table, bool ptx_memory, const std::set<std::string>& kernels) {
  std::string text = "1 input";
  std::set<std::string_view> names;
  for (const std::string_view kernel : kernels) {
    names.insert(kernel.substr(0, kernel.rfind(reduce::Stepper::launch_number)));
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
    if (table.saw(Fact::OldValues)) {
      text += ", not every older value of a place";
    }
    if (table.saw(Fact::FenceOrder)) {
      text += ", fence.sc in the order in which they are executed";
    }
    if (table.saw(Fact::SameValue)) {
      text += ", plain writes of the same value at the same time not reported (--same-value=error)";
    }
  } else if (table.saw(Fact::Choice)) {
    text += ", memory sequentially consistent";
    if (table.saw(Fact::Vectors)) {
      text += ", elements of a vector accessed at once";
    }
  }
  if (table.saw(Fact::PlainAccess) && !ptx_memory) {
    text += ", if free of data races";
  }
  for (const auto& [fact, what] : bounds_by_fact) {
    if (table.saw(fact)) {
      text += what;
    }
  }
  return text;
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

} // namespace heddle::explore

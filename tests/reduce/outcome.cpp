// Implements outcome.h.
#include "reduce/outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace heddle::reduce {

using namespace explore;
using machine::Stepper;

Rule owed_by(const Stepper::Move& move) {
  switch (move.guarantee) {
  case Stepper::Guarantee::None:
    break;
  case Stepper::Guarantee::Itself:
    return Rule::Device;
  case Stepper::Guarantee::Cluster:
    return Rule::Cluster;
  case Stepper::Guarantee::Cooperative:
    return Rule::Cooperative;
  }
  return Rule::None;
}

Step step_of(machine::StepKind kind) {
  using machine::StepKind;
  switch (kind) {
  case StepKind::None:
    return Step::None;
  case StepKind::End:
    return Step::End;
  case StepKind::Io:
    return Step::Io;
  case StepKind::Volatile:
    return Step::Volatile;
  case StepKind::Sync:
    return Step::Sync;
  }
  return Step::None;
}

namespace {

/// One endless execution: its kind and what is done in it for ever; how many could still move.
struct Finding {
  std::string what;
  std::set<std::string> guilty;
};

Finding classify(const ProgressGraph& graph, const OutEdges& out, const Component& component) {
  std::map<ActorId, bool> moving; // does it take steps
  std::set<std::uint32_t> sites;
  for (const EdgeId e : component.edges) {
    const Edge edge = graph.edges[e];
    moving[edge.actor] = moving[edge.actor] || edge.step != Step::None;
    sites.insert(edge.site);
  }
  bool others = false; // could move and need never
  for (const StateId s : component.states) {
    for (const EdgeId e : out.of(s)) {
      const Edge edge = graph.edges[e];
      others = others || (edge.owed == Rule::None && graph.by_device(edge) &&
                          !std::ranges::binary_search(component.states, edge.to));
    }
  }
  const bool stalls = std::ranges::any_of(moving, [](const auto& m) { return !m.second; });
  Finding finding;
  finding.what = fmt::format(
      "{} {}",
      stalls           ? "no-progress loop"
      : others         ? "starvation"
      : moving.empty() ? "deadlock"
                       : "livelock",
      fmt::join(sites, ",")
  );
  for (const auto& [actor, steps] : moving) {
    finding.guilty.insert(graph.actors[actor].name);
  }
  return finding;
}

} // namespace

Outcome outcome_of(const ProgressGraph& graph, const std::set<std::string>& faults) {
  Outcome outcome;
  const OutEdges out(graph);
  const Analysis analysis = find_endless(graph, out);
  outcome.straight = analysis.circles.empty();
  outcome.states = graph.states.size();
  for (const Component& component : analysis.endless) {
    Finding finding = classify(graph, out, component);
    outcome.findings[finding.what].merge(finding.guilty);
  }
  for (const std::string& fault : faults) {
    outcome.findings["fault " + fault];
  }
  outcome.complete =
      std::ranges::all_of(graph.states, [](const State& s) { return s.expanded || s.terminal; });
  return outcome;
}

std::string contradiction(const Outcome& reference, const Outcome& reduced) {
  if (!reduced.complete && !reduced.hangs()) {
    return "incomplete";
  }
  if (reference.hangs() != reduced.hangs()) {
    return reduced.hangs() ? "may hang: it does not" : "terminates: it may hang";
  }
  return {};
}

} // namespace heddle::reduce

// Implements outcome.h.
#include "reduce/outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

namespace heddle::enumeration {

using namespace explore;
using reduce::Stepper;

namespace {

/// Adds what goes on in a component.
void classify(
    const ProgressGraph& graph,
    const OutEdges& out,
    const BlockedIn& blocked,
    const Component& component,
    Outcome& outcome
) {
  std::map<ActorId, bool> moving; // does it take steps
  std::set<std::string> sites;
  Finding finding;
  for (const EdgeId e : component.edges) {
    const Edge edge = graph.edges[e];
    moving[edge.actor] = moving[edge.actor] || edge.step != Step::None;
    sites.insert(fmt::format("{}", edge.site));
    finding.guilty.insert(graph.actors[edge.actor].name);
  }
  std::set<ActorId> others;
  for (const StateId s : component.states) {
    if (const auto here = blocked.find(s); moving.empty() && here != blocked.end()) {
      for (const Blocked& one : here->second) {
        sites.insert("blocked at " + one.site);
        finding.guilty.insert(one.thread);
      }
    }
    for (const EdgeId e : out.of(s)) {
      const Edge edge = graph.edges[e];
      if (edge.owed == Rule::None && graph.by_device(edge) &&
          !std::ranges::binary_search(component.states, edge.to)) {
        others.insert(edge.actor);
      }
    }
  }
  finding.others = others.size();
  finding.kind = std::ranges::any_of(moving, [](const auto& m) { return !m.second; })
                     ? "no-progress loop"
                 : !others.empty() ? "starvation"
                 : moving.empty()  ? "deadlock"
                                   : "livelock";
  const auto [known, is_new] =
      outcome.findings.try_emplace(fmt::format("{}", fmt::join(sites, ", ")), finding);
  Finding& told = known->second;
  if (!is_new) {
    if (finding.others < told.others) {
      told.kind = finding.kind;
      told.others = finding.others;
    }
    told.guilty.merge(finding.guilty);
  }
}

/// Who is guilty of what, by kind. After a fault there is no more to be said: the program is
/// undefined. Which kind of endless execution it is (a livelock, a starvation, a loop without
/// steps) is told from the threads that edges name. An edge names one thread of a class, and a
/// reduced graph has fewer edges, so only *endless* and *blocked* are compared.
std::map<std::string, std::set<std::string>> by_kind(const Outcome& outcome) {
  std::map<std::string, std::set<std::string>> result;
  for (const auto& [what, finding] : outcome.findings) {
    std::set<std::string> guilty = finding.guilty;
    const bool blocked = finding.kind == "deadlock" || finding.kind == "fault";
    result[blocked ? finding.kind : "endless"].merge(guilty);
  }
  if (result.contains("fault")) {
    return {{"fault", {}}};
  }
  return result;
}

} // namespace

Outcome outcome_of(
    const ProgressGraph& graph,
    const BlockedIn& blocked,
    const std::set<std::string>& faults
) {
  Outcome outcome;
  const OutEdges out(graph);
  const Analysis analysis = find_endless(graph, out);
  outcome.straight = analysis.circles.empty();
  outcome.states = graph.states.size();
  outcome.moves = graph.edges.size();
  for (const Component& component : analysis.endless) {
    classify(graph, out, blocked, component, outcome);
  }
  for (const std::string& fault : faults) {
    outcome.findings[fault].kind = "fault";
  }
  outcome.complete =
      std::ranges::all_of(graph.states, [](const State& s) { return s.expanded || s.terminal; });
  return outcome;
}

std::string contradiction(const Outcome& reference, const Outcome& reduced) {
  if (!reference.one_name) {
    return "states of one name go on in different ways";
  }
  if (!reduced.known_is_true) {
    return "a move does something else than what is known of it";
  }
  if (reduced.bounded) {
    return {};
  }
  if (!reduced.complete && !reduced.hangs()) {
    return "incomplete";
  }
  if (reference.hangs() != reduced.hangs()) {
    return reduced.hangs() ? fmt::format(
                                 "may hang ({}): it does not",
                                 fmt::join(std::views::keys(reduced.findings), ", ")
                             )
                           : "terminates: it may hang";
  }
  const auto is = by_kind(reduced), should = by_kind(reference);
  const auto kind = [](const auto& entry) { return entry.first; };
  if (!std::ranges::equal(is, should, {}, kind, kind)) {
    return fmt::format(
        "{} instead of {}",
        fmt::join(std::views::keys(is), ", "),
        fmt::join(std::views::keys(should), ", ")
    );
  }
  for (const auto& [what, guilty] : is) {
    if (!std::ranges::includes(should.at(what), guilty)) {
      return what + ": other threads are guilty";
    }
  }
  return {};
}

} // namespace heddle::enumeration

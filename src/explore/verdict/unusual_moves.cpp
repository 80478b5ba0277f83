// Implements unusual_moves.h.
#include "explore/verdict/unusual_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace heddle::explore {

namespace {

constexpr std::size_t most_told = 4;

report::Label label_of(const Site& where, std::string text) {
  return {{where.file, where.line, where.column, 0}, std::move(text)};
}

void rest_on_wake_up(report::Diagnostic& diagnostic) {
  if (diagnostic.rule == "HOST-WAKE") {
    return; // it has been said
  }
  if (diagnostic.rule.empty()) {
    diagnostic.rule = "HOST-WAKE";
  }
  diagnostic.notes.emplace_back(
      "the search has found no way to this on which no wait returns without a notification"
  );
  diagnostic.help.emplace_back(
      "test in a loop what is waited for: 'while (!ready) changed.wait(lock);' or "
      "'changed.wait(lock, [&] { return ready; });'"
  );
}

} // namespace

bool needs_wake_up(const ProgressGraph& graph, std::span<const EdgeId> way) {
  return std::ranges::any_of(way, [&](EdgeId e) {
    return graph.edges.label(e).unprovoked == Unprovoked::WakeUp;
  });
}

void explain_unusual_moves(
    report::Diagnostic& diagnostic,
    const ProgressGraph& graph,
    std::span<const EdgeId> way,
    const std::function<Site(std::uint32_t)>& site
) {
  std::set<std::pair<ActorId, std::uint32_t>> said;
  for (const EdgeId e : way) {
    const Edge edge = graph.edges[e];
    const bool wakes = edge.unprovoked == Unprovoked::WakeUp;
    if ((edge.stale == 0 && !wakes) || said.size() == most_told ||
        !said.emplace(edge.actor, edge.site).second) {
      continue;
    }
    const Site where = site(edge.site);
    const std::string& name = graph.actors[edge.actor].name;
    diagnostic.labels.push_back(
        label_of(where, fmt::format("{}{} {}", name, wakes ? "" : ":", where.what))
    );
  }
  if (needs_wake_up(graph, way)) {
    rest_on_wake_up(diagnostic);
  }
}

bool crashes_notified(
    std::span<const Event> events,
    const Event& crash,
    const std::function<Site(std::uint32_t)>& site
) {
  const Site at = site(crash.site);
  return std::ranges::any_of(events, [&](const Event& other) {
    if (other.kind != crash.kind || other.text != crash.text) {
      return false;
    }
    const Site place = site(other.site);
    return place.what != returns_unnotified && place.file == at.file && place.line == at.line;
  });
}

void explain_wake_up(report::Diagnostic& diagnostic, const Site& wait) {
  diagnostic.labels.push_back(label_of(wait, fmt::format("a host thread {}", wait.what)));
  rest_on_wake_up(diagnostic);
}

} // namespace heddle::explore

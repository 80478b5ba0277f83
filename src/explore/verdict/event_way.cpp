// Implements event_way.h.
#include "explore/verdict/event_way.h"

#include "explore/witness/schedule.h"

#include <set>

namespace heddle::explore {

namespace {

/// The move that faulted ends the program. It need not begin where it faulted.
std::optional<EdgeId> faulting_move(
    const ProgressGraph& graph,
    const Event& event,
    const std::function<bool(const Edge&)>& is_there
) {
  std::optional<EdgeId> last;
  std::optional<EdgeId> of_host; // what host code did wrong does not end it
  for (EdgeId e = 0; e < graph.edges.size(); ++e) {
    const Edge& edge = graph.edges[e];
    if (edge.from != event.from) {
      continue;
    }
    if (!of_host && graph.actors[edge.actor].kind == ActorKind::Host) {
      of_host = e;
    }
    if (!graph.states[edge.to].terminal) {
      continue;
    }
    if (is_there(edge)) {
      return e;
    }
    last = last ? last : e;
  }
  return last ? last : of_host;
}

/// A move that crashed leads nowhere: its number is the one that is missing.
std::uint32_t missing_choice(const ProgressGraph& graph, StateId from) {
  std::set<std::uint32_t> known;
  for (const Edge& edge : graph.edges) {
    if (edge.from == from) {
      known.insert(unpack_choice(edge.choice).number);
    }
  }
  std::uint32_t missing = 0;
  while (known.contains(missing)) {
    ++missing;
  }
  return missing;
}

} // namespace

EventWay way_to_event(
    const ProgressGraph& graph,
    const OutEdges& out,
    const Event& event,
    const std::function<bool(const Edge&)>& is_there
) {
  EventWay way{{shortest_way(graph, out, {event.from}), 0}, std::nullopt};
  if (event.kind != EventKind::Fault) {
    way.missing = missing_choice(graph, event.from);
  } else if (const auto last = faulting_move(graph, event, is_there)) {
    way.witness.edges.push_back(*last);
  }
  way.witness.loop_from = static_cast<std::uint32_t>(way.witness.edges.size());
  return way;
}

} // namespace heddle::explore

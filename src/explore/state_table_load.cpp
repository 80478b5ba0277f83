// What the tool reads from a StateTable when the exploration is over.
#include "explore/state_table_layout.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace heddle::explore {

/// States by their place in a ProgressGraph, and the other way round.
struct StateTable::Order {
  std::vector<StateId> stored; // by place
  std::vector<StateId> place;  // by number in the table
};

StateTable::Order StateTable::order(Numbering numbering) const {
  const Header& h = header();
  const auto* states = region<StoredState>(h.states_at);
  Order order;
  for (StateId id = 0; id < h.states; ++id) {
    if (states[id].visits != 0) { // else taken by a process that then found it known
      order.stored.push_back(id);
    }
  }
  if (numbering == Numbering::ByContent && !order.stored.empty()) { // 0 stays the initial one
    std::sort(order.stored.begin() + 1, order.stored.end(), [&](StateId a, StateId b) {
      return std::tie(states[a].hash.high, states[a].hash.low) <
             std::tie(states[b].hash.high, states[b].hash.low);
    });
  }
  order.place.resize(h.states);
  for (StateId place = 0; place < order.stored.size(); ++place) {
    order.place[order.stored[place]] = place;
  }
  return order;
}

ProgressGraph StateTable::load(Numbering numbering) const {
  const Header& h = header();
  const Order order = this->order(numbering);
  ProgressGraph graph;
  const auto* actors = region<StoredActor>(h.actors_at);
  for (ActorId id = 0; id < h.actors; ++id) {
    graph.actors.push_back(
        {actors[id].kind,
         std::string(text(actors[id].name)),
         std::string(text(actors[id].group)),
         std::string(text(actors[id].kernel))}
    );
  }
  const auto* states = region<StoredState>(h.states_at);
  graph.states.resize(order.stored.size());
  constexpr std::uint32_t unread = ~0U;
  std::vector<std::uint32_t> demand_lists(h.texts, unread),
      change_lists(h.texts, unread); // by text
  demand_lists[0] = change_lists[0] = 0;
  for (StateId place = 0; place < graph.states.size(); ++place) {
    const StoredState& stored = states[order.stored[place]];
    std::uint32_t& demands = demand_lists[stored.demands];
    if (demands == unread) {
      std::vector<Demand> list;
      for (const auto& [rule, who] : values_of<StoredDemand>(text(stored.demands))) {
        list.push_back({static_cast<Rule>(rule), who});
      }
      std::ranges::sort(list);
      demands = graph.demands.add(list);
    }
    State& state = graph.states[place];
    state.demands = demands;
    state.host_site = stored.host_site;
    state.waits = stored.waits;
    state.could_return = stored.could_return;
    state.terminal = stored.terminal != 0;
    state.expanded = stored.described != 0 && stored.claims == 0 && stored.edges >= stored.moves;
  }
  const auto* edges = region<Edge>(h.edges_at);
  graph.edges.reserve(h.edges);
  for (std::uint32_t e = 0; e < h.edges; ++e) {
    if (edges[e].count == 0) { // taken by a process that did not use it
      continue;
    }
    Edge& edge = graph.edges.emplace_back(edges[e]);
    edge.from = order.place[edge.from];
    edge.to = order.place[edge.to];
    std::uint32_t& changes = change_lists[edge.changes];
    if (changes == unread) {
      changes = graph.changes.add(values_of<ClassChange>(text(edge.changes)));
    }
    edge.changes = changes;
  }
  if (numbering == Numbering::ByContent) {
    std::ranges::sort(graph.edges, [&](const Edge& a, const Edge& b) {
      const auto key = [&](const Edge& e) {
        return std::tuple(
            e.from,
            e.to,
            e.who,
            e.count,
            e.step,
            e.not_ready,
            e.failed,
            text(e.site)
        );
      };
      return key(a) < key(b);
    });
  }
  return graph;
}

std::uint32_t StateTable::state_count() const {
  return header().states;
}

std::pair<std::uint64_t, std::uint64_t> StateTable::frontier() const {
  const Header& h = header();
  const auto* processes = region<StoredProcess>(h.processes_at);
  std::pair<std::uint64_t, std::uint64_t> result;
  for (std::uint32_t n = 0; n < h.max_processes; ++n) {
    if (processes[n].used != 0) {
      result.first = std::max(result.first, processes[n].depth);
      result.second += processes[n].queue;
    }
  }
  return result;
}

bool StateTable::for_several() const {
  return is_large();
}

std::vector<Event> StateTable::events(Numbering numbering) const {
  const Header& h = header();
  const auto* stored = region<Event>(h.events_at);
  std::vector<Event> events{stored, stored + h.events};
  if (events.empty()) {
    return events;
  }
  const Order order = this->order(numbering);
  for (Event& event : events) {
    event.from = event.from < order.place.size() ? order.place[event.from] : 0;
  }
  if (numbering == Numbering::ByContent) {
    std::ranges::sort(events, [&](const Event& a, const Event& b) {
      return std::tuple(a.kind, text(a.site), text(a.text), a.from) <
             std::tuple(b.kind, text(b.site), text(b.text), b.from);
    });
  }
  return events;
}

std::vector<Hash128>
StateTable::hashes(std::span<const StateId> places, Numbering numbering) const {
  const auto* states = region<StoredState>(header().states_at);
  const Order order = this->order(numbering);
  std::vector<Hash128> result;
  result.reserve(places.size());
  for (const StateId place : places) {
    result.push_back(states[order.stored[place]].hash);
  }
  return result;
}

std::string_view StateTable::text(std::uint32_t id) const {
  const StoredText& stored = region<StoredText>(header().texts_at)[id];
  return {region<char>(header().text_bytes_at) + stored.offset, stored.bytes};
}

Site StateTable::site(std::uint32_t id) const {
  std::string_view rest = text(id);
  const auto next = [&] {
    const std::size_t tab = std::min(rest.find('\t'), rest.size());
    std::string part(rest.substr(0, tab));
    rest.remove_prefix(std::min(tab + 1, rest.size()));
    return part;
  };
  const auto number = [](const std::string& text) {
    return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
  };
  Site site;
  site.file = next();
  site.line = number(next());
  site.column = number(next());
  site.what = std::string(rest);
  return site;
}

} // namespace heddle::explore

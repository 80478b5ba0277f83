// What the tool reads from a StateTable when the exploration is over.
#include "explore/state_table_layout.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace heddle::explore {

/// States by their place in a ProgressGraph, and the other way round.
struct StateTable::Order {
  bool as_stored = false; // a place is a number in the table
  std::size_t size = 0;
  std::vector<StateId> by_place, by_number; // else

  StateId stored(StateId place) const { return as_stored ? place : by_place[place]; }
  StateId place(StateId number) const { return as_stored ? number : by_number[number]; }
};

StateTable::Order StateTable::order(Numbering numbering) const {
  const Header& h = header();
  const auto* states = region<StoredState>(h.states_at);
  Order order;
  if (numbering == Numbering::AsFound && h.several == 0) {
    order.size = h.states;
    while (order.size != 0 && states[order.size - 1].visits == 0) {
      --order.size; // its process was ended
    }
    // A process that has found a state known, which it took for new, may have ended, too.
    order.as_stored = std::none_of(states, states + order.size, [](const StoredState& state) {
      return state.visits == 0;
    });
  }
  if (order.as_stored) {
    return order;
  }
  for (StateId id = 0; id < h.states; ++id) {
    if (states[id].visits != 0) { // else taken by a process that then found it known
      order.by_place.push_back(id);
    }
  }
  if (numbering == Numbering::ByContent && !order.by_place.empty()) { // 0 stays the initial one
    std::sort(order.by_place.begin() + 1, order.by_place.end(), [&](StateId a, StateId b) {
      return std::tie(states[a].hash.high, states[a].hash.low) <
             std::tie(states[b].hash.high, states[b].hash.low);
    });
  }
  order.size = order.by_place.size();
  order.by_number.resize(h.states);
  for (StateId place = 0; place < order.size; ++place) {
    order.by_number[order.by_place[place]] = place;
  }
  return order;
}

namespace {

void read_description(std::string_view text, ProgressGraph& graph, State& state) {
  StoredDescription fixed{};
  if (text.size() < sizeof fixed) {
    return; // nobody has described it
  }
  std::memcpy(&fixed, text.data(), sizeof fixed);
  std::vector<Demand> list;
  for (const auto& [rule, who] : values_of<StoredDemand>(text.substr(sizeof fixed))) {
    list.push_back({static_cast<Rule>(rule), who});
  }
  std::ranges::sort(list);
  state.demands = graph.demands.add(list);
  state.about = static_cast<std::uint32_t>(graph.abouts.size());
  graph.abouts.push_back({fixed.host_site, fixed.waits, fixed.could_return});
}

/// f(edge) of all edges but those that nobody has used, in their order.
template <class F>
std::vector<ShortEdge> in_order(std::span<const ShortEdge> edges, Team& team, const F& f) {
  constexpr std::size_t some = 1 << 16; // edges of a part
  std::vector<std::size_t> places((edges.size() + some - 1) / some + 1);
  const auto part = [&](std::size_t n) {
    return edges.subspan(n * some, std::min(some, edges.size() - n * some));
  };
  team.each_of(places.size() - 1, [&](std::size_t n) {
    places[n + 1] = static_cast<std::size_t>(
        std::ranges::count_if(part(n), [](const ShortEdge& edge) { return edge.label != 0; })
    );
  });
  for (std::size_t n = 1; n < places.size(); ++n) {
    places[n] += places[n - 1];
  }
  std::vector<ShortEdge> result(places.back());
  team.each_of(places.size() - 1, [&](std::size_t n) {
    std::size_t at = places[n];
    for (const ShortEdge& edge : part(n)) {
      if (edge.label != 0) {
        result[at++] = f(edge);
      }
    }
  });
  return result;
}

} // namespace

ProgressGraph StateTable::load(Numbering numbering) const {
  Team alone(1);
  return load(numbering, alone);
}

ProgressGraph StateTable::load(Numbering numbering, Team& team) const {
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
  graph.states.resize(order.size);
  constexpr std::uint32_t unread = ~0U;
  std::vector<State> descriptions(h.texts, {.demands = unread}); // by text
  for (StateId place = 0; place < graph.states.size(); ++place) { // few of them
    State& description = descriptions[states[order.stored(place)].description];
    if (description.demands == unread) {
      description = {};
      read_description(text(states[order.stored(place)].description), graph, description);
    }
  }
  team.each(graph.states.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t place = begin; place < end; ++place) {
      const StoredState& stored = states[order.stored(static_cast<StateId>(place))];
      State& state = graph.states[place];
      state = descriptions[stored.description];
      state.terminal = stored.terminal != 0;
      state.unexpected = stored.unexpected != 0;
      state.exit_status = stored.exit_status;
      state.expanded = stored.described != 0 && stored.claims == 0 && stored.edges >= stored.moves;
    }
  });
  std::vector<Label> labels(h.texts); // by text
  std::vector<std::uint32_t> change_lists(h.texts, unread);
  change_lists[0] = 0;
  const std::span<const ShortEdge> edges(region<ShortEdge>(h.edges_at), h.edges);
  bool gaps = false; // edges taken by a process that did not use them
  for (const ShortEdge& edge : edges) {
    Label& label = labels[edge.label];
    gaps = gaps || edge.label == 0;
    if (label.count != 0 || edge.label == 0) {
      continue;
    }
    label = values_of<Label>(text(edge.label)).front();
    std::uint32_t& changes = change_lists[label.changes];
    if (changes == unread) {
      changes = graph.changes.add(values_of<ClassChange>(text(label.changes)));
    }
    label.changes = changes;
  }
  if (order.as_stored && !gaps) {
    graph.edges = Edges(edges, std::move(labels));
    return graph;
  }
  std::vector<ShortEdge> renumbered = in_order(edges, team, [&](const ShortEdge& edge) {
    return ShortEdge{order.place(edge.from), order.place(edge.to), edge.label, edge.choice};
  });
  if (numbering == Numbering::ByContent) {
    std::ranges::sort(renumbered, [&](const ShortEdge& a, const ShortEdge& b) {
      const auto key = [&](const ShortEdge& e) {
        const Label& label = labels[e.label];
        return std::tuple(
            e.from,
            e.to,
            label.who,
            label.count,
            label.step,
            label.not_ready,
            label.failed,
            text(label.site)
        );
      };
      return key(a) < key(b);
    });
  }
  graph.edges = Edges(std::move(renumbered), std::move(labels));
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

bool StateTable::had_several() const {
  return header().several != 0;
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
    event.from = event.from < h.states ? order.place(event.from) : 0;
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
    result.push_back(states[order.stored(place)].hash);
  }
  return result;
}

std::string_view StateTable::text(std::uint32_t id) const {
  const StoredText& stored = region<StoredText>(header().texts_at)[id];
  return {region<char>(header().text_bytes_at) + stored.offset, stored.bytes};
}

Site StateTable::site(std::uint32_t id) const {
  std::string_view rest = text(id);
  const auto cut = [](std::string_view& from, char at) {
    const std::size_t end = std::min(from.find(at), from.size());
    std::string part(from.substr(0, end));
    from.remove_prefix(std::min(end + 1, from.size()));
    return part;
  };
  const auto next = [&] { return cut(rest, '\t'); };
  const auto number = [](const std::string& text) {
    return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
  };
  Site site;
  site.file = next();
  site.line = number(next());
  site.column = number(next());
  const std::string list = next();
  for (std::string_view calls = list; !calls.empty();) {
    const std::string one = cut(calls, '\f');
    std::string_view parts = one;
    Site::Call& call = site.calls.emplace_back();
    call.file = cut(parts, '\v');
    call.line = number(cut(parts, '\v'));
    call.column = number(cut(parts, '\v'));
    call.how = parts;
  }
  site.what = std::string(rest);
  return site;
}

} // namespace heddle::explore

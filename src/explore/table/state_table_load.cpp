// What the tool reads from a StateTable when the exploration is over.
#include "base/check.h"
#include "explore/table/state_table_layout.h"

#include <algorithm>
#include <atomic>
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
  if (numbering == Numbering::AsFound && h.gapless != 0) {
    order.as_stored = true;
    order.size = h.states;
  } else if (numbering == Numbering::AsFound && h.several == 0) {
    order.size = h.states;
    while (order.size != 0 && states[order.size - 1].visited == 0) {
      --order.size; // its process was ended
    }
    // A process that has found a state known, which it took for new, may have ended, too.
    order.as_stored = std::none_of(states, states + order.size, [](const StoredState& state) {
      return state.visited == 0;
    });
  }
  if (order.as_stored) {
    return order;
  }
  for (StateId id = 0; id < h.states; ++id) {
    if (states[id].visited != 0) { // else taken by a process that then found it known
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
  team.each_of(places.size() - 1, [&](std::size_t n, std::size_t) {
    places[n + 1] = static_cast<std::size_t>(
        std::ranges::count_if(part(n), [](const ShortEdge& edge) { return edge.label != 0; })
    );
  });
  for (std::size_t n = 1; n < places.size(); ++n) {
    places[n] += places[n - 1];
  }
  std::vector<ShortEdge> result(places.back());
  team.each_of(places.size() - 1, [&](std::size_t n, std::size_t) {
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
  const auto each_state = [&](const auto& f) {
    team.each(order.size, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t place = begin; place < end; ++place) {
        f(place, states[order.stored(static_cast<StateId>(place))]);
      }
    });
  };
  const std::span<const ShortEdge> edges(region<ShortEdge>(h.edges_at), h.edges);
  // Which texts are descriptions, and which are labels: few of them.
  std::vector<std::uint8_t> described(h.texts, 0), labelled(h.texts, 0);
  const auto set = [](std::uint8_t& flag) {
    if (const std::atomic_ref shared(flag); shared.load(std::memory_order_relaxed) == 0) {
      shared.store(1, std::memory_order_relaxed);
    }
  };
  each_state([&](std::size_t, const StoredState& stored) { set(described[stored.description]); });
  team.each(edges.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t e = begin; e < end; ++e) {
      set(labelled[edges[e].label]);
    }
  });
  std::vector<State> descriptions(h.texts); // by text
  for (std::uint32_t t = 0; t < h.texts; ++t) {
    if (described[t] != 0) {
      read_description(text(t), graph, descriptions[t]);
    }
  }
  each_state([&](std::size_t place, const StoredState& stored) {
    State& state = graph.states[place];
    state = descriptions[stored.description];
    state.terminal = stored.end != NoEnd;
    state.unexpected = stored.end == UnexpectedEnd;
    state.exit_status = stored.exit_status;
    state.expanded = stored.described != 0 && stored.claims == 0 && stored.missing <= 0;
  });
  constexpr std::uint32_t unread = ~0U;
  std::vector<Label> labels(h.texts); // by text
  std::vector<std::uint32_t> change_lists(h.texts, unread);
  change_lists[0] = 0;
  const bool gaps = labelled[0] != 0; // edges taken by a process that did not use them
  for (std::uint32_t t = 1; t < h.texts; ++t) {
    if (labelled[t] == 0) {
      continue;
    }
    Label& label = labels[t];
    label = values_of<Label>(text(t)).front();
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
            label.unprovoked,
            text(label.site)
        );
      };
      return key(a) < key(b);
    });
  }
  graph.edges = Edges(std::move(renumbered), std::move(labels));
  return graph;
}

namespace {

/// Those n of [0, count) for which is_gap(n), ascending.
template <class F>
std::vector<std::uint32_t> gaps_in(std::size_t count, Team& team, const F& is_gap) {
  std::vector<std::vector<std::uint32_t>> found(team.members());
  team.each(count, [&](std::size_t begin, std::size_t end, std::size_t m) {
    for (std::size_t n = begin; n < end; ++n) {
      if (is_gap(n)) {
        found[m].push_back(static_cast<std::uint32_t>(n));
      }
    }
  });
  std::vector<std::uint32_t> all;
  for (const std::vector<std::uint32_t>& some : found) {
    all.insert(all.end(), some.begin(), some.end());
  }
  std::ranges::sort(all);
  return all;
}

/// Fills the gaps of [0, count) with what lies furthest behind: move(from, to). Returns how much is
/// left.
template <class F>
std::uint32_t fill(std::span<const std::uint32_t> gaps, std::uint32_t count, const F& move) {
  std::size_t last = gaps.size(); // those from here on lie behind what is left
  for (std::size_t n = 0; n < last; ++n) {
    while (last > n && gaps[last - 1] + 1 == count) {
      --last;
      --count;
    }
    if (n < last) {
      move(--count, gaps[n]);
    }
  }
  return count;
}

} // namespace

void StateTable::close_gaps(Team& team) {
  Header& h = header();
  auto* states = region<StoredState>(h.states_at);
  auto* devices = region<std::uint8_t>(h.devices_at);
  auto* edges = region<ShortEdge>(h.edges_at);
  const std::uint32_t states_before = h.states;
  std::vector<std::uint32_t> gaps =
      gaps_in(states_before, team, [&](std::size_t s) { return states[s].visited == 0; });
  // Of the states that were behind what is left: where they are.
  const std::uint32_t left = states_before - static_cast<std::uint32_t>(gaps.size());
  std::vector<StateId> now(gaps.size());
  h.states = fill(gaps, states_before, [&](StateId from, StateId to) {
    states[to] = states[from];
    devices[to] = devices[from];
    now[from - left] = to;
  });
  HEDDLE_CHECK(h.states == left, "{} states are left, not {}", h.states, left);
  const auto moved = [&](StateId& s) {
    if (s >= h.states && s < states_before) {
      s = now[s - h.states];
    }
  };
  gaps = gaps_in(h.edges, team, [&](std::size_t e) { return edges[e].label == 0; });
  h.edges = fill(gaps, h.edges, [&](EdgeId from, EdgeId to) { edges[to] = edges[from]; });
  if (!now.empty()) {
    team.each(h.edges, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t e = begin; e < end; ++e) {
        if (edges[e].from >= h.states || edges[e].to >= h.states) {
          moved(edges[e].from);
          moved(edges[e].to);
        }
      }
    });
  }
  auto* events = region<Event>(h.events_at);
  for (std::uint32_t e = 0; e < h.events; ++e) {
    moved(events[e].from);
  }
  h.gapless = 1;
  give_back(h.visited_at.front(), h.devices_at - h.visited_at.front());
}

std::uint32_t StateTable::state_count() const {
  return header().states;
}

StateTable::Frontier StateTable::frontier() const {
  const Header& h = header();
  const auto* processes = region<StoredProcess>(h.processes_at);
  Frontier result;
  double open = h.abandoned;
  for (std::uint32_t n = 0; n < h.max_processes; ++n) {
    if (processes[n].used != 0) {
      result.depth = std::max(result.depth, processes[n].depth);
      result.queue += processes[n].queue;
      result.processes += processes[n].queue != 0 ? 1 : 0;
      open += processes[n].open;
    }
  }
  result.explored = std::clamp(1 - open, 0.0, 1.0);
  return result;
}

bool StateTable::for_several() const {
  return is_large();
}

bool StateTable::had_several() const {
  return (header().several | header().several_before) != 0;
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

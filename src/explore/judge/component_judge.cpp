// Implements component_judge.h. A large component is gone through three times, in pieces: what its
// edges do; which states carry demands that none of them answers; which edges do. Only threads that
// change their classes are followed by one thread of the team.
#include "explore/judge/component_judge.h"

#include "explore/judge/wake_mutant.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace heddle::explore {

namespace {

constexpr std::uint32_t none = ~0U;
constexpr std::size_t piece_size = 1U << 11; // states of a component

template <class T> void sort_unique(std::vector<T>& values) {
  std::ranges::sort(values);
  const auto rest = std::ranges::unique(values);
  values.erase(rest.begin(), rest.end());
}

template <class T> void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

template <class F> void each_owed(const Region& region, StateId s, F&& f) {
  for (const Demand& demand : region.graph.owed_in(s)) {
    f(demand);
  }
  for (const EdgeId e : region.out.of(s)) {
    if (const Label& label = region.graph.edges.label(e); label.owed != Rule::None) {
      f(Demand{label.owed, label.who});
    }
  }
}

/// f(n, states) for pieces 0, 1, … of the states, by a team if there is one.
template <class F> void in_pieces(Team* team, std::span<const StateId> states, const F& f) {
  const std::size_t count = (states.size() + piece_size - 1) / piece_size;
  const auto one = [&](std::size_t n, std::size_t) {
    f(n, states.subspan(n * piece_size, std::min(piece_size, states.size() - n * piece_size)));
  };
  if (team != nullptr) {
    team->each_of(count, one);
    return;
  }
  for (std::size_t n = 0; n < count; ++n) {
    one(n, 0);
  }
}

} // namespace

unsigned Region::rules_owed_in(StateId s) const {
  unsigned rules = out.owed_by(s);
  for (const Demand& demand : graph.owed_in(s)) {
    rules |= 1U << static_cast<unsigned>(demand.rule);
  }
  return rules;
}

// --- Threads -------------------------------------------------------------------------------------

void Followed::follow(std::span<const ThreadClass> movers, std::span<const ThreadClass> late) {
  changing_ = false;
  movers_.assign(movers.begin(), movers.end());
  late_.assign(late.begin(), late.end());
}

void Followed::follow(std::uint32_t part, std::span<const StateId> states) {
  changing_ = true;
  nodes_.clear();
  index_.assign(64, none);
  for (const StateId s : states) {
    each_owed(region_, s, [&](const Demand& demand) { node(s, demand.who); });
    const std::span<const StateId> targets = region_.out.targets_of(s);
    for (std::size_t n = 0; n < targets.size(); ++n) {
      const EdgeId e = region_.out.of(s)[n];
      const Label& label = region_.graph.edges.label(e);
      if ((label.soon || label.late) && region_.part(targets[n]) == part && !region_.is_gone(e)) {
        node(s, label.who);
      }
    }
  }
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    follow_node(n, part);
  }
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    Node& first = nodes_[root(n)];
    first.moves = first.moves || nodes_[n].moves;
    first.late = first.late || nodes_[n].late;
  }
}

bool Followed::moves(StateId s, ThreadClass who) const {
  return changing_ ? root_of(s, who).moves : std::ranges::binary_search(movers_, who);
}

bool Followed::finds_time_gone(StateId s, ThreadClass who) const {
  return changing_ ? root_of(s, who).late : std::ranges::binary_search(late_, who);
}

/// The node of a class in a state, made if there is none. index_ is a table of them with open
/// addressing, a power of two and never more than half full.
std::uint32_t Followed::node(StateId s, ThreadClass who) {
  if (2 * nodes_.size() >= index_.size()) {
    index_.assign(2 * index_.size(), none);
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      index_[slot(nodes_[n].state, nodes_[n].who)] = n;
    }
  }
  std::uint32_t& n = index_[slot(s, who)];
  if (n == none) {
    n = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({s, n, who});
  }
  return n;
}

/// Of one that has been made.
const Followed::Node& Followed::root_of(StateId s, ThreadClass who) const {
  std::uint32_t n = index_[slot(s, who)];
  while (nodes_[n].parent != n) {
    n = nodes_[n].parent;
  }
  return nodes_[n];
}

std::size_t Followed::slot(StateId s, ThreadClass who) const {
  const std::size_t mask = index_.size() - 1;
  const std::uint64_t mixed = (who ^ std::uint64_t{s} << 17) * 0x9e37'79b9'7f4a'7c15ULL;
  std::size_t at = (mixed ^ mixed >> 32) & mask;
  while (index_[at] != none && (nodes_[index_[at]].state != s || nodes_[index_[at]].who != who)) {
    at = (at + 1) & mask;
  }
  return at;
}

std::uint32_t Followed::root(std::uint32_t n) {
  while (nodes_[n].parent != n) {
    n = nodes_[n].parent = nodes_[nodes_[n].parent].parent;
  }
  return n;
}

void Followed::follow_node(std::uint32_t n, std::uint32_t part) {
  const StateId state = nodes_[n].state;
  const ThreadClass who = nodes_[n].who;
  const std::span<const StateId> targets = region_.out.targets_of(state);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const EdgeId e = region_.out.of(state)[i];
    const StateId to = targets[i];
    if (region_.part(to) != part || region_.is_gone(e)) {
      continue;
    }
    const Label& label = region_.graph.edges.label(e);
    nodes_[n].moves = nodes_[n].moves || label.who == who;
    nodes_[n].late = nodes_[n].late || (label.who == who && label.late);
    bool named = false;
    for (const ClassChange& change : region_.graph.changes[label.changes]) {
      if (change.from == who) {
        named = true;
        if (change.to != 0) {
          unite(n, node(to, change.to));
        }
      }
    }
    if (!named) {
      unite(n, node(to, who));
    }
  }
}

// --- Components ----------------------------------------------------------------------------------

void ComponentJudge::Seen::clear() {
  movers.clear();
  late.clear();
  tried.clear();
  fresh.clear();
  changing = device_moves = some_demand = false;
  steps = 0;
}

void ComponentJudge::Seen::add(const Seen& more) {
  append(movers, more.movers);
  append(late, more.late);
  append(tried, more.tried);
  append(fresh, more.fresh);
  changing = changing || more.changing;
  device_moves = device_moves || more.device_moves;
  some_demand = some_demand || more.some_demand;
  steps = static_cast<std::uint8_t>(steps | more.steps);
}

void ComponentJudge::Seen::sort() {
  sort_unique(movers);
  sort_unique(late);
  sort_unique(tried);
  sort_unique(fresh);
}

void ComponentJudge::look_at(
    std::uint32_t part,
    std::span<const StateId> states,
    Piece& piece
) const {
  Seen& seen = piece.seen;
  seen.clear();
  piece.edges.clear();
  for (const StateId s : states) {
    const std::span<const StateId> targets = region_.out.targets_of(s);
    for (std::size_t n = 0; n < targets.size(); ++n) {
      if (region_.part(targets[n]) != part) {
        continue;
      }
      const EdgeId e = region_.out.of(s)[n];
      if (region_.is_gone(e)) {
        continue;
      }
      piece.edges.push_back(e);
      const Label& label = region_.graph.edges.label(e);
      if (seen.movers.empty() || seen.movers.back() != label.who) {
        seen.movers.push_back(label.who);
      }
      if (label.late) {
        seen.late.push_back(label.who);
      }
      if (label.tried) {
        seen.tried.emplace_back(label.who, label.site);
      }
      if (label.fresh != 0) {
        seen.fresh.emplace_back(label.actor, label.fresh);
      }
      seen.changing = seen.changing || label.changes != 0;
      seen.some_demand = seen.some_demand || label.query_obliged ||
                         label.unprovoked != Unprovoked::Nothing || label.soon || label.stale != 0;
      if (region_.graph.by_device(label.actor)) {
        seen.device_moves = true;
        seen.steps =
            static_cast<std::uint8_t>(seen.steps | 1U << static_cast<unsigned>(label.step));
      }
    }
  }
  seen.sort();
}

void ComponentJudge::judge_single(StateId s, unsigned rules, bool whole) {
  if (region_.ignored) {
    rules &= ~(1U << static_cast<unsigned>(*region_.ignored));
  }
  if (rules == 0) {
    found({{s}, {}});
  }
  for (int r = 0; r < rule_count; ++r) {
    const auto rule = static_cast<std::size_t>(r);
    analysis.uses[rule].some = analysis.uses[rule].some || (rules >> rule & 1) != 0;
    analysis.alone[rule] = analysis.alone[rule] || (whole && rules == 1U << rule);
  }
}

/// Which of these states are left, and what of their edges.
void ComponentJudge::judge_piece(std::span<const StateId> states, const Seen& seen, Piece& piece) {
  const auto breaks = [&](Rule rule) { piece.broken |= 1U << static_cast<unsigned>(rule); };
  piece.broken = 0;
  piece.rest.clear();
  for (const StateId s : states) {
    bool stays = true;
    each_owed(region_, s, [&](const Demand& demand) {
      if (demand.rule != region_.ignored && !(demand.rule == Rule::Api && seen.device_moves) &&
          !followed_.moves(s, demand.who)) {
        stays = false;
        breaks(demand.rule);
      }
    });
    if (stays) {
      piece.rest.push_back(s);
    }
  }
  if (!seen.some_demand) {
    return;
  }
  const auto leave_out = [&](EdgeId e, Rule rule) {
    region_.leave_out(e);
    breaks(rule);
  };
  const Edges& all = region_.graph.edges;
  for (const EdgeId e : piece.edges) {
    const Label& label = all.label(e);
    if (label.query_obliged && region_.ignored != Rule::Query && !seen.device_moves) {
      leave_out(e, Rule::Query);
    }
    if ((label.unprovoked == Unprovoked::WakeUp && !wake_mutant_is("forever")) ||
        (label.unprovoked == Unprovoked::Failure &&
         !std::ranges::binary_search(seen.tried, std::pair(label.who, label.site)))) {
      leave_out(e, Rule::Host);
    }
    if (label.soon && region_.ignored != Rule::Clock && // [CLOCK]
        !followed_.finds_time_gone(all.from(e), label.who)) {
      leave_out(e, Rule::Clock);
    }
    // [MEM-VISIBLE] Who reads a place forever comes to see the newest value.
    if (label.stale != 0 && region_.ignored != Rule::Visible &&
        !std::ranges::binary_search(seen.fresh, std::pair(label.actor, label.stale))) {
      leave_out(e, Rule::Visible);
    }
  }
}

void ComponentJudge::judge(std::uint32_t part, std::span<const StateId> states, Team* team) {
  const std::size_t count = (states.size() + piece_size - 1) / piece_size;
  pieces_.resize(std::max(pieces_.size(), count));
  in_pieces(team, states, [&](std::size_t n, std::span<const StateId> some) {
    look_at(part, some, pieces_[n]);
  });
  Seen& seen = pieces_.front().seen;
  for (std::size_t n = 1; n < count; ++n) {
    seen.add(pieces_[n].seen);
  }
  if (count > 1) {
    seen.sort();
  }
  if (seen.changing) {
    followed_.follow(part, states);
  } else {
    followed_.follow(seen.movers, seen.late);
  }
  in_pieces(team, states, [&](std::size_t n, std::span<const StateId> some) {
    judge_piece(some, seen, pieces_[n]);
  });
  std::uint32_t broken = 0;
  for (std::size_t n = 0; n < count; ++n) {
    broken |= pieces_[n].broken;
  }
  if (broken == 0) {
    Component component{{states.begin(), states.end()}, {}};
    for (std::size_t n = 0; n < count; ++n) {
      append(component.edges, pieces_[n].edges);
    }
    std::ranges::sort(component.edges);
    found(std::move(component));
    return;
  }
  note_use(broken, seen.steps);
  std::vector<StateId> rest;
  for (std::size_t n = 0; n < count; ++n) {
    append(rest, pieces_[n].rest);
  }
  if (!rest.empty()) {
    rests.push_back(std::move(rest));
  }
}

void ComponentJudge::found(Component component) {
  analysis.endless.push_back(std::move(component));
  found_some_.store(true, std::memory_order_relaxed);
}

/// These rules say that the program cannot stay where device threads take these steps.
void ComponentJudge::note_use(std::uint32_t rules, std::uint8_t steps) {
  for (std::size_t rule = 0; rule < rule_count; ++rule) {
    if ((rules >> rule & 1) != 0) {
      Analysis::Use& use = analysis.uses[rule];
      use.some = true;
      use.steps = static_cast<std::uint8_t>(use.steps | steps);
    }
  }
}

} // namespace heddle::explore

// Implements reference_judge.h: the judge as it was before it had threads (Tarjan's algorithm on
// the whole graph, one component after the other).
#include "reference_judge.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace heddle::explore::reference {

namespace {

constexpr std::uint32_t none = ~0U;

template <class F>
void each_owed(const ProgressGraph& graph, const OutEdges& out, StateId s, F&& f) {
  for (const Demand& demand : graph.owed_in(s)) {
    f(demand);
  }
  for (const EdgeId e : out.of(s)) {
    if (const Label& label = graph.edges.label(e); label.owed != Rule::None) {
      f(Demand{label.owed, label.who});
    }
  }
}

template <class T> void sort_unique(std::vector<T>& values) {
  std::ranges::sort(values);
  const auto rest = std::ranges::unique(values);
  values.erase(rest.begin(), rest.end());
}

/// Threads followed through a component by their classes: does this one move in it? Its memory
/// serves one component after the other.
class Followed {
public:
  Followed(const ProgressGraph& graph, const OutEdges& out) : graph_(graph), all_out_(out) {}

  /// `edges` are those of one component, by the states that they leave.
  void follow(std::span<const StateId> states, std::span<const EdgeId> edges) {
    const Edges& all = graph_.edges;
    changing_ = std::ranges::any_of(edges, [&](EdgeId e) { return all.label(e).changes != 0; });
    movers_.clear();
    late_.clear();
    if (!changing_) { // every thread is in one class
      for (const EdgeId e : edges) {
        if (movers_.empty() || movers_.back() != all.label(e).who) {
          movers_.push_back(all.label(e).who);
        }
        if (all.label(e).late) {
          late_.push_back(all.label(e).who);
        }
      }
      sort_unique(movers_);
      sort_unique(late_);
      return;
    }
    nodes_.clear();
    index_.assign(64, none);
    out_.clear();
    for (const EdgeId e : edges) {
      out_.push_back({all.from(e), e});
    }
    std::ranges::sort(out_);
    for (const StateId s : states) {
      each_owed(graph_, all_out_, s, [&](const Demand& demand) { node(s, demand.who); });
    }
    for (const EdgeId e : edges) {
      if (all.label(e).soon || all.label(e).late) {
        node(all.from(e), all.label(e).who);
      }
    }
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      follow_node(n);
    }
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      Node& first = nodes_[root(n)];
      first.moves = first.moves || nodes_[n].moves;
      first.late = first.late || nodes_[n].late;
    }
  }

  /// Of who is owed something in one of the states.
  bool moves(StateId s, ThreadClass who) {
    return changing_ ? nodes_[root(node(s, who))].moves : std::ranges::binary_search(movers_, who);
  }
  /// Of who looks at a clock in one of the states: does that ever show it a later time?
  bool finds_time_gone(StateId s, ThreadClass who) {
    return changing_ ? nodes_[root(node(s, who))].late : std::ranges::binary_search(late_, who);
  }

private:
  struct Node { // a class in a state
    StateId state;
    std::uint32_t parent; // of a union-find forest
    ThreadClass who;
    bool moves = false, late = false;
  };
  /// The node of a class in a state, made if there is none. index_ is a table of them with open
  /// addressing, a power of two and never more than half full.
  std::uint32_t node(StateId s, ThreadClass who) {
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
  std::size_t slot(StateId s, ThreadClass who) const {
    const std::size_t mask = index_.size() - 1;
    std::uint64_t mixed = (who ^ std::uint64_t{s} << 17) * 0x9e37'79b9'7f4a'7c15ULL;
    std::size_t at = (mixed ^ mixed >> 32) & mask;
    while (index_[at] != none && (nodes_[index_[at]].state != s || nodes_[index_[at]].who != who)) {
      at = (at + 1) & mask;
    }
    return at;
  }
  std::uint32_t root(std::uint32_t n) {
    while (nodes_[n].parent != n) {
      n = nodes_[n].parent = nodes_[nodes_[n].parent].parent;
    }
    return n;
  }
  void unite(std::uint32_t a, std::uint32_t b) { nodes_[root(a)].parent = root(b); }
  void follow_node(std::uint32_t n) {
    const StateId state = nodes_[n].state;
    const ThreadClass who = nodes_[n].who;
    auto out = std::ranges::lower_bound(out_, state, std::less<>(), &Out::from);
    for (; out != out_.end() && out->from == state; ++out) {
      const Label& label = graph_.edges.label(out->edge);
      const StateId to = graph_.edges.to(out->edge);
      nodes_[n].moves = nodes_[n].moves || label.who == who;
      nodes_[n].late = nodes_[n].late || (label.who == who && label.late);
      bool named = false;
      for (const ClassChange& change : graph_.changes[label.changes]) {
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

  struct Out {
    StateId from;
    EdgeId edge;
    auto operator<=>(const Out&) const = default;
  };
  const ProgressGraph& graph_;
  const OutEdges& all_out_;
  bool changing_ = false;
  std::vector<ThreadClass> movers_, late_;
  std::vector<Out> out_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> index_;
};

class Refinement {
public:
  Refinement(
      const ProgressGraph& graph,
      const OutEdges& out,
      std::optional<Rule> ignored,
      bool first_only
  )
      : graph_(graph),
        out_(out),
        ignored_(ignored),
        first_only_(first_only),
        edge_gone_(graph.edges.size(), false),
        followed_(graph, out),
        places_(graph.states.size()) {}

  Analysis run() {
    std::vector<StateId> all;
    for (StateId s = 0; s < graph_.states.size(); ++s) {
      if (graph_.states[s].expanded && !graph_.states[s].terminal) {
        all.push_back(s);
      }
    }
    analysis_.circles.clear();
    whole_ = true;
    return run(std::move(all));
  }

  /// Within these states.
  Analysis run(std::vector<StateId> region) {
    work_.push_back(std::move(region));
    while (!work_.empty()) {
      const std::vector<StateId> states = std::move(work_.back());
      work_.pop_back();
      const Lists<StateId> components = split(states);
      for (std::uint32_t c = 1; c < components.size(); ++c) {
        if (whole_) {
          analysis_.circles
              .insert(analysis_.circles.end(), components[c].begin(), components[c].end());
        }
        judge(c, components[c]);
        if (first_only_ && !analysis_.endless.empty()) {
          return std::move(analysis_);
        }
      }
      for (const StateId s : states) { // for them the region is over
        places_[s].component = none;
      }
      whole_ = false;
    }
    const auto by_first_state = [](const Component& a, const Component& b) {
      return a.states < b.states;
    };
    std::sort(analysis_.endless.begin(), analysis_.endless.end(), by_first_state);
    return std::move(analysis_);
  }

private:
  // Place::component: none outside of the region that is being split, `open` in it as long as the
  // component is not known, then its number; `single` if it is this state alone, and no way leads
  // back to it.
  static constexpr std::uint32_t open = none - 1, single = none - 2;
  struct Place {
    std::uint32_t component = none;
    std::uint32_t low = 0, index = 0; // of split
  };

  /// Strongly connected components of `states` (Tarjan, without recursion), each ascending. Of
  /// single ones, which are most, nothing is kept.
  Lists<StateId> split(std::span<const StateId> states) {
    for (const StateId s : states) {
      places_[s] = {open, 0, none};
    }
    Lists<StateId> found;
    struct Visit {
      StateId state;
      std::uint32_t next; // of its edges
    };
    std::vector<Visit> path;
    std::vector<StateId> stack, members;
    std::uint32_t counter = 0;
    const auto enter = [&](StateId s) {
      places_[s].index = places_[s].low = counter++;
      stack.push_back(s);
      path.push_back({s, 0});
    };
    for (const StateId root : states) {
      if (places_[root].index != none) {
        continue;
      }
      enter(root);
      while (!path.empty()) {
        Visit& visit = path.back();
        const StateId s = visit.state;
        const std::span<const StateId> targets = out_.targets_of(s);
        bool deeper = false;
        while (visit.next < targets.size()) {
          const std::size_t n = visit.next++;
          const StateId t = targets[n];
          const Place& there = places_[t];
          if (there.component != open || (some_gone_ && edge_gone_[out_.of(s)[n]])) {
            continue;
          }
          if (there.index == none) {
            enter(t);
            deeper = true;
            break;
          }
          places_[s].low = std::min(places_[s].low, there.index);
        }
        if (deeper) {
          continue;
        }
        path.pop_back();
        Place& own = places_[s];
        if (!path.empty()) {
          Place& before = places_[path.back().state];
          before.low = std::min(before.low, own.low);
        }
        if (own.low != own.index) {
          continue;
        }
        if (stack.back() == s && !leads_back(s)) {
          stack.pop_back();
          own.component = single;
          judge_single(s);
          continue;
        }
        members.clear();
        StateId t = none;
        do {
          t = stack.back();
          stack.pop_back();
          places_[t].component = static_cast<std::uint32_t>(found.size());
          members.push_back(t);
        } while (t != s);
        std::ranges::sort(members);
        found.add(members);
      }
    }
    return found;
  }

  bool leads_back(StateId s) const {
    const std::span<const StateId> targets = out_.targets_of(s);
    for (std::size_t n = 0; n < targets.size(); ++n) {
      if (targets[n] == s && !(some_gone_ && edge_gone_[out_.of(s)[n]])) {
        return true;
      }
    }
    return false;
  }

  /// Nobody moves any more in this state: allowed if nobody is owed anything.
  void judge_single(StateId s) {
    std::uint32_t rules = 0;
    each_owed(graph_, out_, s, [&](const Demand& demand) {
      rules |= 1U << static_cast<unsigned>(demand.rule);
    });
    if (ignored_) {
      rules &= ~(1U << static_cast<unsigned>(*ignored_));
    }
    if (rules == 0) {
      analysis_.endless.push_back({{s}, {}});
    }
    for (int r = 0; r < rule_count; ++r) {
      const auto rule = static_cast<std::size_t>(r);
      analysis_.uses[rule].some = analysis_.uses[rule].some || (rules >> rule & 1) != 0;
      analysis_.alone[rule] = analysis_.alone[rule] || (whole_ && rules == 1U << rule);
    }
  }

  /// Allowed forever? Else leaves out what carries unanswered demands and looks again.
  void judge(std::uint32_t number, std::span<const StateId> states) {
    edges_.clear();
    for (const StateId s : states) {
      const std::span<const StateId> targets = out_.targets_of(s);
      for (std::size_t n = 0; n < targets.size(); ++n) {
        const EdgeId e = out_.of(s)[n];
        if (places_[targets[n]].component == number && !(some_gone_ && edge_gone_[e])) {
          edges_.push_back(e);
        }
      }
    }
    if (states.size() > 1) {
      std::ranges::sort(edges_);
    }
    followed_.follow(states, edges_);
    const Edges& all = graph_.edges;
    const bool device_moves =
        std::ranges::any_of(edges_, [&](EdgeId e) { return graph_.by_device(all.label(e).actor); });
    const auto unanswered = [&](StateId s, const Demand& demand) {
      if (demand.rule == ignored_ || (demand.rule == Rule::Api && device_moves)) {
        return false;
      }
      return !followed_.moves(s, demand.who);
    };
    std::uint32_t broken = 0; // rules
    const auto breaks = [&](Rule rule) { broken |= 1U << static_cast<unsigned>(rule); };
    std::vector<StateId> rest;
    for (const StateId s : states) {
      bool stays = true;
      each_owed(graph_, out_, s, [&](const Demand& demand) {
        if (unanswered(s, demand)) {
          stays = false;
          breaks(demand.rule);
        }
      });
      if (stays) {
        rest.push_back(s);
      }
    }
    const auto leave_out = [&](EdgeId e, Rule rule) {
      some_gone_ = edge_gone_[e] = true;
      breaks(rule);
    };
    if (ignored_ != Rule::Query && !device_moves) {
      for (const EdgeId e : edges_) {
        if (all.label(e).query_obliged) {
          leave_out(e, Rule::Query);
        }
      }
    }
    for (const EdgeId e : edges_) {
      const Label& failed = all.label(e);
      const auto tried = [&](EdgeId other) {
        const Label& label = all.label(other);
        return label.tried && label.who == failed.who && label.site == failed.site;
      };
      if (failed.unprovoked == Unprovoked::WakeUp ||
          (failed.unprovoked == Unprovoked::Failure && std::ranges::none_of(edges_, tried))) {
        leave_out(e, Rule::Host);
      }
    }
    for (const EdgeId e : edges_) { // [CLOCK]
      const Label& label = all.label(e);
      if (label.soon && ignored_ != Rule::Clock &&
          !followed_.finds_time_gone(all.from(e), label.who)) {
        leave_out(e, Rule::Clock);
      }
    }
    // [MEM-VISIBLE] Who reads a place forever comes to see the newest value.
    for (const EdgeId e : edges_) {
      const Label& old = all.label(e);
      const auto sees = [&](EdgeId other) {
        return all.label(other).fresh == old.stale && all.label(other).actor == old.actor;
      };
      if (old.stale != 0 && ignored_ != Rule::Visible && std::ranges::none_of(edges_, sees)) {
        leave_out(e, Rule::Visible);
      }
    }
    if (broken == 0) {
      analysis_.endless.push_back({{states.begin(), states.end()}, edges_});
      return;
    }
    note_use(broken);
    if (!rest.empty()) {
      work_.push_back(std::move(rest));
    }
  }

  /// These rules say that the program cannot stay where edges_ are.
  void note_use(std::uint32_t rules) {
    std::uint8_t steps = 0;
    for (const EdgeId e : edges_) {
      const Label& label = graph_.edges.label(e);
      if (graph_.by_device(label.actor)) {
        steps = static_cast<std::uint8_t>(steps | 1U << static_cast<unsigned>(label.step));
      }
    }
    for (std::size_t rule = 0; rule < rule_count; ++rule) {
      if ((rules >> rule & 1) != 0) {
        Analysis::Use& use = analysis_.uses[rule];
        use.some = true;
        use.steps = static_cast<std::uint8_t>(use.steps | steps);
      }
    }
  }

  const ProgressGraph& graph_;
  const OutEdges& out_;
  std::optional<Rule> ignored_;
  bool first_only_;
  std::vector<bool> edge_gone_;
  bool some_gone_ = false;
  bool whole_ = false; // it is the first split, of the whole graph
  Followed followed_;
  std::vector<Place> places_;
  std::vector<EdgeId> edges_; // scratch of judge
  std::vector<std::vector<StateId>> work_;
  Analysis analysis_;
};

} // namespace

Analysis find_endless(const ProgressGraph& graph, const OutEdges& out) {
  return Refinement(graph, out, std::nullopt, /*first_only=*/false).run();
}

bool has_endless(
    const ProgressGraph& graph,
    const OutEdges& out,
    const Analysis& analysis,
    Rule ignored
) {
  return analysis.alone[static_cast<std::size_t>(ignored)] ||
         !Refinement(graph, out, ignored, /*first_only=*/true)
              .run(analysis.circles)
              .endless.empty();
}

} // namespace heddle::explore::reference

// Emptiness of the Streett condition described in progress_graph.h.
//
// Classic refinement: split into strongly connected components; a component whose recurring demands
// are all answered by its own edges is an allowed endless execution (walk through all of it, again
// and again). Otherwise whoever stays must avoid the states and edges that carry the unanswered
// demands: remove those, split again. Each round removes something, so it ends.
//
// Most states are components by themselves; a team of threads peels those off which no circle leads
// to (OWCTY, Černá and Pelánek), and judges components side by side. What is left goes to Tarjan's
// algorithm, in one thread.
#include "explore/progress_graph.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <utility>

namespace heddle::explore {

std::string_view rule_id(Rule rule) {
  switch (rule) {
  case Rule::Host:
    return "HOST";
  case Rule::Device:
    return "DEV";
  case Rule::Cooperative:
    return "COOP";
  case Rule::Cluster:
    return "CLUSTER";
  case Rule::Api:
    return "API";
  case Rule::Query:
    return "QUERY";
  case Rule::Dependency:
    return "DEP";
  case Rule::Clock:
    return "CLOCK";
  case Rule::Visible:
    return "MEM-VISIBLE";
  case Rule::None:
    break;
  }
  return "?";
}

std::string_view step_id(Step step) {
  switch (step) {
  case Step::None:
    return "no step";
  case Step::End:
    return "STEP.1";
  case Step::Io:
    return "STEP.2";
  case Step::Volatile:
    return "STEP.3";
  case Step::Sync:
    return "STEP.4";
  case Step::Host:
    return "HOST";
  }
  return "?";
}

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

// Place::component: none outside of the region that is being split, `open` in it as long as the
// component is not known, then its number; `single` if it is this state alone, and no way leads
// back to it.
constexpr std::uint32_t open = none - 1, single = none - 2;
struct Place {
  std::uint32_t component = none;
  std::uint32_t low = 0, index = 0; // of split
};

/// What judges of several components share, and only read.
struct Region {
  const ProgressGraph& graph;
  const OutEdges& out;
  std::optional<Rule> ignored;
  std::vector<Place> places;
  std::vector<bool> edge_gone;
  bool some_gone = false;
  bool whole = false; // it is the first split, of the whole graph

  bool gone(EdgeId e) const { return some_gone && edge_gone[e]; }
  bool leads_back(StateId s) const {
    const std::span<const StateId> targets = out.targets_of(s);
    for (std::size_t n = 0; n < targets.size(); ++n) {
      if (targets[n] == s && !gone(out.of(s)[n])) {
        return true;
      }
    }
    return false;
  }
};

/// Judges components, one after the other. Each member of a team has one.
class ComponentJudge {
public:
  explicit ComponentJudge(const Region& region)
      : region_(region),
        followed_(region.graph, region.out) {}

  Analysis analysis;                       // of those that it has judged; `circles` is not its own
  std::vector<EdgeId> left_out;            // edges that whoever stays must avoid
  std::vector<std::vector<StateId>> rests; // where it goes on

  /// Nobody moves any more in this state: allowed if nobody is owed anything.
  void judge_single(StateId s) {
    std::uint32_t rules = 0;
    each_owed(region_.graph, region_.out, s, [&](const Demand& demand) {
      rules |= 1U << static_cast<unsigned>(demand.rule);
    });
    if (region_.ignored) {
      rules &= ~(1U << static_cast<unsigned>(*region_.ignored));
    }
    if (rules == 0) {
      analysis.endless.push_back({{s}, {}});
    }
    for (int r = 0; r < rule_count; ++r) {
      const auto rule = static_cast<std::size_t>(r);
      analysis.uses[rule].some = analysis.uses[rule].some || (rules >> rule & 1) != 0;
      analysis.alone[rule] = analysis.alone[rule] || (region_.whole && rules == 1U << rule);
    }
  }

  /// Allowed for ever? Else leaves out what carries unanswered demands and looks again.
  void judge(std::uint32_t number, std::span<const StateId> states) {
    edges_.clear();
    for (const StateId s : states) {
      const std::span<const StateId> targets = region_.out.targets_of(s);
      for (std::size_t n = 0; n < targets.size(); ++n) {
        const EdgeId e = region_.out.of(s)[n];
        if (region_.places[targets[n]].component == number && !region_.gone(e)) {
          edges_.push_back(e);
        }
      }
    }
    if (states.size() > 1) {
      std::ranges::sort(edges_);
    }
    followed_.follow(states, edges_);
    const Edges& all = region_.graph.edges;
    const bool device_moves =
        std::ranges::any_of(edges_, [&](EdgeId e) { return region_.graph.by_device(all.label(e).actor); });
    const auto unanswered = [&](StateId s, const Demand& demand) {
      if (demand.rule == region_.ignored || (demand.rule == Rule::Api && device_moves)) {
        return false;
      }
      return !followed_.moves(s, demand.who);
    };
    std::uint32_t broken = 0; // rules
    const auto breaks = [&](Rule rule) { broken |= 1U << static_cast<unsigned>(rule); };
    std::vector<StateId> rest;
    for (const StateId s : states) {
      bool stays = true;
      each_owed(region_.graph, region_.out, s, [&](const Demand& demand) {
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
      left_out.push_back(e);
      breaks(rule);
    };
    if (region_.ignored != Rule::Query && !device_moves) {
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
      if (failed.failed && std::ranges::none_of(edges_, tried)) {
        leave_out(e, Rule::Host);
      }
    }
    for (const EdgeId e : edges_) { // [CLOCK]
      const Label& label = all.label(e);
      if (label.soon && region_.ignored != Rule::Clock &&
          !followed_.finds_time_gone(all.from(e), label.who)) {
        leave_out(e, Rule::Clock);
      }
    }
    // [MEM-VISIBLE] Who reads a place for ever comes to see the newest value.
    for (const EdgeId e : edges_) {
      const Label& old = all.label(e);
      const auto sees = [&](EdgeId other) {
        return all.label(other).fresh == old.stale && all.label(other).actor == old.actor;
      };
      if (old.stale != 0 && region_.ignored != Rule::Visible && std::ranges::none_of(edges_, sees)) {
        leave_out(e, Rule::Visible);
      }
    }
    if (broken == 0) {
      analysis.endless.push_back({{states.begin(), states.end()}, edges_});
      return;
    }
    note_use(broken);
    if (!rest.empty()) {
      rests.push_back(std::move(rest));
    }
  }

private:
  /// These rules say that the program cannot stay where edges_ are.
  void note_use(std::uint32_t rules) {
    std::uint8_t steps = 0;
    for (const EdgeId e : edges_) {
      const Label& label = region_.graph.edges.label(e);
      if (region_.graph.by_device(label.actor)) {
        steps = static_cast<std::uint8_t>(steps | 1U << static_cast<unsigned>(label.step));
      }
    }
    for (std::size_t rule = 0; rule < rule_count; ++rule) {
      if ((rules >> rule & 1) != 0) {
        Analysis::Use& use = analysis.uses[rule];
        use.some = true;
        use.steps = static_cast<std::uint8_t>(use.steps | steps);
      }
    }
  }

  const Region& region_;
  Followed followed_;
  std::vector<EdgeId> edges_; // scratch of judge
};

class Refinement {
public:
  Refinement(
      const ProgressGraph& graph,
      const OutEdges& out,
      std::optional<Rule> ignored,
      bool first_only,
      Team& team
  )
      : first_only_(first_only),
        team_(team),
        region_{
            graph,
            out,
            ignored,
            std::vector<Place>(graph.states.size()),
            std::vector<bool>(graph.edges.size(), false)
        } {
    for (std::size_t m = 0; m < team.members(); ++m) {
      judges_.emplace_back(region_);
    }
  }

  Analysis run() {
    std::vector<StateId> all;
    const ProgressGraph& graph = region_.graph;
    for (StateId s = 0; s < graph.states.size(); ++s) {
      if (graph.states[s].expanded && !graph.states[s].terminal) {
        all.push_back(s);
      }
    }
    region_.whole = true;
    return run(std::move(all));
  }

  /// Within these states.
  Analysis run(std::vector<StateId> region) {
    std::vector<std::vector<StateId>> work;
    work.push_back(std::move(region));
    while (!work.empty()) {
      const std::vector<StateId> states = std::move(work.back());
      work.pop_back();
      const Lists<StateId> components = split(states);
      if (region_.whole) {
        for (std::uint32_t c = 1; c < components.size(); ++c) {
          circles_.insert(circles_.end(), components[c].begin(), components[c].end());
        }
      }
      // Components have no edge in common.
      team_.each(components.size() - 1, [&](std::size_t begin, std::size_t end, std::size_t m) {
        for (std::size_t c = begin + 1; c <= end; ++c) {
          const auto number = static_cast<std::uint32_t>(c);
          judges_[m].judge(number, components[number]);
          if (first_only_ && !judges_[m].analysis.endless.empty()) {
            return;
          }
        }
      });
      for (ComponentJudge& judge : judges_) {
        for (const EdgeId e : judge.left_out) {
          region_.some_gone = region_.edge_gone[e] = true;
        }
        judge.left_out.clear();
        std::ranges::move(judge.rests, std::back_inserter(work));
        judge.rests.clear();
        if (first_only_ && !judge.analysis.endless.empty()) {
          return std::move(judge.analysis);
        }
      }
      for (const StateId s : states) { // for them the region is over
        region_.places[s].component = none;
      }
      region_.whole = false;
    }
    return all_together();
  }

private:
  // Peeling counts edges for all states of the graph.
  static constexpr std::size_t worth_peeling = 1U << 12;

  Analysis all_together() {
    Analysis all;
    all.circles = std::move(circles_);
    for (ComponentJudge& judge : judges_) {
      Analysis& part = judge.analysis;
      std::ranges::move(part.endless, std::back_inserter(all.endless));
      for (std::size_t rule = 0; rule < rule_count; ++rule) {
        Analysis::Use& use = all.uses[rule];
        use.some = use.some || part.uses[rule].some;
        use.steps = static_cast<std::uint8_t>(use.steps | part.uses[rule].steps);
        all.alone[rule] = all.alone[rule] || part.alone[rule];
      }
    }
    std::ranges::sort(all.endless, {}, &Component::states);
    return all;
  }

  /// Takes away, level by level, states that no state leads to which is left: each is a component
  /// by itself. What is left is on a circle or behind one. Returns it; `circling` are those of the
  /// others that lead to themselves.
  std::vector<StateId> peel(std::span<const StateId> states, std::vector<StateId>& circling) {
    std::vector<std::uint32_t> before(region_.places.size()); // how many edges lead there
    const auto each_target = [&](StateId s, const auto& f) {
      const std::span<const StateId> targets = region_.out.targets_of(s);
      for (std::size_t n = 0; n < targets.size(); ++n) {
        const StateId t = targets[n];
        if (t != s && region_.places[t].component == open && !region_.gone(region_.out.of(s)[n])) {
          f(t);
        }
      }
    };
    constexpr auto relaxed = std::memory_order_relaxed;
    team_.each(states.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t i = begin; i < end; ++i) {
        each_target(states[i], [&](StateId t) {
          std::atomic_ref(before[t]).fetch_add(1, relaxed);
        });
      }
    });
    std::vector<StateId> level;
    std::ranges::copy_if(states, std::back_inserter(level), [&](StateId s) {
      return before[s] == 0;
    });
    std::vector<std::vector<StateId>> found(team_.members()), loops(team_.members());
    while (!level.empty()) {
      team_.each(level.size(), [&](std::size_t begin, std::size_t end, std::size_t m) {
        for (std::size_t i = begin; i < end; ++i) {
          const StateId s = level[i];
          if (region_.leads_back(s)) {
            loops[m].push_back(s);
          } else {
            judges_[m].judge_single(s);
          }
          each_target(s, [&](StateId t) {
            if (std::atomic_ref(before[t]).fetch_sub(1, relaxed) == 1) {
              found[m].push_back(t);
            }
          });
        }
      });
      for (const StateId s : level) {
        region_.places[s] = {single, 0, none};
      }
      level.clear();
      for (std::vector<StateId>& part : found) {
        level.insert(level.end(), part.begin(), part.end());
        part.clear();
      }
    }
    for (const std::vector<StateId>& part : loops) {
      circling.insert(circling.end(), part.begin(), part.end());
    }
    std::ranges::sort(circling);
    std::vector<StateId> rest;
    std::ranges::copy_if(states, std::back_inserter(rest), [&](StateId s) {
      return region_.places[s].component == open;
    });
    return rest;
  }

  /// Strongly connected components of `states`, each ascending. Of single ones, which are most,
  /// nothing is kept.
  Lists<StateId> split(std::span<const StateId> states) {
    for (const StateId s : states) {
      region_.places[s] = {open, 0, none};
    }
    Lists<StateId> found;
    std::vector<StateId> circling;
    // One thread alone, or a few states, are done sooner without.
    if (team_.members() == 1 || states.size() < worth_peeling) {
      split(states, found);
      return found;
    }
    const std::vector<StateId> rest = peel(states, circling);
    for (const StateId s : circling) {
      region_.places[s].component = static_cast<std::uint32_t>(found.size());
      found.add({s});
    }
    split(rest, found);
    return found;
  }

  /// Tarjan, without recursion.
  void split(std::span<const StateId> states, Lists<StateId>& found) {
    std::vector<Place>& places = region_.places;
    struct Visit {
      StateId state;
      std::uint32_t next; // of its edges
    };
    std::vector<Visit> path;
    std::vector<StateId> stack, members;
    std::uint32_t counter = 0;
    const auto enter = [&](StateId s) {
      places[s].index = places[s].low = counter++;
      stack.push_back(s);
      path.push_back({s, 0});
    };
    for (const StateId root : states) {
      if (places[root].index != none) {
        continue;
      }
      enter(root);
      while (!path.empty()) {
        Visit& visit = path.back();
        const StateId s = visit.state;
        const std::span<const StateId> targets = region_.out.targets_of(s);
        bool deeper = false;
        while (visit.next < targets.size()) {
          const std::size_t n = visit.next++;
          const StateId t = targets[n];
          const Place& there = places[t];
          if (there.component != open || region_.gone(region_.out.of(s)[n])) {
            continue;
          }
          if (there.index == none) {
            enter(t);
            deeper = true;
            break;
          }
          places[s].low = std::min(places[s].low, there.index);
        }
        if (deeper) {
          continue;
        }
        path.pop_back();
        Place& own = places[s];
        if (!path.empty()) {
          Place& before = places[path.back().state];
          before.low = std::min(before.low, own.low);
        }
        if (own.low != own.index) {
          continue;
        }
        if (stack.back() == s && !region_.leads_back(s)) {
          stack.pop_back();
          own.component = single;
          judges_.front().judge_single(s);
          continue;
        }
        members.clear();
        StateId t = none;
        do {
          t = stack.back();
          stack.pop_back();
          places[t].component = static_cast<std::uint32_t>(found.size());
          members.push_back(t);
        } while (t != s);
        std::ranges::sort(members);
        found.add(members);
      }
    }
  }

  bool first_only_;
  Team& team_;
  Region region_;
  std::vector<ComponentJudge> judges_; // by member of the team
  std::vector<StateId> circles_;
};

} // namespace

OutEdges::OutEdges(const ProgressGraph& graph, Team& team)
    : first_(graph.states.size() + 2, 0),
      edges_(graph.edges.size()),
      targets_(graph.edges.size()) {
  constexpr auto relaxed = std::memory_order_relaxed;
  // Behind each state's place, so that it can count up to where the next one begins.
  const std::span<const ShortEdge> all = graph.edges.all();
  team.each(all.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t e = begin; e < end; ++e) {
      std::atomic_ref(first_[all[e].from + 2]).fetch_add(1, relaxed);
    }
  });
  for (std::size_t s = 0; s < graph.states.size(); ++s) {
    first_[s + 2] += first_[s + 1];
  }
  team.each(all.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t e = begin; e < end; ++e) {
      const std::uint32_t at = std::atomic_ref(first_[all[e].from + 1]).fetch_add(1, relaxed);
      edges_[at] = static_cast<EdgeId>(e);
    }
  });
  team.each(graph.states.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t s = begin; s < end; ++s) {
      std::sort(edges_.data() + first_[s], edges_.data() + first_[s + 1]);
      for (std::uint32_t at = first_[s]; at < first_[s + 1]; ++at) {
        targets_[at] = all[edges_[at]].to;
      }
    }
  });
}

OutEdges::OutEdges(const ProgressGraph& graph) {
  Team alone(1);
  *this = OutEdges(graph, alone);
}

std::vector<Demand> all_owed_in(const ProgressGraph& graph, const OutEdges& out, StateId s) {
  std::vector<Demand> result;
  each_owed(graph, out, s, [&](const Demand& demand) { result.push_back(demand); });
  sort_unique(result);
  return result;
}

Analysis find_endless(const ProgressGraph& graph, const OutEdges& out, Team& team) {
  return Refinement(graph, out, std::nullopt, /*first_only=*/false, team).run();
}

Analysis find_endless(const ProgressGraph& graph, const OutEdges& out) {
  Team alone(1);
  return find_endless(graph, out, alone);
}

Analysis find_endless(const ProgressGraph& graph) {
  return find_endless(graph, OutEdges(graph));
}

bool has_endless(
    const ProgressGraph& graph,
    const OutEdges& out,
    const Analysis& analysis,
    Rule ignored,
    Team& team
) {
  // A rule less keeps nothing apart that was together, and brings nothing together.
  return analysis.alone[static_cast<std::size_t>(ignored)] ||
         !Refinement(graph, out, ignored, /*first_only=*/true, team)
              .run(analysis.circles)
              .endless.empty();
}

std::vector<EdgeId>
shortest_way(const ProgressGraph& graph, const OutEdges& out, const std::vector<StateId>& targets) {
  std::vector<bool> wanted(graph.states.size(), false);
  for (const StateId s : targets) {
    wanted[s] = true;
  }
  constexpr EdgeId start = none - 1;
  std::vector<EdgeId> came_by(graph.states.size(), none); // none: nobody has been there
  std::vector<StateId> queue{0};
  came_by[0] = start;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    StateId s = queue[next];
    if (wanted[s]) {
      std::vector<EdgeId> way;
      for (; came_by[s] != start; s = graph.edges.from(came_by[s])) {
        way.push_back(came_by[s]);
      }
      std::reverse(way.begin(), way.end());
      return way;
    }
    const std::span<const StateId> targets = out.targets_of(s);
    for (std::size_t n = 0; n < targets.size(); ++n) {
      if (came_by[targets[n]] == none) {
        came_by[targets[n]] = out.of(s)[n];
        queue.push_back(targets[n]);
      }
    }
  }
  return {};
}

} // namespace heddle::explore

// Emptiness of the Streett condition described in progress_graph.h.
//
// Classic refinement: split into strongly connected components; a component whose recurring demands
// are all answered by its own edges is an allowed endless execution (walk through all of it, again
// and again). Otherwise whoever stays must avoid the states and edges that carry the unanswered
// demands: remove those, split again. Each round removes something, so it ends.
#include "explore/progress_graph.h"

#include <algorithm>
#include <deque>
#include <functional>
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

/// Threads followed through a component by their classes: does this one move in it? Its memory
/// serves one component after the other.
class Followed {
public:
  explicit Followed(const ProgressGraph& graph) : graph_(graph) {}

  /// `edges` are those of one component, by the states that they leave.
  void follow(std::span<const StateId> states, std::span<const EdgeId> edges) {
    changing_ = std::ranges::any_of(edges, [&](EdgeId e) { return graph_.edges[e].changes != 0; });
    movers_.clear();
    if (!changing_) { // every thread is in one class
      for (const EdgeId e : edges) {
        if (movers_.empty() || movers_.back() != graph_.edges[e].who) {
          movers_.push_back(graph_.edges[e].who);
        }
      }
      sort_unique(movers_);
      return;
    }
    nodes_.clear();
    index_.assign(64, none);
    out_.clear();
    for (const EdgeId e : edges) {
      out_.push_back({graph_.edges[e].from, e});
    }
    std::ranges::sort(out_);
    for (const StateId s : states) {
      for (const Demand& demand : graph_.owed_in(s)) {
        node(s, demand.who);
      }
    }
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      follow_node(n);
    }
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].moves) {
        nodes_[root(n)].moves = true;
      }
    }
  }

  /// Of who is owed something in one of the states.
  bool moves(StateId s, ThreadClass who) {
    return changing_ ? nodes_[root(node(s, who))].moves : std::ranges::binary_search(movers_, who);
  }

  template <class T> static void sort_unique(std::vector<T>& values) {
    std::ranges::sort(values);
    const auto rest = std::ranges::unique(values);
    values.erase(rest.begin(), rest.end());
  }

private:
  struct Node { // a class in a state
    StateId state;
    std::uint32_t parent; // of a union-find forest
    ThreadClass who;
    bool moves = false;
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
      const Edge& edge = graph_.edges[out->edge];
      nodes_[n].moves = nodes_[n].moves || edge.who == who;
      bool named = false;
      for (const ClassChange& change : graph_.changes[edge.changes]) {
        if (change.from == who) {
          named = true;
          if (change.to != 0) {
            unite(n, node(edge.to, change.to));
          }
        }
      }
      if (!named) {
        unite(n, node(edge.to, who));
      }
    }
  }

  struct Out {
    StateId from;
    EdgeId edge;
    auto operator<=>(const Out&) const = default;
  };
  const ProgressGraph& graph_;
  bool changing_ = false;
  std::vector<ThreadClass> movers_;
  std::vector<Out> out_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> index_;
};

class Refinement {
public:
  Refinement(const ProgressGraph& graph, std::optional<Rule> ignored, bool first_only)
      : graph_(graph),
        ignored_(ignored),
        first_only_(first_only),
        out_(graph),
        edge_gone_(graph.edges.size(), false),
        followed_(graph),
        component_(graph.states.size(), none),
        low_(graph.states.size()),
        index_(graph.states.size()) {}

  Analysis run() {
    std::vector<StateId> all;
    for (StateId s = 0; s < graph_.states.size(); ++s) {
      if (graph_.states[s].expanded && !graph_.states[s].terminal) {
        all.push_back(s);
      }
    }
    work_.push_back(std::move(all));
    while (!work_.empty()) {
      const std::vector<StateId> states = std::move(work_.back());
      work_.pop_back();
      const Lists<StateId> components = split(states);
      for (std::uint32_t c = 1; c < components.size(); ++c) {
        judge(c, components[c]);
        if (first_only_ && !analysis_.endless.empty()) {
          return std::move(analysis_);
        }
      }
      for (const StateId s : states) { // for them the region is over
        component_[s] = none;
      }
    }
    const auto by_first_state = [](const Component& a, const Component& b) {
      return a.states < b.states;
    };
    std::sort(analysis_.endless.begin(), analysis_.endless.end(), by_first_state);
    return std::move(analysis_);
  }

private:
  // component_ of a state: none outside of the region that is being split, `open` in it as long as
  // the component is not known, then its number.
  static constexpr std::uint32_t open = none - 1;

  /// Strongly connected components of `states` (Tarjan, without recursion), each ascending.
  Lists<StateId> split(std::span<const StateId> states) {
    for (const StateId s : states) {
      component_[s] = open;
      index_[s] = none;
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
      index_[s] = low_[s] = counter++;
      stack.push_back(s);
      path.push_back({s, 0});
    };
    for (const StateId root : states) {
      if (index_[root] != none) {
        continue;
      }
      enter(root);
      while (!path.empty()) {
        Visit& visit = path.back();
        const StateId s = visit.state;
        const std::span<const EdgeId> out = out_.of(s);
        bool deeper = false;
        while (visit.next < out.size()) {
          const EdgeId e = out[visit.next++];
          const StateId t = graph_.edges[e].to;
          if (component_[t] != open || (some_gone_ && edge_gone_[e])) {
            continue;
          }
          if (index_[t] == none) {
            enter(t);
            deeper = true;
            break;
          }
          low_[s] = std::min(low_[s], index_[t]);
        }
        if (deeper) {
          continue;
        }
        path.pop_back();
        if (!path.empty()) {
          low_[path.back().state] = std::min(low_[path.back().state], low_[s]);
        }
        if (low_[s] == index_[s]) {
          members.clear();
          StateId t = none;
          do {
            t = stack.back();
            stack.pop_back();
            component_[t] = static_cast<std::uint32_t>(found.size());
            members.push_back(t);
          } while (t != s);
          std::ranges::sort(members);
          found.add(members);
        }
      }
    }
    return found;
  }

  /// Allowed for ever? Else leaves out what carries unanswered demands and looks again.
  void judge(std::uint32_t number, std::span<const StateId> states) {
    edges_.clear();
    for (const StateId s : states) {
      for (const EdgeId e : out_.of(s)) {
        if (component_[graph_.edges[e].to] == number && !(some_gone_ && edge_gone_[e])) {
          edges_.push_back(e);
        }
      }
    }
    if (states.size() > 1) {
      std::ranges::sort(edges_);
    }
    followed_.follow(states, edges_);
    const bool device_moves =
        std::ranges::any_of(edges_, [&](EdgeId e) { return graph_.by_device(graph_.edges[e]); });
    const auto unanswered = [&](StateId s, const Demand& demand) {
      if (demand.rule == ignored_ || (demand.rule == Rule::Api && device_moves)) {
        return false;
      }
      return !followed_.moves(s, demand.who);
    };
    broken_.clear();
    std::vector<StateId> rest;
    for (const StateId s : states) {
      bool stays = true;
      for (const Demand& demand : graph_.owed_in(s)) {
        if (unanswered(s, demand)) {
          stays = false;
          broken_.push_back(demand);
        }
      }
      if (stays) {
        rest.push_back(s);
      }
    }
    const auto leave_out = [&](EdgeId e, Rule rule) {
      some_gone_ = edge_gone_[e] = true;
      broken_.push_back({rule, graph_.edges[e].who});
    };
    if (ignored_ != Rule::Query && !device_moves) {
      for (const EdgeId e : edges_) {
        if (graph_.edges[e].query_obliged) {
          leave_out(e, Rule::Query);
        }
      }
    }
    for (const EdgeId e : edges_) {
      const Edge& failed = graph_.edges[e];
      const auto tried = [&](EdgeId other) {
        const Edge& edge = graph_.edges[other];
        return edge.tried && edge.who == failed.who && edge.site == failed.site;
      };
      if (failed.failed && std::ranges::none_of(edges_, tried)) {
        leave_out(e, Rule::Host);
      }
    }
    if (broken_.empty()) {
      analysis_.endless.push_back({{states.begin(), states.end()}, edges_});
      return;
    }
    if (!first_only_) {
      Followed::sort_unique(broken_);
      analysis_.refuted.add(edges_);
      analysis_.unanswered.add(broken_);
    }
    if (!rest.empty()) {
      work_.push_back(std::move(rest));
    }
  }

  const ProgressGraph& graph_;
  std::optional<Rule> ignored_;
  bool first_only_;
  OutEdges out_;
  std::vector<bool> edge_gone_;
  bool some_gone_ = false;
  Followed followed_;
  std::vector<std::uint32_t> component_;
  std::vector<std::uint32_t> low_, index_; // of split
  std::vector<EdgeId> edges_;              // scratch of judge
  std::vector<Demand> broken_;
  std::vector<std::vector<StateId>> work_;
  Analysis analysis_;
};

} // namespace

OutEdges::OutEdges(const ProgressGraph& graph)
    : first_(graph.states.size() + 1, 0),
      edges_(graph.edges.size()) {
  for (const Edge& edge : graph.edges) {
    ++first_[edge.from + 1];
  }
  for (std::size_t s = 0; s < graph.states.size(); ++s) {
    first_[s + 1] += first_[s];
  }
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (EdgeId e = 0; e < graph.edges.size(); ++e) {
    edges_[next[graph.edges[e].from]++] = e;
  }
}

Analysis find_endless(const ProgressGraph& graph) {
  return Refinement(graph, std::nullopt, /*first_only=*/false).run();
}

bool has_endless(const ProgressGraph& graph, std::optional<Rule> ignored) {
  return !Refinement(graph, ignored, /*first_only=*/true).run().endless.empty();
}

std::vector<EdgeId> shortest_way(
    const ProgressGraph& graph,
    const OutEdges& out,
    const std::vector<StateId>& targets
) {
  std::vector<bool> wanted(graph.states.size(), false);
  for (const StateId s : targets) {
    wanted[s] = true;
  }
  std::vector<EdgeId> came_by(graph.states.size(), none);
  std::vector<bool> seen(graph.states.size(), false);
  std::deque<StateId> queue{0};
  seen[0] = true;
  while (!queue.empty()) {
    StateId s = queue.front();
    queue.pop_front();
    if (wanted[s]) {
      std::vector<EdgeId> way;
      for (; came_by[s] != none; s = graph.edges[came_by[s]].from) {
        way.push_back(came_by[s]);
      }
      std::reverse(way.begin(), way.end());
      return way;
    }
    for (const EdgeId e : out.of(s)) {
      const StateId t = graph.edges[e].to;
      if (!seen[t]) {
        seen[t] = true;
        came_by[t] = e;
        queue.push_back(t);
      }
    }
  }
  return {};
}

} // namespace heddle::explore

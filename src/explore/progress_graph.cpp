// Emptiness of the Streett condition described in progress_graph.h.
//
// Classic refinement: split into strongly connected components; a component whose recurring demands
// are all answered by its own edges is an allowed endless execution (walk through all of it, again
// and again). Otherwise whoever stays must avoid the states and edges that carry the unanswered
// demands: remove those, split again. Each round removes something, so it ends.
#include "explore/progress_graph.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
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

/// Threads followed through a component by their classes: does this one move in it?
class Followed {
public:
  Followed(const ProgressGraph& graph, const Component& component) : graph_(graph) {
    changing_ = std::any_of(component.edges.begin(), component.edges.end(), [&](EdgeId e) {
      return graph.edges[e].changes != 0;
    });
    if (!changing_) { // every thread is in one class
      for (const EdgeId e : component.edges) {
        movers_.insert(graph.edges[e].who);
      }
      return;
    }
    for (const EdgeId e : component.edges) {
      out_[graph.edges[e].from].push_back(e);
    }
    for (const StateId s : component.states) {
      for (const Demand& demand : graph.states[s].demands) {
        node(s, demand.who);
      }
    }
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      follow(n);
    }
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].moves) {
        nodes_[root(n)].moves = true;
      }
    }
  }

  bool moves(StateId s, ThreadClass who) const {
    if (!changing_) {
      return movers_.contains(who);
    }
    std::size_t n = index_.at({s, who});
    while (nodes_[n].parent != n) {
      n = nodes_[n].parent;
    }
    return nodes_[n].moves;
  }

private:
  struct Node { // a class in a state
    StateId state;
    ThreadClass who;
    std::size_t parent; // of a union-find forest
    bool moves = false;
  };
  std::size_t node(StateId s, ThreadClass who) {
    const auto [place, is_new] = index_.try_emplace({s, who}, nodes_.size());
    if (is_new) {
      nodes_.push_back({s, who, nodes_.size()});
    }
    return place->second;
  }
  std::size_t root(std::size_t n) {
    while (nodes_[n].parent != n) {
      n = nodes_[n].parent = nodes_[nodes_[n].parent].parent;
    }
    return n;
  }
  void follow(std::size_t n) {
    const auto out = out_.find(nodes_[n].state);
    if (out == out_.end()) {
      return;
    }
    for (const EdgeId e : out->second) {
      const Edge& edge = graph_.edges[e];
      const ThreadClass who = nodes_[n].who;
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
  void unite(std::size_t a, std::size_t b) { nodes_[root(a)].parent = root(b); }

  const ProgressGraph& graph_;
  bool changing_ = false;
  std::set<ThreadClass> movers_;
  std::map<StateId, std::vector<EdgeId>> out_;
  std::map<std::pair<StateId, ThreadClass>, std::size_t> index_;
  std::vector<Node> nodes_;
};

class Refinement {
public:
  Refinement(const ProgressGraph& graph, std::optional<Rule> ignored)
      : graph_(graph),
        ignored_(ignored),
        first_out_(graph.states.size() + 1, 0),
        out_(graph.edges.size()),
        edge_gone_(graph.edges.size(), false),
        region_(graph.states.size(), none),
        component_(graph.states.size(), none) {
    for (const Edge& edge : graph.edges) {
      ++first_out_[edge.from + 1];
    }
    for (std::size_t s = 0; s < graph.states.size(); ++s) {
      first_out_[s + 1] += first_out_[s];
    }
    std::vector<std::uint32_t> next(first_out_.begin(), first_out_.end() - 1);
    for (EdgeId e = 0; e < graph.edges.size(); ++e) {
      out_[next[graph.edges[e].from]++] = e;
    }
  }

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
      for (Component& component : split(states)) {
        judge(std::move(component));
      }
    }
    const auto by_first_state = [](const Component& a, const Component& b) {
      return a.states < b.states;
    };
    std::sort(analysis_.endless.begin(), analysis_.endless.end(), by_first_state);
    return std::move(analysis_);
  }

private:
  template <class F> void each_edge_within(StateId s, F&& f) const {
    for (std::uint32_t i = first_out_[s]; i < first_out_[s + 1]; ++i) {
      const EdgeId e = out_[i];
      if (!edge_gone_[e] && region_[graph_.edges[e].to] == current_region_) {
        f(e);
      }
    }
  }

  /// Strongly connected components of `states` (Tarjan, without recursion).
  std::vector<Component> split(const std::vector<StateId>& states) {
    ++current_region_;
    for (const StateId s : states) {
      region_[s] = current_region_;
      component_[s] = none;
    }
    std::vector<Component> found;
    struct Visit {
      StateId state;
      std::vector<StateId> successors;
      std::size_t next = 0;
    };
    std::vector<Visit> path;
    std::vector<StateId> open;
    std::vector<std::uint32_t>& low = low_;
    std::vector<std::uint32_t>& index = index_;
    low.resize(graph_.states.size());
    index.resize(graph_.states.size());
    for (const StateId s : states) {
      index[s] = none;
    }
    std::uint32_t counter = 0;
    const auto enter = [&](StateId s) {
      index[s] = low[s] = counter++;
      open.push_back(s);
      Visit visit{s, {}};
      each_edge_within(s, [&](EdgeId e) { visit.successors.push_back(graph_.edges[e].to); });
      path.push_back(std::move(visit));
    };
    for (const StateId root : states) {
      if (index[root] != none) {
        continue;
      }
      enter(root);
      while (!path.empty()) {
        Visit& visit = path.back();
        const StateId s = visit.state;
        if (visit.next < visit.successors.size()) {
          const StateId t = visit.successors[visit.next++];
          if (index[t] == none) {
            enter(t);
          } else if (component_[t] == none) { // still open
            low[s] = std::min(low[s], index[t]);
          }
          continue;
        }
        path.pop_back();
        if (!path.empty()) {
          low[path.back().state] = std::min(low[path.back().state], low[s]);
        }
        if (low[s] == index[s]) {
          Component component;
          StateId t = none;
          do {
            t = open.back();
            open.pop_back();
            component_[t] = static_cast<std::uint32_t>(found.size());
            component.states.push_back(t);
          } while (t != s);
          std::sort(component.states.begin(), component.states.end());
          found.push_back(std::move(component));
        }
      }
    }
    for (std::uint32_t c = 0; c < found.size(); ++c) {
      for (const StateId s : found[c].states) {
        each_edge_within(s, [&](EdgeId e) {
          if (component_[graph_.edges[e].to] == c) {
            found[c].edges.push_back(e);
          }
        });
      }
      std::sort(found[c].edges.begin(), found[c].edges.end());
    }
    return found;
  }

  /// Allowed for ever? Else leaves out what carries unanswered demands and looks again.
  void judge(Component component) {
    const Followed followed(graph_, component);
    const bool device_moves =
        std::any_of(component.edges.begin(), component.edges.end(), [&](EdgeId e) {
          return graph_.by_device(graph_.edges[e]);
        });
    const auto unanswered = [&](StateId s, const Demand& demand) {
      if (demand.rule == ignored_ || (demand.rule == Rule::Api && device_moves)) {
        return false;
      }
      return !followed.moves(s, demand.who);
    };
    std::vector<Demand> broken;
    std::vector<StateId> rest;
    for (const StateId s : component.states) {
      bool stays = true;
      for (const Demand& demand : graph_.states[s].demands) {
        if (unanswered(s, demand)) {
          stays = false;
          add(broken, demand);
        }
      }
      if (stays) {
        rest.push_back(s);
      }
    }
    if (ignored_ != Rule::Query && !device_moves) {
      for (const EdgeId e : component.edges) {
        if (graph_.edges[e].query_obliged) {
          edge_gone_[e] = true;
          add(broken, {Rule::Query, graph_.edges[e].who});
        }
      }
    }
    for (const EdgeId e : component.edges) {
      const Edge& failed = graph_.edges[e];
      const auto tried = [&](EdgeId other) {
        const Edge& edge = graph_.edges[other];
        return edge.tried && edge.who == failed.who && edge.site == failed.site;
      };
      if (failed.failed && std::none_of(component.edges.begin(), component.edges.end(), tried)) {
        edge_gone_[e] = true;
        add(broken, {Rule::Host, failed.who});
      }
    }
    if (broken.empty()) {
      analysis_.endless.push_back(std::move(component));
      return;
    }
    std::sort(broken.begin(), broken.end());
    analysis_.refuted.push_back({std::move(component), std::move(broken)});
    if (!rest.empty()) {
      work_.push_back(std::move(rest));
    }
  }

  static void add(std::vector<Demand>& demands, const Demand& demand) {
    if (std::find(demands.begin(), demands.end(), demand) == demands.end()) {
      demands.push_back(demand);
    }
  }

  const ProgressGraph& graph_;
  std::optional<Rule> ignored_;
  std::vector<std::uint32_t> first_out_; // out_[first_out_[s] …] are the edges out of s
  std::vector<EdgeId> out_;
  std::vector<bool> edge_gone_;
  std::vector<std::uint32_t> region_;    // which call of split the state belongs to
  std::vector<std::uint32_t> component_; // within that call
  std::vector<std::uint32_t> low_, index_;
  std::uint32_t current_region_ = 0;
  std::vector<std::vector<StateId>> work_;
  Analysis analysis_;
};

} // namespace

Analysis find_endless(const ProgressGraph& graph, std::optional<Rule> ignored) {
  return Refinement(graph, ignored).run();
}

std::vector<EdgeId> shortest_way(const ProgressGraph& graph, const std::vector<StateId>& targets) {
  std::vector<std::vector<EdgeId>> out(graph.states.size());
  for (EdgeId e = 0; e < graph.edges.size(); ++e) {
    out[graph.edges[e].from].push_back(e);
  }
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
    for (const EdgeId e : out[s]) {
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

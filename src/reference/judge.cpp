// Implements judge.h.
#include "reference/judge.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace heddle::reference {

namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

/// Strongly connected components of a part of a graph, by two passes of depth-first search
/// (Kosaraju, Sharir).
class Components {
public:
  Components(const Graph& graph, const std::vector<std::uint32_t>& part)
      : graph_(graph),
        inside_(graph.states.size(), false),
        seen_(graph.states.size(), false) {
    for (const std::uint32_t s : part) {
      inside_[s] = true;
    }
    first_.assign(graph.states.size() + 1, 0);
    into_.assign(graph.states.size() + 1, 0);
    for (const Edge& e : graph.edges) {
      ++first_[e.from + 1];
      ++into_[e.to + 1];
    }
    for (std::size_t s = 0; s < graph.states.size(); ++s) {
      first_[s + 1] += first_[s];
      into_[s + 1] += into_[s];
    }
    backward_.resize(graph.edges.size());
    std::vector<std::uint32_t> next = into_;
    for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
      backward_[next[graph.edges[e].to]++] = e;
    }
    for (const std::uint32_t s : part) {
      finish_from(s);
    }
    std::ranges::reverse(finished_);
    seen_.assign(graph.states.size(), false);
    for (const std::uint32_t s : finished_) {
      if (!seen_[s]) {
        collect(s);
      }
    }
  }
  std::vector<std::vector<std::uint32_t>> found;

private:
  void finish_from(std::uint32_t root) {
    if (seen_[root]) {
      return;
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> path{{root, first_[root]}};
    seen_[root] = true;
    while (!path.empty()) {
      auto& [s, e] = path.back();
      if (e == first_[s + 1]) {
        finished_.push_back(s);
        path.pop_back();
        continue;
      }
      const std::uint32_t to = graph_.edges[e++].to;
      if (inside_[to] && !seen_[to]) {
        seen_[to] = true;
        path.emplace_back(to, first_[to]);
      }
    }
  }
  void collect(std::uint32_t root) {
    std::vector<std::uint32_t> component, work{root};
    seen_[root] = true;
    while (!work.empty()) {
      const std::uint32_t s = work.back();
      work.pop_back();
      component.push_back(s);
      for (std::uint32_t n = into_[s]; n < into_[s + 1]; ++n) {
        const std::uint32_t from = graph_.edges[backward_[n]].from;
        if (inside_[from] && !seen_[from]) {
          seen_[from] = true;
          work.push_back(from);
        }
      }
    }
    std::ranges::sort(component);
    found.push_back(std::move(component));
  }

  const Graph& graph_;
  std::vector<bool> inside_, seen_;
  std::vector<std::uint32_t> first_, into_; // edges from a state, and into it
  std::vector<std::uint32_t> backward_;     // edges by where they lead
  std::vector<std::uint32_t> finished_;
};

} // namespace

std::vector<Endless> find_endless(const Graph& graph) {
  std::vector<Endless> result;
  std::vector<std::uint32_t> all;
  for (std::uint32_t s = 0; s < graph.states.size(); ++s) {
    if (!graph.states[s].over) {
      all.push_back(s);
    }
    if (!graph.states[s].over && !graph.states[s].moves) {
      result.push_back({{s}, {}});
    }
  }
  std::vector<std::uint32_t> component_of(graph.states.size(), nowhere);
  std::vector<std::vector<std::uint32_t>> work{all};
  while (!work.empty()) {
    const std::vector<std::uint32_t> part = std::move(work.back());
    work.pop_back();
    Components components(graph, part);
    for (std::uint32_t c = 0; c < components.found.size(); ++c) {
      for (const std::uint32_t s : components.found[c]) {
        component_of[s] = c;
      }
    }
    std::vector<std::vector<std::uint32_t>> edges(components.found.size());
    for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
      const std::uint32_t c = component_of[graph.edges[e].from];
      if (c != nowhere && c == component_of[graph.edges[e].to]) {
        edges[c].push_back(e);
      }
    }
    for (std::uint32_t c = 0; c < components.found.size(); ++c) {
      if (edges[c].empty()) {
        continue; // it is left at once, or nobody moves
      }
      std::set<std::uint32_t> moving;
      for (const std::uint32_t e : edges[c]) {
        moving.insert(graph.edges[e].thread);
      }
      std::vector<std::uint32_t> rest;
      for (const std::uint32_t s : components.found[c]) {
        const auto& owed = graph.states[s].owed;
        if (std::ranges::all_of(owed, [&](std::uint32_t t) { return moving.contains(t); })) {
          rest.push_back(s);
        }
      }
      if (rest.size() == components.found[c].size()) {
        result.push_back({rest, edges[c]});
      } else if (!rest.empty()) {
        work.push_back(std::move(rest));
      }
    }
    for (const std::uint32_t s : part) {
      component_of[s] = nowhere;
    }
  }
  return result;
}

} // namespace heddle::reference

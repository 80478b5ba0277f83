// find_endless against the definition itself on random small graphs: an endless execution is a set
// of edges that hang together (or one state in which nobody moves) such that each demand of its
// states and edges is answered by one of its edges. With a dozen edges all sets can be tried.
//
// It would miss errors that only larger graphs show.
#include "explore/judge/progress_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

namespace heddle::explore {
namespace {

/// Classes of threads are the threads themselves here.
bool answers(const ProgressGraph& graph, const Edge& edge, const Demand& demand) {
  switch (demand.rule) {
  case Rule::Api:
    return graph.by_device(edge) || edge.who == demand.who;
  case Rule::Query:
    return graph.by_device(edge);
  default:
    return edge.who == demand.who;
  }
}

bool all_answered(
    const ProgressGraph& graph,
    const std::vector<Demand>& demands,
    const std::vector<EdgeId>& edges
) {
  return std::all_of(demands.begin(), demands.end(), [&](const Demand& demand) {
    return std::any_of(edges.begin(), edges.end(), [&](EdgeId e) {
      return answers(graph, graph.edges[e], demand);
    });
  });
}

/// Can one walk along these edges from any of their ends to any other?
bool hang_together(const ProgressGraph& graph, const std::vector<EdgeId>& edges) {
  const std::size_t count = graph.states.size();
  std::vector<std::vector<bool>> way(count, std::vector<bool>(count, false));
  std::vector<bool> used(count, false);
  for (const EdgeId e : edges) {
    way[graph.edges[e].from][graph.edges[e].to] = true;
    used[graph.edges[e].from] = used[graph.edges[e].to] = true;
  }
  for (std::size_t via = 0; via < count; ++via) {
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        way[a][b] = way[a][b] || (way[a][via] && way[via][b]);
      }
    }
  }
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      if (used[a] && used[b] && !way[a][b]) {
        return false;
      }
    }
  }
  return true;
}

bool by_definition(const ProgressGraph& graph) {
  for (StateId s = 0; s < graph.states.size(); ++s) {
    if (!graph.states[s].terminal && graph.owed_in(s).empty()) {
      return true; // everybody stays where they are, and nobody is owed more
    }
  }
  for (std::uint32_t set = 1; set < 1U << graph.edges.size(); ++set) {
    std::vector<EdgeId> edges;
    std::vector<Demand> demands;
    bool ends = false;
    for (std::uint32_t left = set; left != 0; left &= left - 1) {
      const auto e = static_cast<EdgeId>(std::countr_zero(left));
      const Edge& edge = graph.edges[e];
      edges.push_back(e);
      const State& from = graph.states[edge.from];
      const auto owed = graph.owed_in(edge.from);
      demands.insert(demands.end(), owed.begin(), owed.end());
      ends = ends || from.terminal || graph.states[edge.to].terminal;
      if (edge.query_obliged) {
        demands.push_back({Rule::Query, edge.who});
      }
    }
    if (!ends && hang_together(graph, edges) && all_answered(graph, demands, edges)) {
      return true;
    }
  }
  return false;
}

ProgressGraph random_graph(std::mt19937& source) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(source() % n); };
  ProgressGraph graph;
  graph.actors = {
      {ActorKind::Host, "host", {}, {}},
      {ActorKind::DeviceThread, "a", {}, {}},
      {ActorKind::DeviceThread, "b", {}, {}},
      {ActorKind::Command, "copy", {}, {}}
  };
  graph.states.resize(2 + below(4));
  const auto state = [&] { return below(static_cast<std::uint32_t>(graph.states.size())); };
  for (State& s : graph.states) {
    s.expanded = true;
    std::vector<Demand> demands;
    for (std::uint32_t n = 1 + below(3); n != 0; --n) {
      switch (below(4)) {
      case 0:
        demands.push_back({Rule::Host, 0});
        break;
      case 1:
        demands.push_back({Rule::Api, 0});
        break;
      default:
        demands.push_back({below(2) == 0 ? Rule::Device : Rule::Cluster, 1 + below(2)});
        break;
      }
    }
    if (below(12) == 0) {
      demands.clear();
    }
    std::sort(demands.begin(), demands.end());
    demands.erase(std::unique(demands.begin(), demands.end()), demands.end());
    s.demands = graph.demands.add(demands);
  }
  graph.states.back().terminal = below(2) == 0;
  for (std::uint32_t n = 2 + below(9); n != 0; --n) {
    Edge edge{.from = state(), .to = state(), .actor = below(4)};
    if (graph.states[edge.from].terminal) {
      continue;
    }
    edge.who = edge.actor;
    edge.query_obliged = edge.not_ready = edge.actor == 0 && below(3) == 0;
    graph.edges.push_back(edge);
  }
  return graph;
}

TEST(FindEndless, AgreesWithTheDefinitionOnRandomGraphs) { // [FAIR] [API] [QUERY]
  std::mt19937 source(1);
  int endless = 0;
  constexpr int rounds = 20'000;
  for (int round = 0; round < rounds; ++round) {
    const ProgressGraph graph = random_graph(source);
    const bool expected = by_definition(graph);
    ASSERT_EQ(!find_endless(graph).endless.empty(), expected) << "graph " << round;
    endless += expected ? 1 : 0;
  }
  // Both outcomes must have been tried often.
  EXPECT_GT(endless, rounds / 10);
  EXPECT_LT(endless, rounds * 9 / 10);
}

TEST(FindEndless, WhatItFindsIsAllowed) { // each component that is reported, by the definition
  std::mt19937 source(2);
  for (int round = 0; round < 5'000; ++round) {
    const ProgressGraph graph = random_graph(source);
    for (const Component& component : find_endless(graph).endless) {
      std::vector<Demand> demands;
      for (const StateId s : component.states) {
        EXPECT_FALSE(graph.states[s].terminal);
        const auto owed = graph.owed_in(s);
        demands.insert(demands.end(), owed.begin(), owed.end());
      }
      for (const EdgeId e : component.edges) {
        if (graph.edges[e].query_obliged) {
          demands.push_back({Rule::Query, graph.edges[e].who});
        }
      }
      EXPECT_TRUE(hang_together(graph, component.edges));
      EXPECT_TRUE(all_answered(graph, demands, component.edges));
    }
  }
}

} // namespace
} // namespace heddle::explore

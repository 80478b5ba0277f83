// The reference's judge against the definition itself, on random small graphs: some set of edges
// hangs together, and everybody who is owed a move in one of its states makes one of them.
#include "base/random.h"
#include "reference/judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

namespace heddle::reference {
namespace {

Graph random_graph(Random& random) {
  Graph graph;
  const auto states = static_cast<std::uint32_t>(2 + random.below(4));
  graph.states.resize(states);
  for (std::size_t e = 0; e < 4 + random.below(6); ++e) {
    const auto from = static_cast<std::uint32_t>(random.below(states));
    const auto to = static_cast<std::uint32_t>(random.below(states));
    graph.edges.push_back({from, to, static_cast<std::uint32_t>(random.below(3)), false});
  }
  std::ranges::sort(graph.edges, {}, &Edge::from);
  for (const Edge& e : graph.edges) {
    State& state = graph.states[e.from];
    state.moves = true;
    if (random.below(8) != 0 && std::ranges::count(state.owed, e.thread) == 0) {
      state.owed.push_back(e.thread);
    }
  }
  for (State& state : graph.states) {
    state.over = !state.moves && random.below(8) != 0;
  }
  return graph;
}

bool hang_together(const Graph& graph, std::uint32_t edges) {
  std::set<std::uint32_t> states;
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
    if ((edges >> e & 1) != 0) {
      states.insert({graph.edges[e].from, graph.edges[e].to});
    }
  }
  return std::ranges::all_of(states, [&](std::uint32_t begin) {
    std::set<std::uint32_t> reached{begin};
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
        more = more || ((edges >> e & 1) != 0 && reached.contains(graph.edges[e].from) &&
                        reached.insert(graph.edges[e].to).second);
      }
    }
    return reached == states;
  });
}

bool by_definition(const Graph& graph) {
  for (const State& state : graph.states) {
    if (!state.over && !state.moves) {
      return true;
    }
  }
  for (std::uint32_t edges = 1; edges < 1U << graph.edges.size(); ++edges) {
    std::set<std::uint32_t> moving, owed;
    for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
      if ((edges >> e & 1) != 0) {
        moving.insert(graph.edges[e].thread);
        const auto& of_state = graph.states[graph.edges[e].from].owed;
        owed.insert(of_state.begin(), of_state.end());
      }
    }
    if (std::ranges::includes(moving, owed) && hang_together(graph, edges)) {
      return true;
    }
  }
  return false;
}

TEST(ReferenceJudge, IsTheDefinition) {
  Random random(1);
  int hanging = 0;
  for (int n = 0; n < 4000; ++n) {
    const Graph graph = random_graph(random);
    const bool hangs = !find_endless(graph).empty();
    ASSERT_EQ(hangs, by_definition(graph)) << "graph " << n;
    hanging += hangs ? 1 : 0;
  }
  EXPECT_GT(hanging, 400); // and not always
  EXPECT_LT(hanging, 3600);
}

TEST(ReferenceJudge, AnEndedProgramDoesNotHang) {
  Graph graph;
  graph.states.resize(2);
  graph.states[0].moves = true;
  graph.states[1].over = true;
  graph.edges.push_back({0, 1, 0, true});
  EXPECT_TRUE(find_endless(graph).empty());
  graph.states[1].over = false; // all are blocked
  EXPECT_EQ(find_endless(graph).size(), 1U);
}

} // namespace
} // namespace heddle::reference

// A way to an endless execution and a loop that the rules allow by itself.
#include "explore/witness/witness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::explore {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Actors: 0 the host, 1 and 2 device threads.
ProgressGraph graph_of(std::size_t states, const std::vector<Edge>& edges) {
  ProgressGraph graph;
  graph.actors = {
      {ActorKind::Host, "host", "", ""},
      {ActorKind::DeviceThread, "a", "a", "k"},
      {ActorKind::DeviceThread, "b", "b", "k"}
  };
  graph.states.resize(states);
  for (State& state : graph.states) {
    state.expanded = true;
  }
  for (const Edge& edge : edges) {
    graph.edges.push_back(edge);
  }
  return graph;
}

TEST(Witness, StemAndLoop) {
  ProgressGraph graph = graph_of(
      3,
      {{.from = 0, .to = 1, .actor = 0, .who = 0},
       {.from = 1, .to = 2, .actor = 1, .who = 1},
       {.from = 2, .to = 1, .actor = 1, .who = 1}}
  );
  graph.states[0].demands = graph.demands.add({{Rule::Host, 0}});
  const Witness w = find_witness(graph, OutEdges(graph), find_endless(graph).endless.at(0));
  EXPECT_THAT(w.edges, ElementsAre(0, 1, 2));
  EXPECT_EQ(w.loop_from, 1U);
}

TEST(Witness, NobodyMovesAnyMore) {
  ProgressGraph graph = graph_of(2, {{.from = 0, .to = 1, .actor = 0, .who = 0}});
  graph.states[0].demands = graph.demands.add({{Rule::Host, 0}});
  const Witness w = find_witness(graph, OutEdges(graph), find_endless(graph).endless.at(0));
  EXPECT_THAT(w.edges, ElementsAre(0));
  EXPECT_EQ(w.loop_from, 1U);
}

TEST(Witness, TheLoopAnswersEverybodyWhoIsOwedSomething) { // [FAIR]
  // Two guaranteed threads, each of which spins by itself: a loop of one of them is not allowed.
  ProgressGraph graph = graph_of(
      1,
      {{.from = 0, .to = 0, .actor = 1, .who = 1}, {.from = 0, .to = 0, .actor = 2, .who = 2}}
  );
  graph.states[0].demands = graph.demands.add({{Rule::Device, 1}, {Rule::Device, 2}});
  const Witness w = find_witness(graph, OutEdges(graph), find_endless(graph).endless.at(0));
  EXPECT_THAT(w.edges, ElementsAre(0, 1));
  EXPECT_EQ(w.loop_from, 0U);
}

TEST(Witness, DemandsThatComeUpOnTheWayAreAnsweredToo) { // [FAIR]
  // Thread 2 is owed something in state 1 only, through which thread 1 must go.
  ProgressGraph graph = graph_of(
      3,
      {{.from = 0, .to = 1, .actor = 1, .who = 1},
       {.from = 1, .to = 0, .actor = 1, .who = 1},
       {.from = 1, .to = 2, .actor = 2, .who = 2},
       {.from = 2, .to = 0, .actor = 1, .who = 1}}
  );
  graph.states[1].demands = graph.demands.add({{Rule::Device, 2}});
  const Witness w = find_witness(graph, OutEdges(graph), find_endless(graph).endless.at(0));
  EXPECT_THAT(w.edges, ElementsAre(0, 2, 3));
  EXPECT_EQ(w.loop_from, 0U);
}

TEST(Witness, AQueryThatIsNotReadyAsksForADeviceThread) { // [QUERY]
  const ProgressGraph graph = graph_of(
      1,
      {{.from = 0, .to = 0, .actor = 0, .who = 0, .not_ready = true, .query_obliged = true},
       {.from = 0, .to = 0, .actor = 1, .who = 1}}
  );
  const Witness w = find_witness(graph, OutEdges(graph), find_endless(graph).endless.at(0));
  EXPECT_THAT(w.edges, ElementsAre(0, 1));
}

} // namespace
} // namespace heddle::explore

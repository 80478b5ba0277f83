// A team of threads judges as one thread does, and as the judge without threads, on random graphs
// large enough to be shared: mostly ways without a circle, threads that spin, a few circles.
#include "explore/judge/progress_graph.h"

#include "reference_judge.h"
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace heddle::explore {
namespace {

ProgressGraph random_graph(std::mt19937& source, std::uint32_t states, bool many_circles) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(source() % n); };
  ProgressGraph graph;
  graph.actors = {
      {ActorKind::Host, "host", {}, {}},
      {ActorKind::DeviceThread, "a", {}, {}},
      {ActorKind::DeviceThread, "b", {}, {}}
  };
  const std::uint32_t changes = graph.changes.add({ClassChange{1, 2}, ClassChange{2, 1}});
  graph.states.resize(states);
  for (StateId s = 0; s < states; ++s) {
    State& state = graph.states[s];
    state.expanded = below(500) != 0;
    state.terminal = below(50) == 0;
    state.demands = below(20) == 0 ? 0 : graph.demands.add({Demand{Rule::Host, 0}});
    for (std::uint32_t n = below(4); n != 0 && !state.terminal; --n) {
      const bool back = many_circles ? below(4) == 0 : below(3000) == 0;
      const StateId to = below(10) == 0 ? s
                         : back         ? below(states)
                                        : std::min(s + 1 + below(200), states - 1);
      Edge edge{.from = s, .to = to, .actor = below(3)};
      edge.who = edge.actor;
      edge.owed = edge.actor == 0 ? Rule::None : below(2) == 0 ? Rule::Device : Rule::Cluster;
      edge.step = below(2) == 0 ? Step::Sync : Step::Volatile;
      edge.not_ready = edge.query_obliged = edge.actor == 0 && below(4) == 0;
      edge.unprovoked = edge.actor != 0 || below(8) != 0 ? Unprovoked::Nothing
                        : below(2) == 0                  ? Unprovoked::Failure
                                                         : Unprovoked::WakeUp;
      edge.soon = below(16) == 0;
      edge.late = !edge.soon && below(16) == 0;
      edge.stale = below(16) == 0 ? 1 + below(2) : 0;
      edge.fresh = below(8) == 0 ? 1 + below(2) : 0;
      edge.changes = below(30) == 0 ? changes : 0;
      graph.edges.push_back(edge);
    }
  }
  return graph;
}

void expect_same(const Analysis& one, const Analysis& other) {
  ASSERT_EQ(one.endless.size(), other.endless.size());
  for (std::size_t n = 0; n < one.endless.size(); ++n) {
    EXPECT_EQ(one.endless[n].states, other.endless[n].states);
    EXPECT_EQ(one.endless[n].edges, other.endless[n].edges);
  }
  for (std::size_t rule = 0; rule < rule_count; ++rule) {
    EXPECT_EQ(one.uses[rule].some, other.uses[rule].some);
    EXPECT_EQ(one.uses[rule].steps, other.uses[rule].steps);
    EXPECT_EQ(one.alone[rule], other.alone[rule]);
  }
  std::vector<StateId> circles = one.circles, other_circles = other.circles;
  std::ranges::sort(circles);
  std::ranges::sort(other_circles);
  EXPECT_EQ(circles, other_circles);
}

TEST(TeamJudge, AgreesWithTheReference) {
  std::mt19937 source(1);
  Team team(4), alone(1);
  std::size_t endless = 0;
  for (int round = 0; round < 24; ++round) {
    const ProgressGraph graph = random_graph(source, 3000 + 1500 * (round % 12), round % 3 == 0);
    const OutEdges out(graph, team);
    const OutEdges same(graph);
    for (StateId s = 0; s < graph.states.size(); ++s) {
      ASSERT_TRUE(std::ranges::equal(out.of(s), same.of(s)));
      ASSERT_TRUE(std::ranges::equal(out.targets_of(s), same.targets_of(s)));
    }
    const Analysis expected = reference::find_endless(graph, out);
    const Analysis found = find_endless(graph, out, team);
    expect_same(found, expected);
    expect_same(find_endless(graph, out, alone), expected);
    endless += expected.endless.size();
    for (int rule = 0; rule < rule_count; ++rule) {
      const auto ignored = static_cast<Rule>(rule);
      EXPECT_EQ(
          has_endless(graph, out, found, ignored, team),
          reference::has_endless(graph, out, expected, ignored)
      );
    }
  }
  EXPECT_GT(endless, 0U);
}

TEST(OutEdges, AreSortedByTheirStates) {
  std::mt19937 source(2);
  for (const std::size_t states : {1, 3000, 8192, 40'000}) { // one range, and several
    ProgressGraph graph;
    graph.states.resize(states);
    std::vector<std::vector<EdgeId>> expected(states);
    std::vector<std::uint16_t> owed_by(states, 0);
    const auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(source() % n); };
    for (EdgeId e = 0; e < 3 * states; ++e) { // some states have none
      Edge edge{.from = below(states), .to = below(states)};
      edge.owed = static_cast<Rule>(below(rule_count + 1));
      graph.edges.push_back(edge);
      expected[edge.from].push_back(e);
      if (edge.owed != Rule::None) {
        owed_by[edge.from] |= static_cast<std::uint16_t>(1U << static_cast<unsigned>(edge.owed));
      }
    }
    for (const std::size_t members : {1, 4}) {
      Team team(members);
      const OutEdges out(graph, team);
      for (StateId s = 0; s < states; ++s) {
        ASSERT_TRUE(std::ranges::equal(out.of(s), expected[s]));
        ASSERT_EQ(out.owed_by(s), owed_by[s]);
        ASSERT_EQ(out.targets_of(s).size(), expected[s].size());
        for (std::size_t n = 0; n < expected[s].size(); ++n) {
          ASSERT_EQ(out.targets_of(s)[n], graph.edges.to(expected[s][n]));
        }
      }
    }
  }
}

TEST(Team, GoesThroughEverythingOnce) {
  Team team(4);
  for (const std::size_t count : {0, 1, 5000, 100'000}) {
    std::vector<int> times(count, 0);
    team.each(count, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t i = begin; i < end; ++i) {
        ++times[i];
      }
    });
    EXPECT_TRUE(std::ranges::all_of(times, [](int n) { return n == 1; }));
  }
}

} // namespace
} // namespace heddle::explore

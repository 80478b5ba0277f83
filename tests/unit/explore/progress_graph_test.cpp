// The progress rules on hand-made graphs: each test is one way to wait, and the rule that decides
// it.
#include "explore/judge/progress_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::explore {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr ActorId host = 0, a = 1, b = 2, copy = 3;

/// Actors 0 host, 1 and 2 device threads, 3 a command.
struct Graph : ProgressGraph {
  explicit Graph(int count) {
    actors = {
        {ActorKind::Host, "host", {}, {}},
        {ActorKind::DeviceThread, "a", {}, {}},
        {ActorKind::DeviceThread, "b", {}, {}},
        {ActorKind::Command, "copy", {}, {}}
    };
    states.resize(static_cast<std::size_t>(count));
    for (State& state : states) {
      state.expanded = true;
    }
  }
  Graph& move(StateId from, ActorId actor, StateId to) {
    edges.push_back({.from = from, .to = to, .actor = actor, .who = actor});
    return *this;
  }
  Graph& not_ready(StateId from, StateId to, bool obliged) {
    edges.push_back(
        {.from = from,
         .to = to,
         .actor = host,
         .who = host,
         .not_ready = true,
         .query_obliged = obliged}
    );
    return *this;
  }
  Graph& look(StateId from, ActorId actor, StateId to, bool late) {
    edges.push_back(
        {.from = from, .to = to, .actor = actor, .who = actor, .soon = !late, .late = late}
    );
    return *this;
  }
  Graph& wakes(StateId from, StateId to) { // the host, without a reason
    edges.push_back(
        {.from = from, .to = to, .actor = host, .who = host, .unprovoked = Unprovoked::WakeUp}
    );
    return *this;
  }
  Graph& demand(StateId s, Rule rule, ActorId actor) {
    const auto known = owed_in(s);
    std::vector<Demand> all(known.begin(), known.end());
    all.push_back({rule, actor});
    std::ranges::sort(all);
    states[s].demands = demands.add(all);
    return *this;
  }
  Graph& read(StateId from, ActorId actor, StateId to, std::uint32_t place, bool newest) {
    Edge edge{.from = from, .to = to, .actor = actor};
    edge.who = actor;
    edge.step = Step::Sync;
    (newest ? edge.fresh : edge.stale) = place;
    edges.push_back(edge);
    return *this;
  }
  Graph& ends(StateId s) {
    states[s].terminal = true;
    return *this;
  }
};

std::vector<std::vector<StateId>> endless(const ProgressGraph& graph) {
  std::vector<std::vector<StateId>> result;
  for (const Component& component : find_endless(graph).endless) {
    result.push_back(component.states);
  }
  return result;
}

bool rests_on(const ProgressGraph& graph, Rule rule) {
  const OutEdges out(graph);
  Team alone(1);
  return has_endless(graph, out, find_endless(graph, out), rule, alone);
}

TEST(FindEndless, WhoReadsAgainAndAgainSeesTheNewestAtLast) { // [MEM-VISIBLE]
  Graph g(2);
  g.read(0, a, 0, 7, /*newest=*/false).read(0, a, 1, 7, /*newest=*/true);
  g.demand(0, Rule::Device, a).ends(1);
  EXPECT_THAT(endless(g), IsEmpty());
  EXPECT_TRUE(rests_on(g, Rule::Visible));
}

TEST(FindEndless, TheNewestOfOnePlaceDoesNotMakeUpForAnotherOne) { // [MEM-VISIBLE]
  Graph g(3);
  g.read(0, a, 1, 7, /*newest=*/false).read(0, a, 2, 7, /*newest=*/true);
  g.read(1, a, 0, 8, /*newest=*/true).demand(0, Rule::Device, a).demand(1, Rule::Device, a).ends(2);
  EXPECT_THAT(endless(g), IsEmpty());
}

TEST(FindEndless, WhoSeesTheNewestAgainAndAgainMayAlsoSeeOlderOnes) { // [MEM-VISIBLE]
  Graph g(2);
  g.read(0, a, 1, 7, /*newest=*/false).read(0, a, 1, 7, /*newest=*/true).move(1, a, 0);
  g.demand(0, Rule::Device, a).demand(1, Rule::Device, a);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(0, 1)));
}

/// In a graph that is not whole: a rank that is gone was the one to say how to get there.
TEST(FindEndless, WhereNoEdgesLeadIsNotJudged) {
  Graph graph(3);
  graph.move(0, host, 1).move(2, a, 2);
  graph.states[1].expanded = false;
  EXPECT_THAT(find_endless(graph).endless, SizeIs(2));
  leave_out_unreached(graph, OutEdges(graph));
  EXPECT_THAT(find_endless(graph).endless, SizeIs(1));
  EXPECT_TRUE(graph.states[0].expanded);
}

TEST(FindEndless, WhoOnlyAsksTheTimeComesToTheEndOfIt) { // [CLOCK]
  Graph g(2);
  g.look(0, a, 0, /*late=*/false).look(0, a, 1, /*late=*/true).demand(0, Rule::Device, a).ends(1);
  EXPECT_THAT(endless(g), IsEmpty());
  EXPECT_TRUE(rests_on(g, Rule::Clock));
}

TEST(FindEndless, ALimitThatIsSetAnewFreesNobody) { // [CLOCK]
  Graph g(2);
  g.look(0, a, 0, /*late=*/false).look(0, a, 1, /*late=*/true).move(1, a, 0);
  g.demand(0, Rule::Device, a).demand(1, Rule::Device, a);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(0, 1)));
}

TEST(FindEndless, TimePassesForEachThread) { // [CLOCK]
  Graph g(3);
  g.look(0, a, 0, /*late=*/false).look(0, a, 2, /*late=*/true);
  g.look(0, b, 1, /*late=*/true).move(1, b, 0);
  g.demand(0, Rule::Device, a).demand(0, Rule::Device, b).demand(1, Rule::Device, b).ends(2);
  EXPECT_THAT(endless(g), IsEmpty()); // b's looks are no answer to a's
}

TEST(FindEndless, WhoStopsLookingIsNotConcerned) { // [CLOCK]
  Graph g(3);
  g.look(0, a, 1, /*late=*/false).look(0, a, 2, /*late=*/true).move(1, a, 1);
  g.demand(0, Rule::Device, a).demand(1, Rule::Device, a).ends(2);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(1)));
}

TEST(FindEndless, LooksOfEqualThreadsAreFollowed) { // [CLOCK]
  Graph g(3); // a thread of class 7 that looks becomes one of class 8
  const std::vector<ClassChange> there{{7, 8}}, back{{8, 7}};
  const std::uint32_t to = g.changes.add(there), from = g.changes.add(back);
  g.edges.push_back({.from = 0, .to = 1, .actor = a, .changes = to, .who = 7, .soon = true});
  g.edges.push_back({.from = 1, .to = 0, .actor = a, .changes = from, .who = 8});
  g.edges.push_back({.from = 0, .to = 2, .actor = a, .changes = to, .who = 7, .late = true});
  g.ends(2);
  g.states[0].demands = g.demands.add(std::vector<Demand>{{Rule::Device, 7}});
  g.states[1].demands = g.demands.add(std::vector<Demand>{{Rule::Device, 8}});
  EXPECT_THAT(endless(g), IsEmpty());
  g.edges.push_back({.from = 1, .to = 0, .actor = a, .changes = from, .who = 8, .late = true});
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(0, 1)));
}

TEST(FindEndless, AProgramThatEndsTerminates) {
  Graph g(2);
  g.move(0, host, 1).demand(0, Rule::Host, host).ends(1);
  EXPECT_THAT(endless(g), IsEmpty());
}

TEST(FindEndless, NobodyCanMoveIsAHang) { // [FAIR] [HANG-DEADLOCK]
  Graph g(2);
  g.move(0, host, 1).demand(0, Rule::Host, host);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(1)));
  EXPECT_THAT(find_endless(g).endless[0].edges, IsEmpty());
}

TEST(FindEndless, SpinForAThreadThatIsGuaranteedEnds) { // [CLUSTER], as Device.0
  Graph g(2);
  g.move(0, a, 0).move(0, b, 1).demand(0, Rule::Device, a).demand(0, Rule::Cluster, b).ends(1);
  EXPECT_THAT(endless(g), IsEmpty());
  const Analysis analysis = find_endless(g);
  EXPECT_TRUE(analysis.used(Rule::Cluster));
  EXPECT_FALSE(analysis.used(Rule::Device));
}

TEST(FindEndless, SpinForAThreadThatIsNotGuaranteedHangs) { // [HANG-STARVATION]
  Graph g(2);
  g.move(0, a, 0).move(0, b, 1).demand(0, Rule::Device, a).ends(1);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(0)));
}

TEST(FindEndless, IgnoringTheRuleShowsThatTheVerdictRestsOnIt) {
  Graph g(2);
  g.move(0, a, 0).move(0, b, 1).demand(0, Rule::Device, a).demand(0, Rule::Cluster, b).ends(1);
  EXPECT_TRUE(rests_on(g, Rule::Cluster));
  EXPECT_FALSE(rests_on(g, Rule::Query));
}

TEST(FindEndless, AGuaranteedThreadMayNotBeLeftAtItsStart) {
  Graph g(2);
  g.move(0, a, 1).demand(0, Rule::Device, a).ends(1);
  EXPECT_THAT(endless(g), IsEmpty());
}

TEST(FindEndless, AThreadWithoutGuaranteeMayStayWhereItIs) {
  Graph g(2);
  g.move(0, a, 1).ends(1);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(0)));
}

TEST(FindEndless, ALoopThatAvoidsWhatAGuaranteedThreadCouldDo) {
  // a and b hand a lock to each other: 0 -a-> 1 -a-> 0; b can move only in state 0.
  Graph g(3);
  g.move(0, a, 1).move(1, a, 0).move(0, b, 2);
  g.demand(0, Rule::Device, a).demand(1, Rule::Device, a).demand(0, Rule::Device, b).ends(2);
  EXPECT_THAT(endless(g), IsEmpty()) << "whoever passes state 0 for ever owes b a move";
}

TEST(FindEndless, ABlockedThreadIsOwedNothing) {
  Graph g(2);
  g.move(0, a, 1).move(1, a, 0).demand(0, Rule::Device, a).demand(1, Rule::Device, a);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(0, 1))); // [HANG-LIVELOCK]
}

TEST(FindEndless, WhoCanOnlyReturnWithoutAReasonIsBlocked) { // [HOST-WAKE]
  Graph g(2);
  g.wakes(0, 1).move(1, host, 0).demand(1, Rule::Host, host);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(0))); // [HANG-DEADLOCK]
  Graph alone(1);
  alone.wakes(0, 0);
  EXPECT_THAT(endless(alone), ElementsAre(ElementsAre(0)));
  EXPECT_THAT(find_endless(alone).endless.front().edges, IsEmpty());
}

TEST(FindEndless, NobodyReturnsWithoutAReasonForever) { // [HOST-WAKE]
  // The device is owed the move that notifies the host; meanwhile the host returns again and again.
  Graph g(3);
  g.wakes(0, 1).move(1, host, 0).demand(1, Rule::Host, host).move(0, a, 2).ends(2);
  g.demand(0, Rule::Device, a);
  EXPECT_THAT(endless(g), IsEmpty());
}

TEST(FindEndless, ASubsetOfALoopCanBeChosen) {
  // 0 -a-> 0 is a loop of its own; the larger loop passes state 1, where b is owed a move that
  // would end everything.
  Graph g(3);
  g.move(0, a, 0).move(0, a, 1).move(1, a, 0).move(1, b, 2);
  g.demand(0, Rule::Device, a).demand(1, Rule::Device, a).demand(1, Rule::Device, b).ends(2);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(0)));
}

TEST(FindEndless, HostThatSpinsMustNotBeStopped) { // [HOST]
  Graph g(2);
  g.move(0, host, 1).move(0, a, 0).demand(0, Rule::Host, host).demand(0, Rule::Device, a).ends(1);
  EXPECT_THAT(endless(g), IsEmpty());
}

TEST(FindEndless, ALaunchObligesNobody) { // [LAUNCH], as API.2
  Graph g(2);
  g.move(0, host, 0).move(0, a, 1).demand(0, Rule::Host, host).ends(1);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(0)));
}

TEST(FindEndless, ACallThatWaitsMakesSomeDeviceThreadMove) { // [API], as API.1
  Graph g(2);
  g.move(0, a, 1).demand(0, Rule::Api, host).ends(1);
  EXPECT_THAT(endless(g), IsEmpty());
}

TEST(FindEndless, AnyDeviceThreadWillDoForACallThatWaits) { // [API], as Stream.0
  Graph g(2);
  g.move(0, a, 0).move(0, b, 1).demand(0, Rule::Api, host).demand(0, Rule::Device, a).ends(1);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(0)));
}

TEST(FindEndless, ACallThatCouldReturnMayStayWhileAKernelSpins) {
  Graph g(2);
  g.move(0, host, 1).move(0, a, 0).demand(0, Rule::Api, host).demand(0, Rule::Device, a).ends(1);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(0)));
}

TEST(FindEndless, ACopyDoesNotAnswerForADeviceThread) {
  Graph g(3);
  g.move(0, copy, 1).move(1, a, 2).demand(0, Rule::Api, host).demand(1, Rule::Api, host).ends(2);
  EXPECT_THAT(endless(g), IsEmpty());
}

TEST(FindEndless, QueriesMakeSomeDeviceThreadMove) { // [QUERY], as API.4
  Graph g(3);
  g.move(0, host, 1).not_ready(1, 0, /*obliged=*/true).move(0, a, 2).move(1, a, 2);
  g.demand(0, Rule::Host, host).demand(1, Rule::Api, host).ends(2);
  EXPECT_THAT(endless(g), IsEmpty());
  EXPECT_TRUE(rests_on(g, Rule::Query));
}

TEST(FindEndless, AQueryThatNobodyCanSatisfyMayAnswerNotReadyForEver) {
  Graph g(1);
  g.not_ready(0, 0, /*obliged=*/false).demand(0, Rule::Host, host);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(0)));
}

TEST(FindEndless, QueriesMayAnswerNotReadyWhileAnotherKernelSpins) {
  Graph g(1);
  g.not_ready(0, 0, /*obliged=*/true).move(0, a, 0);
  g.demand(0, Rule::Host, host).demand(0, Rule::Device, a);
  EXPECT_THAT(endless(g), ElementsAre(ElementsAre(0)));
}

TEST(FindEndless, StatesThatWereNotExpandedProveNothing) {
  Graph g(2);
  g.move(0, a, 1).demand(0, Rule::Device, a);
  g.states[1].expanded = false;
  EXPECT_THAT(endless(g), IsEmpty());
}

TEST(FindEndless, ALongChainNeedsNoRecursion) {
  constexpr int count = 200'000;
  Graph g(count);
  for (StateId s = 0; s + 1 < count; ++s) {
    g.move(s, a, s + 1).demand(s, Rule::Device, a);
  }
  g.move(count - 1, a, 0).demand(count - 1, Rule::Device, a);
  ASSERT_THAT(endless(g), SizeIs(1));
  EXPECT_THAT(endless(g)[0], SizeIs(count));
}

void expect_way_to_an_end(const ProgressGraph& g) {
  StateId s = 0;
  for (const EdgeId e : way_to_an_end(g, OutEdges(g))) {
    ASSERT_EQ(g.edges.from(e), s);
    s = g.edges.to(e);
  }
  EXPECT_TRUE(g.states[s].terminal);
}

TEST(WayToAnEnd, IsFoundWhereWhoeverMovesAtRandomHardlyGets) {
  constexpr int count = 100;
  Graph g(count); // each wrong choice leads to the beginning
  for (StateId s = 0; s + 1 < count; ++s) {
    g.move(s, a, s + 1).move(s, b, 0);
  }
  expect_way_to_an_end(g.ends(count - 1));
}

TEST(WayToAnEnd, IsEmptyWithoutAnEndOrAtIt) {
  Graph g(3);
  g.move(0, a, 1).move(1, a, 2); // nobody moves in the last one
  EXPECT_THAT(way_to_an_end(g, OutEdges(g)), IsEmpty());
  g.ends(0);
  EXPECT_THAT(way_to_an_end(g, OutEdges(g)), IsEmpty());
}

TEST(ShortestWay, IsShortest) {
  Graph g(4);
  g.move(0, a, 1).move(1, a, 2).move(2, a, 3).move(0, b, 2);
  EXPECT_THAT(shortest_way(g, OutEdges(g), {3}), ElementsAre(3, 2));
  EXPECT_THAT(shortest_way(g, OutEdges(g), {0}), IsEmpty());
}

TEST(ShortestWay, GoesRoundAWaitThatReturnsWithoutAReason) { // [HOST-WAKE]
  Graph g(4);
  g.wakes(0, 2).move(0, host, 1).move(1, host, 2).wakes(2, 3);
  EXPECT_THAT(shortest_way(g, OutEdges(g), {2}), ElementsAre(1, 2));
  EXPECT_THAT(shortest_way(g, OutEdges(g), {3}), ElementsAre(0, 3));
}

} // namespace
} // namespace heddle::explore

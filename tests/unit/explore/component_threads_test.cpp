// What each thread does in a component, whether equal threads are distinguished or not.
#include "explore/judge/component_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace heddle::explore {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr ActorId host = 0, a = 1, b = 2;
constexpr std::uint32_t write_site = 7, update_site = 8;

struct Graph : ProgressGraph {
  explicit Graph(std::size_t count) {
    actors = {
        {ActorKind::Host, "host", {}, {}},
        {ActorKind::DeviceThread, "a", {}, {}},
        {ActorKind::DeviceThread, "b", {}, {}}
    };
    states.resize(count);
  }
  void move(StateId from, StateId to, Edge edge, const std::vector<ClassChange>& becomes = {}) {
    edge.from = from;
    edge.to = to;
    edge.changes = becomes.empty() ? 0 : changes.add(becomes);
    edges.push_back(edge);
  }
  Component all() const {
    Component component;
    component.states.resize(states.size());
    std::iota(component.states.begin(), component.states.end(), 0U);
    component.edges.resize(edges.size());
    std::iota(component.edges.begin(), component.edges.end(), 0U);
    return component;
  }
  std::vector<Part> parts() const {
    const Component component = all();
    ComponentThreads threads(*this, component, {});
    return threads.parts_of(component.edges);
  }
};

// Two threads that write and update, in turn: states by where they stand.
TEST(ComponentThreads, ThreadsThatAreToldApart) {
  Graph graph(4); // bit 0: a stands at the update; bit 1: b does
  for (StateId s = 0; s < 4; ++s) {
    graph.move(s, s ^ 1, {.actor = a, .who = 11, .site = (s & 1) != 0 ? update_site : write_site});
    graph.move(s, s ^ 2, {.actor = b, .who = 12, .site = (s & 2) != 0 ? update_site : write_site});
  }
  const std::vector<Part> parts = graph.parts();
  ASSERT_THAT(parts, SizeIs(2));
  for (const Part& part : parts) {
    EXPECT_THAT(part.sites, ElementsAre(write_site, update_site));
    EXPECT_EQ(part.count, 1U);
  }
}

// The same with one state for two that differ in which thread is where: an edge is told by a name
// that says nothing about who goes on.
TEST(ComponentThreads, ThreadsThatAreAlikeDoTheSame) {
  constexpr ThreadClass writes = 21, updates = 22;
  Graph graph(3); // so many stand at the update
  const auto write = [&](StateId s, std::uint32_t like_it) {
    graph.move(
        s,
        s + 1,
        {.actor = a, .who = writes, .count = like_it, .site = write_site},
        like_it == 1 ? std::vector<ClassChange>{{writes, updates}}
                     : std::vector<ClassChange>{{writes, writes}, {writes, updates}}
    );
  };
  const auto update = [&](StateId s, std::uint32_t like_it) {
    graph.move(
        s,
        s - 1,
        {.actor = b, .who = updates, .count = like_it, .step = Step::Sync, .site = update_site},
        like_it == 1 ? std::vector<ClassChange>{{updates, writes}}
                     : std::vector<ClassChange>{{updates, updates}, {updates, writes}}
    );
  };
  write(0, 2);
  write(1, 1);
  update(1, 1);
  update(2, 2);
  const std::vector<Part> parts = graph.parts();
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_THAT(parts[0].sites, ElementsAre(write_site, update_site));
  EXPECT_EQ(parts[0].count, 2U);
  EXPECT_TRUE(parts[0].steps);
}

// Classes that never meet are different threads, although one name stands for both in turn.
TEST(ComponentThreads, ClassesThatNeverMeetAreDifferentThreads) {
  constexpr ThreadClass first = 31, first_later = 32, second = 33, second_later = 34;
  Graph graph(4);
  graph.move(0, 1, {.actor = a, .who = first, .site = 1}, {{first, first_later}});
  graph.move(1, 2, {.actor = a, .who = second, .site = 2}, {{second, second_later}});
  graph.move(2, 3, {.actor = b, .who = first_later, .site = 3}, {{first_later, first}});
  graph.move(3, 0, {.actor = a, .who = second_later, .site = 4}, {{second_later, second}});
  const std::vector<Part> parts = graph.parts();
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_NE(parts[0].actor, parts[1].actor);
  std::vector<std::set<std::uint32_t>> sites{parts[0].sites, parts[1].sites};
  EXPECT_THAT(
      sites,
      UnorderedElementsAre(std::set<std::uint32_t>{1, 3}, std::set<std::uint32_t>{2, 4})
  );
}

// Host threads are alone in their classes, which have small numbers.
TEST(ComponentThreads, HostThreadsAreThemselves) {
  Graph graph(2);
  graph.actors.push_back({ActorKind::Host, "host thread 1", {}, {}});
  graph.move(0, 1, {.actor = host, .who = 0, .site = 1});
  graph.move(1, 0, {.actor = 3, .who = 1, .site = 2});
  graph.move(0, 0, {.actor = a, .who = 41, .site = 3}, {{41, 42}, {42, 41}});
  const std::vector<Part> parts = graph.parts();
  ASSERT_THAT(parts, SizeIs(3));
  EXPECT_EQ(parts[0].actor, host);
  EXPECT_EQ(parts[1].actor, 3U);
  EXPECT_EQ(parts[2].actor, a);
}

// A search numbers actors as it meets them; a report does not depend on that.
TEST(ComponentThreads, AreInTheOrderOfTheirNames) {
  Graph graph(2);
  graph.actors = {
      {ActorKind::DeviceThread, "thread (10,0,0)", {}, {}},
      {ActorKind::DeviceThread, "thread (2,0,0)", {}, {}},
      {ActorKind::Host, "host thread 2", {}, {}}
  };
  graph.move(0, 1, {.actor = 0, .who = 41, .site = 1});
  graph.move(1, 0, {.actor = 1, .who = 42, .site = 2});
  graph.move(1, 1, {.actor = 2, .who = 1, .site = 3});
  const std::vector<Part> parts = graph.parts();
  ASSERT_THAT(parts, SizeIs(3));
  EXPECT_EQ(parts[0].actor, 2U);
  EXPECT_EQ(parts[1].actor, 1U);
  EXPECT_EQ(parts[2].actor, 0U);
}

// Who could leave is one thread, whichever state it is in when it could.
TEST(ComponentThreads, WhoeverCouldLeaveIsCountedOnce) {
  constexpr ThreadClass spins = 51, waits = 52, waits_later = 53;
  Graph graph(3);
  graph.move(0, 1, {.actor = a, .who = spins, .site = 1}, {{waits, waits_later}});
  graph.move(1, 0, {.actor = a, .who = spins, .site = 1}, {{waits_later, waits}});
  const Component circle{{0, 1}, {0, 1}};
  graph.move(0, 2, {.actor = a, .who = waits, .count = 2, .site = 2});
  graph.move(1, 2, {.actor = b, .who = waits_later, .count = 2, .site = 2});
  const std::vector<EdgeId> leaving{2, 3};
  ComponentThreads threads(graph, circle, leaving);
  EXPECT_THAT(threads.parts_of(circle.edges), SizeIs(1));
  const std::vector<Part> could = threads.parts_of(leaving);
  ASSERT_THAT(could, SizeIs(1));
  EXPECT_EQ(could[0].count, 2U);
}

} // namespace
} // namespace heddle::explore

// The shared table: dense ids, what two processes see, what counts as expanded.
#include "explore/state_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heddle::explore {
namespace {

StateTable small_table(std::uint32_t max_states = 100) {
  auto table = StateTable::create({.max_states = max_states});
  EXPECT_TRUE(table.has_value());
  return std::move(*table);
}

TEST(StateTable, KnowsAStateAgain) {
  StateTable table = small_table();
  EXPECT_TRUE(table.visit({1, 2})->fresh);
  EXPECT_TRUE(table.visit({1, 3})->fresh);
  EXPECT_FALSE(table.visit({1, 2})->fresh);
  EXPECT_EQ(table.visit({1, 3})->id, 1U);
}

TEST(StateTable, SaysWhenItIsFull) {
  StateTable table = small_table(16);
  for (std::uint64_t i = 0; i < 16; ++i) {
    EXPECT_TRUE(table.visit({i, i}).has_value());
  }
  EXPECT_FALSE(table.visit({99, 99}).has_value());
  EXPECT_TRUE(table.visit({3, 3}).has_value());
}

TEST(StateTable, AStateIsExpandedWhenAllItsMovesAreEdges) {
  StateTable table = small_table();
  const StateId s = table.visit({1, 1})->id;
  EXPECT_FALSE(table.load().states[s].expanded);
  const std::vector<Demand> demands{{Rule::Api, 7}, {Rule::Host, 0}};
  table.describe(s, {.demands = demands, .moves = 2});
  table.add_edge({.from = s, .to = s, .actor = 0});
  EXPECT_FALSE(table.load().states[s].expanded);
  table.add_edge({.from = s, .to = *table.end_state(), .actor = 0});
  const ProgressGraph graph = table.load();
  EXPECT_TRUE(graph.states[s].expanded);
  const auto owed = graph.owed_in(s);
  EXPECT_EQ(
      std::vector(owed.begin(), owed.end()),
      (std::vector<Demand>{{Rule::Host, 0}, {Rule::Api, 7}})
  );
  EXPECT_TRUE(graph.states[1].terminal);
}

TEST(StateTable, ForkedProcessesShareIt) {
  StateTable table = small_table();
  table.visit({1, 1});
  const pid_t child = ::fork();
  if (child == 0) {
    auto own = StateTable::open(table.fd());
    own->visit({2, 2});
    own->add_event(EventKind::Fault, 1, own->intern(Site{"a.cu", 12, 3, "store"}), "out of bounds");
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(table.visit({2, 2})->fresh);
  ASSERT_EQ(table.events().size(), 1U);
  EXPECT_EQ(table.site(table.events()[0].site), (Site{"a.cu", 12, 3, "store"}));
  EXPECT_EQ(table.text(table.events()[0].text), "out of bounds");
}

TEST(StateTable, EqualActorsAreOne) {
  StateTable table = small_table();
  EXPECT_EQ(table.add_actor({ActorKind::Host, "host thread", "", ""}), 0U);
  EXPECT_EQ(table.add_actor({ActorKind::DeviceThread, "t0", "c0", "k"}), 1U);
  EXPECT_EQ(table.add_actor({ActorKind::Host, "host thread", "", ""}), 0U);
  EXPECT_EQ(table.load().actors[1].group, "c0");
}

} // namespace
} // namespace heddle::explore

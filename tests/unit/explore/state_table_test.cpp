// The shared table: dense ids, what two processes see, what counts as expanded.
#include "explore/table/state_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <span>
#include <string>
#include <vector>

namespace heddle::explore {
namespace {

StateTable small_table(std::uint32_t max_states = 100) {
  auto table = StateTable::create({.max_states = max_states});
  EXPECT_TRUE(table.has_value());
  return std::move(*table);
}

TEST(StateTable, KnowsAStateAgain) {
  StateTable table = small_table();
  EXPECT_TRUE(table.visit({1, 2}, {})->first);
  EXPECT_TRUE(table.visit({2, 2}, {})->first);
  EXPECT_FALSE(table.visit({1, 2}, {})->first);
  EXPECT_EQ(table.visit({2, 2}, {})->id, 1U);
}

TEST(StateTable, TellsStatesApartThatHaveHalfOfTheHashInCommon) {
  StateTable table = small_table();
  for (std::uint64_t high = 1; high < 5; ++high) {
    EXPECT_TRUE(table.visit({~0ULL, high << 32}, {})->first);
  }
  for (std::uint64_t high = 1; high < 5; ++high) {
    EXPECT_EQ(table.visit({~0ULL, high << 32}, {})->id, high - 1);
  }
}

TEST(StateTable, SaysWhenItIsFull) {
  StateTable table = small_table(16);
  for (std::uint64_t i = 0; i < 16; ++i) {
    EXPECT_TRUE(table.visit({i, i << 32}, {}).has_value());
  }
  EXPECT_FALSE(table.visit({99, 99}, {}).has_value());
  EXPECT_TRUE(table.visit({3, 3ULL << 32}, {}).has_value());
}

TEST(StateTable, EachChoiceIsClaimedOnce) {
  StateTable table = small_table();
  const auto s = table.visit({1, 1}, {})->id;
  const Choices first = table.claim(s, {.device = true, .first_ways = 0b011, .other_ways = 0b001});
  EXPECT_TRUE(first.device);
  EXPECT_EQ(first.first_ways, 0b011U);
  EXPECT_TRUE(table.visit({1, 1}, {.first_ways = 0b001, .other_ways = 0b001})->nothing_new);
  EXPECT_FALSE(table.visit({1, 1}, {.other_ways = 0b010})->nothing_new);
  const Choices second = table.claim(s, {.device = true, .first_ways = 0b110, .other_ways = 0b010});
  EXPECT_FALSE(second.device);
  EXPECT_EQ(second.first_ways, 0b100U);
  EXPECT_EQ(second.other_ways, 0b010U);
}

TEST(StateTable, AStateIsDoneWhenTheMovesOfDevicesAreClaimed) {
  StateTable table = small_table();
  EXPECT_EQ(table.find_done({1, 1}), std::nullopt);
  const auto s = table.visit({1, 1}, {})->id;
  table.claim(s, {.first_ways = 1});
  EXPECT_EQ(table.find_done({1, 1}), std::nullopt);
  EXPECT_FALSE(table.visit({1, 1}, {})->nothing_new);
  table.claim(s, {.device = true});
  EXPECT_EQ(table.find_done({1, 1}), s);
}

TEST(StateTable, AStateIsExpandedWhenAllItsMovesAreEdges) {
  StateTable table = small_table();
  const StateId s = table.visit({1, 1}, {})->id;
  EXPECT_FALSE(table.load().states[s].expanded);
  const std::vector<Demand> demands{{Rule::Api, 7}, {Rule::Host, 0}};
  table.claim(s, {.device = true});
  table.describe(s, {.demands = demands}, 1);
  table.add_edge({.from = s, .to = s, .actor = 0});
  EXPECT_TRUE(table.load().states[s].expanded);
  table.claim(s, {.first_ways = 1});
  EXPECT_FALSE(table.load().states[s].expanded); // how many that are is not known yet
  table.add_moves(s, 1);
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
  table.visit({1, 1}, {});
  const pid_t child = ::fork();
  if (child == 0) {
    auto own = StateTable::open(table.fd());
    own->visit({2, 2}, {});
    own->add_event(EventKind::Fault, 1, own->intern(Site{"a.cu", 12, 3, "store"}), "out of bounds");
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(table.visit({2, 2}, {})->first);
  ASSERT_EQ(table.events().size(), 1U);
  EXPECT_TRUE(table.has_fault_from(1));
  EXPECT_FALSE(table.has_fault_from(0));
  EXPECT_EQ(table.site(table.events()[0].site), (Site{"a.cu", 12, 3, "store"}));
  const Site inlined{
      "a.h",
      2,
      1,
      "two\twords",
      {{"a.cu", 7, 3, "inlined from here"}, {"@4012ab", 0, 0, "launched from here"}}
  };
  EXPECT_EQ(table.site(table.intern(inlined)), inlined);
  EXPECT_EQ(table.text(table.events()[0].text), "out of bounds");
}

TEST(StateTable, ProcessesThatWriteAtTheSameTimeLoseNothing) {
  constexpr std::uint64_t states = 5000;
  constexpr int processes = 4;
  auto table = StateTable::create({.max_states = 2 * states, .processes = processes});
  table->visit({0, 0}, {}); // the first state
  std::vector<pid_t> children;
  for (int n = 1; n < processes; ++n) {
    ASSERT_TRUE(table->take_permit());
  }
  for (int n = 0; n < processes; ++n) {
    const auto process = table->add_process();
    const pid_t child = ::fork();
    if (child == 0) {
      table->become(*process);
      for (std::uint64_t i = 0; i < states; ++i) { // all the same ones, in an order of their own
        const std::uint64_t s = (i + states / processes * static_cast<std::uint64_t>(n)) % states;
        const auto id = table->visit({s + 1, s + 1}, {})->id;
        if (table->claim(id, {.device = true}).device) {
          table->describe(id, {.waits = table->intern(std::to_string(s / 10))}, 1);
          table->add_edge(Edge{.from = id, .to = 0});
        } else {
          table->add_moves(id, 0);
        }
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  EXPECT_FALSE(table->take_permit());
  for (const pid_t child : children) {
    ::waitpid(child, nullptr, 0);
  }
  const ProgressGraph graph = table->load();
  ASSERT_EQ(graph.states.size(), states + 1);
  EXPECT_EQ(graph.edges.size(), states);
  for (StateId s = 1; s <= states; ++s) {
    EXPECT_TRUE(graph.states[s].expanded);
    const std::uint64_t hash = table->hashes(std::vector{s}, StateTable::Numbering::AsFound)[0].low;
    EXPECT_EQ(table->text(graph.about(s).waits), std::to_string((hash - 1) / 10));
  }
  // Without the gaps that processes have left it is the same graph.
  const auto by_content = StateTable::Numbering::ByContent;
  const ProgressGraph before = table->load(by_content);
  Team team(2);
  table->close_gaps(team);
  EXPECT_EQ(table->state_count(), states + 1);
  const ProgressGraph as_found = table->load();
  EXPECT_EQ(as_found.edges.all().data(), table->load().edges.all().data()); // not copied
  const ProgressGraph after = table->load(by_content);
  ASSERT_EQ(after.states.size(), before.states.size());
  ASSERT_EQ(after.edges.size(), before.edges.size());
  for (StateId s = 0; s <= states; ++s) {
    EXPECT_EQ(after.states[s].expanded, before.states[s].expanded);
    EXPECT_EQ(table->text(after.about(s).waits), table->text(before.about(s).waits));
  }
  for (EdgeId e = 0; e < before.edges.size(); ++e) {
    EXPECT_EQ(after.edges.from(e), before.edges.from(e));
    EXPECT_EQ(after.edges.to(e), before.edges.to(e));
  }
}

/// Processes that come and go, as those do of which each makes a move of the host's.
TEST(StateTable, NumbersThatProcessesLeaveAreUsedByTheNextOnes) {
  constexpr std::uint32_t most = 30'000;
  auto table = StateTable::create({.max_states = most, .processes = 3});
  table->visit({0, 0}, {});
  ASSERT_TRUE(table->take_permit());
  ASSERT_TRUE(table->take_permit());
  std::uint64_t next = 1;
  for (int round = 0; round < 100; ++round) {
    std::vector<std::pair<pid_t, std::uint32_t>> children;
    for (int n = 0; n < 3; ++n, next += 100) {
      const auto process = table->add_process();
      const pid_t child = ::fork();
      if (child == 0) {
        table->become(*process);
        for (std::uint64_t s = next; s < std::min<std::uint64_t>(next + 100, most); ++s) {
          if (!table->visit({s, s}, {})) {
            ::_exit(1);
          }
        }
        ::_exit(0);
      }
      children.emplace_back(child, *process);
    }
    for (const auto& [child, process] : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      ASSERT_EQ(status, 0) << "no room for more states in round " << round;
      table->remove_process(process);
    }
  }
  EXPECT_FALSE(table->visit({most, most}, {}).has_value()); // that is the limit
  Team team(1);
  table->close_gaps(team);
  EXPECT_EQ(table->state_count(), most);
}

TEST(StateTable, ManyHostThreadsHaveWays) {
  StateTable table = small_table();
  const auto s = table.visit({1, 1}, {})->id;
  const std::uint64_t last = std::uint64_t{1} << 63, ninth = 1U << 8;
  table.claim(s, {.device = true, .first_ways = last | 1});
  EXPECT_TRUE(table.visit({1, 1}, {.first_ways = last})->nothing_new);
  EXPECT_FALSE(table.visit({1, 1}, {.first_ways = ninth})->nothing_new);
  EXPECT_FALSE(table.visit({1, 1}, {.other_ways = last})->nothing_new);
  const Choices more = table.claim(s, {.first_ways = last | ninth | 1, .other_ways = last});
  EXPECT_EQ(more.first_ways, ninth);
  EXPECT_EQ(more.other_ways, last);
}

/// What is shared by processes that add states all the time, so that the set of visited ones grows
/// often.
TEST(StateTable, ASetThatGrowsLosesNothing) {
  constexpr std::uint64_t states = 200'000;
  constexpr int processes = 4;
  auto table = StateTable::create({.max_states = 2 * states, .processes = processes});
  table->visit({0, 0}, {});
  for (int n = 1; n < processes; ++n) {
    ASSERT_TRUE(table->take_permit());
  }
  std::vector<pid_t> children;
  for (int n = 0; n < processes; ++n) {
    const auto process = table->add_process();
    const pid_t child = ::fork();
    if (child == 0) {
      table->become(*process);
      for (std::uint64_t s = 1; s <= states; ++s) {
        table->visit({s * 0x9e37'79b9'7f4a'7c15ULL, s}, {});
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    ::waitpid(child, nullptr, 0);
  }
  for (std::uint64_t s = 1; s <= states; ++s) {
    ASSERT_FALSE(table->visit({s * 0x9e37'79b9'7f4a'7c15ULL, s}, {})->first);
  }
  EXPECT_EQ(table->load().states.size(), states + 1);
}

TEST(StateTable, WhatOneProcessTellsTheOthersHear) {
  StateTable table = small_table();
  const pid_t child = ::fork();
  if (child == 0) {
    table.tell(std::as_bytes(std::span("first")));
    table.tell(std::as_bytes(std::span("second")));
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_EQ(table.told(), 2U);
  EXPECT_STREQ(reinterpret_cast<const char*>(table.told(0).data()), "first");
  EXPECT_STREQ(reinterpret_cast<const char*>(table.told(1).data()), "second");
}

TEST(StateTable, ASearchCanBeKeptToSomeStates) {
  StateTable table = small_table();
  EXPECT_FALSE(table.keeps_out({1, 1}));
  table.keep_to(std::vector<Hash128>{{1, 1}, {2, 2}});
  EXPECT_TRUE(table.keeps_to_some());
  EXPECT_FALSE(table.keeps_out({2, 2}));
  EXPECT_TRUE(table.keeps_out({3, 3}));
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

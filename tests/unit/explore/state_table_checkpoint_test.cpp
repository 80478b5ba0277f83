// A table that is saved while a search is under way, and what a search that goes on finds in it.
#include "explore/table/state_table.h"
#include "report/diagnostic_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <vector>

namespace heddle::explore {
namespace {

constexpr StateTable::Limits limits{.max_states = 100};

/// Saves and restores.
StateTable again(const StateTable& table) {
  const int fd = ::memfd_create("saved", 0);
  EXPECT_TRUE(table.save(fd));
  ::lseek(fd, 0, SEEK_SET);
  auto restored = StateTable::restore(fd, limits);
  ::close(fd);
  EXPECT_TRUE(restored.has_value());
  return std::move(*restored);
}

Hash128 hash_of(std::uint64_t n) {
  return {n, n << 32};
}

/// States 0 -> 1 -> 2, where 2 has a move under way, and 0 -> 3 -> 0.
class Stopped : public testing::Test {
protected:
  Stopped() : table(std::move(*StateTable::create(limits))) {
    EXPECT_EQ(table.add_actor({.name = "thread", .group = {}, .kernel = {}}), 0U);
    for (std::uint64_t n = 0; n < 4; ++n) {
      EXPECT_EQ(table.visit(hash_of(n), {})->id, n);
    }
    expand(0, {.device = true}, {1, 3});
    expand(1, {.device = true}, {2});
    expand(3, {.device = true, .first_ways = 1}, {0});
    table.claim(2, {.device = true, .first_ways = 0b10, .other_ways = 0x100});
    table.describe(2, {}, 2);
    edge(2, 3);
  }
  void edge(StateId from, StateId to) {
    table.add_edge(Edge{.from = from, .to = to, .actor = 0, .who = 7});
  }
  void expand(StateId state, const Choices& choices, const std::vector<StateId>& targets) {
    table.claim(state, choices);
    table.describe(state, {}, static_cast<std::uint32_t>(targets.size()));
    for (const StateId to : targets) {
      edge(state, to);
    }
  }

  StateTable table;
};

TEST_F(Stopped, WhatIsFinishedIsKnown) {
  const StateTable restored = again(table);
  EXPECT_TRUE(restored.goes_on());
  EXPECT_EQ(restored.find_done(hash_of(3)), 3U);
  const ProgressGraph graph = restored.load();
  ASSERT_EQ(graph.edges.size(), 1U);
  EXPECT_EQ(graph.edges.from(0), 3U);
  EXPECT_EQ(graph.edges.to(0), 0U);
  EXPECT_TRUE(graph.states[3].expanded);
}

TEST_F(Stopped, WhatIsNotAndTheWayToItIsMetAgain) {
  StateTable restored = again(table);
  EXPECT_FALSE(restored.visit(hash_of(3), {.first_ways = 1})->first);
  for (std::uint64_t n = 0; n < 3; ++n) {
    EXPECT_FALSE(restored.find_done(hash_of(n)));
    EXPECT_FALSE(restored.all_met_again());
    const auto visit = restored.visit(hash_of(n), {});
    EXPECT_EQ(visit->id, n);
    EXPECT_TRUE(visit->first);
    EXPECT_FALSE(restored.visit(hash_of(n), {})->first);
  }
  EXPECT_TRUE(restored.all_met_again());
}

TEST_F(Stopped, WhatHadBeenAskedForIsAskedForAgain) {
  StateTable once = again(table);
  // The second time before anybody has come to state 2, or before it has claimed anything.
  for (const bool arrived : {false, true}) {
    if (arrived) {
      once.visit(hash_of(2), {});
    }
    StateTable twice = again(once);
    for (StateTable* restored : {&once, &twice}) {
      const Choices asked = restored->asked_before(2);
      EXPECT_TRUE(asked.device);
      EXPECT_EQ(asked.first_ways, 0b10U);
      EXPECT_EQ(asked.other_ways, 0x100U);
      EXPECT_TRUE(restored->asked_before(0).device);
      EXPECT_TRUE(restored->asked_before(3).none());
    }
    EXPECT_EQ(twice.claim(2, twice.asked_before(2)).other_ways, 0x100U); // nobody has claimed it
  }
}

/// The way that one process took, which goes deep, is met again, not a shortest one.
TEST(OneProcess, IsWhereItStood) {
  StateTable table(std::move(*StateTable::create(limits)));
  table.add_actor({.name = "thread", .group = {}, .kernel = {}});
  for (std::uint64_t n = 0; n < 5; ++n) {
    EXPECT_EQ(table.visit(hash_of(n), {})->id, n);
  }
  const auto expand = [&](StateId state, const std::vector<StateId>& targets, std::uint32_t moves) {
    table.claim(state, {.device = true});
    table.describe(state, {}, moves);
    for (std::uint32_t n = 0; n < targets.size(); ++n) {
      table.add_edge(Edge{.from = state, .to = targets[n], .actor = 0, .who = 7, .choice = n});
    }
  };
  expand(4, {}, 1); // has a move under way
  expand(3, {0}, 1);
  expand(2, {3, 4}, 2);
  expand(1, {2}, 1);
  expand(0, {1, 4}, 2);
  StateTable restored = again(table);
  EXPECT_EQ(restored.find_done(hash_of(3)), 3U);
  for (const std::uint64_t n : {0, 1, 2, 4}) {
    EXPECT_TRUE(restored.visit(hash_of(n), {})->again) << n;
  }
}

TEST_F(Stopped, WorkIsCountedOn) {
  table.add_work(12);
  StateTable restored = again(table);
  restored.add_work(30);
  EXPECT_EQ(restored.work(), 42U);
}

TEST_F(Stopped, ATableThatIsReadIsAsItWas) {
  table.note_limit_of_states();
  const int fd = ::memfd_create("saved", 0);
  EXPECT_TRUE(table.save(fd));
  ::lseek(fd, 0, SEEK_SET);
  const auto read = StateTable::read(fd, limits);
  ::close(fd);
  ASSERT_TRUE(read.has_value());
  EXPECT_FALSE(read->goes_on());
  EXPECT_EQ(read->load().edges.size(), table.load().edges.size());
  EXPECT_TRUE(read->saw(Fact::OutOfStates));
  EXPECT_EQ(read->events().size(), table.events().size());
}

TEST_F(Stopped, AStateWhoseEdgeWasUnderWayIsMetAgain) {
  table.visit(hash_of(4), {});
  StateTable restored = again(table);
  EXPECT_TRUE(restored.visit(hash_of(4), {})->first);
}

TEST_F(Stopped, LimitsAreForgottenAndFindingsAreNot) {
  table.note_limit_of_states();
  table.note(Fact::PlainAccess);
  const report::Diagnostic fault(report::Finding::OutOfBounds, "a store past the end");
  table.add_event(EventKind::Fault, 3, 0, report::to_lines(fault)); // in a finished state
  table.add_event(EventKind::Fault, 2, 0, report::to_lines(fault)); // it will be seen again
  const StateTable restored = again(table);
  EXPECT_FALSE(restored.saw(Fact::OutOfStates));
  EXPECT_TRUE(restored.saw(Fact::PlainAccess));
  ASSERT_EQ(restored.events().size(), 1U);
  EXPECT_EQ(restored.events()[0].from, 3U);
}

TEST_F(Stopped, EventsOfEveryKindAreKept) {
  const report::Diagnostic fault(report::Finding::OutOfBounds, "a store past the end");
  constexpr std::array kinds{
      EventKind::Crash,
      EventKind::Fault,
      EventKind::Unsupported,
      EventKind::Nondeterminism,
      EventKind::Incomplete,
      EventKind::LeftOut,
      EventKind::Unchosen,
      EventKind::Asked,
      EventKind::Input
  };
  for (const EventKind kind : kinds) {
    table.add_event(kind, 0, 0, report::to_lines(fault));
  }
  const std::vector<Event> events = again(table).events();
  ASSERT_EQ(events.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(events[i].kind, kinds[i]);
  }
}

/// What is wrong in it is not known to whoever reads the table afterwards.
class Damaged : public Stopped {
protected:
  bool is_restored() {
    const int fd = ::memfd_create("saved", 0);
    EXPECT_TRUE(table.save(fd));
    ::lseek(fd, 0, SEEK_SET);
    const auto restored = StateTable::restore(fd, limits);
    EXPECT_TRUE(restored || restored.error().message == "the checkpoint is damaged");
    ::close(fd);
    return restored.has_value();
  }
};

TEST_F(Damaged, AMoveOfAThreadThatIsNotThere) {
  EXPECT_TRUE(is_restored());
  table.add_edge(Edge{.from = 3, .to = 0, .actor = 1});
  EXPECT_FALSE(is_restored());
}

TEST_F(Damaged, AMoveToAStateThatIsNotThere) {
  table.add_edge(Edge{.from = 3, .to = 50, .actor = 0});
  EXPECT_FALSE(is_restored());
}

TEST_F(Damaged, AMoveWithAnUnknownRule) {
  table.add_edge(Edge{.from = 3, .to = 0, .actor = 0, .owed = static_cast<Rule>(rule_count + 1)});
  EXPECT_FALSE(is_restored());
}

TEST_F(Damaged, AFaultWithoutWords) {
  table.add_event(EventKind::Fault, 0, 0, "not a diagnostic");
  EXPECT_FALSE(is_restored());
}

TEST_F(Damaged, AFileThatIsCutOff) {
  const int fd = ::memfd_create("saved", 0);
  ASSERT_TRUE(table.save(fd));
  const off_t size = ::lseek(fd, 0, SEEK_END);
  for (off_t less = 1; less < size; less += 1 + less / 3) {
    ASSERT_EQ(::ftruncate(fd, size - less), 0);
    ::lseek(fd, 0, SEEK_SET);
    EXPECT_FALSE(StateTable::restore(fd, limits).has_value()) << less;
    ASSERT_EQ(::ftruncate(fd, 0), 0);
    ::lseek(fd, 0, SEEK_SET);
    ASSERT_TRUE(table.save(fd));
  }
  ::close(fd);
}

TEST(StateTableCheckpoint, ASearchThatWasOverGoesNowhere) {
  StateTable table = std::move(*StateTable::create(limits));
  table.visit(hash_of(0), {});
  table.claim(0, {.device = true});
  table.describe(0, {}, 0);
  const StateTable restored = again(table);
  EXPECT_FALSE(restored.goes_on());
  EXPECT_EQ(restored.find_done(hash_of(0)), 0U);
}

} // namespace
} // namespace heddle::explore

// One search on several ranks: what they tell each other, and how their tables become one.
#include "explore/ranks/rank_board.h"
#include "explore/ranks/rank_tally.h"
#include "explore/search/work.h"
#include "explore/table/state_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace heddle::explore {
namespace {

using ::testing::ElementsAre;

TEST(Errand, IsTheSameBehindItsBytes) {
  const Errand errand{
      .way = {{.choice = 4, .check = 0}, {.choice = 0, .check = 77}},
      .base = {1ULL << 63, 5},
      .weight = 0.125,
      .work = {
          .steps = {{.choice = 1}},
          .open = {{.step = 1, .claimer = 3, .choices = {0, 2}}},
          .end = {7, 8}
      }
  };
  const std::vector<std::byte> bytes = encode(errand);
  EXPECT_EQ(decode_errand(bytes), errand);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_FALSE(decode_errand(std::span(bytes).first(cut)));
  }
}

class BoardOfRanks : public ::testing::Test {
protected:
  static constexpr std::uint32_t most = 1000;
  void* memory = ::mmap(
      nullptr,
      RankBoard::bytes(most),
      PROT_READ | PROT_WRITE,
      MAP_SHARED | MAP_ANONYMOUS,
      -1,
      0
  );
  RankBoard board{memory, most};
  ~BoardOfRanks() override { ::munmap(memory, RankBoard::bytes(most)); }
};

TEST_F(BoardOfRanks, KnowsClaimsOfOthersAndNoneThatNobodyHasMade) {
  const auto state = [](std::uint64_t n) {
    return Hash128{n * 0x9e37'79b9'7f4a'7c15ULL, ~n * 0xc2b2'ae3d'27d4'eb4fULL};
  };
  for (std::uint64_t n = 0; n < most; ++n) {
    board.note_elsewhere(claim_of_devices(state(n)));
  }
  std::size_t known = 0;
  for (std::uint64_t n = 0; n < most; ++n) {
    known += board.is_elsewhere(claim_of_devices(state(n))) ? 1 : 0;
    EXPECT_FALSE(board.is_elsewhere(claim_of_devices(state(n + most))));
    EXPECT_FALSE(board.is_elsewhere(claim_of_way(state(n), 0, true)));
    EXPECT_FALSE(board.is_elsewhere(claim_of_way(state(n), 0, false)));
  }
  EXPECT_GT(known, most * 9 / 10); // a few may have been forgotten
}

TEST_F(BoardOfRanks, TheToolTakesWhatHasBeenAnnouncedOnce) {
  const Hash128 a = claim_of_devices({8, 9}), b = claim_of_way({8, 9}, 3, false);
  board.announce(a);
  board.announce(b);
  EXPECT_THAT(board.take_announced(), ElementsAre(a, b));
  EXPECT_THAT(board.take_announced(), ElementsAre());
}

TEST_F(BoardOfRanks, WorkIsGivenWhereItIsAskedFor) {
  const std::array<std::byte, 3> work{std::byte{1}, std::byte{2}, std::byte{3}};
  EXPECT_FALSE(board.give(work));
  board.ask();
  EXPECT_TRUE(board.wants_work());
  EXPECT_TRUE(board.give(work));
  EXPECT_FALSE(board.give(work));
  EXPECT_EQ(board.take_given(), std::vector<std::byte>(work.begin(), work.end()));
  EXPECT_FALSE(board.take_given());
}

TEST_F(BoardOfRanks, WhoWaitsGetsWorkAndThenTheEnd) {
  const std::array<std::byte, 1> work{std::byte{9}};
  std::vector<std::vector<std::byte>> got;
  std::thread waits([&] {
    while (auto some = board.await()) {
      got.push_back(*some);
    }
  });
  const auto until_idle = [&] {
    while (!board.is_idle()) {
      std::this_thread::yield();
    }
  };
  until_idle();
  board.put(work);
  until_idle();
  board.end();
  waits.join();
  EXPECT_THAT(got, ElementsAre(std::vector<std::byte>(work.begin(), work.end())));
}

Hash128 some_state(std::uint64_t n) {
  Hasher hasher;
  hasher.value(n);
  return hasher.finish();
}

TEST(RankTally, CountsDifferentStatesExactlyWhileTheyAreFew) {
  RankTally tally(2);
  for (std::uint64_t n = 0; n < 60'000; ++n) {
    tally.claimed(claim_of_devices(some_state(n % 50'000)));
    tally.claimed(claim_of_way(some_state(n), 0, true));
  }
  EXPECT_EQ(tally.states(), 50'000U);
  EXPECT_TRUE(tally.are_more_than(49'999));
  EXPECT_FALSE(tally.are_more_than(50'000));
}

TEST(RankTally, AndNearlySoWhereTheyAreMany) {
  constexpr std::uint64_t count = 1'000'000;
  RankTally tally(2);
  for (std::uint64_t n = 0; n < count; ++n) {
    tally.claimed(claim_of_devices(some_state(n)));
  }
  EXPECT_NEAR(static_cast<double>(tally.states()), double{count}, 0.03 * count);
  EXPECT_FALSE(tally.are_more_than(count));
  EXPECT_TRUE(tally.are_more_than(count * 9 / 10));
}

TEST(RankTally, AddsUpWhatRanksSay) {
  RankTally tally(3);
  tally.heard(1, {.depth = 5, .open_moves = 10, .processes = 2, .open_share = 0.25});
  tally.heard(2, {.depth = 3, .open_moves = 1, .processes = 1, .open_share = 0.5});
  tally.heard(2, {.depth = 4, .open_moves = 2, .processes = 1, .open_share = 0.25});
  const RankTally::Part all = tally.of_others();
  EXPECT_EQ(all.depth, 5U);
  EXPECT_EQ(all.open_moves, 12U);
  EXPECT_EQ(all.processes, 3U);
  EXPECT_EQ(all.open_share, 0.5);
}

/// As a file of StateTable::save().
int saved(const StateTable& table) {
  const int fd = ::memfd_create("part", 0);
  EXPECT_TRUE(table.save(fd));
  return fd;
}

StateTable empty_table() {
  auto table = StateTable::create({.max_states = 100});
  EXPECT_TRUE(table.has_value());
  return std::move(*table);
}

/// Goes to a state, claims the moves of devices and announces two.
StateId expand(StateTable& table, const Hash128& state, std::uint32_t moves = 2) {
  const auto visit = table.visit(state, {});
  EXPECT_TRUE(table.claim(visit->id, {.device = true}).device);
  table.describe(visit->id, {.moves_follow = true}, moves);
  return visit->id;
}

Edge edge(StateTable& table, StateId from, StateId to, ThreadClass who, const char* site) {
  return {
      .from = from,
      .to = to,
      .actor = table.add_actor({ActorKind::DeviceThread, "thread " + std::to_string(who), "", "k"}),
      .who = who,
      .site = table.intern(Site{.file = site, .what = "moves"})
  };
}

constexpr Hash128 first{1, 1}, left{2, 1}, right{3, 1}, last{4, 1};

/// Rank 0 has gone left and has given "right" away, whose taker has found the last state, as rank 0
/// has.
TEST(Ranks, TablesBecomeOne) {
  StateTable own = empty_table(), other = empty_table();
  const StateId s = expand(own, first);
  const StateId l = expand(own, left, 1);
  own.add_edge(edge(own, s, l, 10, "a.cu"));
  own.add_edge(edge(own, l, own.visit(last, {})->id, 11, "a.cu"));
  expand(own, last, 0);

  (void)other.intern(std::string_view("so that numbers of texts differ"));
  const StateId there = *other.know(first);
  other.note_elsewhere(there);
  const StateId r = expand(other, right, 1);
  const Edge granted = edge(other, there, r, 12, "b.cu");
  other.add_edge({granted.from, granted.to, other.label(granted), 0}, /*claimer=*/0);
  const StateId z = *other.know(last);
  other.note_elsewhere(z);
  other.add_edge(edge(other, r, z, 13, "b.cu"));

  const int file = saved(other);
  ::lseek(file, 0, SEEK_SET);
  const std::array files{-1, file};
  const auto twice = own.take_in(files);
  ASSERT_TRUE(twice.has_value());
  EXPECT_EQ(*twice, 0U);
  EXPECT_EQ(own.left_unclaimed(), 0U);
  const ProgressGraph graph = own.load(StateTable::Numbering::ByContent);
  ASSERT_EQ(graph.states.size(), 4U);
  ASSERT_EQ(graph.edges.size(), 4U);
  for (const State& state : graph.states) {
    EXPECT_TRUE(state.expanded);
  }
  for (const Edge& e : graph.edges) {
    EXPECT_EQ(graph.actors[e.actor].name, "thread " + std::to_string(e.who));
    EXPECT_EQ(own.site(e.site).file, e.who < 12 ? "a.cu" : "b.cu");
  }
  ::close(file);
}

/// Neither knew of the other one.
TEST(Ranks, MovesThatTwoHaveClaimedAreThereOnce) {
  StateTable own = empty_table(), other = empty_table();
  for (StateTable* table : {&own, &other}) {
    const StateId s = expand(*table, first);
    for (const Hash128& to : {left, right}) {
      table->add_edge(edge(*table, s, expand(*table, to, 0), to.low, "a.cu"));
    }
  }
  const int file = saved(other);
  const std::array files{-1, file};
  const auto twice = own.take_in(files);
  ASSERT_TRUE(twice.has_value());
  EXPECT_EQ(*twice, 3U);
  const ProgressGraph graph = own.load(StateTable::Numbering::ByContent);
  EXPECT_EQ(graph.states.size(), 3U);
  EXPECT_EQ(graph.edges.size(), 2U);
  EXPECT_TRUE(graph.states[0].expanded);
  ::close(file);
}

/// Moves of devices were put off: each rank has met the state once, so that neither asked for them.
TEST(Ranks, AStateThatEachHasMetOnceIsNotDone) {
  StateTable own = empty_table(), other = empty_table();
  const auto go = [](StateTable& table, const Hash128& from, ThreadClass who) {
    const StateId s = expand(table, from, 1);
    const StateId t = table.visit(last, {.first_ways = 1})->id;
    (void)table.claim(t, {.first_ways = 1});
    table.describe(t, {}, 0);
    table.add_edge(edge(table, s, t, who, "a.cu"));
  };
  go(own, first, 5);
  EXPECT_EQ(own.left_unclaimed(), 0U);
  go(other, left, 6);
  const int file = saved(other);
  const std::array files{-1, file};
  ASSERT_TRUE(own.take_in(files).has_value());
  EXPECT_EQ(own.left_unclaimed(), 1U);
  ::close(file);
}

/// A rank does not answer: what it had claimed may not have been done.
TEST(Ranks, WithoutTheOthersWhatIsTheirsIsOpen) {
  StateTable own = empty_table();
  const StateId s = expand(own, first, 1);
  const StateId l = own.visit(left, {})->id;
  (void)own.claim(l, {.device = true});
  own.leave_elsewhere(l);
  own.describe(l, {.moves_follow = true}, 0);
  own.add_edge(edge(own, s, l, 5, "a.cu"));
  EXPECT_TRUE(own.load().states[l].expanded);
  own.distrust_other_ranks();
  EXPECT_TRUE(own.load().states[s].expanded);
  EXPECT_FALSE(own.load().states[l].expanded);
}

/// One of two other ranks has left ways of a host to the one whose table is missing.
TEST(Ranks, WhatAnotherRankHasLeftToAMissingOneIsOpenToo) {
  StateTable own = empty_table(), other = empty_table();
  expand(own, first, 0);
  const StateId l = other.visit(left, {})->id;
  (void)other.claim(l, {.device = true, .first_ways = 1});
  other.leave_ways_elsewhere(l);
  other.describe(l, {.moves_follow = true}, 0);
  const int file = saved(other);
  const std::array files{-1, file, -1};
  ASSERT_TRUE(own.take_in(files).has_value());
  const StateId there = *own.know(left);
  EXPECT_TRUE(own.load().states[there].expanded);
  own.distrust_other_ranks();
  EXPECT_FALSE(own.load().states[there].expanded);
  ::close(file);
}

/// What does not fit is left out, and who leads there is not done: else a judge would take a
/// missing move for one that nobody has to make.
TEST(Ranks, AtTheLimitOfStatesNothingThatIsMissingCountsAsDone) {
  StateTable own = empty_table(), other = empty_table();
  expand(own, first, 0);
  for (std::uint64_t n = 0; n < 98; ++n) { // there is room for one more
    expand(own, {100 + n, 1}, 0);
  }
  const StateId s = expand(other, last, 2);
  other.add_edge(edge(other, s, expand(other, first, 0), 5, "a.cu"));
  other.add_edge(edge(other, s, expand(other, left, 0), 6, "a.cu"));
  const int file = saved(other);
  const std::array files{-1, file};
  ASSERT_TRUE(own.take_in(files).has_value());
  EXPECT_TRUE(own.saw(Fact::OutOfStates));
  const ProgressGraph graph = own.load();
  EXPECT_EQ(graph.states.size(), 100U);
  EXPECT_EQ(graph.edges.size(), 1U);
  EXPECT_TRUE(graph.states[*own.know(first)].expanded);
  EXPECT_FALSE(graph.states[*own.know(last)].expanded);
  ::close(file);
}

TEST(Ranks, WhatIsNoTableIsRefused) {
  StateTable own = empty_table();
  const int file = ::memfd_create("part", 0);
  ASSERT_EQ(::write(file, "no table", 8), 8);
  const std::array files{file};
  EXPECT_FALSE(own.take_in(files).has_value());
  ::close(file);
}

} // namespace
} // namespace heddle::explore

// [RANK-CHECKPOINT] What several ranks had found when a divided search was stopped, and what a
// search finds that goes on from there.
#include "explore/ranks/rank_cut.h"
#include "explore/table/state_table.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

namespace heddle::explore {
namespace {

constexpr StateTable::Limits room{.max_states = 100};
constexpr Hash128 begin{1, 1}, to_left{2, 1}, to_right{3, 1}, behind{4, 1};

/// The table of one rank, and what it does in it.
class RankPart {
public:
  RankPart() : table(std::move(*StateTable::create(room))) {}
  ~RankPart() {
    if (file_ >= 0) {
      ::close(file_);
    }
  }
  RankPart(const RankPart&) = delete;
  RankPart& operator=(const RankPart&) = delete;

  /// Claims the moves of devices in a state, and announces so many.
  StateId claims(const Hash128& state, std::uint32_t moves) {
    const StateId id = table.visit(state, {})->id;
    EXPECT_TRUE(table.claim(id, {.device = true}).device);
    table.describe(id, {.moves_follow = true}, moves);
    return id;
  }
  /// Knows that another rank has claimed them.
  StateId knows(const Hash128& state) {
    const StateId id = *table.know(state);
    table.note_elsewhere(id);
    return id;
  }
  /// Meets a state in which only a host thread moves at first.
  StateId puts_off(const Hash128& state) {
    const StateId id = table.visit(state, {.first_ways = 1})->id;
    (void)table.claim(id, {.first_ways = 1});
    table.describe(id, {}, 0);
    return id;
  }
  void moves(StateId from, StateId to, std::uint32_t claimer = StateTable::own_claim) {
    const Edge edge{
        .from = from,
        .to = to,
        .actor = table.add_actor({ActorKind::DeviceThread, "thread", "", "k"}),
        .who = 10 + to
    };
    table.add_edge({from, to, table.label(edge), 0}, claimer);
  }
  int file() {
    file_ = ::memfd_create("part", 0);
    EXPECT_TRUE(table.save(file_));
    return file_;
  }

  StateTable table;

private:
  int file_ = -1;
};

StateTable together(const std::vector<int>& files) {
  auto restored = StateTable::restore(files, room);
  EXPECT_TRUE(restored.has_value());
  return std::move(*restored);
}

/// The first state and one to the left of it are rank 0's; what is to the right has been given to
/// the other one, which is not done with it.
struct TwoRanks : testing::Test {
  TwoRanks() {
    const StateId first = own.claims(begin, 2);
    own.moves(first, own.claims(to_left, 0));
    const StateId there = other.knows(begin);
    other.moves(there, other.claims(to_right, 1), /*claimer=*/0);
  }
  RankPart own, other;
};

TEST_F(TwoRanks, WhatIsFinishedIsKeptAndTheRestIsMetAgain) {
  StateTable table = together({own.file(), other.file()});
  EXPECT_TRUE(table.goes_on());
  EXPECT_TRUE(table.find_done(to_left));
  for (const Hash128& state : {begin, to_right}) {
    EXPECT_FALSE(table.find_done(state));
    EXPECT_FALSE(table.all_met_again());
    const auto visit = table.visit(state, {});
    EXPECT_TRUE(visit->first);
    EXPECT_TRUE(table.asked_before(visit->id).device);
  }
  EXPECT_TRUE(table.all_met_again());
  EXPECT_EQ(table.visit(begin, {})->id, 0U);
}

TEST_F(TwoRanks, WithoutTheOtherOneItsStatesAreNew) {
  StateTable table = together({own.file(), -1});
  EXPECT_TRUE(table.find_done(to_left));
  EXPECT_TRUE(table.visit(begin, {})->first);
  EXPECT_TRUE(table.all_met_again());
  const auto visit = table.visit(to_right, {});
  EXPECT_TRUE(visit->first);
  EXPECT_TRUE(table.asked_before(visit->id).none());
}

/// A copy that goes on, stops and goes on again.
TEST_F(TwoRanks, NobodyHasComeThereYet) {
  const StateTable once = together({own.file(), other.file()});
  const int file = ::memfd_create("part", 0);
  EXPECT_TRUE(once.save(file));
  RankPart idle;
  idle.table.expect(once.to_meet_again());
  StateTable twice = together({file, idle.file()});
  ::close(file);
  EXPECT_TRUE(twice.find_done(to_left));
  EXPECT_TRUE(twice.asked_before(twice.visit(to_right, {})->id).device);
}

/// Both have claimed the same moves; rank 0 has made one of them, and only the other one knows
/// where the second leads.
TEST(RankCheckpoint, OfMovesThatTwoHaveClaimedAllCountWhileOneIsMissing) {
  RankPart own, other;
  const StateId first = own.claims(begin, 2);
  own.moves(first, own.claims(to_left, 0));
  const StateId there = other.claims(begin, 2);
  other.moves(there, other.knows(to_left));
  const StateId right = other.claims(to_right, 1);
  other.moves(there, right);
  other.moves(right, other.claims(behind, 1)); // not done
  const StateTable table = together({own.file(), other.file()});
  EXPECT_FALSE(table.find_done(begin));
  EXPECT_FALSE(table.find_done(to_right)); // on the way to the one behind it
  EXPECT_FALSE(table.find_done(behind));
  EXPECT_TRUE(table.find_done(to_left));
}

TEST(RankCheckpoint, WaysThatAreLeftToAMissingRankAreAskedForAgain) {
  RankPart own;
  const StateId first = own.table.visit(begin, {})->id;
  (void)own.table.claim(first, {.device = true, .first_ways = 1});
  own.table.leave_ways_elsewhere(first);
  own.table.describe(first, {.moves_follow = true}, 0);
  const StateTable table = together({own.file(), -1});
  EXPECT_FALSE(table.find_done(begin));
  EXPECT_EQ(table.asked_before(first).first_ways, 1U);
}

/// Rank 1 has made a move that rank 2 has claimed, and rank 0 the other one of its own claim: two
/// edges, two moves that rank 0 has announced, and none that leads to the right is rank 0's.
TEST(RankCheckpoint, AnEdgeOfAMissingRanksClaimDoesNotCount) {
  RankPart own, taker;
  const StateId first = own.claims(begin, 2);
  own.moves(first, own.claims(to_left, 0));
  taker.moves(taker.knows(begin), taker.claims(to_left, 0), /*claimer=*/2);
  const std::array files{own.file(), taker.file(), -1};
  const StateTable table = together({files.begin(), files.end()});
  EXPECT_FALSE(table.find_done(begin));
  EXPECT_TRUE(table.goes_on());
  // Nor for the verdict of the search that has been stopped.
  const std::array parts{-1, files[1], -1};
  ASSERT_TRUE(own.table.take_in(parts).has_value());
  own.table.distrust_other_ranks();
  EXPECT_FALSE(own.table.load().states[first].expanded);
}

TEST(RankCheckpoint, WhatTwoHavePutOffIsAskedFor) {
  RankPart own, other;
  const StateId first = own.claims(begin, 2);
  own.moves(first, own.puts_off(behind));
  const StateId right = other.claims(to_right, 1);
  other.moves(other.knows(begin), right, /*claimer=*/0);
  other.moves(right, other.puts_off(behind));
  StateTable table = together({own.file(), other.file()});
  const auto visit = table.visit(behind, {});
  EXPECT_TRUE(visit->first);
  EXPECT_TRUE(table.asked_before(visit->id).device);
}

/// The moves of a state that has been met once are put off, and whoever meets it next asks for
/// them, on whichever rank.
TEST(RankCheckpoint, OtherRanksAreToldOfWhatHasBeenPutOffAndClaimed) {
  RankPart own;
  const StateId first = own.claims(begin, 2); // not done
  const StateId right = own.claims(to_right, 1);
  own.moves(first, right);
  own.moves(right, own.puts_off(to_left));
  const StateTable table = together({own.file(), -1});
  const StateTable kept = [&] { // not distrusted
    const int file = ::memfd_create("part", 0);
    EXPECT_TRUE(own.table.save(file));
    ::lseek(file, 0, SEEK_SET);
    auto restored = StateTable::restore(file, room);
    ::close(file);
    return std::move(*restored);
  }();
  RankPart other;
  other.table.expect(kept.to_meet_again());
  const auto visit = other.table.visit(to_left, {});
  EXPECT_TRUE(visit->first);
  EXPECT_TRUE(other.table.asked_before(visit->id).device);
  EXPECT_TRUE(other.table.asked_before(other.table.visit(begin, {})->id).device);
  EXPECT_TRUE(other.table.asked_before(other.table.visit(behind, {})->id).none());
  EXPECT_EQ(
      kept.claims_made(),
      (std::vector{claim_of_devices(to_right), claim_of_way(to_left, 0, /*first=*/true)})
  );
  EXPECT_TRUE(table.asked_before(first).device);
}

TEST(RankCheckpoint, WhatHasBeenToldIsKeptOnce) {
  RankPart own, other;
  own.claims(begin, 1);
  constexpr std::array one{std::byte{1}, std::byte{2}}, two{std::byte{3}, std::byte{4}};
  own.table.tell(one);
  other.table.tell(two);
  other.table.tell(one);
  const StateTable table = together({own.file(), other.file()});
  ASSERT_EQ(table.told(), 2U);
  EXPECT_TRUE(std::ranges::equal(table.told(0), one));
  EXPECT_TRUE(std::ranges::equal(table.told(1), two));
}

TEST(RankCheckpoint, WhatIsNoTableIsDamaged) {
  RankPart own;
  const int file = ::memfd_create("part", 0);
  ASSERT_EQ(::write(file, "no table", 8), 8);
  EXPECT_FALSE(StateTable::restore(std::array{own.file(), file}, room).has_value());
  ::close(file);
}

TEST(RankCut, HasACopyOfEachRankOrNone) {
  RankCut cut(3);
  EXPECT_EQ(cut.wanted(), 0U);
  cut.begin();
  const std::uint32_t before = cut.wanted();
  cut.add(1, before, "half");
  cut.end();
  cut.begin();
  const std::uint32_t number = cut.wanted();
  EXPECT_NE(number, before);
  cut.add(1, before, " of another one");
  cut.add(1, number, "one ");
  cut.add(2, number, "two");
  cut.add(1, number, "table");
  cut.finish(1, number, /*good=*/true);
  EXPECT_FALSE(cut.is_over());
  EXPECT_FALSE(cut.copies());
  cut.finish(2, number, /*good=*/true);
  EXPECT_TRUE(cut.is_over());
  const auto copies = cut.copies();
  ASSERT_TRUE(copies);
  EXPECT_EQ(copies->front(), -1);
  std::string text(20, '\0');
  text.resize(static_cast<std::size_t>(::pread((*copies)[1], text.data(), text.size(), 0)));
  EXPECT_EQ(text, "one table");
  cut.begin();
  cut.finish(2, cut.wanted(), /*good=*/false);
  EXPECT_TRUE(cut.is_over());
  EXPECT_FALSE(cut.copies());
}

} // namespace
} // namespace heddle::explore

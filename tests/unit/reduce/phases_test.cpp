// What threads know of each other's use of mbarriers, and when there is a doubt about a phase.
#include "reduce/independence/phases.h"

#include <gtest/gtest.h>

namespace heddle::reduce {
namespace {

constexpr Phases::Object full = 8, empty = 16;
using Thread = Phases::Thread;

/// Two objects that all of four threads know.
Phases initialised() {
  Phases phases;
  phases.start(32);
  EXPECT_TRUE(phases.init(0, full));
  EXPECT_TRUE(phases.init(0, empty));
  const Thread all[] = {0, 1, 2, 3};
  phases.meet(all);
  return phases;
}

bool wait(Phases& phases, Thread thread, Phases::Object object, unsigned parity, unsigned now) {
  return phases.pass(thread, object, phases.waited_by_parity(thread, object, parity), now);
}

TEST(Phases, WhoHasNotMetTheOneThatInitialisedItIsInDoubt) {
  Phases phases;
  phases.start(32);
  EXPECT_TRUE(phases.init(0, full));
  EXPECT_FALSE(phases.arrive(1, full, 0, 0));
  EXPECT_FALSE(phases.waited_by_parity(1, full, 0));
  EXPECT_TRUE(phases.arrive(0, full, 0, 0));
}

TEST(Phases, WhoArrivesAgainHasToWaitFirst) {
  Phases phases = initialised();
  EXPECT_TRUE(phases.arrive(0, full, 0, 0));
  EXPECT_TRUE(phases.arrive(1, full, 0, 1));
  EXPECT_FALSE(phases.arrive(1, full, 1, 1)) << "it might have counted for the phase before";
  EXPECT_TRUE(wait(phases, 0, full, 0, 1));
  EXPECT_TRUE(phases.arrive(0, full, 1, 1));
}

TEST(Phases, AThreadThatPassesAgainIsKnownOnlyForTheFirstTime) {
  Phases phases = initialised();
  EXPECT_TRUE(phases.arrive(0, full, 0, 1));
  EXPECT_TRUE(wait(phases, 1, full, 0, 1));
  EXPECT_TRUE(phases.arrive(1, full, 1, 1)); // knows that 1 has passed
  EXPECT_TRUE(wait(phases, 1, full, 0, 1));
  EXPECT_TRUE(wait(phases, 2, full, 0, 1));
  EXPECT_FALSE(phases.arrive(2, full, 1, 2)) << "1 may still have to ask the second time";
}

TEST(Phases, WhoExpectsBytesExpectsThemUntilItArrives) {
  Phases phases = initialised();
  EXPECT_TRUE(phases.arrive(0, full, 0, 0));
  phases.note_expecting(0, full, true);
  EXPECT_TRUE(phases.some_expecting(full));
  EXPECT_FALSE(phases.some_expecting(empty));
  phases.note_expecting(0, full, false);
  EXPECT_FALSE(phases.some_expecting(full));
}

TEST(Phases, KnowledgePassesFromThoseWhoArriveToThoseWhoWait) {
  Phases phases = initialised();
  for (unsigned phase = 0; phase < 20; ++phase) { // also past the eighth, where numbers begin again
    const unsigned now = phase % 8, next = (phase + 1) % 8;
    ASSERT_TRUE(phases.arrive(0, full, now, next)); // by a producer
    ASSERT_TRUE(wait(phases, 1, full, phase & 1, next));
    ASSERT_TRUE(phases.arrive(1, empty, now, next));
    ASSERT_TRUE(wait(phases, 0, empty, phase & 1, next));
  }
}

TEST(Phases, APhaseThatCompletesBeforeAllHaveWaitedIsADoubt) {
  Phases phases = initialised();
  EXPECT_TRUE(phases.arrive(0, full, 0, 1));
  EXPECT_TRUE(wait(phases, 1, full, 0, 1));
  EXPECT_TRUE(wait(phases, 2, full, 0, 1));
  EXPECT_TRUE(phases.arrive(1, empty, 0, 1)); // speaks for 1, but not for 2
  EXPECT_TRUE(wait(phases, 0, empty, 0, 1));
  EXPECT_TRUE(wait(phases, 0, full, 0, 1));
  EXPECT_FALSE(phases.arrive(0, full, 1, 2)) << "2 might not have waited yet";
}

TEST(Phases, WhoComesTooLateIsADoubt) {
  Phases phases = initialised();
  EXPECT_TRUE(phases.arrive(0, full, 0, 1));
  EXPECT_TRUE(wait(phases, 0, full, 0, 1));
  EXPECT_TRUE(phases.arrive(0, full, 1, 2));
  EXPECT_FALSE(wait(phases, 1, full, 0, 2));
  EXPECT_FALSE(Phases::in_time(phases.waited_by_parity(1, full, 0), 2));
  EXPECT_TRUE(Phases::in_time(phases.waited_by_parity(0, full, 1), 1));
}

TEST(Phases, BarriersPassOnWhatIsKnown) {
  Phases phases = initialised();
  EXPECT_TRUE(phases.arrive(0, full, 0, 1));
  EXPECT_TRUE(wait(phases, 0, full, 0, 1));
  const Thread first[] = {0}, second[] = {1, 2};
  phases.leave_word(first, 5); // bar.arrive
  EXPECT_FALSE(phases.arrive(1, full, 1, 1));
  phases.meet(second, 5);
  EXPECT_TRUE(phases.arrive(1, full, 1, 1));
  EXPECT_TRUE(phases.arrive(2, full, 1, 1));
}

TEST(Phases, AStateIsComeBackTo) {
  Phases phases = initialised();
  EXPECT_TRUE(phases.arrive(0, full, 0, 1));
  EXPECT_TRUE(wait(phases, 0, full, 0, 1));
  const Thread first[] = {0};
  phases.leave_word(first, 5);
  std::vector<std::byte> saved, again;
  phases.save(saved);
  EXPECT_TRUE(phases.arrive(0, full, 1, 2));
  EXPECT_EQ(phases.load(saved.data(), 32), saved.data() + saved.size());
  phases.save(again);
  EXPECT_EQ(saved, again);
  EXPECT_TRUE(phases.arrive(0, full, 1, 2));
}

// The last of those who leave a pipeline destroys its barriers, and nobody has waited for the last
// phase of those that say "empty".
TEST(Phases, WhoKnowsOfAllArrivalsMayInvalidate) {
  Phases phases = initialised();
  const std::uint32_t count = Phases::word_in_memory(0, 64);
  EXPECT_TRUE(phases.arrive(0, full, 0, 1)); // a producer
  for (const Thread consumer : {1, 2}) {
    EXPECT_TRUE(wait(phases, consumer, full, 0, 1));
    EXPECT_TRUE(phases.arrive(consumer, empty, 0, consumer == 1 ? 0 : 1));
  }
  const auto leave = [&](Thread thread) {
    phases.take_word({&thread, 1}, count);
    phases.leave_word({&thread, 1}, count);
  };
  leave(2);
  leave(0);
  EXPECT_FALSE(phases.inval(0, empty)) << "1 may still have to arrive";
  EXPECT_FALSE(phases.inval(0, full)) << "1 may still have to wait";
  leave(1);
  EXPECT_TRUE(phases.inval(1, empty));
  EXPECT_TRUE(phases.inval(1, full));
}

TEST(Phases, WordOfAnEarlierArrivalIsNotWordOfALaterOne) {
  Phases phases = initialised();
  const std::uint32_t word = Phases::word_in_memory(0, 64);
  const Thread early[] = {1}, other[] = {2};
  EXPECT_TRUE(phases.arrive(1, full, 0, 1));
  phases.leave_word(early, word);
  EXPECT_TRUE(wait(phases, 1, full, 0, 1));
  EXPECT_TRUE(phases.arrive(1, full, 1, 2));
  phases.take_word(other, word);
  EXPECT_FALSE(phases.inval(2, full));
}

} // namespace
} // namespace heddle::reduce

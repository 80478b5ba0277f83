// What clocks show in a search ([CLOCK]).
#include "support/stepper_device.h"
#include <gmock/gmock.h>

namespace heddle::reduce {
namespace {

using test::Device;
using test::kernel;
using test::shape;
using Time = Stepper::Time;

/// A visible read, then a look, until the read is not 0 or the limit is over; then writes which.
constexpr const char* flag_or_limit =
    "mov.u64 %rd2, %clock64;\n"
    "L: ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r2, 0; @%p1 bra F;\n"
    "mov.u64 %rd3, %clock64; sub.s64 %rd4, %rd3, %rd2; setp.lt.s64 %p2, %rd4, 1000000;\n"
    "@%p2 bra L; st.global.u32 [%rd1+8], 1; ret;\n"
    "F: st.global.u32 [%rd1+8], 2;";

std::vector<Time> times(Device& device) {
  std::vector<Time> result;
  for (const Stepper::Move& move : device.moves()) {
    result.push_back(move.time);
  }
  return result;
}

TEST(StepperClocks, ALookIsSoonOrLate) {
  Device device(kernel("k", flag_or_limit));
  device.launch("k", shape(1, 1));
  EXPECT_THAT(times(device), testing::ElementsAre(Time::None)); // the first look is none of these
  const Hash128 begin = device.fingerprint();
  device.step();
  ASSERT_THAT(times(device), testing::ElementsAre(Time::Soon, Time::Late));
  const auto here = device.stepper().mark();
  EXPECT_EQ(device.step(0), StepKind::None); // no step
  EXPECT_THAT(times(device), testing::ElementsAre(Time::None));
  device.stepper().undo_to(here);
  device.step(1);
  EXPECT_EQ(device.word(2), 1U);
  EXPECT_NE(device.fingerprint(), begin);
}

TEST(StepperClocks, ALoopOnALimitComesBackToItsState) {
  Device device(kernel("k", flag_or_limit));
  device.launch("k", shape(1, 1));
  device.step();
  const Hash128 looks = device.fingerprint();
  device.step(0);
  device.step(0);
  EXPECT_EQ(device.fingerprint(), looks);
}

TEST(StepperClocks, WhoOnlyAsksTheTimeIsLate) {
  Device device(kernel(
      "k",
      "mov.u64 %rd2, %clock64;\n"
      "L: mov.u64 %rd3, %clock64; sub.s64 %rd4, %rd3, %rd2; setp.lt.s64 %p2, %rd4, 1000000;\n"
      "@%p2 bra L; atom.add.global.u32 %r2, [%rd1], 1; st.global.u32 [%rd1+4], %r2;"
  ));
  device.launch("k", shape(1, 1));
  EXPECT_THAT(times(device), testing::ElementsAre(Time::None));
  EXPECT_EQ(device.step(), StepKind::Sync); // the update
}

TEST(StepperClocks, ALimitThatIsSetAnewComesBackToItsState) {
  Device device(kernel(
      "k",
      "R: mov.u64 %rd2, %globaltimer; add.u64 %rd5, %rd2, 1000;\n"
      "L: ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r2, 0; @%p1 bra F;\n"
      "mov.u64 %rd3, %globaltimer; setp.lt.u64 %p2, %rd3, %rd5;\n"
      "@%p2 bra L; st.relaxed.gpu.global.u32 [%rd1+4], 7; bra R; F:"
  ));
  device.launch("k", shape(1, 1));
  const auto round = [&] { // late; writes; reads
    device.step(1);
    device.step(0);
    device.step(0);
    return device.fingerprint();
  };
  device.step();
  const Hash128 first = round();
  EXPECT_EQ(round(), first);
}

TEST(StepperClocks, ALimitThatMakesNoDifferenceIsNone) { // whichever way, it reads again
  Device device(kernel(
      "k",
      "R: mov.u64 %rd2, %globaltimer; add.u64 %rd5, %rd2, 1000;\n"
      "L: ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r2, 0; @%p1 bra F;\n"
      "mov.u64 %rd3, %globaltimer; setp.lt.u64 %p2, %rd3, %rd5;\n"
      "@%p2 bra L; bra R; F:"
  ));
  device.launch("k", shape(1, 1));
  device.step();
  EXPECT_THAT(times(device), testing::ElementsAre(Time::None));
}

TEST(StepperClocks, OldTimesAreAlike) { // one that is never over
  Device device(kernel(
      "k",
      "mov.u64 %rd2, %clock64; mov.u32 %r4, 0;\n"
      "L: ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r2, 0; @%p1 bra F;\n"
      "mov.u64 %rd3, %clock64; sub.s64 %rd4, %rd3, %rd2; setp.gt.s64 %p2, %rd4, 1000;\n"
      "@%p2 st.relaxed.gpu.global.u32 [%rd1+4], 1; bra L; F:"
  ));
  device.launch("k", shape(1, 1));
  std::vector<Hash128> seen;
  for (int round = 0; round < 4; ++round) {
    while (times(device).size() != 2) {
      device.step();
    }
    device.step(1);
    seen.push_back(device.fingerprint());
  }
  EXPECT_EQ(seen[2], seen[3]);
}

TEST(StepperClocks, LooksStandForAllMoves) {
  Device device(kernel("k", flag_or_limit));
  device.launch("k", shape(2, 1));
  EXPECT_EQ(device.moves().size(), 2U);
  device.step(0);
  EXPECT_THAT(times(device), testing::ElementsAre(Time::Soon, Time::Late));
}

TEST(StepperClocks, WithoutThatAllMovesAreThere) {
  Stepper::Options options = test::without_sums();
  options.independence.eager = false;
  Device device(kernel("k", flag_or_limit), options);
  device.launch("k", shape(2, 1));
  device.step(0);
  EXPECT_THAT(times(device), testing::ElementsAre(Time::Soon, Time::Late, Time::None));
}

TEST(StepperClocks, DataIsAsMuchLaterAsItStandsLater) {
  Device device(kernel(
      "k",
      "mov.u64 %rd2, %clock64; mov.u64 %rd3, %clock64; sub.s64 %rd4, %rd3, %rd2;\n"
      "cvt.u32.u64 %r2, %rd4; st.global.u32 [%rd1], %r2;"
  ));
  device.launch("k", shape(1, 1));
  device.step();
  EXPECT_GT(device.word(0), 0U);
  EXPECT_LT(device.word(0), 100U);
}

TEST(StepperClocks, TooManyLimitsAreSaid) { // of times that are not followed
  Device device(kernel(
      "k",
      "mov.u64 %rd2, %clock64; shr.u64 %rd5, %rd2, 1;\n"
      "L: ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r2, 0; @%p1 bra F;\n"
      "mov.u64 %rd3, %clock64; shr.u64 %rd4, %rd3, 1; setp.gt.u64 %p2, %rd4, %rd5;\n"
      "@%p2 st.relaxed.gpu.global.u32 [%rd1+4], 1; bra L; F:"
  ));
  device.launch("k", shape(1, 1));
  for (int n = 0; n < 100 && !device.stepper().failure(); ++n) {
    const auto moves = device.moves();
    device.stepper().step(moves.back());
  }
  ASSERT_TRUE(device.stepper().failure());
  EXPECT_NE(device.stepper().failure()->incomplete, "");
}

TEST(StepperClocks, ALowHalfMayBeSmallAgain) {
  Device device(kernel(
      "k",
      "mov.u64 %rd2, %clock64;\n"
      "mov.u64 %rd3, %clock64; sub.s64 %rd4, %rd3, %rd2; cvt.u32.u64 %r2, %rd4;\n"
      "setp.lt.s32 %p1, %r2, 1000; @%p1 ret; ld.relaxed.gpu.global.u32 %r3, [%rd1];\n"
      "mov.u64 %rd3, %clock64; sub.s64 %rd4, %rd3, %rd2; cvt.u32.u64 %r2, %rd4;\n"
      "setp.lt.s32 %p1, %r2, 1000; @%p1 st.global.u32 [%rd1], 5;"
  ));
  device.launch("k", shape(1, 1));
  ASSERT_THAT(times(device), testing::ElementsAre(Time::Soon, Time::Late));
  device.step(1);
  while (times(device).size() != 2) {
    device.step();
  }
  device.step(0);
  EXPECT_EQ(device.word(0), 5U);
  EXPECT_EQ(device.stepper().facts().times, "");
}

TEST(StepperClocks, AValueThatDecidesIsSaid) {
  Device device(kernel(
      "k",
      "mov.u64 %rd2, %clock64; and.b64 %rd3, %rd2, 1; setp.eq.s64 %p1, %rd3, 0;\n"
      "@%p1 st.relaxed.gpu.global.u32 [%rd1], 1; @!%p1 st.relaxed.gpu.global.u32 [%rd1+4], 1;"
  ));
  device.launch("k", shape(1, 1));
  ASSERT_THAT(times(device), testing::ElementsAre(Time::Soon, Time::Late));
  const auto here = device.stepper().mark();
  std::uint32_t even = 0, odd = 0;
  for (const std::size_t answer : {0, 1}) {
    device.step(answer);
    while (!device.moves().empty()) {
      device.step();
    }
    even += device.word(0);
    odd += device.word(1);
    device.stepper().undo_to(here);
  }
  EXPECT_EQ(even, 1U);
  EXPECT_EQ(odd, 1U);
  EXPECT_THAT(device.stepper().facts().times, testing::HasSubstr("a clock in 'k'"));
}

/// Stores what a clock has shown, and then does something with a place.
std::string stores_time(const std::string& then) {
  const std::string body = "mov.u64 %rd2, %clock64; st.global.u64 [%rd1+8], %rd2; " + then +
                           " setp.eq.u32 %p1, %r2, 3; @%p1 st.relaxed.gpu.global.u32 [%rd1], 1;";
  return kernel("k", body.c_str());
}

TEST(StepperClocks, AValueThatIsLoadedAgainDecides) {
  Device device(stores_time("ld.volatile.global.u32 %r2, [%rd1+8];"));
  device.launch("k", shape(1, 1));
  while (!device.moves().empty()) {
    device.step();
  }
  EXPECT_THAT(device.stepper().facts().times, testing::HasSubstr("by way of memory"));
}

TEST(StepperClocks, AnotherPlaceDoesNot) {
  Device device(stores_time("ld.volatile.global.u32 %r2, [%rd1+16];"));
  device.launch("k", shape(1, 1));
  while (!device.moves().empty()) {
    device.step();
  }
  EXPECT_EQ(device.stepper().facts().times, "");
}

} // namespace
} // namespace heddle::reduce

// What clocks show to host threads, and how a state names the times that it contains
// (spec/clocks.md, "Clocks of the host").
#include "explore/host/time_names.h"
#include "hostwatch/hooks.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

namespace heddle::explore {
namespace {

constexpr std::uint64_t second = 1'000'000'000, millisecond = 1'000'000;
constexpr std::uint64_t here = 1, there = 2;

HostClock settled_clock() {
  HostClock clock(false);
  HostClock::Looks looks;
  while (!clock.is_settled()) {
    clock.look_from(here, looks);
  }
  return clock;
}

std::uint64_t name(const HostClock& clock, const std::vector<std::uint64_t>& words) {
  Hasher hasher;
  hash_with_times(clock, hasher, [&](TimeNames& times, Hasher& to) {
    times.bytes(words.data(), words.size() * sizeof(std::uint64_t), to);
  });
  return hasher.finish().low;
}

/// On the monotonic clock.
std::uint64_t shown(std::uint64_t elapsed) {
  return HeddleMonotonicStart + elapsed;
}

TEST(HostClock, IsSettledAfterSixLooks) {
  HostClock clock(false);
  HostClock::Looks looks;
  std::uint64_t last = 0;
  for (int i = 0; i < 6; ++i) {
    const std::uint64_t now = clock.look_from(here, looks);
    EXPECT_GT(now, last);
    EXPECT_FALSE(clock.is_settled() && i < 5);
    last = now;
  }
  EXPECT_TRUE(clock.is_settled());
}

TEST(HostClock, PassesWhereAThreadLooksTwiceInARow) {
  HostClock clock = settled_clock();
  HostClock::Looks looks;
  const std::uint64_t first = clock.look_from(here, looks);
  EXPECT_EQ(clock.look_from(here, looks), first + HostClock::period);
}

TEST(HostClock, StaysBetweenTwoPlacesAndPassesInTheThirdRound) {
  HostClock clock = settled_clock();
  HostClock::Looks looks;
  const std::uint64_t first = clock.look_from(here, looks);
  for (const std::uint64_t place : {there, here, there}) {
    EXPECT_EQ(clock.look_from(place, looks), first);
  }
  EXPECT_EQ(clock.look_from(here, looks), first + HostClock::period);
}

TEST(HostClock, AnInnerLoopIsInTimeOnceInEachRound) {
  HostClock clock = settled_clock();
  HostClock::Looks looks;
  for (int round = 0; round < 5; ++round) {
    const std::uint64_t end = clock.look_from(here, looks) + millisecond;
    EXPECT_LT(clock.look_from(there, looks), end);
    EXPECT_GT(clock.look_from(there, looks), end);
  }
}

TEST(HostClock, ALimitThatPassesTakesWholePeriods) {
  HostClock clock = settled_clock();
  const std::uint64_t begin = clock.now();
  clock.pass(begin + 1);
  EXPECT_EQ(clock.now(), begin + HostClock::period);
  clock.pass(clock.now() + 2 * HostClock::period + 1);
  EXPECT_EQ(clock.now(), begin + 4 * HostClock::period);
}

TEST(HostClock, IsAlwaysLaterIfThatIsAskedFor) {
  HostClock clock(true);
  HostClock::Looks looks;
  std::uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t now = clock.look_from(i % 2 == 0 ? here : there, looks);
    EXPECT_GT(now, last);
    last = now;
  }
}

TEST(TimeNames, OfARoundAreThoseOfTheNext) {
  HostClock clock = settled_clock();
  const auto round = [&] {
    const std::uint64_t now = shown(clock.now()), real = HeddleRealtimeStart + clock.now();
    return name(
        clock,
        {now,
         now + millisecond,
         now / second,
         real,
         real / millisecond,
         real / 1'000,
         real / second,
         now * HeddleCyclesPerNanosecond,
         std::bit_cast<std::uint64_t>(static_cast<double>(real / second) + 0.25),
         17}
    );
  };
  const std::uint64_t first = round();
  for (int i = 0; i < 5; ++i) {
    clock.pass(clock.now() + 1);
    EXPECT_EQ(round(), first) << i;
  }
}

TEST(TimeNames, HaveTheLowerHalfOfATimeAsItIs) {
  HostClock clock = settled_clock();
  const auto half = static_cast<std::uint32_t>(shown(clock.now()));
  clock.pass(clock.now() + 1);
  EXPECT_EQ(static_cast<std::uint32_t>(shown(clock.now())), half);
}

TEST(TimeNames, TellDurationsApart) {
  const HostClock clock = settled_clock();
  const std::uint64_t now = shown(clock.now());
  EXPECT_NE(name(clock, {now + 1}), name(clock, {now}));
  EXPECT_NE(name(clock, {now + HostClock::period}), name(clock, {now}));
  EXPECT_NE(name(clock, {now, now + 1}), name(clock, {now + 1, now}));
}

TEST(TimeNames, KeepWhatHasPassedAndInWhichOrder) {
  HostClock clock = settled_clock();
  const std::uint64_t limit = shown(clock.now()) + millisecond;
  const std::uint64_t before = name(clock, {limit});
  clock.pass(clock.now() + 1);
  const std::uint64_t passed = name(clock, {limit});
  EXPECT_NE(passed, before);
  clock.pass(clock.now() + 1);
  const std::uint64_t old = name(clock, {limit});
  clock.pass(clock.now() + 3 * HostClock::period);
  EXPECT_EQ(name(clock, {limit}), old);
  const std::uint64_t older = limit - HostClock::period;
  EXPECT_NE(name(clock, {limit, older}), name(clock, {older, limit}));
}

TEST(TimeNames, AreOfTimesOnly) {
  HostClock clock = settled_clock();
  const std::vector<std::uint64_t>
      others{0, 1, 4096, 0x5555'5555'0000, 0x7fff'ffff'e000, ~std::uint64_t{0}};
  for (const std::uint64_t word : others) {
    const std::uint64_t first = name(clock, {word});
    HostClock later = clock;
    later.pass(later.now() + 1);
    EXPECT_EQ(name(later, {word}), first);
    EXPECT_NE(name(clock, {word + 1}), first);
  }
}

TEST(TimeNames, TellApartWhatIsTakenForATime) {
  // A counter beside 70'000: together they look like microseconds.
  HostClock clock = settled_clock();
  clock.pass(clock.now() + 5 * HostClock::period);
  const std::uint64_t word = std::uint64_t{70'000} << 32;
  EXPECT_NE(name(clock, {word + 1}), name(clock, {word + 2}));
}

TEST(TimeNames, AreNotNeededBeforeTheClockIsSettled) {
  const HostClock clock(false);
  EXPECT_FALSE(TimeNames(clock).needed());
  EXPECT_NE(name(clock, {shown(1'000)}), name(clock, {shown(64'000)}));
}

} // namespace
} // namespace heddle::explore

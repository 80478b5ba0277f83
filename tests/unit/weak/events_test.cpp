#include "weak/events.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace heddle::weak {
namespace {

using Numbers = std::set<std::uint32_t>;
using Kind = Events::Kind;

Numbers overlapping(const Events& events, const Range& range, Kind kind) {
  Numbers result;
  events.each_overlapping(range, kind, [&](std::uint32_t n) { result.insert(n); });
  return result;
}
Numbers of(const Events& events, Thread first, std::uint64_t count) {
  Numbers result;
  events.each_of(first, count, [&](std::uint32_t n) { result.insert(n); });
  return result;
}
View view_of(const Numbers& numbers) {
  View result;
  for (const std::uint32_t n : numbers) {
    result.add(n);
  }
  return result;
}

TEST(Events, AreFoundByPlaceAndByThread) {
  Events events;
  const auto wide = events.add({.write = true, .thread = 1, .range = {96, 8}});
  const auto narrow = events.add({.write = true, .thread = 2, .range = {100, 4}});
  const auto read = events.add({.thread = 2, .range = {100, 4}});
  EXPECT_EQ(overlapping(events, {100, 1}, Kind::Writes), (Numbers{wide, narrow}));
  EXPECT_EQ(overlapping(events, {96, 4}, Kind::Writes), Numbers{wide});
  EXPECT_EQ(overlapping(events, {104, 4}, Kind::Writes), Numbers{});
  EXPECT_EQ(overlapping(events, {103, 1}, Kind::Reads), Numbers{read});
  EXPECT_EQ(of(events, 2, 1), (Numbers{narrow, read}));
  Numbers at;
  events.each_at({100, 4}, Kind::Writes, 2, [&](std::uint32_t n) { at.insert(n); });
  EXPECT_EQ(at, Numbers{narrow});
}

TEST(Events, OfThreadsThatHaveEndedAreNobodysOwn) {
  Events events;
  const auto first = events.add({.thread = 1, .range = {8, 4}});
  const auto second = events.add({.thread = 2, .range = {8, 4}});
  events.end(0, 2);
  EXPECT_EQ(of(events, 0, 3), Numbers{second});
  EXPECT_FALSE(events.is_own(first, 1));
  const auto again = events.add({.thread = 1, .range = {8, 4}}); // another one with its name
  EXPECT_EQ(of(events, 1, 1), Numbers{again});
}

TEST(Events, TheLowestFreeNumberIsTaken) {
  Events events;
  for (int n = 0; n < 5; ++n) {
    events.add({.thread = 1, .range = {8, 4}});
  }
  events.forget(view_of({1, 3, 4}));
  EXPECT_EQ(events.size(), 3U);
  EXPECT_EQ(events.add({.thread = 2, .range = {16, 4}}), 1U);
  EXPECT_EQ(events.add({.thread = 2, .range = {16, 4}}), 3U);
}

// The index says what a look at all of them says.
TEST(Events, AreFoundLikeOneByOne) {
  std::mt19937 random(1); // NOLINT: the same ones each time
  const auto below = [&](unsigned n) { return static_cast<std::uint32_t>(random() % n); };
  Events events;
  for (int round = 0; round < 2000; ++round) {
    const Range range{16 + below(24), 1U << below(5)};
    const Thread thread = below(6);
    switch (below(8)) {
    case 0: {
      Numbers some;
      events.each([&](std::uint32_t n) {
        if (below(3) == 0) {
          some.insert(n);
        }
      });
      events.forget(view_of(some));
      break;
    }
    case 1:
      events.end(thread, 1 + below(2));
      break;
    default:
      events.add({.write = below(2) == 0, .thread = thread, .range = range});
    }
    for (const Kind kind : {Kind::Reads, Kind::Writes}) {
      Numbers expected, at, found;
      events.each([&](std::uint32_t n) {
        const Event& e = events[n];
        if (e.write == (kind == Kind::Writes) && e.range.overlaps(range)) {
          expected.insert(n);
          if (e.range == range && e.thread == thread) {
            at.insert(n);
          }
        }
      });
      ASSERT_EQ(overlapping(events, range, kind), expected);
      events.each_at(range, kind, thread, [&](std::uint32_t n) { found.insert(n); });
      ASSERT_EQ(found, at);
    }
    Numbers own;
    events.each([&](std::uint32_t n) {
      if (events.is_own(n, thread) || events.is_own(n, thread + 1)) {
        own.insert(n);
      }
    });
    ASSERT_EQ(of(events, thread, 2), own);
  }
}

} // namespace
} // namespace heddle::weak

// Clocks against a plain map of numbers, in random sequences of learning and joining.
#include "race/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace heddle::race {
namespace {

using Plain = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;

constexpr std::uint32_t blocks[] = {1, 2, 31, 32, 500};
constexpr std::uint16_t threads[] = {0, 1, 31, 32, 100, 1023};

void raise(Plain& plain, std::uint32_t block, std::uint16_t thread, std::uint32_t tick) {
  std::uint32_t& known = plain[{block, thread}];
  known = std::max(known, tick);
}

bool agree(const Clock& clock, const Plain& plain) {
  for (const std::uint32_t block : blocks) {
    for (const std::uint16_t thread : threads) {
      const auto known = plain.find({block, thread});
      const std::uint32_t tick = known != plain.end() ? known->second : 0;
      if (tick != 0 && !clock.knows({block, thread}, tick)) {
        return false;
      }
      if (clock.knows({block, thread}, tick + 1)) {
        return false;
      }
    }
  }
  return true;
}

TEST(Clock, KnowsNothingAtFirst) {
  EXPECT_FALSE(Clock().knows({1, 0}, 1));
  EXPECT_TRUE(Clock().empty());
}

TEST(Clock, CopiesDoNotChangeWithTheirOrigin) {
  Clock a;
  a.learn({1, 5}, 3);
  const Clock b = a;
  a.learn({1, 5}, 9);
  a.learn_block(1, 4);
  EXPECT_TRUE(a.knows({1, 5}, 9));
  EXPECT_FALSE(b.knows({1, 5}, 4));
  EXPECT_FALSE(b.knows({1, 6}, 1));
}

TEST(Clock, AgreesWithAMap) {
  std::mt19937 random(7);
  const auto any = [&](auto& list) { return list[random() % std::size(list)]; };
  for (int round = 0; round < 200; ++round) {
    Clock clock[3];
    Plain plain[3];
    for (int step = 0; step < 40; ++step) {
      const std::size_t i = random() % 3;
      const std::uint32_t block = any(blocks);
      const std::uint16_t thread = any(threads);
      const std::uint32_t tick = 1 + random() % 9;
      switch (random() % 4) {
      case 0:
        clock[i].learn({block, thread}, tick);
        raise(plain[i], block, thread, tick);
        break;
      case 1:
        clock[i].learn_warp(block, thread / 32U, tick);
        for (const std::uint16_t other : threads) {
          if (other / 32 == thread / 32) {
            raise(plain[i], block, other, tick);
          }
        }
        break;
      case 2:
        clock[i].learn_block(block, tick);
        for (const std::uint16_t other : threads) {
          raise(plain[i], block, other, tick);
        }
        break;
      default: {
        const std::size_t j = random() % 3;
        clock[i].learn(clock[j]);
        for (const auto& [who, known] : Plain(plain[j])) {
          std::uint32_t& mine = plain[i][who];
          mine = std::max(mine, known);
        }
      }
      }
      for (std::size_t k = 0; k < 3; ++k) {
        ASSERT_TRUE(agree(clock[k], plain[k])) << "round " << round << ", step " << step;
      }
    }
  }
}

} // namespace
} // namespace heddle::race

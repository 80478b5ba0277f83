#include "weak/runs.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace heddle::weak {
namespace {

TEST(Runs, ThreadsSideBySideHaveOneValueOnce) {
  Runs<int> runs;
  runs.set(10, 64, 1);
  runs.set(74, 64, 2);
  EXPECT_EQ(runs.size(), 128U);
  EXPECT_EQ(runs.at(73), 1);
  EXPECT_EQ(runs.at(74), 2);
  EXPECT_FALSE(runs.contains(9));
  EXPECT_FALSE(runs.contains(138));
  EXPECT_EQ(runs.end() - runs.begin(), 2);
}

TEST(Runs, APartIsARunOfItsOwnUntilItIsJoined) {
  Runs<int> runs;
  runs.set(0, 8, 1);
  runs.part(3, 2).value = 7;
  EXPECT_EQ(runs.at(2), 1);
  EXPECT_EQ(runs.at(3), 7);
  EXPECT_EQ(runs.at(4), 7);
  EXPECT_EQ(runs.at(5), 1);
  EXPECT_EQ(runs.end() - runs.begin(), 3);
  runs.part(3, 2).value = 1;
  runs.join([](int a, int b) { return a == b; });
  EXPECT_EQ(runs.end() - runs.begin(), 1);
  EXPECT_EQ(runs.size(), 8U);
}

TEST(Runs, ThoseThatAreNotSideBySideAreNotJoined) {
  Runs<int> runs;
  runs.set(0, 4, 1);
  runs.set(8, 4, 1);
  runs.join([](int a, int b) { return a == b; });
  EXPECT_EQ(runs.end() - runs.begin(), 2);
  EXPECT_FALSE(runs.contains(5));
}

TEST(Runs, AreAMap) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Runs<int> runs;
    std::map<Thread, int> map;
    for (int step = 0; step < 40; ++step) {
      const Thread first = random() % 40;
      const std::uint64_t count = 1 + random() % 9;
      const int value = static_cast<int>(random() % 3);
      switch (random() % 4) {
      case 0:
        runs.set(first, count, value);
        for (Thread t = first; t < first + count; ++t) {
          map[t] = value;
        }
        break;
      case 1:
        runs.erase(first, count);
        for (Thread t = first; t < first + count; ++t) {
          map.erase(t);
        }
        break;
      case 2:
        if (map.contains(first)) {
          runs.part(first, 1).value = value;
          map[first] = value;
        }
        break;
      default:
        runs.join([](int a, int b) { return a == b; });
        break;
      }
      ASSERT_EQ(runs.size(), map.size());
      for (Thread t = 0; t < 60; ++t) {
        ASSERT_EQ(runs.contains(t), map.contains(t)) << t;
        if (map.contains(t)) {
          ASSERT_EQ(runs.at(t), map.at(t)) << t;
        }
      }
    }
  }
}

} // namespace
} // namespace heddle::weak

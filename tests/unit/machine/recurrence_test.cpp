#include "machine/recurrence.h"

#include <gtest/gtest.h>

namespace heddle::machine {
namespace {

/// State n of a sequence that goes round in `period` after `before` states.
Hash128 state(std::uint64_t n, std::uint64_t before, std::uint64_t period) {
  return {n < before ? n : before + (n - before) % period, 1};
}

TEST(Recurrence, FindsEachCircleInThreeTimesItsWay) {
  for (std::uint64_t before = 0; before < 20; ++before) {
    for (std::uint64_t period = 1; period < 20; ++period) {
      Recurrence circle(state(0, before, period));
      std::uint64_t n = 1;
      while (!circle.is_back(state(n, before, period))) {
        circle.go_on(state(n, before, period));
        ASSERT_LE(++n, 3 * (before + period) + 1);
      }
      EXPECT_GE(n, before + period); // and none that there is not
    }
  }
}

TEST(Recurrence, TellsWhatIsDoneInTheCircle) {
  constexpr std::uint64_t before = 5, period = 3;
  Recurrence circle(state(0, before, period));
  for (std::uint64_t n = 1;; ++n) {
    if (n < before) {
      circle.did(Recurrence::Steps); // on the way there only
    } else if ((n - before) % period == 1) {
      circle.did(Recurrence::Sleeps);
    }
    if (circle.is_back(state(n, before, period))) {
      break;
    }
    circle.go_on(state(n, before, period));
  }
  EXPECT_FALSE(circle.does(Recurrence::Steps));
  EXPECT_TRUE(circle.does(Recurrence::Sleeps));
  EXPECT_FALSE(circle.does(Recurrence::ReadsPlain));
}

TEST(ShortRecurrence, KeepsAllStates) {
  ShortRecurrence circle;
  EXPECT_TRUE(circle.is_new({1, 1}));
  EXPECT_TRUE(circle.is_new({2, 1}));
  EXPECT_FALSE(circle.is_new({1, 1}));
  EXPECT_EQ(circle.size(), 2U);
}

} // namespace
} // namespace heddle::machine

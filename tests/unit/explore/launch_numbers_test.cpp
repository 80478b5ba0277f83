#include "explore/search/launch_numbers.h"

#include <gtest/gtest.h>

namespace heddle::explore {
namespace {

/// Launches of one kernel; `behind`: ids that they come behind.
class Launches : public testing::Test {
protected:
  std::string launch(
      std::vector<std::uint64_t> behind,
      std::uint64_t part_of = 0,
      const char* kernel = "k",
      unsigned thread = 0
  ) {
    machine::Command command;
    command.id = ++last_id_;
    command.behind = std::move(behind);
    command.part_of = part_of;
    return numbers_.submitted(command, kernel, thread, "host thread 2");
  }

private:
  LaunchNumbers numbers_;
  std::uint64_t last_id_ = 0;
};

TEST_F(Launches, OneAfterTheOtherNeedNoNumbers) {
  EXPECT_EQ(launch({}), "");
  EXPECT_EQ(launch({1}), "");
  EXPECT_EQ(launch({2}, 0, ""), ""); // a copy
  EXPECT_EQ(launch({3}), "");
}

TEST_F(Launches, OfTwoStreams) {
  EXPECT_EQ(launch({}), "");
  EXPECT_EQ(launch({}), " (launch 2)");
  EXPECT_EQ(launch({1}), "");
  EXPECT_EQ(launch({2}), " (launch 2)");
  EXPECT_EQ(launch({3}), "");
  EXPECT_EQ(launch({}), " (launch 3)");
  EXPECT_EQ(launch({}, 0, "other"), "");
}

TEST_F(Launches, AStreamThatWaitsForAnother) {
  EXPECT_EQ(launch({}), "");
  EXPECT_EQ(launch({}), " (launch 2)");
  EXPECT_EQ(launch({1}, 0, ""), "");     // an event's record
  EXPECT_EQ(launch({2, 3}), "");         // behind both: it takes the lowest number
  EXPECT_EQ(launch({1}), " (launch 3)"); // the last two may be under way
}

TEST_F(Launches, ByKernels) {
  EXPECT_EQ(launch({}), "");
  EXPECT_EQ(launch({}, 1), " (launch 2)"); // the first one is under way
  EXPECT_EQ(launch({}, 2), " (launch 3)"); // and so is this
  EXPECT_EQ(launch({1}), "");              // the first has completed, and all parts of it have
  EXPECT_EQ(launch({}, 4), " (launch 2)");
}

TEST_F(Launches, OfSeveralHostThreads) {
  EXPECT_EQ(launch({}), "");
  EXPECT_EQ(launch({}, 0, "k", 1), " (launch 1, host thread 2)");
  EXPECT_EQ(launch({}), " (launch 2)"); // whatever the other thread has done
}

} // namespace
} // namespace heddle::explore

// What `heddle run --warps=lockstep` reports, read back and compared with a search's verdict.
#include "cli/lockstep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* livelock =
    "some output of the program\n"
    "heddle: error[livelock]: the program hangs: nothing that is guaranteed can finish\n"
    "  = rule: [HANG-LIVELOCK] livelock: …\n"
    "  = thread (1,0,0) of block (0,0,0) and 30 more: a.cu:17: spins (@%p1 bra $L__BB0_1;)\n"
    "  = the host waits in cudaDeviceSynchronize\n"
    "more output\n";

TEST(Lockstep, ReadsTheHangOutOfAReport) {
  EXPECT_FALSE(hang_in("0 wrong\nheddle: error[null]: read of 4 bytes\n"));
  const auto hang = hang_in(livelock);
  ASSERT_TRUE(hang);
  EXPECT_EQ(hang->finding, report::Finding::Livelock);
  EXPECT_THAT(hang->notes, ElementsAre(HasSubstr("a.cu:17: spins"), HasSubstr("the host waits")));
  const auto deadlock = hang_in("heddle: error[deadlock]: everyone is blocked");
  ASSERT_TRUE(deadlock);
  EXPECT_EQ(deadlock->finding, report::Finding::Deadlock);
  EXPECT_EQ(deadlock->message, "everyone is blocked");
}

TEST(Lockstep, AHangThereAloneIsAFinding) { // [SIMT-LIVENESS]
  report::Report report;
  report.complete = true;
  LockstepTrial trial;
  trial.orders = 1;
  trial.hang = hang_in(livelock);
  add_lockstep(report, trial);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_THAT(report.findings[0].message, HasSubstr("hang: lockstep only"));
  EXPECT_EQ(report.findings[0].rule_id(), "SIMT-LIVENESS");
  EXPECT_EQ(report.verdict(), report::Verdict::MayHang);

  add_lockstep(report, trial); // now there is a hang with independent threads, too
  EXPECT_THAT(report.findings[1].message, HasSubstr("independent threads and in lockstep"));
}

TEST(Lockstep, OrdersThatEndAreTold) {
  report::Report report;
  report.complete = true;
  report.bounds = "1 input";
  LockstepTrial trial;
  trial.orders = trial.ended = 4;
  add_lockstep(report, trial);
  EXPECT_EQ(report.bounds, "1 input; lockstep warps: 4 of 4 orders tried have ended");
  EXPECT_EQ(report.verdict(), report::Verdict::Terminates);
}

TEST(Lockstep, TriesAllOrdersOfAProgramThatEnds) {
  Target target;
  target.path = "program"; // true and echo play `heddle run --warps=lockstep … program`
  const auto trial = try_lockstep("true", target, {}, {.orders = 3, .seconds = 10});
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->orders, 3);
  EXPECT_EQ(trial->ended, 3);
  EXPECT_FALSE(trial->hang);
  const auto echo = try_lockstep("echo", target, {}, {.orders = 2, .seconds = 10});
  ASSERT_TRUE(echo) << "stdout of the program is not read";
  EXPECT_FALSE(echo->hang);
}

} // namespace
} // namespace heddle::cli

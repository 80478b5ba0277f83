// What `heddle check --warps=both` makes of its two searches.
#include "cli/check/lockstep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using report::Diagnostic;
using report::Finding;
using report::Report;
using report::Verdict;
using testing::ElementsAre;
using testing::HasSubstr;

Diagnostic hang(Finding finding, const char* rule, std::uint32_t line) {
  Diagnostic d(finding, "kernel 'k<<<1,2>>>' may hang");
  d.rule = rule;
  d.place = {"a.cu", line, 1, 0};
  return d;
}

Report searched(std::uint64_t states, std::vector<Diagnostic> findings = {}) {
  Report report;
  report.claims.exhaustive();
  report.states = states;
  report.findings = std::move(findings);
  return report;
}

TEST(Lockstep, AHangThereAloneIsAFinding) { // [SIMT-LIVENESS]
  Report report = searched(1234);
  add_lockstep(report, searched(56, {hang(Finding::Livelock, "SIMT-LIVENESS", 17)}));
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_THAT(report.findings[0].message, HasSubstr("hang: lockstep only"));
  EXPECT_THAT(report.findings[0].message, HasSubstr("under every schedule (1,234 states)"));
  EXPECT_EQ(report.verdict(), Verdict::MayHang);
  EXPECT_EQ(report.states, 1234U);
  ASSERT_TRUE(report.lockstep);
  EXPECT_EQ(report.lockstep->states, 56U);
  EXPECT_EQ(report.lockstep->verdict, Verdict::MayHang);
}

TEST(Lockstep, AHangInBothIsToldOnce) {
  Report report = searched(9, {hang(Finding::Starvation, "CLUSTER", 4)});
  add_lockstep(
      report,
      searched(
          7,
          {hang(Finding::Starvation, "CLUSTER", 4), hang(Finding::Livelock, "SIMT-LIVENESS", 5)}
      )
  );
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_THAT(report.findings[1].message, HasSubstr("independent threads and in lockstep"));
}

TEST(Lockstep, WhatEndsInBothEnds) {
  Report report = searched(9);
  add_lockstep(report, searched(7));
  EXPECT_EQ(report.verdict(), Verdict::Terminates);
  Report cut = searched(7);
  cut.claims.cut("the limit of states was reached");
  add_lockstep(report, cut);
  EXPECT_EQ(report.verdict(), Verdict::Unknown);
  ASSERT_EQ(report.claims.left_out().size(), 1U);
  EXPECT_EQ(
      report.claims.left_out()[0].what,
      "with lockstep warps: the limit of states was reached"
  );
}

} // namespace
} // namespace heddle::cli

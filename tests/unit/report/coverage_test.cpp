#include "report/coverage.h"
#include "report/diagnostic.h"
#include "report/seconds.h"

#include <gtest/gtest.h>

namespace heddle::report {
namespace {

constexpr Coverage all[] =
    {Coverage::Exhaustive, Coverage::OneOrder, Coverage::Bounded, Coverage::Cut};

Claims searched(Coverage coverage) {
  Claims claims;
  claims.exhaustive();
  if (coverage != Coverage::Exhaustive) {
    claims.leave_out({.coverage = coverage, .what = std::string(name(coverage))});
  }
  return claims;
}

TEST(Coverage, NamesLeadThereAndBack) {
  for (const Coverage coverage : all) {
    EXPECT_EQ(find_coverage(name(coverage)), coverage);
  }
  EXPECT_FALSE(find_coverage("complete"));
}

TEST(Claims, WhoHasNotSearchedHasSeenNothing) {
  EXPECT_EQ(Claims().coverage(), Coverage::Cut);
  EXPECT_EQ(Report().verdict(), Verdict::Unknown);
  EXPECT_EQ(Report().exit_code(), exit_code::budget);
  // … and no decision of a project makes more of it: nothing is named that it could be about.
  Claims claims;
  claims.accept({.coverage = Coverage::Cut, .reason = "known"});
  EXPECT_EQ(claims.unaccepted(), Coverage::Cut);
}

TEST(Claims, TheLeastOfTwoSearchesCounts) {
  for (const Coverage one : all) {
    for (const Coverage other : all) {
      Claims both = searched(one);
      both.add(searched(other));
      EXPECT_EQ(both.coverage(), std::max(one, other));
    }
    Claims begun = searched(one);
    begun.add(Claims());
    EXPECT_EQ(begun.coverage(), Coverage::Cut);
  }
}

TEST(Claims, OnlyWhatIsExhaustiveTerminates) { // [BOUND]
  for (const Coverage coverage : all) {
    Report report;
    report.claims = searched(coverage);
    const bool everything = coverage == Coverage::Exhaustive;
    EXPECT_EQ(report.verdict(), everything ? Verdict::Terminates : Verdict::Unknown);
    EXPECT_EQ(report.exit_code(), everything ? exit_code::clean : exit_code::budget);
    // Accepting another coverage changes nothing; accepting this one changes the exit code only.
    for (const Coverage accepted : all) {
      Report decided = report;
      decided.claims.accept({.coverage = accepted, .reason = "known"});
      EXPECT_EQ(decided.verdict(), report.verdict());
      EXPECT_EQ(decided.exit_code(), accepted == coverage ? exit_code::clean : report.exit_code());
    }
  }
}

TEST(Claims, TheSameThingIsNamedOnce) {
  Claims claims = searched(Coverage::OneOrder);
  claims.add(searched(Coverage::OneOrder));
  EXPECT_EQ(claims.left_out().size(), 1U);
  claims.add(searched(Coverage::OneOrder), "with lockstep warps: ");
  EXPECT_EQ(claims.left_out().size(), 2U);
}

TEST(Claims, OneLimitOfTwoSearchesIsNamedOnce) {
  Claims claims;
  claims.cut("the limit of 60 s was reached (--max-time); 40 s of them are the search's");
  claims.cut("the limit of 60 s was reached (--max-time)");
  EXPECT_EQ(claims.left_out().size(), 1U);
  claims.cut("the limit of states was reached");
  EXPECT_EQ(claims.left_out().size(), 2U);
}

TEST(Seconds, AreRounded) {
  EXPECT_EQ(rounded_seconds(59.017), "59");
  EXPECT_EQ(rounded_seconds(3600), "3600");
  EXPECT_EQ(rounded_seconds(4.912441347), "4.9");
  EXPECT_EQ(rounded_seconds(5), "5");
  EXPECT_EQ(rounded_seconds(0.05), "0.05");
}

} // namespace
} // namespace heddle::report

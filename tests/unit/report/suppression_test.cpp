// Which findings an entry names, and what becomes of a verdict.
#include "report/names.h"
#include "report/suppression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::report {
namespace {

Diagnostic race() {
  Diagnostic d(Finding::DataRace, "a write races with a read");
  d.rule = "RACE-BARRIER";
  d.place = {"/home/me/src/histogram.cu", 7, 3};
  d.functions = {"void my::count<int>"};
  return d;
}

bool names(const Suppression& one) {
  Suppressions all;
  all.add(one);
  Diagnostic d = race();
  return all.apply(d);
}

TEST(Suppressions, AnEntryNamesWhatFitsInEverythingThatItStates) {
  EXPECT_TRUE(names({.code = "data-race"}));
  EXPECT_TRUE(names({.code = "RACE-BARRIER"}));
  EXPECT_FALSE(names({.code = "RACE"}));
  EXPECT_TRUE(names({.file = "src/*.cu"}));
  EXPECT_TRUE(names({.file = "histogram.cu"}));
  EXPECT_FALSE(names({.file = "gram.cu"}));
  EXPECT_TRUE(names({.function = "count"}));
  EXPECT_TRUE(names({.function = "c?unt"}));
  EXPECT_TRUE(names({.function = "void my::count<int>"}));
  EXPECT_FALSE(names({.function = "my"}));
  EXPECT_TRUE(names({.library = "my"}));
  EXPECT_TRUE(names({.library = "src"}));
  EXPECT_FALSE(names({.code = "data-race", .library = "cub"}));
}

TEST(Suppressions, GapsOfHeddleAreNoFindings) {
  Suppressions all;
  all.add({.reason = "everything"});
  Diagnostic gap(Finding::Unsupported, "tcgen05");
  EXPECT_FALSE(all.apply(gap));
}

TEST(Suppressions, AKnownHangIsNotTermination) {
  Report report;
  report.claims.exhaustive();
  EXPECT_EQ(report.verdict(), Verdict::Terminates);
  report.findings.emplace_back(Finding::Livelock, "spins");
  Suppressions all;
  all.add({.code = "livelock", .reason = "known", .written = ".heddle.yaml:2"});
  all.add({.code = "trap", .reason = "never seen"});
  all.apply(report);
  EXPECT_TRUE(report.findings.empty());
  ASSERT_EQ(report.suppressed.size(), 1U);
  EXPECT_EQ(report.suppressed[0].suppressed, "known");
  EXPECT_EQ(report.verdict(), Verdict::Suppressed);
  EXPECT_EQ(report.exit_code(), exit_code::clean);
  ASSERT_EQ(all.unused().size(), 1U);
  EXPECT_EQ(all.unused()[0]->code, "trap");
  report.claims.cut("the limit of states was reached");
  EXPECT_EQ(report.verdict(), Verdict::Unknown);
  EXPECT_EQ(report.exit_code(), exit_code::budget);
}

TEST(Suppressions, ThereAndBackThroughLines) {
  Suppressions all;
  all.add({.code = "trap", .text = "a\tb", .reason = "because", .written = "x:1"});
  all.add({.reason = "everything"});
  EXPECT_EQ(suppressions_from_lines(to_lines(all)).all(), all.all());
  EXPECT_TRUE(suppressions_from_lines("").empty());
}

TEST(Names, OfKernels) {
  EXPECT_EQ(
      kernel_in("thread (0,0,0) of kernel 'void a::b<int><<<3,32>>>' (launch 2)"),
      "void a::b<int>"
  );
  EXPECT_EQ(kernel_in("scan<<<3,32>>>"), "scan");
  EXPECT_EQ(bare_name("void cub::detail::scan<int, (a)3>(int*)"), "scan");
  EXPECT_EQ(bare_name("scan"), "scan");
  EXPECT_EQ(bare_name("void my::(anonymous namespace)::scan<int>"), "scan");
  EXPECT_EQ(outer_name_space("void cub::detail::scan<int>(int*)"), "cub");
  EXPECT_EQ(outer_name_space("scan"), "");
}

} // namespace
} // namespace heddle::report

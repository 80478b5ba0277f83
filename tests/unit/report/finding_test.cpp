// The table of findings is closed and consistent; verdicts and exit codes follow from findings.
#include "report/diagnostic.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace heddle::report {
namespace {

TEST(FindingTable, CodesAreUniqueKebabCaseAndFoundAgain) {
  std::set<std::string_view> codes;
  for (const FindingRow& row : all_findings()) {
    EXPECT_TRUE(codes.insert(row.code).second) << row.code;
    EXPECT_TRUE(std::regex_match(std::string(row.code), std::regex("[a-z]+(-[a-z]+)*")))
        << row.code;
    EXPECT_EQ(find_finding(row.code), row.finding);
    EXPECT_EQ(&describe(row.finding), &row);
    EXPECT_FALSE(row.description.empty());
  }
  EXPECT_EQ(find_finding("no-such-code"), std::nullopt);
}

TEST(FindingTable, EveryRuleHasItsSentence) {
  for (const FindingRow& row : all_findings()) {
    EXPECT_FALSE(rule_text(row.rule).empty()) << row.code;
  }
  EXPECT_EQ(rule_text("NOSUCHRULE"), "");
}

Report with(std::vector<Finding> findings, bool complete) {
  Report report;
  for (Finding f : findings) {
    report.findings.emplace_back(f, "text");
  }
  if (complete) {
    report.claims.exhaustive();
  }
  return report;
}

TEST(Verdict, OnlyACompleteSearchWithoutFindingsTerminates) { // [BOUND]
  EXPECT_EQ(with({}, true).verdict(), Verdict::Terminates);
  EXPECT_EQ(with({}, true).exit_code(), exit_code::clean);
  EXPECT_EQ(with({}, false).verdict(), Verdict::Unknown);
  EXPECT_EQ(with({}, false).exit_code(), exit_code::budget);
}

TEST(Verdict, HangsAndDefectsAreDefectsOfTheProgram) {
  for (bool complete : {true, false}) {
    EXPECT_EQ(with({Finding::Starvation}, complete).verdict(), Verdict::MayHang);
    EXPECT_EQ(with({Finding::Starvation}, complete).exit_code(), exit_code::defect);
    EXPECT_EQ(with({Finding::OutOfBounds}, complete).verdict(), Verdict::Defect);
    EXPECT_EQ(with({Finding::OutOfBounds}, complete).exit_code(), exit_code::defect);
  }
  EXPECT_EQ(with({Finding::Assert, Finding::Deadlock}, true).verdict(), Verdict::MayHang);
}

TEST(Verdict, WhatHeddleDoesNotImplementIsNeverAVerdict) { // [SCOPE]
  EXPECT_EQ(with({Finding::Unsupported}, true).verdict(), Verdict::Unknown);
  EXPECT_EQ(with({Finding::Unsupported}, true).exit_code(), exit_code::unsupported);
  EXPECT_EQ(with({Finding::Unsupported, Finding::Starvation}, true).exit_code(), exit_code::defect);
}

TEST(Verdict, WarningsDoNotCount) {
  Report report = with({Finding::Starvation}, true);
  report.findings[0].severity = Severity::Warning;
  EXPECT_EQ(report.verdict(), Verdict::Terminates);
}

} // namespace
} // namespace heddle::report

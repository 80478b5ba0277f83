// Reports of heddle check in SARIF.
#include "report/static_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Diagnostic starvation() {
  Diagnostic d(Finding::Starvation, "kernel 'ring<<<4,128>>>' may hang");
  d.place = {"src/ring.cu", 2, 10, 0};
  d.rule = "CLUSTER";
  d.labels = {{{"src/ring.cu", 2, 10, 0}, "(1) spins"}, {{}, "(2) of unknown place"}};
  d.replay = "v1:abc";
  return d;
}

TEST(CheckSarif, OneRuleForEachPairOfFindingAndRule) {
  Report report;
  report.findings = {starvation(), starvation()};
  const StaticReport form = as_static(report, "ring.cu");
  ASSERT_THAT(form.rules, SizeIs(1));
  EXPECT_EQ(form.rules[0].key, "starvation/CLUSTER");
  EXPECT_THAT(form.rules[0].description, HasSubstr("a cluster is guaranteed nothing"));
  EXPECT_THAT(form.findings, SizeIs(2));
}

TEST(CheckSarif, PlacesReplayAndFingerprint) {
  Report report;
  report.findings = {starvation()};
  const StaticFinding moved = [&] {
    Report later = report;
    later.findings[0].place.line = 7;
    return as_static(later, "ring.cu").findings.at(0);
  }();
  const StaticFinding finding = as_static(report, "ring.cu").findings.at(0);
  EXPECT_EQ(finding.place.line, 2U);
  EXPECT_GT(finding.place.end_column, finding.place.column);
  EXPECT_THAT(finding.related, SizeIs(1)); // a label without a place cannot be shown
  EXPECT_THAT(finding.message, HasSubstr("heddle replay v1:abc"));
  EXPECT_EQ(finding.fingerprint, moved.fingerprint);
  const std::string text = render_sarif(as_static(report, "ring.cu"));
  for (const char* part :
       {R"("version": "2.1.0")", R"("ruleId": "starvation/CLUSTER")", R"("uri": "src/ring.cu")"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(CheckSarif, WithoutAPlaceTheProgramStandsThere) {
  Report report;
  report.findings = {Diagnostic(Finding::Nondeterminism, "not the same twice")};
  report.claims.cut("the limit of 1 s was reached");
  const StaticReport form = as_static(report, "ring.cu");
  EXPECT_EQ(form.findings.at(0).place.file, "ring.cu");
  EXPECT_EQ(form.findings.at(0).place.line, 1U);
  EXPECT_THAT(form.notes, ElementsAre("the search ended early: the limit of 1 s was reached"));
}

} // namespace
} // namespace heddle::report

// One finding for one cause: what `heddle test` prints of what its looks find.
#include "cli/options/suggestion.h"
#include "cli/test/test_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using report::Diagnostic;
using report::Finding;
using report::Severity;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Diagnostic at(Finding finding, std::uint32_t line, std::string text = "text") {
  Diagnostic d(finding, std::move(text));
  if (line != 0) {
    d.place = {"a.cu", line, 1, 0};
  }
  return d;
}

std::vector<Finding> kinds(const std::vector<Diagnostic>& found) {
  std::vector<Finding> result;
  for (const Diagnostic& d : found) {
    result.push_back(d.finding);
  }
  return result;
}

TEST(TestFindings, TheSameKindAtTheSameLineIsPrintedOnce) {
  TestFindings found;
  EXPECT_THAT(found.take({at(Finding::OutOfBounds, 3)}), SizeIs(1));
  EXPECT_THAT(found.take({at(Finding::OutOfBounds, 3, "other words")}), IsEmpty());
  EXPECT_THAT(found.take({at(Finding::OutOfBounds, 4)}), SizeIs(1));
  EXPECT_THAT(found.take({at(Finding::DataRace, 3)}), SizeIs(1));
}

TEST(TestFindings, HangsOfOneLineAreOne) {
  TestFindings found;
  found.take({at(Finding::Livelock, 3)});
  EXPECT_THAT(found.take({at(Finding::Starvation, 3)}), IsEmpty());
  EXPECT_THAT(found.take({at(Finding::Starvation, 5)}), SizeIs(1));
}

TEST(TestFindings, ReadsThatRaceAreNotUninitialisedBesides) {
  TestFindings found;
  Diagnostic race = at(Finding::DataRace, 3);
  race.labels.push_back({{"a.cu", 7, 1, 0}, "the other access"});
  found.take({race});
  EXPECT_THAT(
      found.take({at(Finding::Uninitialised, 3), at(Finding::Uninitialised, 7)}),
      IsEmpty()
  );
  EXPECT_THAT(found.take({at(Finding::Uninitialised, 8)}), SizeIs(1));
}

TEST(TestFindings, AnExitStatusFollowsFromADefectAndFromNoWarning) {
  TestFindings found;
  Diagnostic warning = at(Finding::BarrierDivergence, 3);
  warning.severity = Severity::Warning;
  found.take({warning});
  EXPECT_THAT(found.take({at(Finding::ExitStatus, 0)}), SizeIs(1));
  TestFindings others;
  others.take({at(Finding::DataRace, 3)});
  EXPECT_THAT(others.take({at(Finding::ExitStatus, 0)}), IsEmpty());
}

TEST(TestFindings, AWarningDoesNotHideAnError) {
  TestFindings found;
  Diagnostic warning = at(Finding::BarrierDivergence, 3);
  warning.severity = Severity::Warning;
  found.take({warning});
  EXPECT_THAT(found.take({at(Finding::BarrierDivergence, 3)}), SizeIs(1));
}

TEST(TestFindings, TheHeaviestComesFirst) {
  TestFindings found;
  EXPECT_THAT(
      kinds(found.take(
          {at(Finding::Uninitialised, 1), at(Finding::DataRace, 2), at(Finding::OutOfBounds, 3)}
      )),
      ElementsAre(Finding::OutOfBounds, Finding::DataRace, Finding::Uninitialised)
  );
}

TEST(TestFindings, ABrokenRuleAtALineThatIsNamedIsNotNew) {
  TestFindings found;
  found.take({at(Finding::BarrierDivergence, 3)});
  std::vector<report::StaticFinding> rules(2);
  rules[0].place = {.file = "a.cu", .line = 3, .column = 1};
  rules[1].place = {.file = "a.cu", .line = 4, .column = 1};
  found.drop_known(rules);
  ASSERT_THAT(rules, SizeIs(1));
  EXPECT_EQ(rules[0].place.line, 4U);
}

TEST(Suggestion, NamesAWordThatIsClose) {
  const std::vector<std::string> known = {"run", "check", "replay"};
  EXPECT_EQ(suggestion("chexk", known), "; did you mean 'check'?");
  EXPECT_EQ(suggestion("rnu", known), "; did you mean 'run'?");
  EXPECT_EQ(suggestion("unrelated", known), "");
  EXPECT_EQ(suggestion("--raecs", {"--races", "--leaks"}), "; did you mean '--races'?");
}

} // namespace
} // namespace heddle::cli

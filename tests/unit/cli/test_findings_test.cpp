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
  EXPECT_THAT(found.take({at(Finding::Assert, 3)}), SizeIs(1));
}

/// A race of `line`, which names `other`, too.
Diagnostic race_between(std::uint32_t line, std::uint32_t other) {
  Diagnostic race = at(Finding::DataRace, line);
  race.labels.push_back({{"a.cu", other, 1, 0}, "(1) write of 4 bytes"});
  race.labels.push_back({{"a.cu", line, 1, 0}, "(2) read of 4 bytes"});
  race.labels.push_back({{"a.cu", 90, 1, 0}, "launched from here"});
  return race;
}

TEST(TestFindings, ARaceInTheOtherOrderIsTheSame) {
  TestFindings found;
  found.take({race_between(3, 7)});
  EXPECT_THAT(found.take({race_between(7, 3)}), IsEmpty());
  EXPECT_THAT(found.take({race_between(7, 8), race_between(8, 9)}), SizeIs(2)); // other pairs
  Diagnostic other_rule = race_between(7, 3);
  other_rule.rule = "RACE-STRONG";
  TestFindings others;
  others.take({race_between(3, 7)});
  EXPECT_THAT(others.take({other_rule}), SizeIs(1));
}

/// As the accesses of another pair are named (runtime/diagnostics/race_diagnostic.cpp).
TEST(TestFindings, ARaceThatAnotherOneNamesIsTheSame) {
  Diagnostic known = race_between(3, 7);
  known.notes = {
      "the same barrier is missing between 1 other pair of accesses:",
      "a.cu:12 (read of 4 bytes) and a.cu:13 (write of 4 bytes)"
  };
  TestFindings found;
  found.take({known});
  EXPECT_THAT(found.take({race_between(13, 12)}), SizeIs(1)); // what is read there is written here
  Diagnostic named = race_between(12, 13);
  EXPECT_THAT(found.take({named}), IsEmpty());
  EXPECT_THAT(found.take({race_between(12, 14), race_between(1, 13)}), SizeIs(2));
  named.rule = "RACE-STRONG";
  TestFindings others;
  others.take({known});
  EXPECT_THAT(others.take({named}), SizeIs(1));
}

TEST(TestFindings, AWrongAddressIsNoRaceBesides) {
  TestFindings found;
  EXPECT_THAT(
      kinds(found.take({at(Finding::DataRace, 3), at(Finding::OutOfBounds, 3)})),
      ElementsAre(Finding::OutOfBounds)
  );
  EXPECT_THAT(found.take({at(Finding::DataRace, 4)}), SizeIs(1));
  EXPECT_TRUE(found.has_fault());
  TestFindings others; // one race of a line does not hide another kind, and is no fault
  others.take({at(Finding::UnorderedAccess, 3)});
  EXPECT_THAT(others.take({at(Finding::DataRace, 3)}), SizeIs(1));
  EXPECT_FALSE(others.has_fault());
}

TEST(TestFindings, WhatAFailedCallHasNotWrittenIsNoFindingBesides) {
  TestFindings found;
  EXPECT_THAT(
      kinds(found.take({at(Finding::Uninitialised, 3), at(Finding::ApiMisuse, 9)})),
      ElementsAre(Finding::ApiMisuse)
  );
  TestFindings others;
  Diagnostic warning = at(Finding::ApiMisuse, 9);
  warning.severity = Severity::Warning;
  others.take({warning});
  EXPECT_THAT(others.take({at(Finding::Uninitialised, 3)}), SizeIs(1));
}

TEST(TestFindings, AShuffleFromAnEndedLaneIsOneFinding) {
  TestFindings found;
  Diagnostic mask = at(Finding::WarpMask, 3);
  mask.severity = Severity::Warning;
  EXPECT_THAT(
      kinds(found.take({mask, at(Finding::Uninitialised, 3)})),
      ElementsAre(Finding::Uninitialised)
  );
}

TEST(TestFindings, WithoutALineTheBytesTell) {
  const auto freed = [](std::uint32_t line, const char* bytes) {
    Diagnostic d = at(Finding::UseAfterFree, line);
    d.notes = {std::string("the address is ") + bytes};
    return d;
  };
  TestFindings found;
  found.take({freed(3, "byte 0 of allocation #1")});
  EXPECT_THAT(found.take({freed(0, "byte 0 of allocation #1")}), IsEmpty());
  EXPECT_THAT(found.take({freed(0, "byte 0 of allocation #2")}), SizeIs(1));
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

// Diagnostics survive the way through lines of text.
#include "report/diagnostic_lines.h"

#include <gtest/gtest.h>

namespace heddle::report {
namespace {

TEST(DiagnosticLines, ThereAndBack) {
  Diagnostic d(Finding::DataRace, "write of 4 bytes races with a read");
  d.rule = "RACE-SYNC";
  d.place = {"a folder/app.cu", 7, 3};
  d.labels.push_back({{"app.cu", 5, 1}, "(1) somebody"});
  d.labels.push_back({{"", 0, 0}, "(2) somebody\telse"});
  d.notes = {"one", "two\nlines"};
  d.help = {"help"};
  d.threads = {"thread"};
  const std::vector<Diagnostic> back = from_lines(to_lines(d) + "what is this\n" + to_lines(d));
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[1].finding, Finding::DataRace);
  EXPECT_EQ(back[1].message, d.message);
  EXPECT_EQ(back[1].rule_id(), "RACE-SYNC");
  EXPECT_EQ(back[1].place.file, "a folder/app.cu");
  EXPECT_EQ(back[1].place.line, 7U);
  ASSERT_EQ(back[1].labels.size(), 2U);
  EXPECT_EQ(back[1].labels[0].place.line, 5U);
  EXPECT_EQ(back[1].labels[1].text, "(2) somebody\telse");
  EXPECT_EQ(back[0].notes, (std::vector<std::string>{"one", "two lines"}));
  EXPECT_EQ(back[0].help, d.help);
  EXPECT_EQ(back[0].threads, d.threads);
}

} // namespace
} // namespace heddle::report

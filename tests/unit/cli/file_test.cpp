// Words of a flag string, make rules, files.
#include "cli/compile.h"
#include "cli/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SplitWords, QuotesLikeAShell) {
  EXPECT_THAT(*split_words(""), IsEmpty());
  EXPECT_THAT(*split_words("  -O2   -I include\n"), ElementsAre("-O2", "-I", "include"));
  EXPECT_THAT(
      *split_words(R"(-DX="a b" 'c "d"' e\ f "")"),
      ElementsAre("-DX=a b", "c \"d\"", "e f", "")
  );
  EXPECT_THAT(*split_words(R"('a\b' "a\"b")"), ElementsAre("a\\b", "a\"b"));
}

TEST(SplitWords, AnOpenQuoteIsAnError) {
  for (const char* text : {"'a", "-DX=\"a b"}) {
    const auto words = split_words(text);
    ASSERT_FALSE(words.has_value()) << text;
    EXPECT_THAT(words.error().message, HasSubstr("missing closing"));
  }
}

TEST(ParseDependencies, ReadsWhatCompilersWrite) {
  EXPECT_THAT(
      parse_dependencies("a.o : a.cu \\\n    /usr/include/x.h \\\n    dir\\ name/y.h\n"),
      ElementsAre("a.cu", "/usr/include/x.h", "dir name/y.h")
  );
  EXPECT_THAT(parse_dependencies("no rule"), IsEmpty());
  EXPECT_THAT(parse_dependencies(""), IsEmpty());
}

TEST(ReadFile, ErrorsNameTheFileAndTheReason) {
  const auto missing = read_file("/nonexistent/file");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr("cannot read '/nonexistent/file': No such file"));
  const auto folder = read_file("/tmp");
  ASSERT_FALSE(folder.has_value());
  EXPECT_THAT(folder.error().message, HasSubstr("is a folder"));
}

TEST(FindInPath, FindsProgramsOnly) {
  EXPECT_TRUE(find_in_path("sh").has_value());
  EXPECT_FALSE(find_in_path("no-such-program-anywhere").has_value());
  EXPECT_FALSE(find_in_path("./no-such-program").has_value());
}

} // namespace
} // namespace heddle::cli

// Words of a flag string, make rules, files.
#include "cli/compile/compile.h"
#include "cli/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>
#include <utility>

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

/// A folder for this test.
class Files : public testing::Test {
protected:
  Files() { EXPECT_NE(::mkdtemp(folder.data()), nullptr); }
  ~Files() override { std::filesystem::remove_all(folder); }
  std::string folder = testing::TempDir() + "files-XXXXXX";
};

TEST_F(Files, WhatOthersNameIsReadIfItIsARegularFile) {
  const std::string file = folder + "/file", pipe = folder + "/pipe", link = folder + "/link";
  ASSERT_TRUE(write_file(file, "text").has_value());
  ASSERT_EQ(::symlink(file.c_str(), link.c_str()), 0);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(*read_named_file(file), "text");
  EXPECT_EQ(*read_named_file(link), "text");
  EXPECT_TRUE(hash_file(file).has_value());
  EXPECT_FALSE(hash_file(pipe).has_value()); // and does not wait for a writer
  const std::pair<std::string, std::string> others[] = {
      {pipe, "it is not a regular file"},
      {folder, "it is a folder"},
      {"/dev/zero", "it is not a regular file"},
      {folder + "/none", "No such file or directory"}
  };
  for (const auto& [name, reason] : others) {
    const auto read = read_named_file(name);
    ASSERT_FALSE(read.has_value()) << name;
    EXPECT_EQ(read.error().message, "cannot read '" + name + "': " + reason);
  }
}

TEST_F(Files, AUserMayTypeTheNameOfAPipe) {
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] {
    const int fd = ::open(pipe.c_str(), O_WRONLY | O_CLOEXEC); // waits for the reader
    EXPECT_EQ(::write(fd, "text", 4), 4);
    ::close(fd);
  });
  EXPECT_EQ(*read_file(pipe), "text");
  writer.join();
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

// Schedule strings: there and back, and what is said about bad ones.
#include "explore/schedule.h"
#include "explore/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace heddle::explore {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Schedule example() {
  Schedule s;
  s.program = "my app.cu";
  s.arguments = {"", "a b", "line\nbreak", "back\\slash\\n", "ünïcode"};
  s.nvcc = "-O1 -I 'x y'";
  s.device = "sm_90";
  s.devices = 2;
  s.content = "0123456789abcdef";
  s.digest = "fedcba";
  s.options.progress = ProgressModel::Obe;
  s.choices = {0, 0, 0, 0, 3, 1, 1, 4'000'000'000};
  s.loop_from = 5;
  return s;
}

/// The message for `text`, which is no schedule.
std::string refusal(std::string_view text) {
  const auto schedule = decode(text);
  return schedule ? "accepted" : schedule.error().message;
}

TEST(Schedule, ComesBackAsItWas) {
  const std::string text = encode(example());
  EXPECT_THAT(text, StartsWith("v1:"));
  EXPECT_EQ(decode(text).value(), example());
}

TEST(Schedule, IsOneWordOfAShell) {
  const std::string text = encode(example());
  EXPECT_TRUE(std::all_of(text.begin() + 3, text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  })) << text;
}

TEST(Schedule, EqualSchedulesHaveEqualStrings) {
  EXPECT_EQ(encode(example()), encode(example()));
}

TEST(Schedule, LongRunsOfEqualChoicesAreShort) {
  Schedule s = example();
  s.choices.assign(100'000, 1);
  EXPECT_LT(encode(s).size(), encode(example()).size() + 20);
  EXPECT_EQ(decode(encode(s)).value(), s);
}

TEST(Schedule, AnEmptyOneIsOne) {
  Schedule s;
  s.program = "app";
  EXPECT_EQ(decode(encode(s)).value(), s);
}

TEST(Schedule, OtherStringsAreRefusedWithAReason) {
  const std::string good = encode(example());
  EXPECT_THAT(refusal(""), HasSubstr("begins with 'v1:'"));
  EXPECT_THAT(refusal("hello"), HasSubstr("begins with 'v1:'"));
  EXPECT_THAT(refusal("v2:" + good.substr(3)), HasSubstr("another version"));
  EXPECT_THAT(refusal("v1:"), HasSubstr("damaged"));
  EXPECT_THAT(refusal("v1:aGVsbG8"), HasSubstr("damaged"));
  EXPECT_THAT(refusal(good + "!"), HasSubstr("no character '!'"));
  EXPECT_THAT(refusal(good + "…"), HasSubstr("no character"));
}

TEST(Schedule, NoPartOfOneIsTakenForAnother) {
  const std::string good = encode(example());
  for (std::size_t length = 3; length + 1 < good.size(); ++length) {
    EXPECT_NE(refusal(good.substr(0, length)), "accepted") << length;
  }
}

TEST(Schedule, AWrongCharacterIsNoticed) { // where it means anything: some bits are unused
  const std::string good = encode(example());
  for (std::size_t i = 3; i + 1 < good.size(); ++i) {
    for (const char c : {'A', '_', 'x'}) {
      std::string bad = good;
      bad[i] = c;
      const auto schedule = decode(bad);
      EXPECT_TRUE(!schedule || *schedule == example()) << i << " " << c;
    }
  }
}

TEST(Schedule, ChoicesGoThroughAFile) {
  const std::vector<std::uint32_t> choices = {3, 1, 4, 1, 5};
  const int fd = write_choices(choices).value();
  EXPECT_EQ(read_choices(fd).value(), choices);
  ::close(fd);
  EXPECT_FALSE(read_choices(fd));
}

TEST(Trace, RowsComeBackInOrder) {
  const int fd = ::memfd_create("trace", MFD_CLOEXEC);
  EXPECT_TRUE(read_rows(fd).empty());
  append_row(fd, {.from = 1, .actor = 2, .site = 3, .note = 4, .choice = 5});
  append_row(fd, {.from = 5});
  EXPECT_THAT(read_rows(fd), ElementsAre(TraceRow{1, 2, 3, 4, 5}, TraceRow{5, no_actor, 0, 0, 0}));
  ::close(fd);
}

} // namespace
} // namespace heddle::explore

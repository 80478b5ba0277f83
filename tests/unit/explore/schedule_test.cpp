// Schedule strings: there and back, and what is said about bad ones.
#include "explore/witness/schedule.h"
#include "explore/witness/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

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

// What it says is somebody else's text.
std::string with_lines(const std::string& lines) {
  std::string bytes(ZSTD_compressBound(lines.size()), '\0');
  bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), lines.data(), lines.size(), 1));
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text = "v1:";
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes + std::string(2, '\0')) { // zeros behind a frame of zstd: cut off again
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6;) {
      count -= 6;
      text += alphabet[bits >> count & 63];
    }
  }
  text.resize(3 + (bytes.size() * 8 + 5) / 6);
  return text;
}

TEST(Schedule, FlagsForNvccAreNoPartOfIt) {
  Schedule s = example();
  const std::string without = encode(s);
  s.nvcc = "-ccbin evil";
  EXPECT_EQ(encode(s), without);
  // Those of an older version are for a message.
  const auto old = decode(with_lines("program app.cu\nnvcc -O1\n"));
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->nvcc, "-O1");
}

TEST(Schedule, LimitsAreNotItsOwn) {
  const auto greedy = decode(with_lines(
      "program a\noptions max-states=4000000000,max-memory=1,max-time=1e9,progress=obe\n"
  ));
  ASSERT_TRUE(greedy) << greedy.error().message;
  EXPECT_EQ(greedy->options.max_states, Options().max_states);
  EXPECT_EQ(greedy->options.max_mebibytes, Options().max_mebibytes);
  EXPECT_EQ(greedy->options.max_seconds, Options().max_seconds);
  EXPECT_EQ(greedy->options.progress, ProgressModel::Obe);
}

TEST(Schedule, AHashIsOne) {
  EXPECT_THAT(refusal(with_lines("program a\ncontent ../x\n")), HasSubstr("means nothing"));
  EXPECT_THAT(
      refusal(with_lines("program a\ndigest " + std::string(100, 'a') + "\n")),
      HasSubstr("means nothing")
  );
  EXPECT_EQ(refusal(with_lines("program a\ncontent 0123abc\n")), "accepted");
}

TEST(Schedule, MessagesShowNoControlCharacters) {
  for (const std::string& bad :
       {std::string("v\x1b[2J:"), std::string("v1:\x1b[2J"), with_lines("\x1b[2J x\n")}) {
    EXPECT_EQ(refusal(bad).find('\x1b'), std::string::npos);
  }
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

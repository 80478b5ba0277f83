#include "ptx/lexer.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

namespace heddle::ptx {
namespace {

std::vector<Token> lex(std::string_view text) {
  Lexer lexer(text);
  std::vector<Token> tokens;
  while (lexer.peek().kind != TokenKind::End) {
    tokens.push_back(lexer.take());
  }
  return tokens;
}

TEST(Lexer, Words) {
  auto t = lex("add %r1 $L__BB0_1 _ .L2::cache_hint .2d _Z3foo$bar");
  ASSERT_EQ(t.size(), 7U);
  EXPECT_TRUE(t[0].is_word("add"));
  EXPECT_TRUE(t[1].is_word("%r1"));
  EXPECT_TRUE(t[2].is_word("$L__BB0_1"));
  EXPECT_TRUE(t[3].is_word("_"));
  EXPECT_TRUE(t[4].is_dot("L2::cache_hint"));
  EXPECT_TRUE(t[5].is_dot("2d"));
  EXPECT_TRUE(t[6].is_word("_Z3foo$bar"));
}

TEST(Lexer, Numbers) {
  auto t =
      lex("0 42 0x1F 0XffU 017 0b101 18446744073709551615 0f3F800000 0d3FF0000000000000 1.5 2e3");
  std::vector<std::uint64_t> integers = {0, 42, 31, 255, 15, 5, ~0ULL};
  for (std::size_t i = 0; i < integers.size(); ++i) {
    EXPECT_EQ(t[i].kind, TokenKind::Integer) << i;
    EXPECT_EQ(t[i].value, integers[i]) << i;
  }
  EXPECT_EQ(t[7].float_bits, 32);
  EXPECT_EQ(t[7].value, std::bit_cast<std::uint32_t>(1.0F));
  EXPECT_EQ(t[8].float_bits, 64);
  EXPECT_EQ(t[8].value, std::bit_cast<std::uint64_t>(1.0));
  EXPECT_EQ(t[9].value, std::bit_cast<std::uint64_t>(1.5));
  EXPECT_EQ(t[10].value, std::bit_cast<std::uint64_t>(2000.0));
}

TEST(Lexer, BadInputIsAToken) {
  for (std::string_view text :
       {"0f3F8",
        "0d12",
        "0xZ",
        "12abc",
        "18446744073709551616",
        "\"open",
        ".",
        "#",
        "1e999",
        "0b2",
        "\x80",
        "1.5x"}) {
    auto t = lex(text);
    ASSERT_FALSE(t.empty()) << text;
    EXPECT_EQ(t[0].kind, TokenKind::Bad) << text;
    EXPECT_NE(t[0].message, nullptr) << text;
  }
}

TEST(Lexer, CommentsAndLines) {
  Lexer lexer("a // b\n/* c\n d */ e\nf");
  EXPECT_EQ(lexer.line(), 1U);
  lexer.advance();
  EXPECT_TRUE(lexer.peek().is_word("e"));
  EXPECT_EQ(lexer.line(), 3U);
  lexer.advance();
  EXPECT_EQ(lexer.line(), 4U);
  EXPECT_EQ(lexer.line_start(), lexer.peek().offset);
}

TEST(Lexer, OperatorsOfTwoCharacters) {
  auto t = lex("<< < >= | || != !");
  ASSERT_EQ(t.size(), 7U);
  EXPECT_TRUE(t[0].is('<', '<'));
  EXPECT_TRUE(t[1].is('<'));
  EXPECT_TRUE(t[2].is('>', '='));
  EXPECT_TRUE(t[3].is('|'));
  EXPECT_TRUE(t[4].is('|', '|'));
  EXPECT_TRUE(t[5].is('!', '='));
  EXPECT_TRUE(t[6].is('!'));
}

TEST(Lexer, DottedWords) {
  std::string scratch;
  Lexer lexer("ld.global.v4.f32 x mov .u32 y label: ret;");
  EXPECT_EQ(lexer.take_dotted(scratch), "ld.global.v4.f32");
  EXPECT_TRUE(lexer.peek().is_word("x"));
  lexer.advance();
  EXPECT_EQ(lexer.take_dotted(scratch), "mov.u32");
  lexer.advance();
  EXPECT_EQ(lexer.take_dotted(scratch), "label");
  EXPECT_TRUE(lexer.peek().is(':'));
}

TEST(Lexer, SkippedBlocks) {
  Lexer lexer("a { b } c } d");
  EXPECT_TRUE(lexer.skip_block());
  EXPECT_TRUE(lexer.peek().is_word("d"));
  Lexer open("a { b } c");
  EXPECT_FALSE(open.skip_block());
}

} // namespace
} // namespace heddle::ptx

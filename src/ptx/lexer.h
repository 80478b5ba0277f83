// Lexer: PTX text to tokens, on demand, without copying.
//
//   Lexer lexer(text);
//   while (lexer.peek().kind != TokenKind::End) { Token t = lexer.take(); … }
//
// Lexical rules of PTX ISA 9.0 sections 4.1-4.5. Comments and whitespace are skipped, preprocessor
// lines are not evaluated. It accepts a little more than ptxas (a dot-word may start with a digit
// anywhere), and reports what it cannot read as a token of kind Bad with a message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::ptx {

enum class TokenKind : std::uint8_t {
  End,
  Identifier, // add, %r1, $L__BB0_1, _
  DotWord,    // .global, .L2::cache_hint, .2d: text is without the dot
  Integer,    // value
  Float,      // value = IEEE bits, float_bits
  String,     // text is what stands between the quotes
  Punctuation,
  Bad // message
};

struct Token {
  TokenKind kind = TokenKind::End;
  char punctuation = 0; // of two-character operators the second is in `second`
  char second = 0;
  std::uint8_t float_bits = 0;
  std::uint32_t offset = 0; // of the first character in the text
  std::uint64_t value = 0;
  std::string_view text;
  const char* message = nullptr;

  bool is(char c) const {
    return kind == TokenKind::Punctuation && punctuation == c && second == 0;
  }
  bool is(char c, char d) const {
    return kind == TokenKind::Punctuation && punctuation == c && second == d;
  }
  bool is_dot(std::string_view word) const { return kind == TokenKind::DotWord && text == word; }
  bool is_word(std::string_view word) const {
    return kind == TokenKind::Identifier && text == word;
  }
};

class Lexer {
public:
  /// At most 4 GiB of text: offsets are 32 bits.
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& peek() const { return token_; }
  Token take() {
    Token taken = token_;
    advance();
    return taken;
  }
  void advance();
  /// Whether the character right after the current token is c (no blanks between).
  bool touches(char c) const { return end_ < text_.size() && text_[end_] == c; }
  /// Takes an identifier together with the dot-words that follow it ("ld.global.v4.f32", blanks
  /// between them removed). The view is into the text, or into `scratch` where there were blanks.
  std::string_view take_dotted(std::string& scratch);
  /// Skips to just behind the '}' that closes a block whose '{' has been taken (the current token
  /// is the first one inside); false if the text ends first. Strings are not looked into.
  bool skip_block();

  std::string_view text() const { return text_; }
  /// Line of the current token, and offset of the first character of that line.
  std::uint32_t line() const { return line_; }
  std::uint32_t line_start() const { return line_start_; }

private:
  void skip_blanks();
  void lex_number();
  void lex_float_bits(std::size_t digits);
  void lex_dot_word();
  void lex_string();
  void bad(const char* message);

  std::string_view text_;
  Token token_;
  std::size_t end_ = 0; // just behind the current token
  std::uint32_t line_ = 1;
  std::uint32_t line_start_ = 0;
};

} // namespace heddle::ptx

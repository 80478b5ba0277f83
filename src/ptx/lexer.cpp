#include "ptx/lexer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

namespace heddle::ptx {
namespace {

enum CharClass : std::uint8_t {
  Blank = 1,
  Digit = 2,
  HexDigit = 4,
  WordStart = 8, // of identifiers
  WordRest = 16
};

constexpr std::array<std::uint8_t, 256> classes = [] {
  std::array<std::uint8_t, 256> table{};
  for (int c = 0; c < 256; ++c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool digit = c >= '0' && c <= '9';
    bool hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
    table[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(
        (blank ? Blank : 0) | (digit ? Digit : 0) | (hex ? HexDigit : 0) |
        (letter || c == '_' || c == '$' || c == '%' ? WordStart : 0) |
        (letter || digit || c == '_' || c == '$' ? WordRest : 0)
    );
  }
  return table;
}();

bool has_class(char c, std::uint8_t wanted) {
  return (classes[static_cast<unsigned char>(c)] & wanted) != 0;
}

} // namespace

void Lexer::bad(const char* message) {
  token_.kind = TokenKind::Bad;
  token_.message = message;
  token_.text = text_.substr(token_.offset, std::max<std::size_t>(1, end_ - token_.offset));
  end_ = std::max<std::size_t>(end_, token_.offset + 1);
}

void Lexer::skip_blanks() {
  while (end_ < text_.size()) {
    char c = text_[end_];
    if (c == '\n') {
      ++end_;
      ++line_;
      line_start_ = static_cast<std::uint32_t>(end_);
    } else if (has_class(c, Blank)) {
      ++end_;
    } else if (c == '/' && end_ + 1 < text_.size() && text_[end_ + 1] == '/') {
      end_ = std::min(text_.find('\n', end_), text_.size());
    } else if (c == '/' && end_ + 1 < text_.size() && text_[end_ + 1] == '*') {
      std::size_t close = text_.find("*/", end_ + 2);
      std::size_t stop = close == std::string_view::npos ? text_.size() : close + 2;
      for (; end_ < stop; ++end_) {
        if (text_[end_] == '\n') {
          ++line_;
          line_start_ = static_cast<std::uint32_t>(end_ + 1);
        }
      }
    } else {
      return;
    }
  }
}

void Lexer::lex_float_bits(std::size_t digits) {
  std::size_t first = end_ + 2;
  std::size_t last = first;
  while (last < text_.size() && has_class(text_[last], WordRest)) {
    ++last;
  }
  std::uint64_t value = 0;
  auto [stop, error] = std::from_chars(text_.data() + first, text_.data() + last, value, 16);
  end_ = last;
  if (last - first != digits || error != std::errc{} || stop != text_.data() + last) {
    bad(digits == 8 ? "a float constant is 0f and 8 hexadecimal digits"
                    : "a double constant is 0d and 16 hexadecimal digits");
    return;
  }
  token_.kind = TokenKind::Float;
  token_.float_bits = digits == 8 ? 32 : 64;
  token_.value = value;
}

void Lexer::lex_number() {
  char second = end_ + 1 < text_.size() ? text_[end_ + 1] : '\0';
  int base = 10;
  std::size_t first = end_;
  if (text_[end_] == '0') {
    if (second == 'f' || second == 'F') {
      return lex_float_bits(8);
    }
    if (second == 'd' || second == 'D') {
      return lex_float_bits(16);
    }
    if (second == 'x' || second == 'X') {
      base = 16;
      first += 2;
    } else if (second == 'b' || second == 'B') {
      base = 2;
      first += 2;
    } else if (has_class(second, Digit)) {
      base = 8;
    }
  }
  std::size_t last = first;
  while (last < text_.size() && has_class(text_[last], base == 16 ? HexDigit : Digit)) {
    ++last;
  }
  // A decimal point or an exponent makes it a double.
  bool point = last < text_.size() && text_[last] == '.';
  bool exponent = last < text_.size() && (text_[last] == 'e' || text_[last] == 'E');
  if ((base == 10 || base == 8) && (point || exponent)) {
    double value = 0;
    auto [stop, error] = std::from_chars(text_.data() + end_, text_.data() + text_.size(), value);
    end_ = static_cast<std::size_t>(stop - text_.data());
    // ±0 and ±inf are what out-of-range constants round to; from_chars leaves the value untouched.
    if (error != std::errc{} || (end_ < text_.size() && has_class(text_[end_], WordRest))) {
      bad("this is not a floating-point constant");
      return;
    }
    token_.kind = TokenKind::Float;
    token_.float_bits = 64;
    token_.value = std::bit_cast<std::uint64_t>(value);
    return;
  }
  auto [stop, error] =
      std::from_chars(text_.data() + first, text_.data() + last, token_.value, base);
  end_ = last;
  if (end_ < text_.size() && text_[end_] == 'U') {
    ++end_;
  }
  if (first == last || stop != text_.data() + last ||
      (end_ < text_.size() && has_class(text_[end_], WordRest))) {
    while (end_ < text_.size() && has_class(text_[end_], WordRest)) {
      ++end_;
    }
    bad("this is not an integer constant");
    return;
  }
  if (error != std::errc{}) {
    bad("integer constant needs more than 64 bits");
    return;
  }
  token_.kind = TokenKind::Integer;
}

void Lexer::lex_dot_word() {
  std::size_t first = ++end_;
  while (end_ < text_.size()) {
    if (has_class(text_[end_], WordRest)) {
      ++end_;
    } else if (
        text_[end_] == ':' && end_ + 2 < text_.size() && text_[end_ + 1] == ':' &&
        has_class(text_[end_ + 2], WordRest)
    ) {
      end_ += 2;
    } else {
      break;
    }
  }
  if (end_ == first) {
    bad("a word is expected after '.'");
    return;
  }
  token_.kind = TokenKind::DotWord;
  token_.text = text_.substr(first, end_ - first);
}

void Lexer::lex_string() {
  std::size_t first = ++end_;
  while (end_ < text_.size() && text_[end_] != '"' && text_[end_] != '\n') {
    const bool escaped = text_[end_] == '\\' && end_ + 1 < text_.size() && text_[end_ + 1] != '\n';
    end_ += escaped ? 2 : 1;
  }
  if (end_ >= text_.size() || text_[end_] != '"') {
    bad("string is not closed");
    return;
  }
  token_.kind = TokenKind::String;
  token_.text = text_.substr(first, end_ - first);
  ++end_;
}

void Lexer::advance() {
  skip_blanks();
  token_ = Token{};
  token_.offset = static_cast<std::uint32_t>(end_);
  if (end_ >= text_.size()) {
    return;
  }
  char c = text_[end_];
  if (has_class(c, WordStart)) {
    std::size_t first = end_++;
    while (end_ < text_.size() && has_class(text_[end_], WordRest)) {
      ++end_;
    }
    token_.kind = TokenKind::Identifier;
    token_.text = text_.substr(first, end_ - first);
    if (token_.text == "%") { // the remainder operator of constant expressions
      token_.kind = TokenKind::Punctuation;
      token_.punctuation = '%';
    }
    return;
  }
  if (has_class(c, Digit)) {
    std::size_t first = end_;
    lex_number();
    if (token_.kind != TokenKind::Bad) {
      token_.text = text_.substr(first, end_ - first);
    }
    return;
  }
  if (c == '.') {
    return lex_dot_word();
  }
  if (c == '"') {
    return lex_string();
  }
  static constexpr std::string_view known = "{}()[]<>,;:@!|&^~+-*/=?";
  if (known.find(c) == std::string_view::npos) {
    bad("this character has no meaning in PTX");
    return;
  }
  token_.kind = TokenKind::Punctuation;
  token_.punctuation = c;
  char next = end_ + 1 < text_.size() ? text_[end_ + 1] : '\0';
  static constexpr std::string_view doubled[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  for (std::string_view pair : doubled) {
    if (pair[0] == c && pair[1] == next) {
      token_.second = next;
    }
  }
  end_ += token_.second != 0 ? 2 : 1;
  token_.text = text_.substr(token_.offset, end_ - token_.offset);
}

std::string_view Lexer::take_dotted(std::string& scratch) {
  std::size_t first = token_.offset;
  bool gaps = false;
  while (true) {
    std::size_t word_end = end_;
    if (end_ < text_.size() && text_[end_] == '.') {
      lex_dot_word();
      if (token_.kind == TokenKind::Bad) {
        // Leave the lonely dot to the caller's error message.
        end_ = word_end;
        break;
      }
      if (gaps) {
        scratch.append(text_.substr(word_end, end_ - word_end));
      }
      continue;
    }
    advance();
    if (token_.kind != TokenKind::DotWord) {
      return gaps ? std::string_view(scratch) : text_.substr(first, word_end - first);
    }
    if (!gaps) {
      scratch.assign(text_.substr(first, word_end - first));
      gaps = true;
    }
    scratch.append(".").append(token_.text);
  }
  std::size_t last = end_;
  advance();
  return gaps ? std::string_view(scratch) : text_.substr(first, last - first);
}

bool Lexer::skip_block() {
  std::size_t depth = 1;
  end_ = token_.offset;
  while (true) {
    skip_blanks();
    if (end_ >= text_.size()) {
      token_ = Token{};
      token_.offset = static_cast<std::uint32_t>(text_.size());
      return false;
    }
    char c = text_[end_++];
    if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      advance();
      return true;
    }
  }
}

} // namespace heddle::ptx

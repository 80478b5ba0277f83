// Constant expressions: PTX ISA 9.0 section 4.5.
//
// Integers are 64 bits wide; an expression is unsigned if an operand is (a literal that does not
// fit .s64 or ends in U). Accepted beyond ptxas: comparisons of floats are refused, nothing else.
#include "ptx/parser.h"

#include <fmt/format.h>

#include <bit>
#include <limits>

namespace heddle::ptx {
namespace {

constexpr int deepest = 64; // nesting of parentheses and unary operators

constexpr std::uint64_t most_in_range = 1U << 20; // names declared by one name<n>

struct Operator {
  char first;
  char second;
  int level; // the higher, the tighter it binds
};

constexpr Operator operators[] = {
    {'|', '|', 1},
    {'&', '&', 2},
    {'|', 0, 3},
    {'^', 0, 4},
    {'&', 0, 5},
    {'=', '=', 6},
    {'!', '=', 6},
    {'<', 0, 7},
    {'>', 0, 7},
    {'<', '=', 7},
    {'>', '=', 7},
    {'<', '<', 8},
    {'>', '>', 8},
    {'+', 0, 9},
    {'-', 0, 9},
    {'*', 0, 10},
    {'/', 0, 10},
    {'%', 0, 10},
};

const Operator* binary_operator(const Token& token) {
  if (token.kind == TokenKind::Punctuation) {
    for (const Operator& op : operators) {
      if (op.first == token.punctuation && op.second == token.second) {
        return &op;
      }
    }
  }
  return nullptr;
}

/// Integer a op b; false for a division that has no result.
bool apply(
    const Operator& op,
    std::uint64_t a,
    std::uint64_t b,
    bool is_unsigned,
    std::uint64_t& result
) {
  auto sa = static_cast<std::int64_t>(a);
  auto sb = static_cast<std::int64_t>(b);
  auto less = [&](std::uint64_t x, std::uint64_t y) {
    return is_unsigned ? x < y : static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
  };
  switch (op.first) {
  case '|':
    result = op.second != 0 ? (a != 0 || b != 0) : a | b;
    return true;
  case '&':
    result = op.second != 0 ? (a != 0 && b != 0) : a & b;
    return true;
  case '^':
    result = a ^ b;
    return true;
  case '=':
    result = a == b;
    return true;
  case '!':
    result = a != b;
    return true;
  case '<':
    if (op.second == '<') {
      result = b > 63 ? 0 : a << b;
    } else {
      result = op.second == '=' ? !less(b, a) : less(a, b);
    }
    return true;
  case '>':
    if (op.second == '>') {
      std::uint64_t amount = b > 63 ? 63 : b;
      result = is_unsigned ? (b > 63 ? 0 : a >> b) : static_cast<std::uint64_t>(sa >> amount);
    } else {
      result = op.second == '=' ? !less(a, b) : less(b, a);
    }
    return true;
  case '+':
    result = a + b;
    return true;
  case '-':
    result = a - b;
    return true;
  case '*':
    result = a * b;
    return true;
  default: // '/' and '%'
    if (b == 0 || (!is_unsigned && sb == -1 && sa == std::numeric_limits<std::int64_t>::min())) {
      return false;
    }
    if (is_unsigned) {
      result = op.first == '/' ? a / b : a % b;
    } else {
      result = static_cast<std::uint64_t>(op.first == '/' ? sa / sb : sa % sb);
    }
    return true;
  }
}

} // namespace

bool Parser::constant(Constant& value) {
  return constant_ternary(value, 0);
}

bool Parser::constant_ternary(Constant& value, int depth) {
  if (!constant_binary(value, 1, depth)) {
    return false;
  }
  if (!lexer_.peek().is('?')) {
    return true;
  }
  if (depth > deepest) {
    return fail_here("constant expression is nested too deeply");
  }
  lexer_.advance();
  Constant yes;
  Constant no;
  if (!constant_ternary(yes, depth + 1) || !expect(':', "in a ?: expression") ||
      !constant_ternary(no, depth + 1)) {
    return false;
  }
  value = value.bits != 0 ? yes : no;
  return true;
}

bool Parser::constant_binary(Constant& value, int min_level, int depth) {
  if (!constant_unary(value, depth)) {
    return false;
  }
  while (const Operator* op = binary_operator(lexer_.peek())) {
    if (op->level < min_level) {
      break;
    }
    std::uint32_t offset = lexer_.peek().offset;
    lexer_.advance();
    Constant right;
    // Recursion is at most one per level of precedence: it needs no further bound.
    if (!constant_binary(right, op->level + 1, depth)) {
      return false;
    }
    if (value.is_float || right.is_float) {
      return fail(offset, "operators on floating-point constants are not supported");
    }
    value.is_unsigned = value.is_unsigned || right.is_unsigned;
    if (!apply(*op, value.bits, right.bits, value.is_unsigned, value.bits)) {
      return fail(offset, "division has no result");
    }
  }
  return true;
}

bool Parser::constant_unary(Constant& value, int depth) {
  if (depth > deepest) {
    return fail_here("constant expression is nested too deeply");
  }
  const Token& token = lexer_.peek();
  if (token.kind == TokenKind::Integer) {
    value = Constant{};
    value.bits = token.value;
    value.is_unsigned = token.text.ends_with('U') || token.value >> 63 != 0;
    lexer_.advance();
    return true;
  }
  if (token.kind == TokenKind::Float) {
    value = Constant{true, false, token.float_bits, token.value};
    lexer_.advance();
    return true;
  }
  if (token.is_word("WARP_SZ")) {
    value = Constant{};
    value.bits = 32;
    lexer_.advance();
    return true;
  }
  if (token.is('(')) {
    lexer_.advance();
    // A cast: (.s64) or (.u64).
    if (lexer_.peek().is_dot("s64") || lexer_.peek().is_dot("u64")) {
      bool is_unsigned = lexer_.peek().is_dot("u64");
      lexer_.advance();
      if (!expect(')', "after the type of a cast") || !constant_unary(value, depth + 1)) {
        return false;
      }
      value.is_unsigned = is_unsigned;
      return true;
    }
    return constant_ternary(value, depth + 1) && expect(')', "in a constant expression");
  }
  char op = token.kind == TokenKind::Punctuation && token.second == 0 ? token.punctuation : '\0';
  if (op != '-' && op != '+' && op != '~' && op != '!') {
    return fail_here("a constant is expected");
  }
  std::uint32_t offset = token.offset;
  lexer_.advance();
  if (!constant_unary(value, depth + 1)) {
    return false;
  }
  if (value.is_float) {
    if (op != '-' && op != '+') {
      return fail(offset, "this operator does not apply to a floating-point constant");
    }
    if (op == '-') {
      value.bits ^= 1ULL << (value.float_bits - 1);
    }
    return true;
  }
  value.bits = op == '-'   ? 0 - value.bits
               : op == '~' ? ~value.bits
               : op == '!' ? std::uint64_t{value.bits == 0}
                           : value.bits;
  if (op == '-') {
    value.is_unsigned = false;
  }
  return true;
}

bool Parser::integer(std::uint64_t& value, const char* what) {
  std::uint32_t offset = lexer_.peek().offset;
  Constant c;
  if (lexer_.peek().kind == TokenKind::Identifier && !lexer_.peek().is_word("WARP_SZ")) {
    return fail_here(fmt::format("{} expected", what));
  }
  if (!constant(c)) {
    return false;
  }
  if (c.is_float || (!c.is_unsigned && static_cast<std::int64_t>(c.bits) < 0)) {
    return fail(offset, fmt::format("{} must be an integer that is not negative", what));
  }
  value = c.bits;
  return true;
}

/// The n of name<n>: a plain constant, because '>' would be read as an operator.
bool Parser::count(std::uint32_t& value) {
  lexer_.advance(); // <
  std::uint32_t offset = lexer_.peek().offset;
  Constant c;
  if (!constant_unary(c, 0)) {
    return false;
  }
  if (c.is_float || c.bits > most_in_range) {
    return fail(offset, "this number is too large");
  }
  value = static_cast<std::uint32_t>(c.bits);
  return expect('>', "after the number");
}

bool Parser::small_integer(std::uint32_t& value, const char* what) {
  std::uint32_t offset = lexer_.peek().offset;
  std::uint64_t wide = 0;
  if (!integer(wide, what)) {
    return false;
  }
  if (wide > 0xffff'ffffU) {
    return fail(offset, fmt::format("{} does not fit in 32 bits", what));
  }
  value = static_cast<std::uint32_t>(wide);
  return true;
}

} // namespace heddle::ptx

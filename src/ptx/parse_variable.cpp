// Variables: .global .const .shared .local .param .tex declarations, initialisers, formal
// parameters.
//
// PTX ISA 9.0 sections 5.1-5.4, 7.1. An array may be initialised with nested braces, with a flat
// list, or with fewer values than elements. Symbols in initialisers become SymbolInit; their bytes
// in Variable::init are zero. Sampler state initialisers are kept as text in Variable::attributes.
#include "base/check.h"
#include "ptx/parser.h"

#include <fmt/format.h>

#include <bit>
#include <limits>

namespace heddle::ptx {
namespace {

constexpr int deepest_initialiser = 16;
constexpr std::uint64_t largest_variable = 1ULL << 40;

/// Round to nearest even, f64 to a format of `exponent` and `mantissa` bits (f16: 5, 10).
std::uint64_t narrow_float(std::uint64_t bits, int exponent_bits, int mantissa_bits) {
  std::uint64_t sign = bits >> 63 << (exponent_bits + mantissa_bits);
  int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  std::uint64_t mantissa = bits & ((1ULL << 52) - 1);
  std::uint64_t infinity = ((1ULL << exponent_bits) - 1) << mantissa_bits;
  if (exponent == 0x7ff) {
    // The payload of a NaN is cut off, but it stays a NaN.
    std::uint64_t payload = mantissa >> (52 - mantissa_bits);
    return sign | infinity | (mantissa != 0 && payload == 0 ? 1 : payload);
  }
  int bias = (1 << (exponent_bits - 1)) - 1;
  int wanted = exponent - 1023 + bias;
  int shift = 52 - mantissa_bits;
  if (exponent != 0) {
    mantissa |= 1ULL << 52;
  }
  if (wanted <= 0) {
    shift += 1 - wanted;
    wanted = 0;
  }
  if (shift > 63) {
    return sign;
  }
  std::uint64_t kept = mantissa >> shift;
  std::uint64_t rest = mantissa & ((1ULL << shift) - 1);
  std::uint64_t half = 1ULL << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0;
  // A carry out of the mantissa moves into the exponent by itself.
  std::uint64_t value =
      wanted == 0 ? kept : (static_cast<std::uint64_t>(wanted - 1) << mantissa_bits) + kept;
  return sign | (value >= infinity ? infinity : value);
}

} // namespace

/// ".attribute(.managed)", ".attribute(.unified(19,95))".
bool Parser::variable_attributes(std::vector<std::string>& attributes) {
  lexer_.advance(); // .attribute
  if (!expect('(', "after .attribute")) {
    return false;
  }
  while (true) {
    if (lexer_.peek().kind != TokenKind::DotWord) {
      return fail_here("an attribute is expected");
    }
    std::string text(lexer_.peek().text);
    lexer_.advance();
    if (lexer_.peek().is('(')) {
      lexer_.advance();
      text += '(';
      bool first = true;
      while (!lexer_.peek().is(')')) {
        std::uint64_t value = 0;
        if (!first && !expect(',', "between the values of an attribute")) {
          return false;
        }
        if (!integer(value, "a value of an attribute")) {
          return false;
        }
        text += fmt::format("{}{}", first ? "" : ",", value);
        first = false;
      }
      lexer_.advance();
      text += ')';
    }
    attributes.push_back(std::move(text));
    if (!lexer_.peek().is(',')) {
      break;
    }
    lexer_.advance();
  }
  return expect(')', "after the attributes");
}

/// ".align 8 .v2 .b32 .ptr .global .align 16", in any sensible order.
bool Parser::variable_type(Variable& variable) {
  bool typed = false;
  while (lexer_.peek().kind == TokenKind::DotWord) {
    std::string_view word = lexer_.peek().text;
    std::uint32_t offset = lexer_.peek().offset;
    if (word == "align") {
      lexer_.advance();
      std::uint32_t align = 0;
      if (!small_integer(align, "an alignment")) {
        return false;
      }
      if (!std::has_single_bit(align)) {
        return fail(offset, "an alignment must be a power of two");
      }
      variable.align = align;
      continue;
    }
    if (word == "attribute") {
      if (!variable_attributes(variable.attributes)) {
        return false;
      }
      continue;
    }
    if (word == "ptr") {
      lexer_.advance();
      std::string text = ".ptr";
      if (lexer_.peek().kind == TokenKind::DotWord && lexer_.peek().text != "align") {
        text += fmt::format(" .{}", lexer_.peek().text);
        lexer_.advance();
      }
      if (lexer_.peek().is_dot("align")) {
        lexer_.advance();
        std::uint32_t align = 0;
        if (!small_integer(align, "an alignment")) {
          return false;
        }
        text += fmt::format(" .align {}", align);
      }
      variable.attributes.push_back(std::move(text));
      continue;
    }
    auto mod = find_modifier(word);
    if (mod == Mod::V2 || mod == Mod::V4 || mod == Mod::V8) {
      variable.vector = mod == Mod::V2 ? 2 : mod == Mod::V4 ? 4 : 8;
    } else if (mod && category(*mod) == Category::Type && type_bits(*mod) != 0 && !typed) {
      variable.type = *mod;
      typed = true;
    } else {
      return fail(offset, fmt::format("'.{}' has no meaning in a declaration of a variable", word));
    }
    lexer_.advance();
  }
  return typed || fail_here("a type is expected");
}

bool Parser::extents(Variable& variable) {
  std::uint32_t offset = lexer_.peek().offset;
  std::uint64_t total = std::max<std::uint64_t>(1, variable.element_bytes());
  while (lexer_.peek().is('[')) {
    lexer_.advance();
    std::uint64_t extent = 0;
    if (!lexer_.peek().is(']') && !integer(extent, "an array extent")) {
      return false;
    }
    if (!expect(']', "after an array extent")) {
      return false;
    }
    if (extent > largest_variable ||
        total > largest_variable / std::max<std::uint64_t>(1, extent)) {
      return fail(offset, "the array is too large");
    }
    total *= std::max<std::uint64_t>(1, extent);
    variable.extents.push_back(extent);
  }
  return true;
}

bool Parser::initialiser(Variable& variable) {
  lexer_.advance(); // =
  variable.has_init = true;
  if (variable.type == Mod::Texref || variable.type == Mod::Samplerref ||
      variable.type == Mod::Surfref) {
    return sampler_initialiser(variable);
  }
  std::vector<std::uint64_t> shape = variable.extents;
  if (variable.vector > 1) {
    shape.push_back(variable.vector);
  }
  if (!lexer_.peek().is('{')) {
    return shape.empty() ? initialiser_element(variable, 0)
                         : fail_here("'{' expected to initialise an array");
  }
  if (shape.empty()) {
    shape.push_back(1);
  }
  if (!initialiser_list(variable, shape, 0, 0)) {
    return false;
  }
  if (!variable.extents.empty() && variable.extents.front() == 0) {
    // x[] = {…}: as many as there are values.
    std::uint64_t row = variable.element_bytes();
    for (std::size_t i = 1; i < variable.extents.size(); ++i) {
      row *= variable.extents[i];
    }
    if (row != 0) {
      variable.extents.front() = (variable.init.size() + row - 1) / row;
    }
  }
  return true;
}

bool Parser::initialiser_list(
    Variable& variable,
    std::span<const std::uint64_t> shape,
    std::uint64_t first,
    int depth
) {
  if (depth > deepest_initialiser || shape.empty()) {
    return fail_here("initialiser is nested too deeply");
  }
  std::uint32_t offset = lexer_.peek().offset;
  lexer_.advance();      // {
  std::uint64_t row = 1; // elements below one entry of this level
  for (std::size_t i = 1; i < shape.size(); ++i) {
    row *= shape[i];
  }
  std::uint64_t limit = shape[0] == 0 ? largest_variable : shape[0] * row;
  std::uint64_t next = 0;
  while (!lexer_.peek().is('}')) {
    if (next >= limit) {
      return fail(offset, "more values than elements in this initialiser");
    }
    if (lexer_.peek().is('{')) {
      if (row == 0 || next % row != 0) { // 0: only the first extent may be left open
        return fail_here("nested braces and single values are mixed");
      }
      if (!initialiser_list(variable, shape.subspan(1), first + next, depth + 1)) {
        return false;
      }
      next += row;
    } else {
      if (!initialiser_element(variable, first + next)) {
        return false;
      }
      ++next;
    }
    if (!lexer_.peek().is(',')) {
      break;
    }
    lexer_.advance();
  }
  return expect('}', "after the values of an initialiser");
}

bool Parser::initialiser_element(Variable& variable, std::uint64_t index) {
  std::uint64_t bytes = std::max<std::uint64_t>(1, variable.element_bytes() / variable.vector);
  std::uint32_t offset = lexer_.peek().offset;
  constexpr std::uint64_t most = std::uint64_t{1} << 30; // bytes; all of them are kept
  if (index >= most / bytes) {
    return fail(offset, "a value is more than 1 GiB behind the beginning of its variable");
  }
  std::uint64_t at = index * bytes;
  if (variable.init.size() < at + bytes) {
    variable.init.resize(at + bytes);
  }
  if (lexer_.peek().kind == TokenKind::Identifier && !lexer_.peek().is_word("WARP_SZ")) {
    SymbolInit init;
    init.byte_offset = at;
    init.bytes = static_cast<std::uint32_t>(bytes);
    if (!initialiser_symbol(init, 0)) {
      return false;
    }
    variable.symbols.push_back(std::move(init));
    return true;
  }
  Constant value;
  if (!constant(value)) {
    return false;
  }
  if (lexer_.peek().is('(') && !value.is_float) {
    // mask(symbol): one byte of an address.
    SymbolInit init;
    init.byte_offset = at;
    init.bytes = static_cast<std::uint32_t>(bytes);
    init.mask = value.bits;
    lexer_.advance();
    if (!initialiser_symbol(init, 0) || !expect(')', "after a masked symbol")) {
      return false;
    }
    variable.symbols.push_back(std::move(init));
    return true;
  }
  std::uint64_t bits = value.bits;
  if (value.is_float) {
    double wide = value.float_bits == 32
                      ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                      : std::bit_cast<double>(bits);
    auto wide_bits = std::bit_cast<std::uint64_t>(wide);
    if (variable.type == Mod::F64) {
      bits = wide_bits;
    } else if (variable.type == Mod::F32) {
      bits = value.float_bits == 32 ? bits : narrow_float(wide_bits, 8, 23);
    } else if (variable.type == Mod::F16) {
      bits = narrow_float(wide_bits, 5, 10);
    } else if (variable.type == Mod::Bf16) {
      bits = narrow_float(wide_bits, 8, 7);
    } else {
      return fail(
          offset,
          fmt::format("a .{} is not initialised with a float", text(variable.type))
      );
    }
  } else if (is_float(variable.type)) {
    return fail(
        offset,
        fmt::format("a .{} is initialised with floating-point values", text(variable.type))
    );
  }
  for (std::uint64_t i = 0; i < bytes; ++i) {
    // .b128 elements: the value is sign extended.
    variable.init[at + i] = static_cast<std::uint8_t>(
        i < 8 ? bits >> (8 * i) : (!value.is_unsigned && bits >> 63 != 0 ? 0xff : 0)
    );
  }
  return true;
}

/// symbol, generic(symbol), each with +n or -n behind it.
bool Parser::initialiser_symbol(SymbolInit& init, int depth) {
  std::uint32_t offset = lexer_.peek().offset;
  std::string_view word;
  if (!expect_word(&word, "a symbol")) {
    return false;
  }
  if (word == "generic" && lexer_.peek().is('(') && depth == 0) {
    lexer_.advance();
    init.generic = true;
    if (!initialiser_symbol(init, depth + 1) || !expect(')', "after generic(…")) {
      return false;
    }
  } else {
    init.symbol = std::string(word);
    use_module_name(word, offset);
  }
  if (lexer_.peek().is('+') || lexer_.peek().is('-')) {
    bool plus = lexer_.peek().is('+');
    if (plus) {
      lexer_.advance();
    }
    Constant addend;
    offset = lexer_.peek().offset;
    if (!constant(addend)) {
      return false;
    }
    if (addend.is_float) {
      return fail(offset, "an integer is expected");
    }
    init.addend = static_cast<std::int64_t>(static_cast<std::uint64_t>(init.addend) + addend.bits);
  }
  return true;
}

/// { addr_mode_0 = wrap, filter_mode = linear, … }: kept as it is written.
bool Parser::sampler_initialiser(Variable& variable) {
  if (!expect('{', "to initialise a texture, sampler or surface")) {
    return false;
  }
  std::string text = "=";
  while (!lexer_.peek().is('}')) {
    const Token& token = lexer_.peek();
    bool plain = token.kind == TokenKind::Identifier || token.kind == TokenKind::Integer ||
                 token.is('=') || token.is(',');
    if (!plain) {
      return fail_here("field = value expected");
    }
    text += fmt::format(" {}", token.text);
    lexer_.advance();
  }
  lexer_.advance();
  variable.attributes.push_back(std::move(text));
  return true;
}

bool Parser::variable_declaration(
    Mod space,
    Linkage linkage,
    std::vector<std::string> attributes,
    const std::function<bool(Variable, const Token&)>& sink
) {
  Variable common;
  common.space = space;
  common.linkage = linkage;
  common.attributes = std::move(attributes);
  common.at = position(lexer_.peek());
  if (!variable_type(common)) {
    return false;
  }
  while (true) {
    Variable variable = common;
    Token name = lexer_.peek();
    variable.at = position(name);
    std::string_view word;
    if (!expect_word(&word, "the name of a variable")) {
      return false;
    }
    variable.name = std::string(word);
    if (lexer_.peek().is('<')) {
      // name<n>: name0 … name(n-1).
      std::uint32_t count = 0;
      if (!this->count(count)) {
        return false;
      }
      if (count > 65536) {
        return fail(name.offset, "too many variables");
      }
      for (std::uint32_t i = 0; i < count; ++i) {
        Variable numbered = variable;
        numbered.name += std::to_string(i);
        if (!sink(std::move(numbered), name)) {
          return false;
        }
      }
    } else {
      if (!extents(variable) || (lexer_.peek().is('=') && !initialiser(variable)) ||
          !sink(std::move(variable), name)) {
        return false;
      }
    }
    if (!lexer_.peek().is(',')) {
      break;
    }
    lexer_.advance();
  }
  return expect(';', "after a declaration");
}

bool Parser::parameters(std::vector<Variable>& list, bool prototype) {
  lexer_.advance(); // (
  while (!lexer_.peek().is(')')) {
    if (!list.empty() && !expect(',', "between parameters")) {
      return false;
    }
    if (!parameter(list, prototype)) {
      return false;
    }
  }
  lexer_.advance();
  return true;
}

bool Parser::parameter(std::vector<Variable>& list, bool prototype) {
  Variable variable;
  variable.at = position(lexer_.peek());
  if (lexer_.peek().is_dot("param")) {
    variable.space = Mod::Param;
  } else if (lexer_.peek().is_dot("reg")) {
    variable.space = Mod::Reg;
  } else {
    return fail_here("a parameter starts with .param or .reg");
  }
  lexer_.advance();
  if (!variable_type(variable)) {
    return false;
  }
  Token name = lexer_.peek();
  std::string_view word;
  if (!expect_word(&word, "the name of a parameter") || !extents(variable)) {
    return false;
  }
  variable.name = std::string(word);
  if (!prototype) {
    for (const Variable& other : list) {
      if (other.name == word) {
        return fail(name.offset, fmt::format("parameter '{}' is declared twice", word));
      }
    }
  }
  list.push_back(std::move(variable));
  return true;
}

} // namespace heddle::ptx

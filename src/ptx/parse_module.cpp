// Module level: directives, variables, debug strings, and the checks that need the whole module.
//
// PTX ISA 9.0 sections 4.3, 11.1, 11.5, 11.6. Debug sections other than .debug_str are skipped. A
// name may be used before it is declared (ptxas wants it declared first): linkers of several texts
// do that.
#include "ptx/parser.h"

#include <fmt/format.h>

namespace heddle::ptx {

bool Parser::module() {
  while (lexer_.peek().kind != TokenKind::End) {
    if (!module_statement()) {
      return false;
    }
  }
  return finish_module();
}

bool Parser::module_statement() {
  const Token& token = lexer_.peek();
  if (token.is(';')) {
    lexer_.advance();
    return true;
  }
  if (token.kind != TokenKind::DotWord) {
    return fail_here("a directive is expected");
  }
  std::string_view word = token.text;
  if (word == "version") {
    return version();
  }
  if (word == "target") {
    return target();
  }
  if (word == "address_size") {
    lexer_.advance();
    std::uint32_t offset = lexer_.peek().offset;
    std::uint32_t size = 0;
    if (!small_integer(size, "an address size")) {
      return false;
    }
    if (size != 32 && size != 64) {
      return fail(offset, "the address size is 32 or 64");
    }
    module_->address_size = static_cast<int>(size);
    return true;
  }
  if (word == "file") {
    return file_directive();
  }
  if (word == "section") {
    return section();
  }
  if (word == "pragma") {
    lexer_.advance();
    return pragma(module_->pragmas);
  }
  if (word == "alias") {
    return alias();
  }
  Linkage linkage = Linkage::Internal;
  while (true) {
    if (lexer_.peek().is_dot("visible")) {
      linkage = Linkage::Visible;
    } else if (lexer_.peek().is_dot("extern")) {
      linkage = Linkage::Extern;
    } else if (lexer_.peek().is_dot("weak")) {
      linkage = Linkage::Weak;
    } else if (lexer_.peek().is_dot("common")) {
      linkage = Linkage::Common;
    } else {
      break;
    }
    lexer_.advance();
  }
  if (lexer_.peek().kind != TokenKind::DotWord) {
    return fail_here("a directive is expected");
  }
  word = lexer_.peek().text;
  if (word == "entry" || word == "func") {
    lexer_.advance();
    return function(linkage, word == "entry");
  }
  auto mod = find_modifier(word);
  if (mod == Mod::Global || mod == Mod::Const || mod == Mod::Shared || mod == Mod::Local ||
      mod == Mod::Tex || mod == Mod::Param) {
    lexer_.advance();
    return variable_declaration(*mod, linkage, {}, [&](Variable variable, const Token& name) {
      return declare_module_variable(std::move(variable), name.offset);
    });
  }
  return fail_here("no such directive");
}

bool Parser::version() {
  lexer_.advance();
  const Token& token = lexer_.peek();
  std::string_view text = token.text;
  std::size_t dot = text.find('.');
  std::uint32_t numbers[2] = {0, 0};
  bool good = token.kind == TokenKind::Float && dot != std::string_view::npos;
  for (int part = 0; good && part < 2; ++part) {
    std::string_view digits = part == 0 ? text.substr(0, dot) : text.substr(dot + 1);
    good = !digits.empty() && digits.size() < 5;
    for (char c : digits) {
      good = good && c >= '0' && c <= '9';
      numbers[part] = numbers[part] * 10 + static_cast<std::uint32_t>(c - '0');
    }
  }
  if (!good) {
    return fail_here("a version number such as 9.0 is expected");
  }
  module_->version_major = static_cast<int>(numbers[0]);
  module_->version_minor = static_cast<int>(numbers[1]);
  lexer_.advance();
  return true;
}

bool Parser::target() {
  lexer_.advance();
  bool first = true;
  while (true) {
    std::string_view word;
    if (!expect_word(&word, "a target")) {
      return false;
    }
    if (first) {
      module_->target = std::string(word);
    } else {
      module_->target_options.emplace_back(word);
    }
    first = false;
    if (!lexer_.peek().is(',')) {
      return true;
    }
    lexer_.advance();
  }
}

bool Parser::pragma(std::vector<std::string>& list) {
  while (true) {
    if (lexer_.peek().kind != TokenKind::String) {
      return fail_here("a string is expected");
    }
    list.emplace_back(lexer_.peek().text);
    lexer_.advance();
    if (!lexer_.peek().is(',')) {
      return expect(';', "after .pragma");
    }
    lexer_.advance();
  }
}

/// nvcc writes "\303\274" for "ü", and a backslash before quotes and backslashes.
static std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    ++i;
    constexpr std::size_t most_digits = 3;
    unsigned value = 0;
    std::size_t digits = 0;
    while (digits < most_digits && i + digits < text.size() && text[i + digits] >= '0' &&
           text[i + digits] <= '7') {
      value = value * 8 + static_cast<unsigned>(text[i + digits] - '0');
      ++digits;
    }
    result += digits == 0 ? text[i] : static_cast<char>(value);
    i += digits == 0 ? 0 : digits - 1;
  }
  return result;
}

/// .file index "path" [, timestamp, size]
bool Parser::file_directive() {
  lexer_.advance();
  std::uint32_t index = 0;
  if (!small_integer(index, "the number of a file")) {
    return false;
  }
  if (lexer_.peek().kind != TokenKind::String) {
    return fail_here("the name of a file is expected");
  }
  module_->files[index] = unescaped(lexer_.peek().text);
  lexer_.advance();
  for (int i = 0; i < 2 && lexer_.peek().is(','); ++i) {
    lexer_.advance();
    std::uint64_t ignored = 0;
    if (!integer(ignored, i == 0 ? "a time stamp" : "a file size")) {
      return false;
    }
  }
  return true;
}

bool Parser::section() {
  std::uint32_t offset = lexer_.peek().offset;
  lexer_.advance();
  const Token& name = lexer_.peek();
  if (name.kind != TokenKind::DotWord && name.kind != TokenKind::Identifier) {
    return fail_here("the name of a section is expected");
  }
  bool strings = name.is_dot("debug_str");
  lexer_.advance();
  if (!expect('{', "after the name of a section")) {
    return false;
  }
  if (strings) {
    return debug_strings();
  }
  return lexer_.skip_block() || fail(offset, "the section is not closed");
}

/// Labels and bytes: .loc names inlined functions by a label in here.
bool Parser::debug_strings() {
  debug_offsets_.try_emplace("debug_str", 0); // the section itself
  while (!lexer_.peek().is('}')) {
    if (lexer_.peek().kind == TokenKind::Identifier) {
      std::string_view name = lexer_.peek().text;
      lexer_.advance();
      if (!expect(':', "after a label")) {
        return false;
      }
      debug_offsets_[name] = static_cast<std::uint32_t>(debug_text_.size());
      continue;
    }
    if (!lexer_.peek().is_dot("b8")) {
      return fail_here("a label or .b8 is expected in .debug_str");
    }
    do {
      lexer_.advance();
      std::uint64_t byte = 0;
      if (!integer(byte, "a byte")) {
        return false;
      }
      debug_text_ += static_cast<char>(byte);
    } while (lexer_.peek().is(','));
  }
  lexer_.advance();
  return true;
}

/// .alias name, aliasee;
bool Parser::alias() {
  lexer_.advance();
  std::string_view name;
  std::string_view aliasee;
  std::uint32_t offset = lexer_.peek().offset;
  if (!expect_word(&name, "the name of an alias") || !expect(',', "after the name of an alias")) {
    return false;
  }
  use_module_name(name, offset);
  offset = lexer_.peek().offset;
  if (!expect_word(&aliasee, "the name of a function")) {
    return false;
  }
  use_module_name(aliasee, offset);
  module_->aliases.push_back({std::string(name), std::string(aliasee)});
  return expect(';', "after .alias");
}

bool Parser::declare_module_variable(Variable variable, std::uint32_t offset) {
  auto [entry, added] = module_names_.try_emplace(
      variable.name,
      ModuleName{false, static_cast<std::uint32_t>(module_->variables.size())}
  );
  if (added) {
    module_->variables.push_back(std::move(variable));
    return true;
  }
  if (entry->second.function) {
    return fail(offset, fmt::format("'{}' is declared as a function already", variable.name));
  }
  // An .extern declaration and a definition in one module are one variable.
  Variable& known = module_->variables[entry->second.index];
  if (variable.linkage == Linkage::Extern) {
    return true;
  }
  if (known.linkage != Linkage::Extern && known.linkage != Linkage::Common) {
    return fail(offset, fmt::format("'{}' is defined twice", variable.name));
  }
  known = std::move(variable);
  return true;
}

void Parser::use_module_name(std::string_view name, std::uint32_t offset) {
  if (module_names_.find(name) == module_names_.end() && module_uses_seen_.emplace(name).second) {
    module_uses_.push_back({name, offset});
  }
}

bool Parser::finish_module() {
  if (module_->version_major == 0) {
    return fail(0, "PTX starts with .version");
  }
  for (const Declared& use : module_uses_) {
    if (module_names_.find(use.name) == module_names_.end()) {
      return fail(use.offset, fmt::format("'{}' is not declared", use.name));
    }
  }
  for (std::size_t i = 0; i < location_keys_.size(); ++i) {
    const LocationKey& key = location_keys_[i];
    auto label = debug_offsets_.find(key.label);
    if (key.label.empty()) {
      continue;
    }
    std::uint64_t at = label == debug_offsets_.end() ? debug_text_.size()
                                                     : std::uint64_t{label->second} + key.offset;
    // Without its string the label is the best name there is.
    module_->source_locations[i].function =
        at < debug_text_.size() ? std::string(debug_text_.c_str() + at) : std::string(key.label);
  }
  return true;
}

} // namespace heddle::ptx

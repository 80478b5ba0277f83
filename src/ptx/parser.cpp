// Errors of the parser, and the entry point parse().
#include "ptx/parser.h"

#include "base/hash.h"
#include "ptx/effect.h"
#include "ptx/parse.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::ptx {

Parser::Parser(std::string_view text, std::string_view name) : lexer_(text), name_(name) {}

bool Parser::fail(std::uint32_t offset, std::string message) {
  if (error_) {
    return false;
  }
  std::string_view text = lexer_.text();
  offset = std::min(offset, static_cast<std::uint32_t>(text.size()));
  auto line_number = 1 + std::count(text.begin(), text.begin() + offset, '\n');
  std::size_t start = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  start = start == std::string_view::npos ? 0 : start + 1;
  std::size_t stop = std::min(text.find('\n', offset), text.size());
  // The source line as one reads it: control characters would spoil the terminal, and a line of a
  // megabyte the message; show the part around the error.
  constexpr std::size_t widest = 160;
  std::size_t shown = start;
  if (offset - start > widest / 2 && stop - start > widest) {
    shown = offset - widest / 2;
  }
  std::string line(text.substr(shown, std::min(stop - shown, widest)));
  std::string caret;
  for (std::size_t i = 0; i < line.size(); ++i) {
    auto c = static_cast<unsigned char>(line[i]);
    if (c < 0x20 && c != '\t') {
      line[i] = ' ';
    }
    if (i < offset - shown) {
      caret += line[i] == '\t' ? '\t' : ' ';
    }
  }
  error_ = fmt::format(
      "{}:{}:{}: error: {}\n{}\n{}^",
      name_,
      line_number,
      offset - start + 1,
      message,
      line,
      caret
  );
  return false;
}

std::string Parser::found() const {
  const Token& token = lexer_.peek();
  switch (token.kind) {
  case TokenKind::End:
    return "the text ends";
  case TokenKind::DotWord:
    return fmt::format("'.{}' found", token.text);
  case TokenKind::String:
    return "a string found";
  default:
    return fmt::format("'{}' found", token.text.substr(0, 60));
  }
}

bool Parser::fail_here(std::string message) {
  const Token& token = lexer_.peek();
  if (token.kind == TokenKind::Bad) {
    return fail(token.offset, token.message);
  }
  return fail(token.offset, fmt::format("{}, {}", message, found()));
}

bool Parser::expect(char punctuation, const char* where) {
  if (!lexer_.peek().is(punctuation)) {
    return fail_here(fmt::format("'{}' expected {}", punctuation, where));
  }
  lexer_.advance();
  return true;
}

bool Parser::expect_word(std::string_view* word, const char* what) {
  if (lexer_.peek().kind != TokenKind::Identifier) {
    return fail_here(fmt::format("{} expected", what));
  }
  *word = lexer_.peek().text;
  lexer_.advance();
  return true;
}

TextPosition Parser::position(const Token& token) const {
  // Only ever asked for the current token.
  return {lexer_.line(), token.offset - lexer_.line_start() + 1};
}

Result<std::unique_ptr<Module>> Parser::run() {
  module_ = std::make_unique<Module>();
  module_->name = name_;
  if (!module() || error_) {
    return input_error(error_ ? *error_ : name_ + ": error: not PTX");
  }
  return std::move(module_);
}

namespace {

/// Names the code: lines about places in the source are left out, which may have moved.
std::uint64_t content_of(std::string_view text) {
  Hasher content;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
    if (line.starts_with(".section")) {
      break; // debugging information, which ends the text
    }
    if (!line.starts_with(".loc") && !line.starts_with(".file") && !line.starts_with("//")) {
      content.text(line);
    }
  }
  return content.finish().low;
}

/// Can control get behind the last instruction?
bool runs_off_the_end(const Function& f) {
  if (f.body.empty() || f.body.back().guard) {
    return true;
  }
  const Opcode last = f.body.back().opcode;
  const bool leaves = last == Opcode::Ret || last == Opcode::Exit || last == Opcode::Bra ||
                      last == Opcode::Brx || last == Opcode::Trap;
  return !leaves || std::ranges::any_of(f.labels, [&](const Label& label) {
    return label.instruction == f.body.size();
  });
}

/// Who gets behind the last instruction returns. Analyses and searches ask what a thread stands at,
/// so that there is an instruction for it.
void return_at_the_end(Function& f) {
  if (!runs_off_the_end(f)) {
    return;
  }
  Instruction end;
  end.opcode = Opcode::Ret;
  end.form = form_table().of(Opcode::Ret).front().id;
  end.effect = &find_effect(end);
  end.at = f.body.empty() ? f.at : f.body.back().at;
  end.location = f.body.empty() ? Instruction::no_location : f.body.back().location;
  f.body.push_back(std::move(end));
}

} // namespace

Result<std::unique_ptr<Module>> parse(std::string_view text, std::string_view name) {
  // Fat binaries pad PTX with NUL bytes.
  while (!text.empty() && text.back() == '\0') {
    text.remove_suffix(1);
  }
  if (text.size() >= 0xffff'ffffU) {
    return input_error(fmt::format("{}:1:1: error: PTX of 4 GiB or more", name));
  }
  auto module = Parser(text, name).run();
  if (module) {
    (*module)->content = content_of(text);
    for (const auto& function : (*module)->functions) {
      if (function->defined) {
        return_at_the_end(*function);
      }
    }
  }
  return module;
}

} // namespace heddle::ptx

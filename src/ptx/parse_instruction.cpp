// Instructions: decoding of opcode and modifiers, operands, choice of the form.
//
// PTX ISA 9.0 sections 6, 9.1-9.4. What an instruction may look like stands in opcode.def; here is
// only how operands are written.
#include "ptx/check_operands.h"
#include "ptx/effect.h"
#include "ptx/parser.h"
#include "ptx/special_register.h"
#include "ptx/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heddle::ptx {
namespace {

constexpr int deepest_operand = 8;

} // namespace

bool Parser::guarded_instruction() {
  lexer_.advance(); // @
  Guard guard;
  if (lexer_.peek().is('!')) {
    guard.negated = true;
    lexer_.advance();
  }
  std::uint32_t offset = lexer_.peek().offset;
  std::string_view name;
  if (!expect_word(&name, "a predicate register")) {
    return false;
  }
  const Entity* entity = names_.find(name);
  if (entity == nullptr || entity->kind != Entity::Kind::Register) {
    return fail(
        offset,
        entity == nullptr ? fmt::format("'{}' is not declared", name)
                          : fmt::format("'{}' is not a register", name)
    );
  }
  if (function_->registers[entity->index].type != Mod::Pred) {
    return fail(offset, fmt::format("'{}' is not a predicate register", name));
  }
  guard.register_index = entity->index;
  if (lexer_.peek().kind != TokenKind::Identifier) {
    return fail_here("an instruction is expected");
  }
  std::uint32_t first = lexer_.peek().offset;
  TextPosition at = position(lexer_.peek());
  std::string_view word = lexer_.take_dotted(scratch_);
  return instruction(word, first, at, guard);
}

bool Parser::instruction(
    std::string_view word,
    std::uint32_t offset,
    TextPosition at,
    std::optional<Guard> guard
) {
  const Decoded* decoded = decode(word, offset);
  if (decoded == nullptr) {
    return false;
  }
  Instruction& instruction = function_->body.emplace_back();
  instruction.opcode = decoded->opcode;
  instruction.modifiers = decoded->modifiers;
  instruction.effect = &find_effect(instruction);
  instruction.guard = guard;
  instruction.at = at;
  instruction.location = location_;
  opcode_ = decoded->opcode;
  operand_offsets_.clear();
  if (!operands(instruction)) {
    return false;
  }
  return choose_form(instruction, *decoded, offset);
}

const Parser::Decoded* Parser::decode(std::string_view word, std::uint32_t offset) {
  if (auto known = decoded_.find(word); known != decoded_.end()) {
    return &known->second;
  }
  std::size_t dot = word.find('.');
  std::string_view base = word.substr(0, dot);
  auto opcode = find_opcode(base);
  if (!opcode) {
    fail(offset, fmt::format("'{}' is not an instruction{}", base, suggest_opcode(base)));
    return nullptr;
  }
  Decoded decoded;
  decoded.opcode = *opcode;
  while (dot != std::string_view::npos) {
    std::size_t next = word.find('.', dot + 1);
    std::string_view part =
        word.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1);
    auto mod = find_modifier(part);
    if (!mod) {
      fail(
          offset + static_cast<std::uint32_t>(dot),
          fmt::format("{} has no modifier '.{}'{}", base, part, suggest_modifier(*opcode, part))
      );
      return nullptr;
    }
    decoded.modifiers.push_back(*mod);
    dot = next;
  }
  for (const Form& form : form_table().of(*opcode)) {
    if (form.match_modifiers(decoded.modifiers).ok()) {
      decoded.forms.push_back(&form);
    }
  }
  if (decoded.forms.empty()) {
    refuse_modifiers(word, offset, decoded);
    return nullptr;
  }
  return &decoded_.emplace(std::string(word), std::move(decoded)).first->second;
}

/// Says which modifier no form accepts, or what is missing. Takes the form that gets furthest.
bool Parser::refuse_modifiers(std::string_view word, std::uint32_t offset, const Decoded& decoded) {
  std::string_view base = text(decoded.opcode);
  ModifierMatch best;
  bool any = false;
  bool all_accepted = false;
  std::string missing;
  for (const Form& form : form_table().of(decoded.opcode)) {
    ModifierMatch match = form.match_modifiers(decoded.modifiers);
    if (match.accepted) {
      all_accepted = true;
      std::string slot(match.missing->text);
      if (missing.find(slot) == std::string::npos) {
        missing += (missing.empty() ? "" : " or ") + slot;
      }
    }
    if (!any || match.matched > best.matched) {
      best = match;
    }
    any = true;
  }
  if (!any) {
    return fail(offset, fmt::format("{} is not supported: it has no form in Heddle's table", base));
  }
  if (all_accepted) {
    return fail(offset, fmt::format("{} lacks a modifier: {}", word, missing));
  }
  // The offending modifier is the one behind those the best form accepted.
  std::size_t at = 0;
  for (std::size_t i = 0; i <= best.matched; ++i) {
    at = word.find('.', at + 1);
  }
  Mod offending = decoded.modifiers[best.matched];
  std::string_view word_text = text(offending);
  const auto forms = form_table().of(decoded.opcode);
  bool elsewhere = std::any_of(forms.begin(), forms.end(), [&](const Form& form) {
    return form.takes(offending);
  });
  return fail(
      offset + static_cast<std::uint32_t>(at == std::string_view::npos ? 0 : at),
      elsewhere ? fmt::format("{} has no modifier '.{}' here", base, word_text)
                : fmt::format(
                      "{} has no modifier '.{}'{}",
                      base,
                      word_text,
                      suggest_modifier(decoded.opcode, word_text)
                  )
  );
}

bool Parser::operands(Instruction& instruction) {
  if (lexer_.peek().is(';')) {
    lexer_.advance();
    return true;
  }
  instruction.operands.reserve(4);
  while (true) {
    operand_offsets_.push_back(lexer_.peek().offset);
    Operand& out = instruction.operands.emplace_back();
    if (!operand(out, 0)) {
      return false;
    }
    if (out.kind == OperandKind::Label) {
      label_uses_.push_back(
          {label_name_,
           operand_offsets_.back(),
           static_cast<std::uint32_t>(function_->body.size() - 1),
           static_cast<std::uint32_t>(instruction.operands.size() - 1),
           /*from_list=*/false}
      );
    }
    if (lexer_.peek().is(',')) {
      lexer_.advance();
      continue;
    }
    // call (ret), f, (args): also written without a comma by nobody we know.
    return expect(';', "after the operands");
  }
}

bool Parser::operand(Operand& out, int depth) {
  const Token& token = lexer_.peek();
  if (depth > deepest_operand) {
    return fail_here("operand is nested too deeply");
  }
  switch (token.kind) {
  case TokenKind::Identifier:
    if (token.is_word("WARP_SZ")) {
      return operand_constant(out);
    }
    if (!operand_name(out)) {
      return false;
    }
    return pair(out, depth);
  case TokenKind::Integer:
  case TokenKind::Float:
    return operand_constant(out);
  case TokenKind::Punctuation:
    break;
  default:
    return fail_here("an operand is expected");
  }
  switch (token.second == 0 ? token.punctuation : '\0') {
  case '[':
    return address(out, depth);
  case '{':
    lexer_.advance();
    out.kind = OperandKind::Vector;
    return operand_list(out.elements, '}', depth) && pair(out, depth);
  case '(':
    if (opcode_ == Opcode::Call) {
      lexer_.advance();
      out.kind = OperandKind::List;
      return operand_list(out.elements, ')', depth);
    }
    return operand_constant(out);
  case '!':
    lexer_.advance();
    if (lexer_.peek().kind != TokenKind::Identifier) {
      return fail_here("a predicate is expected after '!'");
    }
    if (!operand_name(out)) {
      return false;
    }
    out.negated = true;
    return true;
  case '-':
    if (opcode_ == Opcode::Vmad) { // the only instruction whose registers may have a sign
      lexer_.advance();
      if (lexer_.peek().kind != TokenKind::Identifier) {
        const bool good = operand_constant(out);
        out.bits = -out.bits;
        return good;
      }
      if (!operand_name(out)) {
        return false;
      }
      out.negated = true;
      return true;
    }
    return operand_constant(out);
  case '+':
  case '~':
    return operand_constant(out);
  default:
    return fail_here("an operand is expected");
  }
}

/// p|q behind a first operand; tex has {a, b, c, d}|p.
bool Parser::pair(Operand& first, int depth) {
  if (!lexer_.peek().is('|') || depth != 0) {
    return true;
  }
  lexer_.advance();
  Operand second;
  if (lexer_.peek().kind != TokenKind::Identifier) {
    return fail_here("a register is expected after '|'");
  }
  if (!operand_name(second)) {
    return false;
  }
  Operand both;
  both.kind = OperandKind::PredicatePair;
  both.elements.push_back(std::move(first));
  both.elements.push_back(std::move(second));
  first = std::move(both);
  return true;
}

bool Parser::operand_list(std::vector<Operand>& out, char close, int depth) {
  while (!lexer_.peek().is(close)) {
    if (!out.empty() && !expect(',', "between operands")) {
      return false;
    }
    if (!operand(out.emplace_back(), depth + 1)) {
      return false;
    }
    if (out.back().kind == OperandKind::Label) {
      return fail_here("a label cannot stand in a list");
    }
  }
  lexer_.advance();
  return true;
}

bool Parser::operand_constant(Operand& out) {
  Constant value;
  if (!constant(value)) {
    return false;
  }
  out.kind = value.is_float ? OperandKind::Float : OperandKind::Integer;
  out.float_bits = value.float_bits;
  out.bits = value.bits;
  return true;
}

/// .b0 … .b3, .h0, .h1 of the video instructions; several digits in the SIMD ones (.b3210, .h10).
bool Parser::selector(Operand& out) {
  std::string_view word = lexer_.peek().text;
  std::size_t digits = word.size() - 1;
  bool half = word[0] == 'h';
  bool good = (half || word[0] == 'b') && digits >= 1 && digits <= 4;
  for (std::size_t i = 1; good && i < word.size(); ++i) {
    good = word[i] >= '0' && word[i] <= '7';
  }
  if (!good) {
    return fail_here("a part of a register is .b0 … .b3, .h0 or .h1");
  }
  out.part = encode_selector(half, word.substr(1));
  lexer_.advance();
  return true;
}

bool Parser::operand_name(Operand& out) {
  std::string_view name = lexer_.peek().text;
  std::uint32_t offset = lexer_.peek().offset;
  lexer_.advance();
  if (name == "_") {
    out.kind = OperandKind::Sink;
    return true;
  }
  if (opcode_ == Opcode::Bra) {
    out.kind = OperandKind::Label;
    label_name_ = name;
    return true;
  }
  const Entity* entity = names_.find(name);
  if (entity == nullptr) {
    if (name.starts_with('%')) {
      std::string full(name);
      if (lexer_.peek().kind == TokenKind::DotWord) {
        full.append(".").append(lexer_.peek().text);
        lexer_.advance();
      }
      if (!find_special_register(full)) {
        return fail(offset, fmt::format("'{}' is not declared", full));
      }
      out.kind = OperandKind::Special;
      out.name = std::move(full);
      return true;
    }
    use_module_name(name, offset);
    out.kind = OperandKind::Symbol;
    out.name = std::string(name);
  } else {
    switch (entity->kind) {
    case Entity::Kind::Register:
      out.kind = OperandKind::Register;
      out.index = entity->index;
      return lexer_.peek().kind == TokenKind::DotWord ? selector(out) : true;
    case Entity::Kind::VectorRegister: {
      static constexpr std::string_view components = "xyzw";
      static constexpr std::string_view colours = "rgba";
      if (lexer_.peek().kind == TokenKind::DotWord) {
        std::string_view component = lexer_.peek().text;
        std::size_t at = component.size() == 1 ? components.find(component[0]) : components.npos;
        at = at == components.npos && component.size() == 1 ? colours.find(component[0]) : at;
        if (at == components.npos || at >= entity->width) {
          return fail_here("this vector register has no such component");
        }
        lexer_.advance();
        out.kind = OperandKind::Register;
        out.index = entity->index + static_cast<std::uint32_t>(at);
        return true;
      }
      out.kind = OperandKind::Vector;
      for (std::uint32_t i = 0; i < entity->width; ++i) {
        Operand& element = out.elements.emplace_back();
        element.kind = OperandKind::Register;
        element.index = entity->index + i;
      }
      return true;
    }
    case Entity::Kind::Variable: {
      out.kind = OperandKind::Symbol;
      std::size_t returns = function_->returns.size();
      out.name = entity->index < returns    ? function_->returns[entity->index].name
                 : entity->index < formals_ ? function_->parameters[entity->index - returns].name
                                            : function_->variables[entity->index - formals_].name;
      break;
    }
    case Entity::Kind::Targets:
      out.kind = OperandKind::Symbol;
      out.name = function_->targets[entity->index].name;
      return true;
    case Entity::Kind::Prototype:
      out.kind = OperandKind::Symbol;
      out.name = function_->prototypes[entity->index].name;
      return true;
    case Entity::Kind::Label:
      return fail(offset, fmt::format("'{}' is a label", name));
    }
  }
  if (lexer_.peek().is('+') || lexer_.peek().is('-')) {
    if (lexer_.peek().is('+')) {
      lexer_.advance();
    }
    offset = lexer_.peek().offset;
    Constant addend;
    if (!constant(addend)) {
      return false;
    }
    if (addend.is_float) {
      return fail(offset, "an integer is expected");
    }
    out.offset = static_cast<std::int64_t>(addend.bits);
  }
  return true;
}

/// [base], [base + offset], [constant], and the forms with several elements: [tex, {x, y}].
bool Parser::address(Operand& out, int depth) {
  lexer_.advance(); // [
  out.kind = OperandKind::Address;
  Operand& base = out.elements.emplace_back();
  if (!operand(base, depth + 1)) {
    return false;
  }
  if (base.kind == OperandKind::Symbol) {
    std::swap(out.offset, base.offset);
  } else if (base.kind == OperandKind::Register || base.kind == OperandKind::Special) {
    if (lexer_.peek().is('+') || lexer_.peek().is('-')) {
      if (lexer_.peek().is('+')) {
        lexer_.advance();
      }
      std::uint32_t offset = lexer_.peek().offset;
      Constant addend;
      if (!constant(addend)) {
        return false;
      }
      if (addend.is_float) {
        return fail(offset, "an integer is expected");
      }
      out.offset = static_cast<std::int64_t>(addend.bits);
    }
  } else if (base.kind != OperandKind::Integer) {
    return fail_here("an address starts with a register, a name or an integer");
  }
  while (lexer_.peek().is(',')) {
    lexer_.advance();
    if (!operand(out.elements.emplace_back(), depth + 1)) {
      return false;
    }
  }
  return expect(']', "after an address");
}

bool Parser::choose_form(Instruction& instruction, const Decoded& decoded, std::uint32_t offset) {
  OperandFailure worst;
  for (const Form* form : decoded.forms) {
    OperandFailure failure = check_operands(*form, instruction, *function_);
    if (!failure.failed) {
      instruction.form = form->id;
      return true;
    }
    if (!worst.failed || failure.operand > worst.operand) {
      worst = std::move(failure);
    }
  }
  std::uint32_t at =
      worst.operand < operand_offsets_.size() ? operand_offsets_[worst.operand] : offset;
  return fail(at, std::move(worst.message));
}

} // namespace heddle::ptx

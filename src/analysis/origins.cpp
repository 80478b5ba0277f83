// Implements origins.h: one pass after the other over all definitions of registers, until nothing
// changes.
#include "analysis/origins.h"

#include "analysis/liveness.h"
#include "ptx/effect.h"

#include <algorithm>
#include <utility>

namespace heddle::analysis {

namespace {

const Origin number{Origin::Kind::Number, {}};
const Origin unknown{Origin::Kind::Unknown, {}};

/// One of the two, as it turns out.
Origin either(const Origin& a, const Origin& b) {
  if (a.kind == Origin::Kind::None || a == b) {
    return b;
  }
  return b.kind == Origin::Kind::None ? a : unknown;
}

Origin sum(const Origin& a, const Origin& b) {
  if (a.kind == Origin::Kind::None || b.kind == Origin::Kind::None) {
    return {};
  }
  return b == number ? a : a == number ? b : unknown;
}

} // namespace

Origins::Origins(const ptx::Function& function)
    : function_(function),
      of_(function.registers.size()) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const ptx::Instruction& i : function.body) {
      const Origin value = result_of(i);
      each_register(i, [&](RegisterUse use) {
        if (use.write) {
          Origin now = either(of_[use.index], value);
          changed = changed || now != of_[use.index];
          of_[use.index] = std::move(now);
        }
      });
    }
  }
}

Origin Origins::of(const ptx::Operand& operand) const {
  switch (operand.kind) {
  case ptx::OperandKind::Register:
    return of_[operand.index];
  case ptx::OperandKind::Integer:
  case ptx::OperandKind::Special:
    return number;
  case ptx::OperandKind::Symbol:
    return is_local(operand.name) ? unknown : Origin{Origin::Kind::Object, operand.name};
  case ptx::OperandKind::Address:
    return operand.elements.size() == 1 ? of(operand.elements[0]) : unknown;
  default:
    return unknown;
  }
}

bool Origins::is_local(const std::string& name) const {
  return std::ranges::any_of(function_.variables, [&](const ptx::Variable& variable) {
    return variable.space == ptx::Mod::Local && variable.name == name;
  });
}

/// All operands but the destination are numbers; None if one of them is not known yet.
Origin Origins::of_numbers(const ptx::Instruction& i) const {
  Origin result = number;
  for (std::size_t o = 1; o < i.operands.size(); ++o) {
    const Origin operand = of(i.operands[o]);
    if (operand.kind == Origin::Kind::None) {
      return {};
    }
    result = operand == number ? result : unknown;
  }
  return result;
}

Origin Origins::loaded(const ptx::Instruction& i) const {
  const auto type = i.type();
  if (type && type_bits(*type) <= 32) {
    return number;
  }
  const auto& place = i.operands[1];
  const bool parameter = i.has(ptx::Mod::Param) && function_.entry && place.elements.size() == 1 &&
                         place.elements[0].kind == ptx::OperandKind::Symbol;
  if (!parameter) {
    return unknown;
  }
  return {
      Origin::Kind::Object,
      place.elements[0].name + "+" + std::to_string(place.elements[0].offset + place.offset)
  };
}

/// What the instruction writes to each of its destinations.
Origin Origins::result_of(const ptx::Instruction& i) const {
  const ptx::Effect& effect = effect_of(i);
  if (effect.is(ptx::Effect::Kind::Load) && !i.operands.empty() &&
      i.operands[0].kind == ptx::OperandKind::Register) {
    return loaded(i);
  }
  const std::optional<ptx::Type> type = i.type();
  if (effect.is(ptx::Effect::Kind::Update) && type && type_bits(*type) <= 32) {
    return number;
  }
  if (!effect.is(ptx::Effect::Kind::Compute) || i.operands.size() < 2) {
    return unknown;
  }
  using Makes = ptx::Effect::Makes;
  switch (effect.makes) {
  case Makes::Copy:
  case Makes::Address:
    return of(i.operands[1]);
  case Makes::Sum:
    return sum(of(i.operands[1]), of(i.operands[2]));
  case Makes::Difference:
    return of(i.operands[2]) == number ? of(i.operands[1]) : of_numbers(i);
  case Makes::ProductSum: {
    const Origin x = of(i.operands[1]), y = of(i.operands[2]);
    const Origin product = sum(x, y); // not what it is, but of which kind
    return product == number || product.kind == Origin::Kind::None ? sum(product, of(i.operands[3]))
                                                                   : unknown;
  }
  case Makes::Anything:
  case Makes::Converted:
  case Makes::Extreme:
  case Makes::Choice:
  case Makes::And:
  case Makes::Or:
  case Makes::Xor:
  case Makes::Not:
  case Makes::ShiftedLeft:
  case Makes::ShiftedRight:
  case Makes::Comparison:
    break;
  }
  return of_numbers(i);
}

} // namespace heddle::analysis

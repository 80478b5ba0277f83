#include "lint/evaluate.h"

#include <algorithm>

namespace heddle::lint {
namespace {

constexpr int deepest_expression = 16;

} // namespace

std::optional<std::int64_t> apply(Operator op, std::int64_t left, std::int64_t right, Signs signs) {
  constexpr std::int64_t widest = 62;
  constexpr std::int64_t width = 32;
  const bool unclear = signs == Signs::NoMatter && (left < 0 || right < 0);
  const auto unless = [](bool unknown, std::int64_t value) {
    return unknown ? std::nullopt : std::optional(value);
  };
  switch (op) {
  case Operator::Add:
    return left + right;
  case Operator::Subtract:
    return unless(signs == Signs::NoMatter && left < right, left - right);
  case Operator::Multiply:
    return left * right;
  case Operator::Divide:
    return right == 0 ? std::nullopt : unless(unclear, left / right);
  case Operator::Remainder:
    return right == 0 ? std::nullopt : unless(unclear, left % right);
  case Operator::ShiftLeft:
    return right < 0 || right >= width ? std::nullopt : std::optional(left << right);
  case Operator::ShiftRight:
    return left < 0 || right < 0 || right > widest ? std::nullopt : std::optional(left >> right);
  case Operator::And:
    return left & right;
  case Operator::Or:
    return left | right;
  case Operator::Xor:
    return left ^ right;
  case Operator::LogicalAnd:
    return left != 0 && right != 0;
  case Operator::LogicalOr:
    return left != 0 || right != 0;
  case Operator::Equal:
    return left == right;
  case Operator::NotEqual:
    return left != right;
  case Operator::Less:
    return unless(unclear, left < right);
  case Operator::Greater:
    return unless(unclear, left > right);
  case Operator::LessEqual:
    return unless(unclear, left <= right);
  case Operator::GreaterEqual:
    return unless(unclear, left >= right);
  case Operator::Minimum:
    return unless(unclear, std::min(left, right));
  case Operator::Maximum:
    return unless(unclear, std::max(left, right));
  default:
    return std::nullopt;
  }
}

std::optional<std::int64_t> apply(Operator op, std::int64_t only) {
  switch (op) {
  case Operator::Not:
    return only == 0;
  case Operator::Negate:
    return -only;
  case Operator::Complement:
    return ~only;
  default:
    return std::nullopt;
  }
}

std::optional<std::int64_t>
evaluate(const Dataflow& flow, ValueId id, const Numbers& numbers, int depth) {
  id = flow.canonical(id);
  if (const auto known = numbers(id)) {
    return known;
  }
  const Instruction* code = flow.instruction(id);
  if (code == nullptr || depth > deepest_expression) {
    return std::nullopt;
  }
  if (code->op == Op::Constant) {
    return code->number;
  }
  const auto& operands = flow.values[id].operands;
  if (code->op != Op::Arithmetic || operands.empty()) {
    return std::nullopt;
  }
  const auto at = [&](std::size_t i) { return evaluate(flow, operands[i], numbers, depth + 1); };
  const auto left = at(0);
  if (!left) {
    return std::nullopt;
  }
  switch (operands.size()) {
  case 1:
    return apply(code->arithmetic, *left);
  case 2: {
    const auto right = at(1);
    return right ? apply(code->arithmetic, *left, *right, Signs::Any) : std::nullopt;
  }
  case 3:
    return code->arithmetic == Operator::Select ? at(*left != 0 ? 1 : 2) : std::nullopt;
  default:
    return std::nullopt;
  }
}

bool leaves_of(const Dataflow& flow, ValueId id, std::vector<ValueId>& leaves, int depth) {
  id = flow.canonical(id);
  const Instruction* code = flow.instruction(id);
  if (code != nullptr && code->op == Op::Constant) {
    return true;
  }
  if (depth > deepest_expression || (code != nullptr && code->is_float)) {
    return false;
  }
  if (code != nullptr && code->op == Op::Arithmetic && code->arithmetic != Operator::Other) {
    return std::ranges::all_of(flow.values[id].operands, [&](ValueId one) {
      return leaves_of(flow, one, leaves, depth + 1);
    });
  }
  if (std::ranges::find(leaves, id) == leaves.end()) {
    leaves.push_back(id);
  }
  return true;
}

} // namespace heddle::lint

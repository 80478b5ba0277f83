#include "lint/bounds.h"

#include <algorithm>

namespace heddle::lint {
namespace {

constexpr std::size_t deepest_bound = 40;
constexpr std::int64_t widest_shift = 31;

} // namespace

/// A number that the value, which is not negative, does not reach.
std::optional<std::int64_t> Bounds::upper(ValueId id, std::size_t depth) const {
  id = flow_.canonical(id);
  if (const auto number = arithmetic_.constant(id)) {
    return *number >= 0 ? std::optional(*number + 1) : std::nullopt;
  }
  if (const auto which = arithmetic_.symbol(id)) {
    return upper_of(*which);
  }
  const Instruction* code = flow_.instruction(id);
  const auto& operands = flow_.values[id].operands;
  if (depth > deepest_bound || code == nullptr || code->op != Op::Arithmetic || code->is_float ||
      operands.size() != 2) {
    return std::nullopt;
  }
  const auto left = upper(operands[0], depth + 1);
  const auto by = arithmetic_.constant(flow_.canonical(operands[1]));
  if (code->arithmetic == Operator::And && by && *by >= 0) {
    return left ? std::min(*left, *by + 1) : *by + 1;
  }
  if (!left || !by || *by < 0) {
    return std::nullopt;
  }
  switch (code->arithmetic) {
  case Operator::Divide:
    return *by > 0 ? std::optional((*left - 1) / *by + 1) : std::nullopt;
  case Operator::ShiftRight:
    return *by <= widest_shift ? std::optional(((*left - 1) >> *by) + 1) : std::nullopt;
  case Operator::Remainder:
    return *by > 0 ? std::optional(std::min(*left, *by)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<std::int64_t> Bounds::upper_of(Symbol which) const {
  constexpr std::int64_t lanes = 32;
  const LaunchFacts& facts = uniformity_.facts;
  const std::int64_t most =
      facts.max_threads ? static_cast<std::int64_t>(*facts.max_threads) : most_threads;
  switch (which) {
  case Symbol::ThreadIndexX:
    return facts.size_x ? std::min(most, *facts.size_x) : most;
  case Symbol::ThreadIndexY:
  case Symbol::ThreadIndexZ:
  case Symbol::ThreadRank:
    return most;
  case Symbol::LaneIndex:
    return lanes;
  case Symbol::WarpRank:
    return (most - 1) / lanes + 1;
  default:
    return std::nullopt;
  }
}

/// Is a digit so small that it decides nothing: `threadIdx.x / 128` in blocks of 128 threads?
bool Bounds::decide(const Instruction& code, ValueId left, ValueId right) const {
  const auto limit = upper(left);
  const auto number = arithmetic_.constant(flow_.canonical(right));
  if (!limit || !number) {
    return false;
  }
  switch (code.arithmetic) {
  case Operator::Divide:
  case Operator::Less:
  case Operator::GreaterEqual:
  case Operator::Equal:
  case Operator::NotEqual:
    return *number >= *limit;
  case Operator::LessEqual:
  case Operator::Greater:
    return *number >= *limit - 1;
  case Operator::ShiftRight:
    return *number >= 0 && *number <= widest_shift && (*limit - 1) >> *number == 0;
  default:
    return false;
  }
}

} // namespace heddle::lint

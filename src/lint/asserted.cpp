#include "lint/asserted.h"

#include "lint/evaluate.h"

#include <algorithm>

namespace heddle::lint {

Asserted::Asserted(const Dataflow& flow) {
  const Graph& graph = flow.graph;
  for (const std::uint32_t block : graph.sequence) {
    const Terminator& end = graph.blocks[block].end;
    if (end.kind != Terminator::Kind::Branch || end.condition == no_value ||
        end.successors.size() != 2) {
      continue;
    }
    const bool yes_ends = graph.blocks[end.successors[0]].is_doomed;
    const bool no_ends = graph.blocks[end.successors[1]].is_doomed;
    if (yes_ends != no_ends) {
      add(flow, flow.resolve(end.condition), no_ends);
    }
  }
}

std::int64_t Asserted::even_part(ValueId id) const {
  const auto known = even_parts_.find(id);
  return known != even_parts_.end() ? known->second : 1;
}

void Asserted::add(const Dataflow& flow, ValueId condition, bool holds) {
  const Instruction* code = flow.instruction(flow.canonical(condition));
  const auto& operands = flow.values[flow.canonical(condition)].operands;
  if (code == nullptr || code->op != Op::Arithmetic || operands.empty()) {
    return;
  }
  const auto number = [&](ValueId id) {
    return evaluate(flow, id, [](ValueId) { return std::optional<std::int64_t>(); });
  };
  switch (code->arithmetic) {
  case Operator::Not:
    return add(flow, operands[0], !holds);
  case Operator::LogicalAnd:
    if (holds) {
      add(flow, operands[0], true);
      add(flow, operands[1], true);
    }
    return;
  case Operator::Equal:
  case Operator::NotEqual:
    if (number(operands[1]) == 0) {
      add(flow, operands[0], holds == (code->arithmetic == Operator::NotEqual));
    }
    return;
  case Operator::Remainder:
  case Operator::And:
    break;
  default:
    return;
  }
  const auto by = number(operands[1]);
  if (holds || !by || *by <= 0) {
    return;
  }
  // n % 96 == 0, and (n & 31) == 0: no low bit is set.
  const std::int64_t all_bits = code->arithmetic == Operator::And ? *by + 1 : *by;
  std::int64_t& known = even_parts_.try_emplace(flow.canonical(operands[0]), 1).first->second;
  known = std::max(known, all_bits & -all_bits);
}

} // namespace heddle::lint

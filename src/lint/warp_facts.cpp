#include "lint/warp_facts.h"

#include <algorithm>

namespace heddle::lint {
namespace {

constexpr std::int64_t warp_size = 32;
constexpr int warp_bits = 5;
constexpr std::int64_t largest_cluster = 16;
constexpr std::size_t deepest = 12;

std::optional<std::int64_t> constant(const Dataflow& flow, ValueId id) {
  const Instruction* code = flow.instruction(flow.canonical(id));
  return code != nullptr && code->op == Op::Constant ? std::optional(code->number) : std::nullopt;
}

/// Is this added to the index of a thread in steps of whole warps?
bool is_whole(const Uniformity& uniformity, ValueId id) {
  const Dataflow& flow = uniformity.flow;
  id = flow.canonical(id);
  if (const auto number = constant(flow, id)) {
    return *number % warp_size == 0;
  }
  if (uniformity.value(id).definite <= Level::Warp) {
    return true;
  }
  // threadIdx.y * blockDim.x
  const Instruction* code = flow.instruction(id);
  return code != nullptr && code->op == Op::Arithmetic && code->arithmetic == Operator::Multiply &&
         std::ranges::any_of(flow.values[id].operands, [&](ValueId one) {
           const Instruction* factor = flow.instruction(flow.canonical(one));
           return factor != nullptr && factor->op == Op::Symbol &&
                  (factor->symbol == Symbol::BlockSizeX || factor->symbol == Symbol::BlockSize);
         });
}

/// The index of the thread and whole warps.
bool is_thread_index(const Uniformity& uniformity, ValueId id, std::vector<ValueId>& open) {
  const Dataflow& flow = uniformity.flow;
  id = flow.canonical(id);
  if (std::ranges::find(open, id) != open.end()) {
    return true; // a loop that adds to it
  }
  if (open.size() > deepest) {
    return false;
  }
  const auto& operands = flow.values[id].operands;
  open.push_back(id);
  bool result = false;
  if (flow.values[id].kind == Value::Kind::Phi) {
    result = std::ranges::all_of(operands, [&](ValueId one) {
      return is_thread_index(uniformity, one, open);
    });
  } else if (const Instruction* code = flow.instruction(id); code != nullptr) {
    if (code->op == Op::Symbol) {
      result = code->symbol == Symbol::ThreadIndexX || code->symbol == Symbol::ThreadRank ||
               code->symbol == Symbol::ThreadRankElsewhere;
    } else if (code->op == Op::Arithmetic && operands.size() == 2) {
      const auto sum = [&](ValueId index, ValueId other) {
        return is_whole(uniformity, other) && is_thread_index(uniformity, index, open);
      };
      result = (code->arithmetic == Operator::Add &&
                (sum(operands[0], operands[1]) || sum(operands[1], operands[0]))) ||
               (code->arithmetic == Operator::Subtract && sum(operands[0], operands[1]));
    }
  }
  open.pop_back();
  return result;
}

} // namespace

bool numbers_row(const LaunchFacts& facts, Symbol symbol) {
  return (symbol == Symbol::ThreadIndexY || symbol == Symbol::ThreadIndexZ) &&
         facts.size_x.value_or(warp_size) % warp_size == 0;
}

bool keeps_lane(const Uniformity& uniformity, ValueId id) {
  const Instruction* code = uniformity.flow.instruction(id);
  const auto& operands = uniformity.flow.values[id].operands;
  if (code == nullptr || code->op != Op::Arithmetic || operands.size() != 2) {
    return false;
  }
  const auto by = constant(uniformity.flow, operands[1]);
  const bool keeps = by && *by > 0 &&
                     ((code->arithmetic == Operator::Remainder && warp_size % *by == 0) ||
                      (code->arithmetic == Operator::And && *by < warp_size));
  std::vector<ValueId> open;
  return keeps && is_thread_index(uniformity, operands[0], open);
}

bool drops_lane(const Uniformity& uniformity, ValueId id) {
  const Dataflow& flow = uniformity.flow;
  const Instruction* code = flow.instruction(id);
  const auto& operands = flow.values[id].operands;
  if (code == nullptr || code->op != Op::Arithmetic || code->is_float || operands.size() != 2) {
    return false;
  }
  const auto by = constant(flow, operands[1]);
  const bool drops =
      by && ((code->arithmetic == Operator::Divide && *by > 0 && *by % warp_size == 0) ||
             (code->arithmetic == Operator::ShiftRight && *by >= warp_bits) ||
             (code->arithmetic == Operator::And && *by % warp_size == 0));
  std::vector<ValueId> open;
  return drops && is_thread_index(uniformity, operands[0], open);
}

bool numbers_cluster(const Dataflow& flow, ValueId id) {
  const Instruction* code = flow.instruction(id);
  const auto& operands = flow.values[id].operands;
  if (code == nullptr || operands.size() != 2) {
    return false;
  }
  const Instruction* index = flow.instruction(flow.canonical(operands[0]));
  const auto by = constant(flow, operands[1]);
  return index != nullptr && index->op == Op::Symbol && index->symbol == Symbol::BlockIndexX &&
         by &&
         ((code->arithmetic == Operator::Divide && *by > 1 && *by <= largest_cluster) ||
          (code->arithmetic == Operator::ShiftRight && *by > 0 && (1 << *by) <= largest_cluster));
}

ValueId exchanged_by_xor(const Dataflow& flow, ValueId id) {
  const Instruction* code = flow.instruction(flow.canonical(id));
  if (code == nullptr) {
    return no_value;
  }
  const auto& operands = flow.values[flow.canonical(id)].operands;
  const bool combines =
      operands.size() == 2 &&
      (code->op == Op::Arithmetic || (code->op == Op::Known && code->effect == Effect::Pure));
  if (!combines) {
    return no_value;
  }
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const ValueId other = flow.canonical(operands[1 - i]);
    const Instruction* shuffle = flow.instruction(other);
    if (shuffle != nullptr && shuffle->op == Op::Known &&
        shuffle->name.find("shfl_xor") != std::string::npos &&
        flow.values[other].operands.size() >= 2 &&
        flow.canonical(flow.values[other].operands[1]) == flow.canonical(operands[i])) {
      return flow.canonical(operands[i]);
    }
  }
  return no_value;
}

} // namespace heddle::lint

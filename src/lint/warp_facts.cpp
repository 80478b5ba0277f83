#include "lint/warp_facts.h"

#include "lint/arithmetic.h"
#include "lint/evaluate.h"

#include <algorithm>
#include <set>

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

std::int64_t even_part(const Uniformity& uniformity, ValueId id, std::size_t depth = 0);

std::int64_t even_part_of_number(std::int64_t number) {
  return number == 0 ? warp_size : std::min(number & -number, warp_size);
}

std::int64_t even_part_of_result(const Uniformity& uniformity, ValueId id, std::size_t depth) {
  const Dataflow& flow = uniformity.flow;
  const Instruction* code = flow.instruction(id);
  const auto& operands = flow.values[id].operands;
  if (depth > deepest || code == nullptr || code->op != Op::Arithmetic || code->is_float ||
      operands.size() != 2) {
    return 1;
  }
  const std::int64_t left = even_part(uniformity, operands[0], depth + 1);
  const std::int64_t right = even_part(uniformity, operands[1], depth + 1);
  const std::int64_t by = constant(flow, operands[1]).value_or(0);
  switch (code->arithmetic) {
  case Operator::Multiply:
    return std::min(left * right, warp_size);
  case Operator::And: // n & ~31
    return std::max(left, right);
  case Operator::Add:
  case Operator::Subtract:
  case Operator::Minimum:
  case Operator::Maximum:
    return std::min(left, right);
  case Operator::ShiftLeft:
    return by < 0 || by >= warp_bits ? warp_size : std::min(left << by, warp_size);
  case Operator::Divide: // n * 8 / 2
    return by > 0 && even_part_of_number(by) == by && left >= by ? left / by : 1;
  default:
    return 1;
  }
}

/// The largest power of two, up to 32, that is known to divide a value.
std::int64_t even_part(const Uniformity& uniformity, ValueId id, std::size_t depth) {
  id = uniformity.flow.canonical(id);
  if (const auto number = Arithmetic(uniformity).constant(id)) {
    return even_part_of_number(*number);
  }
  const std::int64_t said = std::min(uniformity.asserted().even_part(id), warp_size);
  return std::max(said, even_part_of_result(uniformity, id, depth));
}

bool is_multiple_of_warp(const Uniformity& uniformity, ValueId id) {
  return even_part(uniformity, id) == warp_size;
}

/// A parameter of a template that nothing instantiates.
bool is_template_parameter(const Dataflow& flow, ValueId id) {
  const Instruction* code = flow.instruction(id);
  return code != nullptr && code->op == Op::Arithmetic && code->arithmetic == Operator::Other &&
         code->operands.empty();
}

/// Is this added to the index of a thread in steps of whole warps?
bool is_whole(const Uniformity& uniformity, ValueId id) {
  const Dataflow& flow = uniformity.flow;
  id = flow.canonical(id);
  if (const auto number = constant(flow, id)) {
    return *number % warp_size == 0;
  }
  if (uniformity.value(id).definite <= Level::Block || is_multiple_of_warp(uniformity, id)) {
    return true;
  }
  // threadIdx.y * blockDim.x, and a size that is a parameter of a template
  const Instruction* code = flow.instruction(id);
  return code != nullptr && code->op == Op::Arithmetic && code->arithmetic == Operator::Multiply &&
         std::ranges::any_of(flow.values[id].operands, [&](ValueId one) {
           const Instruction* factor = flow.instruction(flow.canonical(one));
           return (factor != nullptr && factor->op == Op::Symbol &&
                   (factor->symbol == Symbol::BlockSizeX || factor->symbol == Symbol::BlockSize)) ||
                  is_template_parameter(flow, flow.canonical(one));
         });
}

/// x % 64 and x & 63.
bool is_low_part(const Dataflow& flow, ValueId id) {
  const Instruction& code = *flow.instruction(id);
  const auto by = constant(flow, flow.values[id].operands[1]);
  return by && *by > 0 &&
         ((code.arithmetic == Operator::Remainder && *by % warp_size == 0) ||
          (code.arithmetic == Operator::And && (*by + 1) % warp_size == 0 &&
           (*by & (*by + 1)) == 0));
}

/// Is a value the index of the thread and something that is a multiple of the result: 32 for
/// `threadIdx.x + 64`, 4 for `threadIdx.x + 4 * k`; 0: it is no such sum.
std::int64_t index_step(const Uniformity& uniformity, ValueId id, std::vector<ValueId>& open) {
  const Dataflow& flow = uniformity.flow;
  id = flow.canonical(id);
  if (std::ranges::find(open, id) != open.end()) {
    return warp_size; // a loop that adds to it
  }
  if (open.size() > deepest) {
    return 0;
  }
  const auto& operands = flow.values[id].operands;
  open.push_back(id);
  std::int64_t result = 0;
  if (flow.values[id].kind == Value::Kind::Phi) {
    result = operands.empty() ? 0 : warp_size;
    for (const ValueId one : operands) {
      result = std::min(result, index_step(uniformity, one, open));
    }
  } else if (const Instruction* code = flow.instruction(id); code != nullptr) {
    if (code->op == Op::Symbol) {
      const bool is_index =
          code->symbol == Symbol::ThreadIndexX || code->symbol == Symbol::ThreadRank ||
          code->symbol == Symbol::ThreadRankElsewhere || code->symbol == Symbol::LaneIndex;
      result = is_index ? warp_size : 0;
    } else if (code->op == Op::Arithmetic && operands.size() == 2 && is_low_part(flow, id)) {
      result = index_step(uniformity, operands[0], open); // t % 64 is less by whole warps
    } else if (code->op == Op::Arithmetic && operands.size() == 2) {
      const auto sum = [&](ValueId index, ValueId other) {
        const std::int64_t step = index_step(uniformity, index, open);
        return step == 0 || is_whole(uniformity, other)
                   ? step
                   : std::min(step, even_part(uniformity, other));
      };
      if (code->arithmetic == Operator::Add) {
        result = std::max(sum(operands[0], operands[1]), sum(operands[1], operands[0]));
      } else if (code->arithmetic == Operator::Subtract) {
        result = sum(operands[0], operands[1]);
      }
    }
  }
  open.pop_back();
  return result;
}

std::int64_t index_step(const Uniformity& uniformity, ValueId id) {
  std::vector<ValueId> open;
  return index_step(uniformity, id, open);
}

/// The index of the thread and whole warps.
bool is_thread_index(const Uniformity& uniformity, ValueId id) {
  return index_step(uniformity, id) == warp_size;
}

/// The same for computations that are tried: `(i * ((1 << 24) / 12 + 1)) >> 24` is i / 12. What
/// quotients by parameters of a template are, and what is below them, is left to instantiations.
unsigned alike_as_tried(const Uniformity& uniformity, ValueId id) {
  constexpr std::int64_t tried = 1024;
  const Dataflow& flow = uniformity.flow;
  std::vector<ValueId> leaves;
  if (!leaves_of(flow, id, leaves)) {
    return 0;
  }
  const bool is_open =
      std::erase_if(leaves, [&](ValueId one) { return is_template_parameter(flow, one); }) != 0;
  if (leaves.size() != 1) {
    return 0;
  }
  if (is_open) {
    const Operator op = flow.instruction(id)->arithmetic;
    const bool divides = op == Operator::Divide || op == Operator::ShiftRight;
    const bool compares = op == Operator::Less || op == Operator::GreaterEqual;
    const ValueId index = divides ? leaves.front() : flow.values[id].operands[0];
    return divides || compares ? static_cast<unsigned>(index_step(uniformity, index)) : 0;
  }
  const auto at = [&](std::int64_t index) {
    return evaluate(flow, id, [&](ValueId one) {
      return one == leaves.front() ? std::optional(index) : std::nullopt;
    });
  };
  std::int64_t alike = index_step(uniformity, leaves.front());
  for (std::int64_t i = 0; i < tried && alike > 1; ++i) {
    const auto first = at(i / alike * alike);
    if (!first) {
      return 0;
    }
    if (at(i) != first) {
      alike /= 2;
      i = -1;
    }
  }
  return static_cast<unsigned>(alike);
}

/// Neighbouring lanes that get the same from an operation on the index of the thread; 0: it is no
/// such operation.
unsigned alike_by_index(const Uniformity& uniformity, ValueId id) {
  const Dataflow& flow = uniformity.flow;
  const Instruction& code = *flow.instruction(id);
  const auto& operands = flow.values[id].operands;
  const auto by = operands.size() == 2 ? constant(flow, operands[1]) : std::nullopt;
  const bool compares =
      code.arithmetic == Operator::Less || code.arithmetic == Operator::GreaterEqual;
  if (code.op != Op::Arithmetic || code.is_float || operands.size() != 2 ||
      (compares ? uniformity.value(flow.canonical(operands[1])).definite > Level::Warp
                : !by || *by <= 0)) {
    return 0;
  }
  const std::int64_t step = index_step(uniformity, operands[0]);
  if (step == 0) {
    return 0;
  }
  if (compares) { // with a bound that was rounded up
    return static_cast<unsigned>(std::min(step, even_part(uniformity, operands[1])));
  }
  switch (code.arithmetic) {
  case Operator::Divide:
  case Operator::And:
    return static_cast<unsigned>(std::min(*by & -*by, step));
  case Operator::ShiftRight:
    return static_cast<unsigned>(
        std::min(std::int64_t{1} << std::min<std::int64_t>(*by, warp_bits), step)
    );
  default:
    return 0;
  }
}

unsigned alike_among_lanes(const Uniformity& uniformity, ValueId id, std::set<ValueId>& open) {
  constexpr auto all = static_cast<unsigned>(warp_size);
  const Dataflow& flow = uniformity.flow;
  id = flow.canonical(id);
  if (uniformity.value(id).definite <= Level::Warp || !open.insert(id).second) {
    return all;
  }
  unsigned least = all;
  if (const Instruction* code = flow.instruction(id); code != nullptr) {
    for (const unsigned alike : {alike_by_index(uniformity, id), alike_as_tried(uniformity, id)}) {
      if (alike > 1) {
        return alike;
      }
    }
    if (code->op == Op::Symbol || (code->op == Op::Known && code->effect != Effect::Pure)) {
      return 1;
    }
  }
  if (const Cause& cause = uniformity.cause(id); cause.kind == Cause::Kind::Branch) {
    least = alike_among_lanes(uniformity, uniformity.condition(cause.block), open);
  }
  for (const ValueId operand : flow.values[id].operands) {
    least = std::min(least, alike_among_lanes(uniformity, operand, open));
  }
  return least;
}

bool is_order(Operator op) {
  return op == Operator::Less || op == Operator::LessEqual || op == Operator::Greater ||
         op == Operator::GreaterEqual;
}

/// Both lanes of an exchange get the same.
bool combines_alike(const Instruction& code) {
  if (code.op != Op::Arithmetic) {
    return false;
  }
  switch (code.arithmetic) {
  case Operator::Add:
  case Operator::Multiply:
  case Operator::And:
  case Operator::Or:
  case Operator::Xor:
  case Operator::LogicalAnd:
  case Operator::LogicalOr:
  case Operator::Minimum:
  case Operator::Maximum:
    return true;
  default:
    return false;
  }
}

bool compares(const Dataflow& flow, ValueId condition, ValueId one, ValueId other) {
  const Instruction* code = condition == no_value ? nullptr : flow.instruction(condition);
  if (code == nullptr || code->op != Op::Arithmetic || !is_order(code->arithmetic)) {
    return false;
  }
  const ValueId left = flow.canonical(flow.values[condition].operands[0]);
  const ValueId right = flow.canonical(flow.values[condition].operands[1]);
  return (left == one && right == other) || (left == other && right == one);
}

/// The two values of which both lanes of an exchange make the same: a + b, a > b ? a : b, and
/// if (b > a) a = b; empty: it is nothing of that kind.
std::vector<ValueId> combined(const Dataflow& flow, ValueId id) {
  const Value& value = flow.values[id];
  const Instruction* code = flow.instruction(id);
  std::vector<ValueId> two = value.operands;
  ValueId condition = no_value;
  if (value.kind == Value::Kind::Phi) {
    const std::uint32_t branch = flow.graph.blocks[value.block].dominator;
    const ValueId decides =
        branch == UINT32_MAX ? no_value : flow.graph.blocks[branch].end.condition;
    condition = decides == no_value ? no_value : flow.resolve(decides);
  } else if (
      code != nullptr && code->op == Op::Arithmetic && code->arithmetic == Operator::Select &&
      two.size() == 3
  ) {
    condition = two[0];
    two.erase(two.begin());
  } else if (
      code == nullptr || two.size() != 2 ||
      !(combines_alike(*code) || (code->op == Op::Known && code->effect == Effect::Pure))
  ) {
    return {};
  } else {
    return two;
  }
  const bool is_extreme =
      two.size() == 2 && condition != no_value &&
      compares(flow, flow.canonical(condition), flow.canonical(two[0]), flow.canonical(two[1]));
  return is_extreme ? two : std::vector<ValueId>();
}

} // namespace

unsigned alike_lanes(const Uniformity& uniformity, ValueId id) {
  std::set<ValueId> open;
  return alike_among_lanes(uniformity, id, open);
}

bool compares_whole_warps(const Uniformity& uniformity, ValueId id) {
  const Dataflow& flow = uniformity.flow;
  const Instruction* code = flow.instruction(id);
  const auto& operands = flow.values[id].operands;
  if (code == nullptr || code->op != Op::Arithmetic || operands.size() != 2) {
    return false;
  }
  const bool index_first =
      code->arithmetic == Operator::Less || code->arithmetic == Operator::GreaterEqual;
  const bool index_last =
      code->arithmetic == Operator::Greater || code->arithmetic == Operator::LessEqual;
  if (!index_first && !index_last) {
    return false;
  }
  const ValueId index = operands[index_first ? 0 : 1];
  const ValueId bound = flow.canonical(operands[index_first ? 1 : 0]);
  return uniformity.value(bound).definite <= Level::Warp &&
         is_multiple_of_warp(uniformity, bound) && is_thread_index(uniformity, index);
}

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
  return keeps && is_thread_index(uniformity, operands[0]);
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
  return drops && is_thread_index(uniformity, operands[0]);
}

bool numbers_cluster(const Dataflow& flow, const LaunchFacts& facts, ValueId id) {
  const Instruction* code = flow.instruction(id);
  const auto& operands = flow.values[id].operands;
  if (code == nullptr || operands.size() != 2) {
    return false;
  }
  const Instruction* index = flow.instruction(flow.canonical(operands[0]));
  const auto by = constant(flow, operands[1]);
  if (index == nullptr || index->op != Op::Symbol || index->symbol != Symbol::BlockIndexX || !by) {
    return false;
  }
  switch (code->arithmetic) {
  case Operator::Divide:
    return *by > 1 && *by <= largest_cluster;
  case Operator::ShiftRight:
    return *by > 0 && (1 << *by) <= largest_cluster;
  case Operator::Less:
  case Operator::GreaterEqual:
    return facts.cluster_x > 0 && *by % facts.cluster_x == 0;
  default:
    return false;
  }
}

bool writes_back(const Dataflow& flow, ValueId store) {
  const Instruction& code = flow.graph.code[store];
  if (code.op != Op::Store) {
    return false;
  }
  ValueId value = flow.canonical(flow.resolve(code.operands[1]));
  for (std::size_t depth = 0; depth < deepest; ++depth) {
    const Instruction* from = flow.instruction(value);
    const auto& operands = flow.values[value].operands;
    if (from == nullptr || operands.empty()) {
      return false;
    }
    if (from->op == Op::Known && from->effect == Effect::WarpShuffle && operands.size() >= 2) {
      value = flow.canonical(operands[1]);
      continue;
    }
    return from->op == Op::Load &&
           flow.canonical(operands.back()) == flow.canonical(flow.resolve(code.operands[0]));
  }
  return false;
}

ValueId exchanged_by_xor(const Dataflow& flow, ValueId id) {
  const std::vector<ValueId> operands = combined(flow, flow.canonical(id));
  if (operands.empty()) {
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

#include "lint/decided.h"

#include "lint/check.h"
#include "lint/graph_facts.h"

#include <algorithm>
#include <set>

namespace heddle::lint {
namespace {

constexpr int deepest_computation = 12;

std::optional<std::int64_t> compute(Operator op, std::int64_t left, std::int64_t right) {
  switch (op) {
  case Operator::Equal:
    return left == right ? 1 : 0;
  case Operator::NotEqual:
    return left != right ? 1 : 0;
  case Operator::Less:
    return left < right ? 1 : 0;
  case Operator::LessEqual:
    return left <= right ? 1 : 0;
  case Operator::Greater:
    return left > right ? 1 : 0;
  case Operator::GreaterEqual:
    return left >= right ? 1 : 0;
  case Operator::LogicalAnd:
    return left != 0 && right != 0 ? 1 : 0;
  case Operator::LogicalOr:
    return left != 0 || right != 0 ? 1 : 0;
  case Operator::And:
    return left & right;
  case Operator::Or:
    return left | right;
  default:
    return std::nullopt;
  }
}

std::optional<std::int64_t> decided_number(const Dataflow& flow, ValueId id, int depth = 0) {
  id = flow.canonical(id);
  const Instruction* code = flow.instruction(id);
  if (code == nullptr || code->is_float || depth > deepest_computation) {
    return std::nullopt;
  }
  if (code->op == Op::Constant) {
    return code->number;
  }
  const auto& operands = flow.values[id].operands;
  if (code->op != Op::Arithmetic || operands.empty() || operands.size() > 2) {
    return std::nullopt;
  }
  const auto left = decided_number(flow, operands[0], depth + 1);
  if (operands.size() == 1) {
    return left && code->arithmetic == Operator::Not ? std::optional<std::int64_t>(*left == 0)
                                                     : std::nullopt;
  }
  const auto right = decided_number(flow, operands[1], depth + 1);
  const auto either = [&](bool is_true) {
    return (left && (*left != 0) == is_true) || (right && (*right != 0) == is_true);
  };
  if (code->arithmetic == Operator::LogicalAnd && either(false)) {
    return 0;
  }
  if (code->arithmetic == Operator::LogicalOr && either(true)) {
    return 1;
  }
  return left && right ? compute(code->arithmetic, *left, *right) : std::nullopt;
}

/// The numbers that the value can be, where all of them are known.
bool collect_numbers(
    const Dataflow& flow,
    ValueId id,
    std::set<ValueId>& seen,
    std::set<std::int64_t>& numbers
) {
  id = flow.canonical(id);
  if (!seen.insert(id).second) {
    return true;
  }
  if (const auto number = decided_number(flow, id)) {
    numbers.insert(*number);
    return true;
  }
  const Value& value = flow.values[id];
  const Instruction* code = flow.instruction(id);
  if (value.kind == Value::Kind::Initial) {
    return true; // an element before anything is written to it
  }
  // An element of a private array, whichever: its operands are what was written, and addresses.
  const bool is_element = code != nullptr && code->op == Op::Load && !flow.is_shared_load(id);
  const bool selects = code != nullptr && code->op == Op::Arithmetic &&
                       code->arithmetic == Operator::Select && value.operands.size() == 3;
  if (value.kind != Value::Kind::Phi && !selects && !is_element) {
    return false;
  }
  const auto is_address = [&](ValueId one) {
    const Instruction* made = flow.instruction(one);
    return made != nullptr &&
           (made->op == Op::LocalAddress || made->op == Op::Element || made->op == Op::Field);
  };
  return std::all_of(
      value.operands.begin() + (selects ? 1 : 0),
      value.operands.end(),
      [&](ValueId one) {
        return (is_element && is_address(one)) || collect_numbers(flow, one, seen, numbers);
      }
  );
}

/// The ways that control can take at the end of the block, where that is known to be fewer.
std::vector<std::uint32_t> ways(const Terminator& end, const Dataflow& flow) {
  if (end.kind != Terminator::Kind::Branch || end.condition == no_value || end.is_case) {
    return end.successors;
  }
  const ValueId condition = flow.resolve(end.condition);
  if (end.construct == Construct::If && end.successors.size() == 2) {
    const auto number = decided_number(flow, condition);
    return number ? std::vector{end.successors[*number != 0 ? 0 : 1]} : end.successors;
  }
  // A call through a pointer: its value, and the number of each function that it may be.
  const auto& operands = flow.values[flow.canonical(condition)].operands;
  std::set<ValueId> seen;
  std::set<std::int64_t> held;
  if (end.construct != Construct::Switch || operands.size() != end.successors.size() + 1 ||
      !collect_numbers(flow, operands[0], seen, held)) {
    return end.successors;
  }
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < end.successors.size(); ++i) {
    const auto number = decided_number(flow, operands[i + 1]);
    if (!number || held.contains(*number)) {
      result.push_back(end.successors[i]);
    }
  }
  return result.empty() ? end.successors : result;
}

/// The branches that decide, directly or not, whether a barrier is reached.
std::set<std::uint32_t> before_barriers(const Graph& graph) {
  std::set<std::uint32_t> found;
  std::vector<std::uint32_t> work;
  for (const std::uint32_t block : graph.sequence) {
    const GraphBlock& at = graph.blocks[block];
    const auto first = graph.code.begin() + at.first;
    const auto last = graph.code.begin() + at.last;
    if (std::any_of(first, last, [](const Instruction& one) {
          return barrier_scope(one).has_value();
        })) {
      work.push_back(block);
    }
  }
  while (!work.empty()) {
    const std::uint32_t block = work.back();
    work.pop_back();
    for (const std::uint32_t controller : graph.blocks[block].controllers) {
      if (found.insert(controller).second) {
        work.push_back(controller);
      }
    }
  }
  return found;
}

void forget_facts(Graph& graph) {
  for (GraphBlock& block : graph.blocks) {
    block.predecessors.clear();
    block.controllers.clear();
    block.post_dominator = block.dominator = block.order = block.loop = UINT32_MAX;
  }
  graph.loops.clear();
  graph.sequence.clear();
}

} // namespace

bool cut_decided(Graph& graph, const Dataflow& flow) {
  bool has_cut = false;
  for (const std::uint32_t block : before_barriers(graph)) {
    Terminator& end = graph.blocks[block].end;
    std::vector<std::uint32_t> left = ways(end, flow);
    if (left.size() == end.successors.size()) {
      continue;
    }
    if (left.size() == 1) {
      end.kind = Terminator::Kind::Jump;
      end.condition = no_value;
    }
    end.successors = std::move(left);
    has_cut = true;
  }
  if (has_cut) {
    forget_facts(graph);
    compute_facts(graph);
  }
  return has_cut;
}

} // namespace heddle::lint

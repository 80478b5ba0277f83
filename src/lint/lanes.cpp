#include "lint/lanes.h"

#include "lint/evaluate.h"
#include "lint/waits.h"

#include <algorithm>

namespace heddle::lint {
namespace {

constexpr unsigned most_threads = 1024;    // of a block
constexpr std::size_t most_work = 400'000; // threads times blocks
constexpr unsigned few_threads = 2 * Lanes::warp_size;
constexpr int deepest = 40;
constexpr std::uint32_t none = UINT32_MAX;

} // namespace

Lanes::Lanes(const Entry& entry) : entry_(entry) {
  const bool flat = entry.uniformity.facts.flat_y && entry.uniformity.facts.flat_z;
  for (const Instruction& code : entry.graph.code) {
    const bool other_axis = code.op == Op::Symbol && (code.symbol == Symbol::ThreadIndexY ||
                                                      code.symbol == Symbol::ThreadIndexZ);
    is_linear_ = is_linear_ && (flat || !other_axis);
  }
  for (const Launch& launch : entry.unit.launches) {
    is_linear_ =
        is_linear_ && (launch.kernel != entry.function || launch.block_size[1].value_or(1) == 1);
  }
  threads_ = entry.graph.sequence.size() * most_threads <= most_work ? most_threads : few_threads;
  if (entry.uniformity.facts.max_threads) {
    threads_ = std::min(threads_, *entry.uniformity.facts.max_threads);
  }
  chain_of_.assign(entry.graph.blocks.size(), none);
  for (const std::uint32_t block : entry.graph.sequence) {
    const auto& before = entry.graph.blocks[block].predecessors;
    if (before.size() == 1 && entry.graph.hands_over(before[0])) {
      chain_of_[block] = chain_of_[before[0]];
      chain_end_[chain_of_[block]] = block;
    } else {
      chain_of_[block] = static_cast<std::uint32_t>(chain_end_.size());
      chain_end_.push_back(block);
    }
  }
  values_.resize(threads_);
  parts_.resize(threads_);
}

std::optional<std::int64_t> Lanes::value(ValueId id, unsigned thread) {
  return compute(id, thread, 0);
}

std::optional<std::int64_t> Lanes::compute(ValueId id, unsigned thread, int depth) {
  id = entry_.flow.canonical(id);
  auto& known_values = values_[thread];
  if (const auto found = known_values.find(id); found != known_values.end()) {
    return found->second;
  }
  known_values[id] = std::nullopt; // a cycle is a loop
  const auto made = depth > deepest ? std::nullopt : known(id, thread, depth);
  known_values[id] = made;
  return made;
}

std::optional<std::int64_t> Lanes::known(ValueId id, unsigned thread, int depth) {
  const Value& at = entry_.flow.values[id];
  if (at.kind == Value::Kind::Phi) {
    return join(at, thread, depth);
  }
  const Instruction* code = entry_.flow.instruction(id);
  if (code == nullptr) {
    return std::nullopt;
  }
  if (code->op == Op::Constant) {
    return code->number;
  }
  if (code->op == Op::Symbol) {
    switch (code->symbol) {
    case Symbol::LaneIndex:
      return thread % warp_size;
    case Symbol::WarpRank:
      return is_linear_ ? std::optional<std::int64_t>(thread / warp_size) : std::nullopt;
    case Symbol::ThreadIndexX:
    case Symbol::ThreadRank:
      return is_linear_ ? std::optional<std::int64_t>(thread) : std::nullopt;
    default:
      return std::nullopt;
    }
  }
  if (code->op != Op::Arithmetic || code->is_float || at.operands.empty()) {
    return std::nullopt;
  }
  const auto first = compute(at.operands[0], thread, depth + 1);
  if (at.operands.size() == 3 && code->arithmetic == Operator::Select) {
    return first ? compute(at.operands[*first != 0 ? 1 : 2], thread, depth + 1) : std::nullopt;
  }
  if (at.operands.size() == 2) {
    const auto second = compute(at.operands[1], thread, depth + 1);
    // One operand can decide.
    for (const auto& one : {first, second}) {
      if (one && code->arithmetic == Operator::LogicalAnd && *one == 0) {
        return 0;
      }
      if (one && code->arithmetic == Operator::LogicalOr && *one != 0) {
        return 1;
      }
    }
    return first && second ? apply(code->arithmetic, *first, *second, Signs::NoMatter)
                           : std::nullopt;
  }
  if (at.operands.size() == 1 && first) {
    return apply(code->arithmetic, *first);
  }
  return std::nullopt;
}

/// int mask = a; if (lane < 16) mask = b;
std::optional<std::int64_t> Lanes::join(const Value& phi, unsigned thread, int depth) {
  const Graph& graph = entry_.graph;
  const std::uint32_t branch = graph.blocks[phi.block].dominator;
  if (branch == none || branch == phi.block || phi.operands.size() != phi.from.size() ||
      graph.blocks[branch].end.kind != Terminator::Kind::Branch ||
      graph.blocks[branch].end.successors.size() != 2 ||
      entry_.uniformity.condition(branch) == no_value) {
    return std::nullopt;
  }
  const auto condition = compute(entry_.uniformity.condition(branch), thread, depth + 1);
  if (!condition) {
    return std::nullopt;
  }
  const std::uint32_t taken = graph.blocks[branch].end.successors[*condition != 0 ? 0 : 1];
  std::optional<std::int64_t> result;
  bool found = false;
  for (std::size_t i = 0; i < phi.from.size(); ++i) {
    const bool comes =
        phi.from[i] == branch ? taken == phi.block : dominates(graph, taken, phi.from[i]);
    if (comes) {
      const auto one = compute(phi.operands[i], thread, depth + 1);
      if (!one || (found && one != result)) {
        return std::nullopt;
      }
      result = one;
      found = true;
    }
  }
  return result;
}

const std::vector<Lanes::Part>& Lanes::parts(unsigned thread) {
  std::vector<Part>& result = parts_[thread];
  if (!result.empty()) {
    return result;
  }
  const Graph& graph = entry_.graph;
  result.assign(chain_end_.size(), Part::Out);
  for (const Part goal : {Part::Maybe, Part::In}) {
    std::vector<char> seen(chain_end_.size(), 0);
    std::vector<std::uint32_t> work = {0};
    while (!work.empty()) {
      const std::uint32_t chain = chain_of_[work.back()];
      work.pop_back();
      if (seen[chain] != 0) {
        continue;
      }
      seen[chain] = 1;
      result[chain] = goal;
      const std::uint32_t block = chain_end_[chain];
      const GraphBlock& at = graph.blocks[block];
      const ValueId condition = entry_.uniformity.condition(block);
      if (at.end.kind != Terminator::Kind::Branch || condition == no_value) {
        work.insert(work.end(), at.end.successors.begin(), at.end.successors.end());
        continue;
      }
      const auto way = at.end.successors.size() == 2 && at.end.construct != Construct::Switch
                           ? value(condition, thread)
                           : std::nullopt;
      if (way) {
        work.push_back(at.end.successors[*way != 0 ? 0 : 1]);
      } else if (goal == Part::Maybe || entry_.uniformity.branch(block).possible <= Level::Warp) {
        // The whole warp goes one way, in some run.
        work.insert(work.end(), at.end.successors.begin(), at.end.successors.end());
      } else if (at.post_dominator != none) {
        work.push_back(at.post_dominator);
      }
    }
  }
  return result;
}

Lanes::Part Lanes::takes_part(std::uint32_t block, unsigned thread) {
  const std::uint32_t chain = chain_of_[block];
  return chain == none ? Part::Out : parts(thread)[chain];
}

std::optional<Lanes::Address> Lanes::address(ValueId id, unsigned thread) {
  Address result;
  std::vector<const Instruction*> steps;
  std::vector<std::optional<std::int64_t>> indices;
  id = entry_.flow.canonical(id);
  for (int depth = 0; depth < deepest; ++depth) {
    const Instruction* code = entry_.flow.instruction(id);
    if (code == nullptr) {
      return std::nullopt;
    }
    const auto& operands = entry_.flow.values[id].operands;
    if (code->op == Op::GlobalAddress) {
      result.root = entry_.flow.root(entry_.flow.targets(id).front().location);
      break;
    }
    if (code->op == Op::Element) {
      const auto index = value(operands[1], thread);
      if (!index) {
        return std::nullopt;
      }
      steps.push_back(code);
      indices.push_back(index);
    } else if (code->op == Op::Field) {
      steps.push_back(code);
      indices.push_back(code->number);
    } else {
      return std::nullopt;
    }
    id = entry_.flow.canonical(operands[0]);
  }
  if (result.root == no_location) {
    return std::nullopt;
  }
  for (std::size_t i = steps.size(); i-- > 0;) {
    if (steps[i]->op == Op::Field || steps[i]->is_object || result.path.empty()) {
      result.path.push_back(*indices[i]);
    } else {
      result.path.back() += *indices[i];
    }
  }
  return result;
}

} // namespace heddle::lint

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

/// Instructions as the flow of values knows them.
class InFlow {
public:
  explicit InFlow(const Dataflow& flow) : flow_(flow) {}
  ValueId origin(ValueId id) const { return flow_.canonical(id); }
  const Instruction* instruction(ValueId id) const { return flow_.instruction(id); }
  const std::vector<ValueId>& operands(ValueId id) const { return flow_.values[id].operands; }

private:
  const Dataflow& flow_;
};

/// Instructions as they stand; a variable that is stored to at one place holds what is stored
/// there.
class AsWritten {
public:
  explicit AsWritten(const Graph& graph) : graph_(graph), only_store_(graph.locals.size()) {
    for (const std::uint32_t block : graph.sequence) {
      for (ValueId i = graph.blocks[block].first; i < graph.blocks[block].last; ++i) {
        note(i);
      }
    }
  }
  ValueId origin(ValueId id) const {
    for (int depth = 0; depth < deepest_computation && graph_.code[id].op == Op::Load; ++depth) {
      const Instruction& address = graph_.code[graph_.code[id].operands[0]];
      if (address.op != Op::LocalAddress) {
        break;
      }
      const Stored& one = only_store_[static_cast<std::size_t>(address.number)];
      if (one.is_other || one.store == no_value || !comes_before(one.store, id)) {
        break;
      }
      id = graph_.code[one.store].operands[1];
    }
    return id;
  }
  const Instruction* instruction(ValueId id) const { return &graph_.code[id]; }
  const std::vector<ValueId>& operands(ValueId id) const { return graph_.code[id].operands; }

private:
  struct Stored {
    ValueId store = no_value;
    bool is_other = false; // there is a second one, or the address is used in another way
  };

  void note(ValueId id) {
    const Instruction& code = graph_.code[id];
    for (std::size_t i = 0; i < code.operands.size(); ++i) {
      const Instruction& address = graph_.code[code.operands[i]];
      if (address.op != Op::LocalAddress || (code.op == Op::Load && i == 0)) {
        continue;
      }
      Stored& one = only_store_[static_cast<std::size_t>(address.number)];
      one.is_other = one.is_other || code.op != Op::Store || i != 0 || one.store != no_value;
      one.store = id;
    }
  }

  /// Does every way to `later` pass `earlier`?
  bool comes_before(ValueId earlier, ValueId later) const {
    const std::uint32_t from = graph_.block_of[earlier];
    std::uint32_t at = graph_.block_of[later];
    if (at == from) {
      return earlier < later;
    }
    while (at != from && at != 0 && graph_.blocks[at].order > graph_.blocks[from].order) {
      at = graph_.blocks[at].dominator;
    }
    return at == from;
  }

  const Graph& graph_;
  std::vector<Stored> only_store_;
};

template <class Source>
std::optional<std::int64_t> decided_number(const Source& source, ValueId id, int depth = 0) {
  id = source.origin(id);
  const Instruction* code = source.instruction(id);
  if (code == nullptr || code->is_float || depth > deepest_computation) {
    return std::nullopt;
  }
  if (code->op == Op::Constant) {
    return code->number;
  }
  const auto& operands = source.operands(id);
  if (code->op != Op::Arithmetic || operands.empty() || operands.size() > 2) {
    return std::nullopt;
  }
  const auto left = decided_number(source, operands[0], depth + 1);
  if (operands.size() == 1) {
    return left && code->arithmetic == Operator::Not ? std::optional<std::int64_t>(*left == 0)
                                                     : std::nullopt;
  }
  const auto right = decided_number(source, operands[1], depth + 1);
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
  if (const auto number = decided_number(InFlow(flow), id)) {
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

bool is_plain_if(const Terminator& end) {
  return end.kind == Terminator::Kind::Branch && end.condition != no_value && !end.is_case &&
         end.construct == Construct::If && end.successors.size() == 2;
}

template <class Source>
std::vector<std::uint32_t> ways_of_if(const Terminator& end, const Source& source, ValueId value) {
  const auto number = decided_number(source, value);
  return number ? std::vector{end.successors[*number != 0 ? 0 : 1]} : end.successors;
}

/// The ways that control can take at the end of the block, where that is known to be fewer.
std::vector<std::uint32_t> ways(const Terminator& end, const Dataflow& flow) {
  if (end.kind != Terminator::Kind::Branch || end.condition == no_value || end.is_case) {
    return end.successors;
  }
  const ValueId condition = flow.resolve(end.condition);
  if (is_plain_if(end)) {
    return ways_of_if(end, InFlow(flow), condition);
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
    const auto number = decided_number(InFlow(flow), operands[i + 1]);
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

template <class Ways> bool cut(Graph& graph, const Ways& ways_left) {
  std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> fewer;
  for (const std::uint32_t block : before_barriers(graph)) {
    std::vector<std::uint32_t> left = ways_left(graph.blocks[block].end);
    if (left.size() != graph.blocks[block].end.successors.size()) {
      fewer.emplace_back(block, std::move(left));
    }
  }
  for (auto& [block, left] : fewer) {
    Terminator& end = graph.blocks[block].end;
    if (left.size() == 1) {
      end.kind = Terminator::Kind::Jump;
      end.condition = no_value;
    }
    end.successors = std::move(left);
  }
  if (!fewer.empty()) {
    forget_facts(graph);
    compute_facts(graph);
  }
  return !fewer.empty();
}

} // namespace

bool cut_decided(Graph& graph, const Dataflow& flow) {
  return cut(graph, [&](const Terminator& end) { return ways(end, flow); });
}

void cut_constant(Graph& graph) {
  for (bool again = true; again;) {
    const AsWritten source(graph);
    again = cut(graph, [&](const Terminator& end) {
      return is_plain_if(end) ? ways_of_if(end, source, end.condition) : end.successors;
    });
  }
}

} // namespace heddle::lint

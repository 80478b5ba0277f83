// Makes the Graph of an entry: bodies copied to where they are called.
#include "lint/graph.h"
#include "lint/graph_facts.h"

#include <algorithm>

namespace heddle::lint {
namespace {

constexpr std::size_t most_blocks = 40'000;
constexpr std::size_t most_instructions = 400'000;
constexpr int deepest = 48;

class Inliner {
public:
  Inliner(const Unit& unit, Graph& graph) : unit_(unit), graph_(graph) {}

  struct Copied {
    std::uint32_t entry, exit, result_local;
  };

  Copied copy(
      std::uint32_t id,
      std::uint32_t parent,
      const Spot& call,
      const std::vector<ValueId>& arguments
  ) {
    const Function& function = unit_.functions[id];
    const auto frame = static_cast<std::uint32_t>(graph_.frames.size());
    graph_.frames.push_back({id, parent, call, static_cast<std::uint32_t>(graph_.locals.size())});
    const std::uint32_t first_local = graph_.frames[frame].first_local;
    for (const Variable& local : function.locals) {
      graph_.locals.push_back({frame, &local});
    }
    stack_.push_back(id);
    std::vector<std::uint32_t> blocks(function.blocks.size());
    for (std::uint32_t& block : blocks) {
      block = add_block(frame);
    }
    std::vector<ValueId> values(function.code.size(), no_value);
    // Values are defined before they are used only in the order of flow, so walk that.
    for (const std::uint32_t b : flow_order(function)) {
      const BasicBlock& from = function.blocks[b];
      std::uint32_t at = blocks[b];
      graph_.blocks[at].first = static_cast<std::uint32_t>(graph_.code.size());
      for (std::uint32_t i = from.first; i < from.last; ++i) {
        Instruction made = function.code[i];
        for (ValueId& operand : made.operands) {
          operand = operand < values.size() ? values[operand] : no_value;
          if (operand == no_value) {
            operand = undefined(at);
          }
        }
        if (made.op == Op::LocalAddress) {
          made.number += first_local;
        } else if (made.op == Op::Parameter && frame != 0) {
          const auto index = static_cast<std::size_t>(made.number);
          values[i] = index < arguments.size() ? arguments[index] : undefined(at);
          continue;
        } else if (made.op == Op::Call) {
          values[i] = call_function(made, frame, at);
          continue;
        }
        values[i] = add(std::move(made), at);
      }
      GraphBlock& to = graph_.blocks[at];
      to.last = static_cast<std::uint32_t>(graph_.code.size());
      to.end = from.end;
      for (std::uint32_t& successor : to.end.successors) {
        successor = blocks[successor];
      }
      if (to.end.condition != no_value) {
        to.end.condition = to.end.condition < values.size() ? values[to.end.condition] : no_value;
        if (to.end.condition == no_value) {
          to.end.kind = Terminator::Kind::Jump;
        }
      }
    }
    stack_.pop_back();
    return {blocks[0], blocks[1], first_local};
  }

private:
  static std::vector<std::uint32_t> flow_order(const Function& function) {
    std::vector<std::uint32_t> order;
    std::vector<char> seen(function.blocks.size(), 0);
    std::vector<std::pair<std::uint32_t, std::size_t>> stack = {{0, 0}};
    seen[0] = 1;
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      const auto& successors = function.blocks[block].end.successors;
      if (next == successors.size()) {
        order.push_back(block);
        stack.pop_back();
      } else if (const std::uint32_t to = successors[next++]; seen[to] == 0) {
        seen[to] = 1;
        stack.push_back({to, 0});
      }
    }
    std::ranges::reverse(order);
    if (seen[1] == 0) {
      order.push_back(1); // the exit exists even if nothing reaches it
    }
    return order;
  }

  std::uint32_t add_block(std::uint32_t frame) {
    graph_.blocks.emplace_back();
    graph_.blocks.back().frame = frame;
    return static_cast<std::uint32_t>(graph_.blocks.size() - 1);
  }

  ValueId add(Instruction made, std::uint32_t block) {
    graph_.code.push_back(std::move(made));
    graph_.block_of.push_back(block);
    return static_cast<ValueId>(graph_.code.size() - 1);
  }

  ValueId undefined(std::uint32_t block) {
    Instruction made;
    made.op = Op::Undefined;
    return add(std::move(made), block);
  }

  /// Splits block `at` around the body; `at` is the block to go on in afterwards.
  ValueId call_function(const Instruction& call, std::uint32_t frame, std::uint32_t& at) {
    const auto callee = static_cast<std::uint32_t>(call.number);
    const Function& function = unit_.functions[callee];
    const bool recursive = std::ranges::find(stack_, callee) != stack_.end();
    if (function.blocks.empty() || recursive || static_cast<int>(stack_.size()) >= deepest ||
        graph_.blocks.size() >= most_blocks || graph_.code.size() >= most_instructions) {
      graph_.incomplete = true;
      Instruction made = call;
      made.op = Op::Known;
      made.effect = Effect::Pure;
      made.may_synchronise = !recursive; // whatever it does: it may wait, and write
      return add(std::move(made), at);
    }
    graph_.blocks[at].last = static_cast<std::uint32_t>(graph_.code.size());
    const std::uint32_t before = at;
    const Copied body = copy(callee, frame, call.spot, call.operands);
    const auto callee_frame = graph_.locals[body.result_local].frame;
    graph_.blocks[before].end = Terminator();
    graph_.blocks[before].end.successors = {body.entry};
    at = add_block(frame);
    graph_.blocks[at].first = static_cast<std::uint32_t>(graph_.code.size());
    graph_.blocks[body.exit].end = Terminator();
    graph_.blocks[body.exit].end.successors = {at};
    Instruction address;
    address.op = Op::LocalAddress;
    address.number = body.result_local;
    address.spot = call.spot;
    const ValueId result = add(std::move(address), at);
    ValueId made = result;
    if (!call.is_object) {
      Instruction value;
      value.op = Op::Load;
      value.operands = {result};
      value.name = call.name;
      value.spot = call.spot;
      made = add(std::move(value), at);
    }
    Instruction end;
    end.op = Op::FrameEnd;
    end.number = callee_frame;
    add(std::move(end), at);
    return made;
  }

  const Unit& unit_;
  Graph& graph_;
  std::vector<std::uint32_t> stack_;
};

} // namespace

Graph inline_calls(const Unit& unit, std::uint32_t entry) {
  Graph graph;
  graph.unit = &unit;
  graph.entry_function = entry;
  Inliner inliner(unit, graph);
  const auto body = inliner.copy(entry, 0, {}, {});
  graph.exit = body.exit;
  for (ValueId i = 0; i < graph.code.size(); ++i) {
    if (graph.code[i].op == Op::Symbol) {
      graph.symbols.try_emplace(graph.code[i].symbol, i);
    }
  }
  compute_facts(graph);
  return graph;
}

bool Graph::in_loop(std::uint32_t block, std::uint32_t loop) const {
  const std::uint32_t innermost = blocks[block].loop;
  return innermost != UINT32_MAX && loop <= innermost && innermost < loops[loop].end;
}

bool Graph::hands_over(std::uint32_t block) const {
  const auto& next = blocks[block].end.successors;
  return next.size() == 1 && blocks[next[0]].predecessors.size() == 1;
}

bool Graph::leaves(std::uint32_t block, std::uint32_t loop) const {
  return std::ranges::any_of(blocks[block].end.successors, [&](std::uint32_t to) {
    return !in_loop(to, loop) && !blocks[to].is_doomed;
  });
}

bool Graph::is_within(std::uint32_t frame, std::uint32_t outer) const {
  while (frame != outer && frame != 0) {
    frame = frames[frame].parent;
  }
  return frame == outer;
}

Spot Graph::seen_from(std::uint32_t outer, std::uint32_t frame, const Spot& spot) const {
  Spot seen = spot;
  while (frame != outer && frame != 0) {
    seen = frames[frame].call;
    frame = frames[frame].parent;
  }
  return seen;
}

} // namespace heddle::lint

#include "lint/waits.h"

#include "lint/unreadable.h"

#include <algorithm>
#include <set>

namespace heddle::lint {
namespace {

constexpr std::size_t most_values = 4'000; // looked at for one origin

bool is_update(const Instruction& code) {
  return code.op == Op::Known && code.effect == Effect::AtomicUpdate;
}

} // namespace

std::optional<SharedObject> object_of(const Entry& entry, ValueId address) {
  const auto& targets = entry.flow.targets(address);
  if (targets.empty()) {
    return std::nullopt;
  }
  const Location& root = entry.flow.locations[entry.flow.root(targets.front().location)];
  if (root.kind == Location::Kind::Global) {
    return SharedObject{false, root.number};
  }
  if (root.kind == Location::Kind::Pointee) {
    if (const auto parameter = Dataflow::parameter_of(root)) {
      return SharedObject{true, *parameter};
    }
  }
  return std::nullopt;
}

ValueId address_of(const Entry& entry, ValueId access) {
  const Instruction& code = entry.graph.code[access];
  return code.operands.empty() ? no_value : entry.flow.resolve(code.operands[0]);
}

namespace {

/// The members and the indices of an address, from the object outwards.
std::vector<const Instruction*> steps_of(const Entry& entry, ValueId address) {
  constexpr std::size_t most_steps = 16;
  std::vector<const Instruction*> steps;
  const Instruction* code = entry.flow.instruction(entry.flow.canonical(address));
  while (code != nullptr && (code->op == Op::Field || code->op == Op::Element) &&
         steps.size() < most_steps) {
    steps.push_back(code);
    code = entry.flow.instruction(entry.flow.canonical(entry.flow.resolve(code->operands[0])));
  }
  std::ranges::reverse(steps);
  return steps;
}

} // namespace

std::optional<SharedMember> member_of(const Entry& entry, ValueId address) {
  const auto object = object_of(entry, address);
  if (!object) {
    return std::nullopt;
  }
  SharedMember member{*object, {}};
  for (const Instruction* step : steps_of(entry, address)) {
    if (step->op == Op::Field) {
      member.path.push_back(step->number);
    }
  }
  return member;
}

bool SharedMember::may_overlap(const SharedMember& other) const {
  const std::size_t common = std::min(path.size(), other.path.size());
  return object == other.object && std::equal(
                                       path.begin(),
                                       path.begin() + static_cast<std::ptrdiff_t>(common),
                                       other.path.begin()
                                   );
}

bool differ_in_block_index(const Entry& entry, ValueId one, ValueId other) {
  const auto left = steps_of(entry, one);
  const auto right = steps_of(entry, other);
  bool differ = left.size() != right.size(); // indices of indices are not compared
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i]->op != right[i]->op || left[i]->number != right[i]->number) {
      return false; // different members
    }
    if (left[i]->op == Op::Element) {
      const ValueId a = entry.flow.canonical(entry.flow.resolve(left[i]->operands[1]));
      const ValueId b = entry.flow.canonical(entry.flow.resolve(right[i]->operands[1]));
      differ = differ ||
               (a != b && (origin_of(entry, a).block_index || origin_of(entry, b).block_index));
    }
  }
  return differ;
}

Origin origin_of(const Entry& entry, ValueId value) {
  Origin origin;
  std::set<ValueId> seen;
  std::vector<ValueId> work = {value};
  while (!work.empty() && seen.size() < most_values) {
    const ValueId id = entry.flow.canonical(work.back());
    work.pop_back();
    if (!seen.insert(id).second) {
      continue;
    }
    const Value& at = entry.flow.values[id];
    const Instruction* code = entry.flow.instruction(id);
    if (code != nullptr && code->op == Op::Symbol) {
      const Symbol symbol = code->symbol;
      origin.block_index |= symbol == Symbol::BlockIndexX || symbol == Symbol::BlockIndexY ||
                            symbol == Symbol::BlockIndexZ || symbol == Symbol::BlockRank ||
                            symbol == Symbol::ThreadRankElsewhere;
      origin.thread_index |= level(symbol) >= Level::Warp;
      origin.grid_size |= symbol == Symbol::GridSizeX || symbol == Symbol::GridSizeY ||
                          symbol == Symbol::GridSizeZ || symbol == Symbol::GridConstant;
      continue;
    }
    if (code != nullptr && code->op == Op::Parameter) {
      origin.parameter = true;
      continue;
    }
    if (code != nullptr && is_update(*code)) {
      origin.atomic_update = true;
      origin.updates.push_back(id);
      continue;
    }
    if (code != nullptr && code->op == Op::Known && code->effect == Effect::AtomicLoad) {
      origin.loaded = true;
      continue;
    }
    if (code != nullptr && entry.flow.is_shared_load(id)) {
      const auto& targets = entry.flow.targets(entry.flow.resolve(code->operands.back()));
      const bool of_block =
          !targets.empty() && std::ranges::all_of(targets, [&](const Target& one) {
            return entry.flow.locations[one.location].space == Space::Shared;
          });
      if (!of_block) {
        const bool alike = entry.uniformity.is_uniform(
            entry.flow.canonical(entry.flow.resolve(code->operands.back()))
        );
        (alike ? origin.loaded_alike : origin.loaded) = true;
        continue;
      }
      const LocationId root = entry.flow.root(targets.front().location);
      for (const ValueId write : entry.flow.writes) {
        const auto& to = entry.flow.targets(address_of(entry, write));
        if (!to.empty() && entry.flow.root(to.front().location) == root) {
          const Instruction& store = entry.graph.code[write];
          work.push_back(
              store.op == Op::Store ? entry.flow.resolve(store.operands[1]) : ValueId{write}
          );
        }
      }
      continue;
    }
    work.insert(work.end(), at.operands.begin(), at.operands.end());
  }
  return origin;
}

bool is_computed_from(const Entry& entry, ValueId value, ValueId part) {
  std::set<ValueId> seen;
  std::vector<ValueId> work = {value};
  while (!work.empty() && seen.size() < most_values) {
    const ValueId id = work.back();
    work.pop_back();
    if (id == part || entry.flow.canonical(id) == entry.flow.canonical(part)) {
      return true;
    }
    if (seen.insert(id).second) {
      const auto& operands = entry.flow.values[id].operands;
      work.insert(work.end(), operands.begin(), operands.end());
    }
  }
  return false;
}

bool reaches(
    const Graph& graph,
    ValueId from,
    ValueId to,
    const std::function<bool(const Instruction&)>& stops
) {
  const auto stop_between = [&](ValueId first, ValueId last) {
    for (ValueId i = first; i < last; ++i) {
      if (stops(graph.code[i])) {
        return true;
      }
    }
    return false;
  };
  const std::uint32_t start = graph.block_of[from];
  const std::uint32_t end = graph.block_of[to];
  if (start == end && from < to && !stop_between(from + 1, to)) {
    return true;
  }
  if (stop_between(from + 1, graph.blocks[start].last) ||
      stop_between(graph.blocks[end].first, to)) {
    return false;
  }
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> work = graph.blocks[start].end.successors;
  while (!work.empty()) {
    const std::uint32_t at = work.back();
    work.pop_back();
    if (at == end) {
      return true;
    }
    if (!seen.insert(at).second || stop_between(graph.blocks[at].first, graph.blocks[at].last)) {
      continue;
    }
    const auto& more = graph.blocks[at].end.successors;
    work.insert(work.end(), more.begin(), more.end());
  }
  return false;
}

std::vector<std::uint32_t> deciding_branches(const Graph& graph, std::uint32_t block) {
  std::vector<std::uint32_t> result;
  std::vector<std::uint32_t> work = graph.blocks[block].controllers;
  std::set<std::uint32_t> seen;
  // Nearest first.
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (!seen.insert(work[i]).second) {
      continue;
    }
    if (graph.blocks[work[i]].end.kind == Terminator::Kind::Branch) {
      result.push_back(work[i]);
    }
    const auto more = graph.blocks[work[i]].controllers;
    work.insert(work.end(), more.begin(), more.end());
  }
  return result;
}

bool dominates(const Graph& graph, std::uint32_t above, std::uint32_t below) {
  while (below != above && below != graph.blocks[below].dominator && below != UINT32_MAX) {
    below = graph.blocks[below].dominator;
  }
  return below == above;
}

bool Waits::is_private(ValueId address) const {
  const auto& targets = entry_.flow.targets(entry_.flow.resolve(address));
  return !targets.empty() && std::ranges::all_of(targets, [&](const Target& one) {
    return entry_.flow.locations[one.location].space == Space::Private;
  });
}

bool Waits::is_volatile(ValueId id) const {
  const Instruction& code = graph_.code[id];
  return code.is_volatile ||
         std::ranges::any_of(
             entry_.flow.targets(entry_.flow.resolve(code.operands[0])),
             [&](const Target& one) { return entry_.flow.locations[one.location].is_volatile; }
         );
}

bool Waits::is_constant(ValueId id) const {
  const Instruction* code = entry_.flow.instruction(entry_.flow.canonical(id));
  return code != nullptr && code->op == Op::Constant;
}

bool Waits::is_disguised_read(ValueId id) const {
  const Instruction& code = graph_.code[id];
  if (!is_update(code) || code.operands.size() < 2) {
    return false;
  }
  const auto number = [&](std::size_t i) -> std::optional<std::int64_t> {
    const Instruction* operand =
        entry_.flow.instruction(entry_.flow.canonical(entry_.flow.resolve(code.operands[i])));
    return operand != nullptr && operand->op == Op::Constant ? std::optional(operand->number)
                                                             : std::nullopt;
  };
  const auto first = number(1);
  if (code.name.find("CAS") != std::string::npos) {
    return code.operands.size() >= 3 && first && first == number(2);
  }
  const bool adds = code.name.starts_with("atomicAdd") || code.name.starts_with("atomicOr") ||
                    code.name.starts_with("atomicXor") || code.name.starts_with("atomicSub") ||
                    code.name.ends_with("fetch_add") || code.name.ends_with("fetch_or");
  return adds && first == 0;
}

bool Waits::may_never_end(std::uint32_t loop) const {
  if (graph_.loops[loop].exits.empty()) {
    return true;
  }
  bool readable = true;
  each_in(loop, [&](ValueId id) {
    readable = readable && graph_.code[id].name != unreadable_expression;
  });
  return readable && std::ranges::all_of(graph_.loops[loop].exits, [&](std::uint32_t exit) {
           const ValueId condition = entry_.uniformity.condition(exit);
           return condition != no_value && !changes(condition, loop, 0);
         });
}

bool Waits::writes_object_of(ValueId load, std::uint32_t loop) const {
  const auto& from = entry_.flow.targets(address_of(entry_, load));
  return std::ranges::any_of(entry_.flow.writes, [&](ValueId write) {
    if (!graph_.in_loop(graph_.block_of[write], loop)) {
      return false;
    }
    const auto& to = entry_.flow.targets(address_of(entry_, write));
    return std::ranges::any_of(from, [&](const Target& a) {
      return std::ranges::any_of(to, [&](const Target& b) {
        return entry_.flow.root(a.location) == entry_.flow.root(b.location);
      });
    });
  });
}

bool Waits::changes(ValueId id, std::uint32_t loop, int depth) const {
  id = entry_.flow.canonical(id);
  const Value& value = entry_.flow.values[id];
  if (!graph_.in_loop(value.block, loop) || value.kind == Value::Kind::Initial) {
    return false;
  }
  if (value.kind == Value::Kind::Phi && value.block == graph_.loops[loop].header && depth <= 16) {
    // while (seen == 0) seen = *flag: what comes round is what was read, and nothing else.
    const auto enters_with = [&](ValueId one) {
      for (std::size_t i = 0; i < value.operands.size(); ++i) {
        if (!graph_.in_loop(value.from[i], loop) &&
            entry_.flow.canonical(value.operands[i]) == one) {
          return true;
        }
      }
      return false;
    };
    const auto stays = [&](std::size_t i) {
      const ValueId one = entry_.flow.canonical(value.operands[i]);
      if (one == id) {
        return true;
      }
      if (!graph_.in_loop(entry_.flow.values[one].block, loop)) {
        // Another one from before the loop is a change: again: if (x) { x = 0; goto again; }
        return !graph_.in_loop(value.from[i], loop) || enters_with(one);
      }
      const Instruction* code = entry_.flow.instruction(one);
      const bool is_read =
          code != nullptr && ((code->op == Op::Load && entry_.flow.is_shared_load(one)) ||
                              (code->op == Op::Known && code->effect == Effect::AtomicLoad) ||
                              (is_update(*code) && is_disguised_read(one)));
      return is_read && !changes(one, loop, depth + 1);
    };
    for (std::size_t i = 0; i < value.operands.size(); ++i) {
      if (!stays(i)) {
        return true;
      }
    }
    return false;
  }
  if (depth > 16 || value.kind == Value::Kind::Phi) {
    return true;
  }
  const Instruction* code = entry_.flow.instruction(id);
  if (code != nullptr && code->op == Op::Symbol) {
    return code->symbol == Symbol::Clock;
  }
  if (code != nullptr && code->op == Op::Load && entry_.flow.is_shared_load(id)) {
    // At one address only somebody else can change it, if not this loop does: that is waiting.
    if (writes_object_of(id, loop)) {
      return true;
    }
    return changes(entry_.flow.resolve(code->operands.back()), loop, depth + 1);
  }
  if (code != nullptr && code->op == Op::Known && code->effect != Effect::Pure &&
      code->effect != Effect::AtomicLoad && !is_disguised_read(id)) {
    return true;
  }
  return std::ranges::any_of(value.operands, [&](ValueId one) {
    return changes(one, loop, depth + 1);
  });
}

std::vector<ValueId> Waits::polls(std::uint32_t loop) const {
  std::vector<ValueId> result;
  if (!may_never_end(loop)) {
    return result;
  }
  each_in(loop, [&](ValueId id) {
    const Instruction& code = graph_.code[id];
    const bool reads =
        (code.op == Op::Load && entry_.flow.is_shared_load(id) && !is_private(code.operands[0])) ||
        (code.op == Op::Known && code.effect == Effect::AtomicLoad) || is_disguised_read(id);
    if (reads && std::ranges::any_of(graph_.loops[loop].exits, [&](std::uint32_t exit) {
          const ValueId condition = entry_.uniformity.condition(exit);
          return condition != no_value && is_computed_from(entry_, condition, id);
        })) {
      result.push_back(id);
    }
  });
  return result;
}

ValueId Waits::takes_lock(std::uint32_t loop) const {
  ValueId found = no_value;
  each_in(loop, [&](ValueId id) {
    const Instruction& code = graph_.code[id];
    if (!is_update(code) || is_disguised_read(id) || code.operands.size() < 2) {
      return;
    }
    const bool swaps = code.name.find("CAS") != std::string::npos ||
                       code.name.find("compare_exchange") != std::string::npos ||
                       code.name.starts_with("atomicExch") || code.name.ends_with("exchange") ||
                       code.name.ends_with("test_and_set");
    const bool constants =
        std::ranges::all_of(code.operands.begin() + 1, code.operands.end(), [&](ValueId one) {
          return is_constant(entry_.flow.resolve(one));
        });
    const bool decides = std::ranges::any_of(graph_.loops[loop].exits, [&](std::uint32_t exit) {
      const ValueId condition = entry_.uniformity.condition(exit);
      return condition != no_value && is_computed_from(entry_, condition, id);
    });
    if (swaps && constants && decides) {
      found = id;
    }
  });
  return found;
}

Spot Waits::loop_spot(std::uint32_t loop) const {
  for (const std::uint32_t exit : graph_.loops[loop].exits) {
    const Terminator& end = graph_.blocks[exit].end;
    if (end.construct == Construct::While || end.construct == Construct::For ||
        end.construct == Construct::Do) {
      return end.statement;
    }
  }
  Spot first;
  each_in(loop, [&](ValueId id) { first = first.line == 0 ? graph_.code[id].spot : first; });
  if (first.line != 0) {
    return first;
  }
  for (const std::uint32_t block : graph_.loops[loop].blocks) {
    if (graph_.blocks[block].end.condition_spot.line != 0) {
      return graph_.blocks[block].end.condition_spot;
    }
  }
  return entry_.unit
      .functions[graph_.frames[graph_.blocks[graph_.loops[loop].header].frame].function]
      .spot;
}

} // namespace heddle::lint

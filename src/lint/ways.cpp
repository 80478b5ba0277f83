#include "lint/ways.h"

#include "lint/uniformity.h"

#include <algorithm>

namespace heddle::lint {
namespace {

constexpr std::size_t most_states = 20'000;
constexpr std::size_t most_numbers = 3; // tried for each counter
constexpr std::int64_t largest_number = 1'025;

} // namespace

Ways::Ways(
    const Dataflow& flow,
    const std::vector<char>& has_barrier,
    const std::function<bool(ValueId)>& uniform
)
    : flow_(flow),
      has_barrier_(has_barrier) {
  std::vector<ValueId> work;
  for (const std::uint32_t block : flow.graph.sequence) {
    const Terminator& end = flow.graph.blocks[block].end;
    if (end.kind == Terminator::Kind::Branch && end.condition != no_value &&
        std::ranges::any_of(end.successors, [&](std::uint32_t to) {
          return has_barrier[to] != 0;
        })) {
      leaves_of(flow, flow.resolve(end.condition), work);
    }
  }
  while (!work.empty()) {
    const ValueId id = work.back();
    work.pop_back();
    const Value& value = flow.values[id];
    if (value.kind != Value::Kind::Phi || !uniform(id) || !counters_.insert(id).second) {
      continue;
    }
    counters_at_[value.block].push_back(id);
    for (const ValueId one : value.operands) {
      leaves_of(flow, one, work);
    }
  }
}

/// The only counter on which a condition depends, or no_value.
ValueId Ways::counter_of(ValueId condition) const {
  std::vector<ValueId> leaves;
  return leaves_of(flow_, condition, leaves) && leaves.size() == 1 && counters_.contains(leaves[0])
             ? leaves[0]
             : no_value;
}

/// What the branches say that lead to `block`.
std::vector<Ways::Fact> Ways::facts_at(std::uint32_t block) const {
  std::vector<Fact> facts;
  const auto& blocks = flow_.graph.blocks;
  for (std::uint32_t at = block, above = blocks[at].dominator; above != at && above != UINT32_MAX;
       at = above, above = blocks[at].dominator) {
    const Terminator& end = blocks[above].end;
    if (end.kind != Terminator::Kind::Branch || end.condition == no_value ||
        end.successors.size() != 2 || end.successors[0] == end.successors[1] ||
        blocks[at].predecessors.size() != 1) {
      continue;
    }
    const ValueId condition = flow_.resolve(end.condition);
    const ValueId counter = counter_of(condition);
    // The counter is still the one of that branch if its block lies above.
    if (counter != no_value) {
      facts.push_back({condition, counter, end.successors[0] == at});
    }
  }
  return facts;
}

std::optional<std::int64_t> Ways::number(ValueId id, const Known& known) const {
  return evaluate(flow_, id, [&](ValueId one) -> std::optional<std::int64_t> {
    const auto found = known.find(one);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  });
}

/// What is known of the counters behind an edge.
Ways::Known Ways::enter(std::uint32_t from, std::uint32_t to, const Known& known) const {
  const auto here = counters_at_.find(to);
  if (here == counters_at_.end()) {
    return known;
  }
  Known after = known;
  for (const ValueId counter : here->second) {
    after.erase(counter);
    const Value& value = flow_.values[counter];
    const auto way = std::ranges::find(value.from, from);
    if (way != value.from.end()) {
      const auto index = static_cast<std::size_t>(way - value.from.begin());
      if (const auto now = number(value.operands[index], known)) {
        after[counter] = *now;
      }
    }
  }
  return after;
}

bool Ways::exist(ValueId from, ValueId to, const Known& known) const {
  const Graph& graph = flow_.graph;
  const std::uint32_t start = graph.block_of[from];
  const std::uint32_t end = graph.block_of[to];
  const auto is_blocked = [&](ValueId first, ValueId last) {
    return std::any_of(graph.code.begin() + first, graph.code.begin() + last, is_memory_barrier);
  };
  if (start == end && from < to && !is_blocked(from + 1, to)) {
    return true;
  }
  const bool can_end = !is_blocked(graph.blocks[end].first, to);
  std::set<std::pair<std::uint32_t, Known>> seen;
  std::vector<std::pair<std::uint32_t, Known>> work;
  const auto leave = [&](std::uint32_t block, const Known& now) {
    const Terminator& last = graph.blocks[block].end;
    std::optional<std::int64_t> decided;
    if (last.kind == Terminator::Kind::Branch && last.condition != no_value &&
        last.successors.size() == 2) {
      decided = number(flow_.resolve(last.condition), now);
    }
    for (std::size_t i = 0; i < last.successors.size(); ++i) {
      if (!decided || (*decided != 0) == (i == 0)) {
        work.emplace_back(last.successors[i], enter(block, last.successors[i], now));
      }
    }
  };
  if (!is_blocked(from + 1, graph.blocks[start].last)) {
    leave(start, known);
  }
  while (!work.empty()) {
    const auto at = std::move(work.back());
    work.pop_back();
    if (!seen.insert(at).second) {
      continue;
    }
    if ((at.first == end && can_end) || seen.size() > most_states) {
      return true;
    }
    if (has_barrier_[at.first] == 0) {
      leave(at.first, at.second);
    }
  }
  return false;
}

bool Ways::exist(ValueId from, ValueId to) const {
  if (counters_.empty()) {
    return true;
  }
  const std::vector<Fact> facts = facts_at(flow_.graph.block_of[from]);
  if (facts.empty()) {
    return exist(from, to, {});
  }
  const ValueId counter = facts.front().counter;
  std::size_t tried = 0;
  for (std::int64_t x = 0; x < largest_number && tried < most_numbers; ++x) {
    const Known known = {{counter, x}};
    const bool fits = std::ranges::all_of(facts, [&](const Fact& fact) {
      const auto now = fact.counter == counter ? number(fact.condition, known) : std::nullopt;
      return !now || (*now != 0) == fact.holds;
    });
    if (fits) {
      ++tried;
      if (exist(from, to, known)) {
        return true;
      }
    }
  }
  return tried == 0;
}

} // namespace heddle::lint

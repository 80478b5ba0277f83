#include "lint/races.h"

#include "lint/apart.h"
#include "lint/uniformity.h"
#include "lint/warp_facts.h"
#include "lint/ways.h"

#include <algorithm>
#include <ranges>

namespace heddle::lint {

Races::Races(const Uniformity& uniformity) : uniformity_(uniformity), flow_(uniformity.flow) {
  const Graph& graph = flow_.graph;
  has_barrier_.assign(graph.blocks.size(), 0);
  for (const std::uint32_t block : graph.sequence) {
    const GraphBlock& at = graph.blocks[block];
    has_barrier_[block] =
        std::any_of(graph.code.begin() + at.first, graph.code.begin() + at.last, is_memory_barrier);
  }
}

/// Is `b` apart from `a`, or from the member of it that these steps lead to?
bool Races::is_disjoint(
    const Target& a,
    const std::vector<LocationId>& member,
    const Target& b
) const {
  const auto depth = [&](LocationId at) {
    int steps = 0;
    for (; at != no_location; at = flow_.locations[at].parent) {
      ++steps;
    }
    return steps;
  };
  LocationId first = a.location;
  LocationId second = b.location;
  int ahead = depth(first) - depth(second);
  for (; ahead > 0; --ahead) {
    first = flow_.locations[first].parent;
  }
  std::vector<LocationId> below; // what `b` is of `a`, from within
  for (; ahead < 0; ++ahead) {
    below.push_back(second);
    second = flow_.locations[second].parent;
  }
  if (first != second) {
    return true; // another member or constant index
  }
  // One contains the other, or `b` is another member than the one that is asked for.
  std::ranges::reverse(below);
  const std::size_t known = a.exact && b.exact ? std::min(below.size(), member.size()) : 0;
  return !std::ranges::equal(
      below | std::views::take(known),
      member | std::views::take(known),
      [&](LocationId one, LocationId other) {
        return flow_.locations[one].kind == flow_.locations[other].kind &&
               flow_.locations[one].number == flow_.locations[other].number;
      }
  );
}

bool Races::reaches_without_barrier(ValueId from, ValueId to) const {
  const Graph& graph = flow_.graph;
  const auto barrier_between = [&](ValueId first, ValueId last) {
    for (ValueId i = first; i < last; ++i) {
      if (is_memory_barrier(graph.code[i])) {
        return true;
      }
    }
    return false;
  };
  const std::uint32_t start = graph.block_of[from];
  const std::uint32_t end = graph.block_of[to];
  if (start == end && from < to && !barrier_between(from + 1, to)) {
    return true;
  }
  if (barrier_between(from + 1, graph.blocks[start].last) ||
      barrier_between(graph.blocks[end].first, to)) {
    return false;
  }
  auto [entry, is_new] = reach_.try_emplace(start);
  std::set<std::uint32_t>& reached = entry->second;
  if (is_new) {
    std::vector<std::uint32_t> work = graph.blocks[start].end.successors;
    while (!work.empty()) {
      const std::uint32_t at = work.back();
      work.pop_back();
      if (!reached.insert(at).second || has_barrier_[at] != 0) {
        continue;
      }
      for (const std::uint32_t next : graph.blocks[at].end.successors) {
        work.push_back(next);
      }
    }
  }
  return reached.contains(end);
}

/// How often control can pass into block `through` on a way without a barrier: see apart.h.
unsigned Races::trips_without_barrier(ValueId from, ValueId to, std::uint32_t through) const {
  const Graph& graph = flow_.graph;
  const auto barrier_between = [&](ValueId first, ValueId last) {
    return std::any_of(graph.code.begin() + first, graph.code.begin() + last, is_memory_barrier);
  };
  const std::uint32_t start = graph.block_of[from];
  const std::uint32_t end = graph.block_of[to];
  unsigned found = start == end && from < to && !barrier_between(from + 1, to) ? 1 : 0;
  if (barrier_between(from + 1, graph.blocks[start].last)) {
    return found;
  }
  const bool can_end = !barrier_between(graph.blocks[end].first, to);
  constexpr unsigned most = 2;
  std::set<std::pair<std::uint32_t, unsigned>> seen;
  std::vector<std::pair<std::uint32_t, unsigned>> work;
  const auto leave = [&](std::uint32_t block, unsigned trips) {
    for (const std::uint32_t next : graph.blocks[block].end.successors) {
      work.emplace_back(next, std::min(most, trips + (next == through ? 1 : 0)));
    }
  };
  leave(start, 0);
  while (!work.empty()) {
    const auto at = work.back();
    work.pop_back();
    if (!seen.insert(at).second) {
      continue;
    }
    if (at.first == end && can_end) {
      found |= 1U << at.second;
    }
    if (has_barrier_[at.first] == 0) {
      leave(at.first, at.second);
    }
  }
  return found;
}

bool Races::meets(ValueId first, ValueId a, ValueId second, ValueId b) const {
  const Apart apart(
      flow_,
      [this](ValueId id) { return uniformity_.is_uniform(flow_.canonical(id)); },
      [this](ValueId from, ValueId to, std::uint32_t through) {
        return trips_without_barrier(from, to, through);
      }
  );
  return !apart.never_meet(first, a, second, b);
}

/// The same as reaches_without_barrier(), asked last: counters may decide that there is a barrier.
bool Races::has_way(ValueId from, ValueId to) const {
  return Ways(flow_, has_barrier_, [this](ValueId id) { return uniformity_.is_uniform(id); })
      .exist(from, to);
}

std::optional<ValueId>
Races::racing_write(ValueId load, const std::vector<LocationId>& member) const {
  const Instruction& code = flow_.graph.code[load];
  const ValueId address = flow_.resolve(code.operands.back());
  const auto& from = flow_.targets(address);
  const auto location_of = [&](ValueId write) {
    return flow_.resolve(flow_.graph.code[write].operands[0]);
  };
  std::vector<ValueId> meeting;
  for (const ValueId write : flow_.writes) {
    const auto& to = flow_.targets(location_of(write));
    if (write != load && std::ranges::any_of(from, [&](const Target& a) {
          return std::ranges::any_of(to, [&](const Target& b) {
            return flow_.root(a.location) == flow_.root(b.location) && !is_disjoint(a, member, b);
          });
        })) {
      meeting.push_back(write);
    }
  }
  if (std::ranges::all_of(meeting, [&](ValueId write) { return writes_back(flow_, write); })) {
    return std::nullopt;
  }
  for (const ValueId write : meeting) {
    const ValueId place = location_of(write);
    if (reaches_without_barrier(load, write) && meets(load, address, write, place) &&
        has_way(load, write)) {
      return write;
    }
    // What all threads write alike each of them reads back.
    const Instruction& store = flow_.graph.code[write];
    const bool alike = store.op == Op::Store &&
                       uniformity_.is_uniform(flow_.canonical(flow_.resolve(store.operands[0]))) &&
                       uniformity_.is_uniform(flow_.canonical(flow_.resolve(store.operands[1]))) &&
                       uniformity_.is_control_uniform(flow_.graph.block_of[write], Level::Block);
    if (!alike && reaches_without_barrier(write, load) && meets(write, place, load, address) &&
        has_way(write, load)) {
      return write;
    }
  }
  return std::nullopt;
}

} // namespace heddle::lint

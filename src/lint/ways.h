// ways.h: whether control can pass from one instruction to another without a barrier, where
// counters decide about the barriers.
//
//   if (k % 128 == 0) __syncthreads();
//   ... table[k % 128] ...
//   if (++k % 128 == 0) { __syncthreads(); fill(table); }    // the next trip has a barrier
//
// The way is gone with numbers: those that the counter can have at the first instruction, by the
// branches that lead there, as it is tried, not proved, and what it begins a loop with. Branches of
// which nothing is known are gone both ways. May miss a way, for numbers that were not tried; where
// there is too much to look at, there is a way.
#pragma once

#include "lint/evaluate.h"

#include <set>

namespace heddle::lint {

class Ways {
public:
  /// `has_barrier`: by block. `uniform`: is this value the same for all threads of the block?
  Ways(
      const Dataflow& flow,
      const std::vector<char>& has_barrier,
      const std::function<bool(ValueId)>& uniform
  );
  bool exist(ValueId from, ValueId to) const;

private:
  using Known = std::map<ValueId, std::int64_t>; // of counters
  struct Fact {
    ValueId condition, counter;
    bool holds;
  };
  std::vector<Fact> facts_at(std::uint32_t block) const;
  bool exist(ValueId from, ValueId to, const Known& known) const;
  std::optional<std::int64_t> number(ValueId id, const Known& known) const;
  Known enter(std::uint32_t from, std::uint32_t to, const Known& known) const;
  ValueId counter_of(ValueId condition) const;

  const Dataflow& flow_;
  const std::vector<char>& has_barrier_;
  std::set<ValueId> counters_; // phis that decide about a barrier, and what they are made of
  std::map<std::uint32_t, std::vector<ValueId>> counters_at_; // by block
};

} // namespace heddle::lint

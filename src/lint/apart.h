// apart.h: two accesses to one array that never meet.
//
//   flag[k % 3] and flag[(k + 1) % 3]        // indices that differ whatever k is
//   count = scalars[0]; last = scalars[1]    // behind one place, by different constants
//   rows = memory; state = memory + 256      // sections of one piece of shared memory
//   if (i < 128) table[i], and table[130]    // an index below a constant, and a constant
//   ids[last] and ids[last + 1]              // indices whose difference is never 0: polynomial.h
//   flag[k], and flag[next[j]]               // an index that memory gives
//
// An index that memory gives is like a pointer of unknown origin: a place that it names is taken to
// be another one than a place that is named without it, or by what another place in memory gives.
// What the same place gives twice is taken to be the same, and a variable that has a number until
// memory gives it a value to be that value. That can only miss a store.
//
// Indices are compared as functions of one value: the counter of a loop, mostly. Where there is a
// way from the first access to the second through the next trip (`trips`), the second is taken with
// the counter as that trip has it. The functions are tried on many values, not proved: that could
// only miss a store that comes in between two loads. Sections are told apart by the variables that
// hold their beginnings, and are taken not to overlap.
#pragma once

#include "lint/dataflow.h"

#include <functional>

namespace heddle::lint {

class Apart {
public:
  /// `uniform`: is this value the same for all threads of the block?
  /// `trips(first, second, block)`: how often control can pass into `block` on a way from one
  /// instruction to the other without a barrier; bit 0: not at all, bit 1: once, bit 2: more often.
  using Uniform = std::function<bool(ValueId)>;
  using Trips = std::function<unsigned(ValueId, ValueId, std::uint32_t)>;
  Apart(const Dataflow& flow, Uniform uniform, Trips trips)
      : flow_(flow),
        uniform_(std::move(uniform)),
        trips_(std::move(trips)) {}

  /// Addresses `a` and `b` (resolved) of the instructions `first` and `second`, `second` later.
  bool never_meet(ValueId first, ValueId a, ValueId second, ValueId b) const;

private:
  struct Path {
    ValueId root = no_value;      // the variable or the parameter at the bottom
    ValueId section = no_value;   // the outermost pointer that has a name
    std::vector<ValueId> indices; // from the variable outwards; no_value: a member
  };
  Path path_of(ValueId address) const;
  bool adds_nothing(ValueId id) const;
  bool lies_behind(const Path& at, const Path& behind) const;
  bool stays_below(ValueId access, ValueId index, ValueId other) const;
  bool indices_differ(ValueId first, ValueId a, ValueId second, ValueId b) const;
  bool are_apart(ValueId first, ValueId a, ValueId second, ValueId b) const;
  ValueId given_by_memory(ValueId leaf) const;

  const Dataflow& flow_;
  Uniform uniform_;
  Trips trips_;
};

} // namespace heddle::lint

// races.h: which stores may come in between the loads of two threads from memory that they share.
//
//   races.racing_write(load, {})         // a store with no barrier between it and the load
//   races.racing_write(load, {member})   // one to this member of an object that is loaded as a
//   whole
//
// apart.h tells elements apart, ways.h follows counters that decide about barriers. It asks
// uniformity.h, which asks it in turn: the answer may change from none to a store as more values
// are found to differ.
#pragma once

#include "lint/dataflow.h"

#include <map>
#include <optional>
#include <set>

namespace heddle::lint {

class Uniformity;

class Races {
public:
  explicit Races(const Uniformity& uniformity);

  std::optional<ValueId> racing_write(ValueId load, const std::vector<LocationId>& member) const;
  /// Is there a way from instruction `from` to instruction `to` that passes no barrier?
  bool reaches_without_barrier(ValueId from, ValueId to) const;

private:
  bool is_disjoint(const Target& a, const std::vector<LocationId>& member, const Target& b) const;
  bool meets(ValueId first, ValueId a, ValueId second, ValueId b) const;
  bool has_way(ValueId from, ValueId to) const;
  unsigned trips_without_barrier(ValueId from, ValueId to, std::uint32_t through) const;

  const Uniformity& uniformity_;
  const Dataflow& flow_;
  std::vector<char> has_barrier_;                                  // by block
  std::map<std::uint32_t, std::set<std::uint32_t>> mutable reach_; // found when asked for
};

} // namespace heddle::lint

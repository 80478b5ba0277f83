// ValueUse: which volatile reads of a function are data only ([RACE-VALUE]).
//
//   ValueUse use(function);
//   if (use.is_data(i)) …     // what volatile read i gives is stored somewhere, and does no more
//   if (use.updates(i)) …     // it is changed and written back, by accesses that others may part
//   if (use.decides(i)) …     // which accesses follow depends on read i
//   if (use.accesses_follow(i)) …  // plain ones of memory that other blocks may access follow
//
// May be wrong in this direction: a value that is stored, read again by somebody else and looked at
// then counts as data. Everything that value_flow.h is not sure of counts as no data.
#pragma once

#include "analysis/cfg.h"
#include "analysis/value_flow.h"

#include <cstdint>

namespace heddle::race {

class ValueUse {
public:
  explicit ValueUse(const ptx::Function& function)
      : function_(function),
        flow_(function),
        cfg_(function) {}
  bool is_data(std::uint32_t instruction);
  /// Does the function compute with what it reads, and write the result to where it was read? A
  /// write of somebody else in between gets lost then, whatever else the value decides.
  bool updates(std::uint32_t instruction) const;
  /// Nothing is made of what it reads.
  bool is_unused(std::uint32_t instruction) {
    const analysis::ValueFlow::Reach& reach = flow_.from(instruction);
    return !reach.decides && reach.maybe.count() == 0 && reach.placed.count() == 0 &&
           reach.stored.count() == 0;
  }
  /// Which instructions follow, whether one of them stores, or where it does may depend on what it
  /// reads; and it is not read again and again.
  bool decides(std::uint32_t instruction) {
    const analysis::ValueFlow::Reach& reach = flow_.from(instruction);
    return (reach.decides || reach.maybe.count() != 0 || reach.placed.count() != 0) &&
           !polls(instruction);
  }
  /// May plain accesses of other than shared, local and parameter memory follow it?
  bool accesses_follow(std::uint32_t instruction) const;

private:
  bool in_waiting_loop(std::uint32_t instruction);
  bool polls(std::uint32_t instruction) const;

  const ptx::Function& function_;
  analysis::ValueFlow flow_;
  analysis::Cfg cfg_;
};

/// Blocks that `from` can come to by one edge or more.
std::vector<bool> blocks_behind(const analysis::Cfg& cfg, std::uint32_t from);

} // namespace heddle::race

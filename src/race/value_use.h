// ValueUse: which volatile reads of a function are data only ([RACE-VALUE]).
//
//   ValueUse use(function);
//   if (use.is_data(i)) …     // what volatile read i gives is stored somewhere, and does no more
//   if (use.decides(i)) …     // which instructions follow depends on read i
//
// May be wrong in this direction: a value that is stored, read again by somebody else and looked at
// then counts as data. Everything that value_flow.h is not sure of counts as no data.
#pragma once

#include "ptx/cfg.h"
#include "ptx/value_flow.h"

#include <cstdint>

namespace heddle::race {

class ValueUse {
public:
  explicit ValueUse(const ptx::Function& function)
      : function_(function),
        flow_(function),
        cfg_(function) {}
  bool is_data(std::uint32_t instruction);
  /// A branch may depend on what it reads.
  bool decides(std::uint32_t instruction) { return flow_.from(instruction).decides; }

private:
  bool in_waiting_loop(std::uint32_t instruction);

  const ptx::Function& function_;
  ptx::ValueFlow flow_;
  ptx::Cfg cfg_;
};

/// Blocks that `from` can come to by one edge or more.
std::vector<bool> blocks_behind(const ptx::Cfg& cfg, std::uint32_t from);

} // namespace heddle::race

// Value flow: where a value that an instruction makes can go to within its function.
//
//   ValueFlow flow(function);
//   const ValueFlow::Reach& reach = flow.from(i);   // the destination of instruction i
//   if (reach.decides) …                            // a branch, a barrier, a call may depend on it
//   reach.stored.test(j)                            // store j may write it, or what is made of it
//   reach.placed.test(j)                            // … or somewhere that depends on it
//   reach.maybe.test(j)                             // … or not at all
//
// Only data stays: but for stores in `maybe` and what goes with them, a value that does not decide
// changes neither which instructions are executed, by whom, nor who waits for whom. A branch whose
// sides meet again, and do nothing but compute and make plain accesses until then, is like a
// selection; so is how often a retry loop (retry_loops.h) goes round. Threads of a warp count as
// one, so shuffles are followed.
//
// May be too large, never too small: registers are not told apart by place, and what an instruction
// is not known to do with a value it decides by.
#pragma once

#include "ptx/bit_vector.h"
#include "ptx/cfg.h"
#include "ptx/module.h"
#include "ptx/retry_loops.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace heddle::ptx {

class ValueFlow {
public:
  explicit ValueFlow(const Function& function) : function_(function) {}

  struct Reach {
    bool decides = false;
    bool retries = false; // it says how often a retry loop goes round: not for ever, it is assumed
    BitVector stored, placed, maybe; // by instruction
  };
  const Function& function() const { return function_; }
  /// Stays where it is.
  const Reach& from(std::uint32_t instruction);

private:
  bool select(std::uint32_t branch, BitVector& registers, Reach& reach);

  const Function& function_;
  std::optional<Cfg> cfg_; // once somebody has asked for it
  std::vector<RetryLoop> retry_loops_;
  std::unordered_map<std::uint32_t, Reach> known_;
};

/// May it be that only one side of a branch executes it, with no difference but in data?
bool is_computation(const Instruction& i, bool has_destination);

} // namespace heddle::ptx

// Value flow: where the result of an instruction can go within its function.
//
//   ValueFlow flow(function);
//   const ValueFlow::Reach& reach = flow.from(i);   // the destination of instruction i
//   if (reach.decides) …                            // a branch, a barrier or a call may depend on
//   it reach.stored.test(j)                            // store j may write a value computed from
//   it reach.placed.test(j)                            // the address of store j may depend on it
//   reach.maybe.test(j)                             // whether store j is executed may depend on it
//
// A value that does not decide is data: apart from the stores in `maybe`, it changes neither which
// instructions are executed nor which threads wait for which. A branch counts as a selection
// between values if its sides meet again and contain only computations and weak accesses. The
// number of rounds of a retry loop (retry_loops.h) counts as data, too. The analysis treats the
// threads of a warp as one thread, so it follows values through shuffles.
//
// Conservative: the result may be too large, never too small. The analysis does not distinguish
// between the definitions of a register, and it assumes that an instruction of an unknown kind
// decides.
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
  /// `any_guess`: see retry_loops().
  explicit ValueFlow(const Function& function, bool any_guess = false)
      : function_(function),
        any_guess_(any_guess) {}

  struct Reach {
    bool decides = false;
    bool retries =
        false; // the number of rounds of a retry loop depends on it; assumed to be finite
    BitVector stored, placed, maybe; // by instruction
  };
  const Function& function() const { return function_; }
  /// The reference stays valid as long as this object.
  const Reach& from(std::uint32_t instruction);

private:
  bool select(std::uint32_t branch, BitVector& registers, Reach& reach);

  const Function& function_;
  bool any_guess_;
  std::optional<Cfg> cfg_; // built on first use
  std::vector<RetryLoop> retry_loops_;
  std::unordered_map<std::uint32_t, Reach> known_;
};

/// If only one side of a branch executes it, can the sides differ in data only?
bool is_computation(const Instruction& i, bool has_destination);

/// Is an operand a special register, for example a clock?
bool reads_special_register(const Instruction& i);

} // namespace heddle::ptx

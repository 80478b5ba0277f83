// Value flow: where the result of an instruction can go within its function.
//
//   ValueFlow flow(function);
//   const ValueFlow::Reach& reach = flow.from(i);   // the destination of instruction i
//   if (reach.decides) …          // a branch, a barrier or a call may depend on it
//   reach.stored.test(j)          // store j may write a value computed from it
//   reach.placed.test(j)          // the address of store j, or of weak load j, may depend on it
//   reach.maybe.test(j)           // whether store j is executed may depend on it
//
// A value that does not decide is data: apart from the stores in `maybe`, it changes neither which
// instructions are executed nor which threads wait for which. A branch counts as a selection
// between values if its sides meet again and contain only computations and weak accesses. The
// number of rounds of a retry loop (retry_loops.h) counts as data, too.
//
// What goes only into faint registers (liveness.h, [RED-FAINT]) goes nowhere: it says how long to
// sleep, or which of two ways to take that do nothing else. A wait that backs off is such a place.
//
// The threads of a warp are taken for one thread, and the local memory of a thread for one object:
// a value goes from any warp collective to the results of all those of the same opcode, since lanes
// that stand at different ones may meet, and from any store to local memory to all loads that may
// read there. In a function that others call, or that calls others, what goes into a collective or
// into local memory decides (flow.h: is_closed). There only the reader of `stored`, `placed` and
// `maybe` knows whether a store to a generic address reaches local memory.
//
// Conservative: the result may be too large, never too small. The analysis does not distinguish
// between the definitions of a register, and it assumes that an instruction of an unknown kind
// decides.
#pragma once

#include "analysis/bit_vector.h"
#include "analysis/cfg.h"
#include "analysis/flow.h"
#include "analysis/origins.h"
#include "analysis/retry_loops.h"
#include "ptx/module.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace heddle::analysis {

class ValueFlow {
public:
  struct Options {          // for tests of tests
    bool any_guess = false; // see retry_loops()
    bool forgets_local = false, forgets_lanes = false;
  };
  explicit ValueFlow(const ptx::Function& function) : ValueFlow(function, Options()) {}
  ValueFlow(const ptx::Function& function, Options options);

  struct Reach {
    bool decides = false;
    bool retries =
        false; // the number of rounds of a retry loop depends on it; assumed to be finite
    BitVector stored, placed, maybe; // by instruction
  };
  const ptx::Function& function() const { return function_; }
  /// The reference stays valid as long as this object.
  const Reach& from(std::uint32_t instruction);

  /// Does it follow values through local memory? If not, a store to a generic address may take them
  /// where this analysis does not see them.
  bool follows_local() const { return closed_; }

private:
  struct Reached;
  void find_faint();
  bool select(std::uint32_t branch, BitVector& registers, Reach& reach);
  bool may_access_local(const ptx::Instruction& i);
  void pass_on(std::uint32_t instruction, Reached& reached, Reach& reach);
  void take_destination(std::uint32_t instruction, Reached& reached) const;
  void pass_through_local(Reached& reached, Reach& reach);

  const ptx::Function& function_;
  Options options_;
  bool closed_;             // is_closed()
  bool has_local_ = false;  // local memory whose address may be taken
  std::optional<Cfg> cfg_;  // built on first use, and so is what follows
  BitVector idle_, unused_; // Liveness::Of::Effects
  std::optional<Origins> origins_;
  std::optional<std::vector<RetryLoop>> retry_loops_;
  std::unordered_map<std::uint32_t, Reach> known_;
};

/// If only one side of a branch executes it, can the sides differ in data only?
bool is_computation(const ptx::Instruction& i, bool has_destination);

/// Is an operand a special register, for example a clock?
bool reads_special_register(const ptx::Instruction& i);

} // namespace heddle::analysis

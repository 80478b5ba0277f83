// NanChains: f64 operations that share one look for NaN.
//
// An f64 operation whose result is NaN has the bits of a certain operand, and a processor takes
// another one's. Code that looks for that after each operation is half of a kernel of doubles. In a
// region that guesses, operations that follow each other form a *chain*: each keeps what the
// processor has computed, and the chain ends with one look. If that finds a NaN in a lane that
// executes, the region is left in front of the chain, and the interpreter executes it again.
//
// Why one look is enough: an operation of a chain hands a NaN on if NaN in that operand makes its
// result NaN, whatever the other operands (sum, product, quotient, fma, root). If such a result is
// not NaN, the operand was not NaN either. So the look asks for the results that no later operation
// of the chain hands on, and if none of them is NaN, no result of the chain is, and all of them
// have PTX's bits.
//
// Other ops between them (comparisons, min, max, conversions, copies, loads) may have used a NaN
// with wrong bits. The interpreter executes them again, too. An op behind which it could not go
// back (a store, a branch, the write of a register that is read in front of the chain) ends the
// chain: the look comes before it. So does an access after such a use: a wrong address could be a
// fault.
//
// May be wrong in one direction: a chain may end sooner than it has to.
#pragma once

#include "jit/register_map.h"
#include "jit/uniformity.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace heddle::jit {

class NanChains {
public:
  /// `restart[k]`: in front of which op the region can be left in the place of op k
  /// (RegionBuilder::find_restarts). `may_defer(k)`: op k has a LaneFunction, and is executed
  /// by all lanes that execute the ops around it.
  NanChains(
      const RegisterMap& registers,
      const std::vector<PlannedOp>& ops,
      const std::vector<std::uint32_t>& restart,
      const std::function<bool(std::uint32_t)>& may_defer
  );
  /// Without chains.
  NanChains() = default;

  /// Does op k keep the processor's result?
  bool defers(std::uint32_t k) const { return k < defers_.size() && defers_[k]; }
  /// Where a chain ends: the ops whose results must not be NaN.
  struct Look {
    std::vector<std::uint32_t> results;
    bool within = false; // behind what op k computes and before it writes; else in front of op k
  };
  /// nullptr: none.
  const Look* look_at(std::uint32_t k) const {
    const auto it = looks_.find(k);
    return it != looks_.end() ? &it->second : nullptr;
  }

private:
  /// An operation that may belong to a chain.
  struct Operation {
    std::vector<bool> hands_on; // by input
  };
  static std::optional<Operation> operation(const PlannedOp& op);
  class Walk;

  std::vector<bool> defers_; // by op
  std::map<std::uint32_t, Look> looks_;
};

} // namespace heddle::jit

// Waiting: where lanes of a group may wait while others of it execute an op.
//
// Lanes that part at a branch stay in the region: those at the lowest op go on, and the others wait
// at *places*: the target of a forward branch, the op behind a backward one. Who comes to a place
// goes on together with those that wait there. So nobody waits at an op below the one that is
// executed, and a jump over a place at which somebody waits leads to that place first. Lanes that
// wait move when the others have come to them; the fuel of backward branches bounds how long that
// takes, and then the interpreter gives turns.
//
// The sets only grow, with the branches on which lanes may part: jit/uniformity.h.
#pragma once

#include "isa/op.h"
#include "ptx/bit_vector.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace heddle::jit {

struct PlannedOp;

class Waiting {
public:
  Waiting(const isa::Code& code, const std::vector<PlannedOp>& ops);

  /// Takes into account on which branches lanes may part. True if some set has grown.
  bool follow(const std::function<bool(std::uint32_t op)>& parts);
  /// Ascending; all of them behind `op`. Empty: all lanes of the group execute it.
  std::vector<std::uint32_t> at(std::uint32_t op) const;
  bool some_at(std::uint32_t op) const { return some_[op]; }
  /// May anybody wait there?
  bool is_place(std::uint32_t op) const { return number_[op] != none && used_[number_[op]]; }

private:
  static constexpr std::uint32_t none = ~0U;
  bool add(std::uint32_t op, const ptx::BitVector& waiting);
  bool jump(std::uint32_t from, std::uint32_t to);

  const isa::Code& code_;
  const std::vector<PlannedOp>& ops_;
  std::vector<std::uint32_t> places_; // that are possible, ascending
  std::vector<std::uint32_t> number_; // by op: index in places_
  std::vector<bool> used_;            // by place
  std::vector<ptx::BitVector> sets_;  // by op: of places
  std::vector<bool> some_;            // by op
};

} // namespace heddle::jit

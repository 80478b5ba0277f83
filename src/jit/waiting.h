// Waiting: where lanes of a group may wait while others of it execute an op.
//
// Lanes that part at a branch stay in the region: those at the lowest op go on, and the others wait
// at *places*: the target of a forward branch, the op behind a backward one. Who comes to a place
// goes on together with those that wait there. A jump over a place at which somebody waits leads to
// that place first. Lanes that wait move when the others have come to them; the fuel of backward
// branches bounds how long that takes, and then the interpreter gives turns.
//
// A *late join* is an op at which lanes that part at a branch certainly meet again, and that does
// not lie behind that branch: what a loop begins with, for two ways through its body. There the
// lowest op is not a good choice: lanes that come there by a jump wait for those that are still
// between.
//
// All of this says only which lanes go first; any order is right. The sets only grow, with the
// branches on which lanes may part: jit/uniformity.h.
#pragma once

#include "analysis/bit_vector.h"
#include "analysis/cfg.h"
#include "isa/op.h"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace heddle::jit {

struct PlannedOp;

class Waiting {
public:
  Waiting(const isa::Code& code, const std::vector<PlannedOp>& ops, const analysis::Cfg& cfg);

  /// Takes into account on which branches lanes may part. True if some set has grown.
  bool follow(const std::function<bool(std::uint32_t op)>& parts);
  /// Ascending. Empty: all lanes of the group execute it.
  std::vector<std::uint32_t> at(std::uint32_t op) const;
  bool some_at(std::uint32_t op) const { return some_[op]; }
  /// May anybody wait there?
  bool is_place(std::uint32_t op) const { return number_[op] != none && used_[number_[op]]; }
  /// Of those that may wait while `from` is executed: the places that come before `to`, ascending,
  /// when all lanes jump there.
  std::vector<std::uint32_t> before(std::uint32_t from, std::uint32_t to) const;
  /// Where the lanes wait that take the branch, if some do not: its target, or the op behind it for
  /// those that do not.
  bool taken_waits(std::uint32_t branch) const;

private:
  static constexpr std::uint32_t none = ~0U;
  bool add(std::uint32_t op, const analysis::BitVector& waiting);
  bool jump(std::uint32_t from, std::uint32_t to);
  void find_late_join(std::uint32_t branch);

  const isa::Code& code_;
  const std::vector<PlannedOp>& ops_;
  const analysis::Cfg& cfg_;
  std::vector<std::uint32_t> places_;     // that are possible, ascending
  std::vector<std::uint32_t> number_;     // by op: index in places_
  std::vector<bool> used_;                // by place
  std::vector<analysis::BitVector> sets_; // by op: of places
  std::vector<bool> some_;                // by op
  std::vector<std::uint32_t> join_;       // by branch that parts lanes: its late join, or none
  std::map<std::uint32_t, std::vector<bool>> between_; // by late join: ops before it
};

} // namespace heddle::jit

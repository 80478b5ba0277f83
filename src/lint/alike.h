// alike.h: which values depend on the lane alone, so that lane 3 of each warp holds the same one.
//
//   alike.update(value);             // again whenever something below it may have changed
//   alike.has_like_operands(vote);   // each warp votes over the same values: one result for the
//   block
//
// Libraries let each warp compute by itself what the whole block then follows: each lane reads one
// of the elements that all warps can read, and the warp votes, shuffles or reduces (the tiles of
// CUTLASS's grouped kernels, partial sums). The answer starts with "alike" and only ever falls to
// "differs", together with the levels of uniformity.h.
//
// In which direction it errs: lanes that load from the same address in different warps are taken to
// read the same value, whoever writes it. That can hide a defect; it causes no false report.
#pragma once

#include "lint/dataflow.h"

namespace heddle::lint {

class Uniformity;

class Alike {
public:
  explicit Alike(const Uniformity& uniformity);

  /// Looks at a value once more; true: the answer has changed.
  bool update(ValueId id);
  /// Looks at the condition of a branch once more; true: the answer has changed.
  bool update_branch(std::uint32_t block);
  bool branch_differs(std::uint32_t block) const { return branches_[block] != 0; }
  void mark_join(std::uint32_t block) { joins_[block] = 1; }
  void mark_loop(std::uint32_t loop) { loops_[loop] = 1; }
  bool has_like_operands(ValueId id) const;

private:
  bool differs(ValueId id) const;
  bool code_differs(ValueId id, const Instruction& code) const;
  bool any_operand_differs(ValueId id) const;
  bool seen_differs(ValueId operand, std::uint32_t user) const;
  bool has_other_lanes(std::uint32_t block) const;

  const Uniformity& uniformity_;
  const Dataflow& flow_;
  std::vector<char> values_, branches_;
  std::vector<char> joins_; // blocks where lanes meet that came different ways in different warps
  std::vector<char> loops_; // loops that the same lane leaves at different trips in different warps
};

} // namespace heddle::lint

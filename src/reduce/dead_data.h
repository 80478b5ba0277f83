// DeadData: what the name of a cluster leaves out of its shared memory ([RED-CONE],
// [RED-OVERWRITTEN]). What it leaves out of global memory the journal asks Cone for; what it leaves
// out of registers and local memory, LiveState.
#pragma once

#include "reduce/cone.h"
#include "reduce/image.h"
#include "reduce/mutant.h"
#include "reduce/work.h"

#include <cstdint>

namespace heddle::reduce {

class DeadData {
public:
  /// `by_decisions`: Stepper::Options.
  DeadData(bool by_decisions, const Cone& cone, Mutant mutant)
      : by_decisions_(by_decisions),
        cone_(cone),
        mutant_(mutant) {}

  bool by_decisions() const { return by_decisions_; }
  /// Which variables of a cluster's shared memory nothing is decided by, or are written before they
  /// are read again: its threads may read some, and some of them certainly write others, before
  /// they meet.
  std::uint64_t
  left_out_of_shared(const Work& work, std::uint64_t read, std::uint64_t written) const;
  /// The sum of shared memory without the contents of some variables of the kernel.
  static HashSum sum_of(const Work& work, const ImageShared& shared, std::uint64_t left_out);

private:
  bool is(Mutant mutant) const { return mutant_ == mutant; }

  bool by_decisions_;
  const Cone& cone_;
  Mutant mutant_;
};

} // namespace heddle::reduce

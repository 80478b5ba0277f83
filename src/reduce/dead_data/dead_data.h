// DeadData: the third of the four parts of the reductions (spec/reductions.md): what the name of a
// state leaves out, because nothing is decided by it.
//
//   dead.left_out_of_shared(work, read, written)   // variables of a cluster ([RED-OVERWRITTEN])
//   dead.cone()                                    // the monitor ([RED-CONE])
//
// What names leave out of global memory the journal asks Cone for; what they leave out of registers
// and local memory, LiveState ([RED-FAINT]).
#pragma once

#include "reduce/dead_data/cone.h"
#include "reduce/mutant.h"
#include "reduce/options.h"
#include "reduce/states/image.h"
#include "reduce/states/machine.h"
#include "reduce/states/work.h"

#include <cstdint>

namespace heddle::reduce {

class DeadData {
public:
  DeadData(Machine& machine, const StepperOptions& options)
      : by_decisions_(options.dead_data.by_decisions),
        mutant_(options.mutant),
        cone_(
            machine.exec,
            machine.world.space(),
            machine.live,
            options.learned,
            options.dead_data.host_decides,
            options.mutant
        ) {
    if (by_decisions_) {
      machine.journal.tell(cone_);
      machine.journal.leave_out(cone_);
    }
  }

  /// The monitor of that.
  Cone& cone() { return cone_; }
  const Cone& cone() const { return cone_; }
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
  Mutant mutant_;
  Cone cone_;
};

} // namespace heddle::reduce

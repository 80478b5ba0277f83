// What is told of barriers: which epoch of a block has begun (sums.h), what threads know of each
// other because of them (phases.h, barrier_turns.h, weak_barriers.h), and whether a block ends that
// others visit ([RED-NEIGHBOURS]).
#pragma once

#include "isa/exec.h"
#include "model/weak_barriers.h"
#include "reduce/mutant.h"
#include "reduce/states/work.h"

namespace heddle::reduce {

/// Once for each work, when its clusters and Work::progress have been made. `weak`: nullptr, memory
/// is sequentially consistent.
void watch_barriers(Work& work, const isa::Exec& exec, WeakOrder* weak, Mutant mutant);

/// Has a block ended that others have visited, and that has not waited for a meeting of the cluster
/// since? Then it may end before such a visit, unless something else orders them.
bool some_gone(const Work::Progress& progress, Cluster& cluster);

} // namespace heddle::reduce

// Rank 0 of an MPI job: a process of its own checks and reports. The one that the launcher has
// started speaks MPI for it (rank_relay.h).
//
//   if (told_rank() == 0) {
//     return check_as_rank_0(options);
//   }
//
// Whichever of the two, another rank, or the launcher is killed: there is a report. The process
// that checks is in a process group of its own, so a launcher that ends its job does not reach it;
// it is told by rank 0, or notices that that one has ended (job_watch.h), and reports what has been
// found until then. If it is killed itself, rank 0 says that.
//
// If all ranks are on one machine, a search needs nothing of the others but their processors, and
// does not wait for MPI to start: it goes *ahead*, while rank 0 starts MPI, compares the programs
// of all ranks, and ends MPI. The process says nothing, and writes no file, before all ranks agree.
// If they do not, or MPI says something else than the launcher did, what it has done is dropped. (A
// thread would not do: MPI changes the environment while it starts, and others read it.)
//
// May be wrong: how many processors there are together is a guess where the launcher has bound the
// ranks to some; then such a search has too few processes, or more than processors.
#pragma once

#include "cli/check/check.h"

namespace heddle::cli {

/// The exit code.
int check_as_rank_0(const CheckOptions& options);

/// The same for any process that has joined the others; null: no launcher has started it.
int check_on(Ranks* ranks, const CheckOptions& options);

} // namespace heddle::cli

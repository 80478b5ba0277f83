// Rank 0 of an MPI job whose ranks are all on one machine: it needs nothing of the others but their
// processors, so it does not wait for MPI. A process of its own checks, while the rank starts MPI,
// compares the programs of all ranks, and ends MPI.
//
//   if (const auto told = Ranks::told_on_one_machine(); told && may_go_ahead(options, *told)) {
//     return check_ahead(options, *told);
//   }
//
// The process says nothing, and writes no file, before all ranks agree. If they do not, or MPI says
// something else than the launcher did, what it has done is dropped. (A thread would not do: MPI
// changes the environment while it starts, and others read it.)
//
// May be wrong: how many processors there are together is a guess where the launcher has bound the
// ranks to some; then a search has too few processes, or more than processors.
#pragma once

#include "cli/check.h"

namespace heddle::cli {

/// Not where more than the search needs the other ranks, nor where the check writes more than its
/// report.
bool may_go_ahead(const CheckOptions& options, const Ranks::Told& told);
/// The exit code, in the rank and in the process that checks.
int check_ahead(const CheckOptions& options, const Ranks::Told& told);

/// What is done otherwise, from the start of MPI on; `prepared`: the program is, already.
int join_and_check(const CheckOptions& options, const Result<Prepared>* prepared = nullptr);
/// The same, with MPI (null: no launcher).
int check_on(Ranks* ranks, const CheckOptions& options, const Result<Prepared>* prepared);

} // namespace heddle::cli

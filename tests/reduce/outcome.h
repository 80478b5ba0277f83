// What a search says of a program, and when two searches agree.
//
//   Outcome outcome = outcome_of(graph, faults);
//   contradiction(reference, reduced)      // empty: they agree
//
// A program hangs if an endless execution is allowed (explore/progress_graph.h). Endless executions
// of one kind in which the same operations are done for ever are one finding. Names of threads:
// where threads are alike a search names one of them, so a reduced search may name fewer than the
// reference.
#pragma once

#include "explore/progress_graph.h"
#include "machine/stepper.h"

#include <map>
#include <set>
#include <string>

namespace heddle::reduce {

struct Outcome {
  bool complete = true;
  // What is found ("fault …", or who does what for ever), and who may be guilty of it.
  std::map<std::string, std::set<std::string>> findings;
  bool straight = false; // no way leads back to any state
  std::size_t states = 0;
  bool hangs() const { return !findings.empty(); }
};

/// Why a move is owed, as the explorer sees it.
explore::Rule owed_by(const machine::Stepper::Move& move);
explore::Step step_of(machine::StepKind kind);

Outcome outcome_of(const explore::ProgressGraph& graph, const std::set<std::string>& faults);

/// What a reduced search says that the reference does not, or does not say; empty: nothing.
std::string contradiction(const Outcome& reference, const Outcome& reduced);

} // namespace heddle::reduce

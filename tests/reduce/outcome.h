// What a search says of a program, and when two searches agree.
//
//   Outcome outcome = outcome_of(graph, faults);
//   contradiction(reference, reduced)      // empty: they agree
//
// A program hangs if an endless execution is allowed (explore/judge/progress_graph.h). As in
// reports (explore/verdict/verdict.cpp), endless executions in which the same operations are done
// forever, or in which threads are blocked at the same ones, are one finding; told is the one in
// which fewest others could still move. Where threads are alike a search names one of them, so a
// reduced search may name fewer than the reference, but no other ones.
#pragma once

#include "explore/judge/progress_graph.h"
#include "reduce/stepper.h"

#include <map>
#include <set>
#include <string>

namespace heddle::enumeration {

struct Finding {
  std::string kind;             // "deadlock"
  std::size_t others = 0;       // could still move
  std::set<std::string> guilty; // who goes on forever, or is blocked
};

struct Outcome {
  bool complete = true;
  std::map<std::string, Finding> findings; // by what is done forever
  bool straight = false;                   // no way leads back to any state
  bool one_name = true;                    // states of one name go on in the same ways
  bool known_is_true = true;               // moves do what is known of them
  bool bounded = false;                    // not every value of a clock was tried: claims nothing
  std::size_t states = 0, moves = 0;
  bool hangs() const { return !findings.empty(); }
};

/// Who is blocked in a state, and where; only of states in which nobody moves.
struct Blocked {
  std::string site, thread;
  auto operator<=>(const Blocked&) const = default;
};
using BlockedIn = std::map<explore::StateId, std::set<Blocked>>;

Outcome outcome_of(
    const explore::ProgressGraph& graph,
    const BlockedIn& blocked,
    const std::set<std::string>& faults
);

/// What a reduced search says that the reference does not, or does not say; empty: nothing.
std::string contradiction(const Outcome& reference, const Outcome& reduced);

} // namespace heddle::enumeration

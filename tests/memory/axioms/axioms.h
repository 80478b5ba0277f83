// The axioms of the PTX memory consistency model (PTX ISA 9.0, chapter 8) over the executions of a
// litmus program: every reads-from, every coherence order, every Fence-SC order.
//
// Written from the text of the PTX ISA alone, and shares nothing with src/weak but the names of
// scopes. Coherence order is enumerated as a total order. In an execution without a data race it is
// one. If an execution with a partial order has a race, then so has one with a total order: up to
// the first race they are the same.
#pragma once

#include "memory/litmus.h"

namespace heddle::litmus::axioms {

struct Result {
  Outcomes all;     // whatever the axioms allow
  Outcomes ordered; // where program order and reads-from have no circle
  Outcomes bounded; // [MEM-BOUND] where program order, reads-from and Fence-SC order have no cycle
};
Result outcomes(const Program& p);
/// Without `all`, which is as `ordered`, in the way that is needed where what is read decides (a
/// value, a place, a branch, a compare-and-swap). outcomes() does that with such programs.
Result built_outcomes(const Program& p);

} // namespace heddle::litmus::axioms

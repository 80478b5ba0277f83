// SearchFacts: what has happened at least once since a search began, for its verdict.
#pragma once

#include "reduce/stepper_parts.h"
#include "weak/weak_memory.h"

#include <string>

namespace heddle::reduce {

struct SearchFacts {
  bool dependency = false;   // a grid had to wait for another one
  bool choice = false;       // a move that its cluster does not run through, or a strong access
  bool plain_access = false; // a thread made a plain access to memory that others see
  // Data depended on an order that was not chosen, and the host may decide by it.
  bool unordered = false;
  bool retries = false;       // how often an update was tried did
  bool host_got_data = false; // DeadDataOptions::by_decisions: the host has got data of devices
  // Plain writes of one value that nothing orders have been taken for no data race.
  bool same_value = false;

  // --- What was not tried ------------------------------------------------------------------------
  bool more_orders = false;     // of lanes or sides
  bool more_looks = false;      // at a clock before a time limit
  bool more_active = false;     // sets of lanes that activemask could have named
  bool more_old_values = false; // of a place that could have been read, or raced with
  // Bytes have arrived at an mbarrier when their copy was issued, although a thread may tell that
  // from a later arrival ([RED-PHASES]).
  bool late_arrivals = false;
  bool reductions_at_once = false; // an asynchronous one has changed memory when it was issued
  // A strong access of a vector was one move: PTX has one for each element, in any order.
  bool vectors_at_once = false;
  std::string times; // by what a clock shows something is decided in more ways; "": by none
  weak::WeakMemory::ScFences sc_fences = {}; // what has been seen of their order
};

SearchFacts facts_of(const StepperParts& parts);

} // namespace heddle::reduce

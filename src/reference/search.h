// Every state and every move of a program, and what follows: may it hang, fail or race?
//
//   const std::optional<Outcome> outcome = search(system, 200'000);   // nothing: there are more
//   states
//
// A data race is there if in some state two threads can both make their next access, the accesses
// overlap, one of them writes, and not both are strong (spec/races.md): either may come first. A
// program that has one is undefined, so nothing else is said of it.
#pragma once

#include "reference/system.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>

namespace heddle::reference {

struct Outcome {
  std::size_t states = 0, moves = 0;
  std::string
      refused; // not empty: what some thread does and the reference does not know; no more is said
  std::set<std::string> faults;
  bool races = false;
  // Who is in an endless execution: threads that move in it; those that are blocked where nobody
  // moves.
  std::set<std::string> endless, deadlocked;
  bool loops = false; // in one of them nobody takes a step ([HANG-LOOP])
  bool hangs() const { return !endless.empty() || !deadlocked.empty(); }
};

std::optional<Outcome> search(System& system, std::size_t most_states);

} // namespace heddle::reference

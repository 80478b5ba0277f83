// What is true of a random program, by a search that shares no reduction with those that are compared with it.
//
//   const Oracle oracle = ask(generated, program, {.states = 5'000});
//   oracle.why_not                      // not empty: there is no answer
//   disagreement(oracle, found)         // empty: a search that has found this is right
#pragma once

#include "reduce/outcome.h"
#include "reference/generator.h"

#include <cstddef>
#include <string>

namespace heddle::differ {

struct Oracle {
  std::string why_not;
  enumeration::Outcome outcome{};
  bool by_reference = false; // src/reference; else the search of tests/reduce/reference_search.h
  bool others = false;       // it may have left out values of a clock
};

/// By the reference; what it does not know, by a search without reductions. `most_states`: there is no answer for
/// programs with more.
Oracle
ask(const Generated& generated, const enumeration::MicroProgram& program, std::size_t most_states);

std::string disagreement(const Oracle& oracle, const enumeration::Outcome& found);

} // namespace heddle::differ

// Random programs, one after the other: what is true of each, and which searches say something else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::differ {

struct Asked {
  std::uint64_t seed = 1;
  std::uint64_t programs = 1000;
  unsigned seconds = 0; // 0: no limit
  unsigned length = 5;
  std::size_t states = 5'000; // of the reference
  unsigned fired = 0;         // each reduction must have changed so many searches, at least
  unsigned pairs = 3;         // searches with one reduction or two, for each program
  bool show = false;
  bool keep = false; // as it was drawn
  std::string with;  // not empty: these reductions alone
  std::vector<std::string> files; // with programs, in the place of drawn ones
  bool mutants = false;
  std::string mutant; // part of the names of those that are meant
};

/// Compares, and prints what was done. 1: there was a disagreement, or a reduction has changed too few searches.
int compare(const Asked& asked);
/// Breaks each reduction on purpose; prints which program notices it, and last those that none has.
int look_for_mutants(const Asked& asked);

} // namespace heddle::differ

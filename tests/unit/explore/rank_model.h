// RankModel: searches of one small system on several ranks, in all interleavings. The rules are the
// product's own (claim_rule.h, rank_work.h); tables, boards and messages are small copies of them.
//
//   const RankModel model(system, ranks, mutant);
//   const RankModel::Result result = model.run(false); // result.problem is empty: nothing is wrong
#pragma once

#include "explore/ranks/rank_mutant.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::explore {

/// States, the moves of devices between them, and one way of a host thread in some of them. The
/// search begins in state 0.
struct SmallSystem {
  static constexpr unsigned most = 4;       // states
  static constexpr std::uint8_t none = 255; // no way
  unsigned states = 1;
  std::array<std::uint8_t, most> device{}; // by state: to which states, as bits
  std::array<std::uint8_t, most> way{none, none, none, none};
  bool always = false; // ways are asked for wherever somebody arrives, else where the host does
  unsigned moves() const;
  /// Are all states met, and is this the first of those that differ in the names of states?
  bool is_wanted() const;
  std::string text() const;
};

/// All with so many states and at most so many moves that are wanted.
std::vector<SmallSystem> small_systems(unsigned states, unsigned moves);

class RankModel {
public:
  RankModel(const SmallSystem& system, unsigned ranks, RankMutant mutant)
      : system_(system),
        ranks_(ranks),
        mutant_(mutant) {}
  struct Result {
    std::size_t situations = 0; // of all ranks together
    std::size_t ends = 0;       // of them: rank 0 says that the search is over …
    std::size_t void_ends = 0;  // … and that one rank has to make it again
    std::string problem;
  };
  /// `serves`: rank 0 has got its first piece of work from itself, so that it is like the others.
  Result run(bool serves) const;

private:
  SmallSystem system_;
  unsigned ranks_;
  RankMutant mutant_;
};

} // namespace heddle::explore

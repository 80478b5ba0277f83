// RankTally: how far all ranks of one search are, as rank 0 sees it: for the line that says so, and
// for --max-states.
//
//   tally.claimed(claim);                 // every claim that this rank makes or hears of
//   tally.heard(rank, part);              // what another rank says of itself, once in a second
//   tally.states()  tally.of_others()
//
// Two ranks may have the same state, so their numbers cannot be added up. Claims can be counted:
// the different ones, exactly up to some ten thousand, and beyond that by a sample of their hashes
// that is made sparser as it fills up (Wegman's adaptive sampling; Flajolet, "On adaptive
// sampling", 1990), within about half a per cent.
#pragma once

#include "base/hash.h"

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace heddle::explore {

class RankTally {
public:
  explicit RankTally(int ranks) : parts_(static_cast<std::size_t>(ranks)) {}

  void claimed(const Hash128& claim);
  /// Different states whose moves of devices some rank has claimed.
  std::uint64_t states() const { return std::uint64_t{sample_.size()} << skipped_bits_; }
  /// That many are more than `most`, whatever the sample may be off.
  bool are_more_than(std::uint64_t most) const;

  /// What a rank says of itself.
  struct Part {
    std::uint64_t depth = 0, open_moves = 0;
    std::uint32_t processes = 0;
    double open_share = 0; // of executions that go where it has not been yet
  };
  void heard(int rank, const Part& part) { parts_[static_cast<std::size_t>(rank)] = part; }
  /// Together; `depth`: the deepest.
  Part of_others() const;

private:
  static constexpr std::size_t most_in_sample = 1 << 16;

  std::unordered_set<std::uint64_t> sample_;
  unsigned skipped_bits_ = 0; // of a hash, which are zero in the sample
  std::vector<Part> parts_;   // by rank
};

} // namespace heddle::explore

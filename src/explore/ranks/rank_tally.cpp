// Implements rank_tally.h.
#include "explore/ranks/rank_tally.h"

#include "explore/ranks/rank_board.h"

#include <algorithm>

namespace heddle::explore {

void RankTally::claimed(const Hash128& claim) {
  const auto is_in = [this](std::uint64_t hash) {
    return (hash & ((std::uint64_t{1} << skipped_bits_) - 1)) == 0;
  };
  if (!is_claim_of_devices(claim) || !is_in(claim.high)) {
    return;
  }
  sample_.insert(claim.high);
  while (sample_.size() > most_in_sample) {
    ++skipped_bits_;
    std::erase_if(sample_, [&](std::uint64_t hash) { return !is_in(hash); });
  }
}

bool RankTally::are_more_than(std::uint64_t most) const {
  // At least half of the sample's room is taken: eight standard deviations.
  constexpr std::uint64_t parts = 22;
  return states() > most + (skipped_bits_ != 0 ? most / parts : 0);
}

RankTally::Part RankTally::of_others() const {
  Part sum;
  for (const Part& part : parts_) {
    sum.depth = std::max(sum.depth, part.depth);
    sum.open_moves += part.open_moves;
    sum.processes += part.processes;
    sum.open_share += part.open_share;
  }
  return sum;
}

} // namespace heddle::explore

// Implements few_moves.h.
#include "explore/strategy/few_moves.h"

#include "reduce/persistent_sets.h"

#include <algorithm>
#include <tuple>

namespace heddle::explore {

std::uint64_t keep_few(
    reduce::Stepper& stepper,
    std::span<const reduce::Stepper::Move> moves,
    std::vector<std::size_t>& tried,
    std::uint64_t left
) {
  if (stepper.works().may_call_host()) {
    return 0; // the host may see whether a copy has been carried out
  }
  const auto first = std::ranges::find_if(tried, [&](std::size_t m) {
    return stepper.works().commutes(moves[m]);
  });
  if (first != tried.end()) {
    tried = {*first};
    return 0;
  }
  if (!std::ranges::all_of(tried, [&](std::size_t m) { return stepper.can_undo(moves[m]); })) {
    return 0;
  }
  if (const auto some = answers_of_one_warp(stepper, moves); !some.empty()) {
    const auto before = static_cast<std::size_t>(some.data() - moves.data());
    std::erase_if(tried, [&](std::size_t m) { return m - before >= some.size(); });
    return 0;
  }
  const std::uint64_t alike = left != 0 ? left : only_last_matters(stepper, moves);
  if (alike > last_ones(stepper)) {
    std::uint64_t clusters = 0;
    std::size_t kept = 0;
    while (clusters < last_ones(stepper)) {
      clusters += moves[tried[kept++]].count;
    }
    tried.resize(kept);
  }
  return alike;
}

void keep_alone(std::span<const reduce::Stepper::Move> moves, std::vector<std::size_t>& tried) {
  const auto one = std::ranges::find_if(tried, [&](std::size_t m) { return moves[m].alone; });
  if (one == tried.end()) {
    return;
  }
  const auto who = [](const reduce::Stepper::Move& m) {
    return std::tuple(m.work, m.cluster, m.block, m.warp, m.lane);
  };
  const auto its = who(moves[*one]);
  std::erase_if(tried, [&](std::size_t m) { return !moves[m].thread || who(moves[m]) != its; });
}

} // namespace heddle::explore

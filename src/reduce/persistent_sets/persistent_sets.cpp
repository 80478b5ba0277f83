#include "reduce/persistent_sets/persistent_sets.h"

#include "reduce/states/stepper_work.h"
#include "reduce/stepper.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace heddle::reduce {

namespace {

constexpr std::uint64_t last_ones_matter = 3;
constexpr std::uint64_t most_tried = 1 << 16; // moves

bool same(const WordPart& a, const WordPart& b) {
  return a.at == b.at && a.mask == b.mask && a.value == b.value;
}

/// What the move changes in memory, if all that it does besides is to end its cluster. Everything
/// is as before.
std::optional<std::vector<WordPart>> changed_at_end(Stepper& stepper, const Move& move) {
  const Stepper::Mark here = stepper.mark();
  std::optional<std::vector<WordPart>> result;
  const bool fine = stepper.step(move);
  const bool alone = stepper.mark().log == here.log + 1; // no command has completed
  if (fine && alone && stepper.works()[move.work]->images[move.cluster]->ended) {
    result = stepper.memory().changed_since(here.memory);
  }
  stepper.undo_to(here);
  return result;
}

/// Lanes of the warp that makes the move which have not ended.
isa::LaneMask live_lanes(const Stepper& stepper, const Move& move) {
  const Work& work = *stepper.works()[move.work];
  const std::vector<ThreadClass>& threads = work.images[move.cluster]->threads;
  const std::size_t first = thread_of(work, move) / isa::warp_size * isa::warp_size;
  isa::LaneMask live = 0;
  for (std::size_t t = 0; t < isa::warp_size && first + t < threads.size(); ++t) {
    live |= isa::LaneMask{threads[first + t] != 0} << t;
  }
  return live;
}

/// Of moves from `first` on, those of the same warp.
std::span<const Move> of_one_warp(std::span<const Move> moves, std::size_t first) {
  const auto place = [](const Move& m) { return std::tie(m.work, m.cluster, m.block, m.warp); };
  std::size_t last = first;
  while (last < moves.size() && place(moves[last]) == place(moves[first])) {
    ++last;
  }
  return moves.subspan(first, last - first);
}

} // namespace

std::uint64_t keep_few(
    Stepper& stepper,
    std::span<const Move> moves,
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
  if (stepper.assumed().persistent.in_groups) {
    if (std::vector<std::size_t> group = stepper.persistent().groups().one_group(moves);
        !group.empty()) {
      std::ranges::sort(group);
      tried = std::move(group);
      return 0;
    }
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

void keep_alone(std::span<const Move> moves, std::vector<std::size_t>& tried) {
  const auto one = std::ranges::find_if(tried, [&](std::size_t m) { return moves[m].alone; });
  if (one == tried.end()) {
    return;
  }
  const auto who = [](const Move& m) {
    return std::tuple(m.work, m.cluster, m.block, m.warp, m.lane);
  };
  const auto its = who(moves[*one]);
  std::erase_if(tried, [&](std::size_t m) { return !moves[m].thread || who(moves[m]) != its; });
}

std::uint64_t last_ones(const Stepper& stepper) {
  return stepper.assumed().mutant_is(Mutant::LastOnesTwo) ? 2 : last_ones_matter;
}

std::uint64_t only_last_matters(Stepper& stepper, std::span<const Move> moves) {
  const auto goes_alone = [](const Image* image) {
    return image->ended ||
           (image->ready.size() == 1 && (!image->loose || image->ready.front().count == 1));
  };
  std::uint64_t clusters = 0;
  for (const Move& move : moves) {
    if (!move.thread || move.through || move.endless || move.heap || move.work != moves[0].work ||
        !std::ranges::all_of(stepper.works()[move.work]->images, goes_alone)) {
      return 0;
    }
    clusters += move.count;
  }
  if (clusters <= last_ones(stepper) || clusters * moves.size() > most_tried) {
    return 0;
  }
  const Stepper::Mark here = stepper.mark();
  bool holds = true;
  for (std::uint64_t left = clusters;
       holds &&
       left >= (stepper.assumed().mutant_is(Mutant::LastOnesUntried) ? clusters : last_ones_matter);
       --left) {
    std::vector<WordPart> changes;
    for (std::size_t m = 0; holds && m < moves.size(); ++m) {
      const auto changed = changed_at_end(stepper, moves[m]);
      holds = changed && changed->size() <= 1 &&
              (m == 0 || std::ranges::equal(*changed, changes, same));
      changes = holds ? *changed : changes;
    }
    if (holds && changes.empty()) {
      break; // nor do they change later
    }
    stepper.memory().write(changes);
  }
  stepper.undo_to(here);
  return holds ? clusters : 0;
}

std::span<const Move> answers_of_one_warp(const Stepper& stepper, std::span<const Move> moves) {
  for (std::size_t first = 0; first < moves.size();) {
    const std::span<const Move> some = of_one_warp(moves, first);
    first += some.size();
    isa::LaneMask asking = 0;
    bool all_ask = true;
    for (const Move& move : some) {
      all_ask = all_ask && move.thread && !move.endless && asks_for_active(*move.code, *move.op);
      asking |= isa::LaneMask{1} << move.lane | move.lanes;
    }
    if ((all_ask || stepper.assumed().mutant_is(Mutant::ActiveOrNot)) &&
        asking == live_lanes(stepper, some.front())) {
      return stepper.assumed().mutant_is(Mutant::ActiveFirst) ? some.first(1) : some;
    }
  }
  return {};
}

} // namespace heddle::reduce

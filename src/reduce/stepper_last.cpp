// Implements the part of stepper.h that is about clusters of which only the last ones do something
// else: each takes a ticket, ends, and the last one goes on with what all have left ([RED-LAST]).
//
// In such a state each cluster has one move, which ends it and changes at most one word of memory,
// in the same way whoever makes it, as long as two more are left. So all moves but those of the
// last two commute. Of any three of the clusters at least one is not among the last two, so every
// execution is one that begins with a move of one of these three, up to the order of moves that
// commute. (A persistent set, see Godefroid, "Partial-order methods for the verification of
// concurrent systems", 1996.) Nothing is assumed of the program: the moves are tried out with every
// value that the word has until two are left.
#include "reduce/stepper_work.h"

#include <algorithm>
#include <tuple>

namespace heddle::reduce {

namespace {

constexpr std::uint64_t most_tried = 1 << 16; // moves

bool same(const WordPart& a, const WordPart& b) {
  return a.at == b.at && a.mask == b.mask && a.value == b.value;
}

} // namespace

/// What the move changes in memory, if all that it does besides is to end its cluster. Everything
/// is as before.
std::optional<std::vector<WordPart>> Stepper::changed_at_end(const Move& move) {
  const Mark here = mark();
  std::optional<std::vector<WordPart>> result;
  const bool fine = step(move);
  const bool alone = log_.size() == here.log + 1; // no command has completed
  if (fine && alone && works_[move.work]->images[move.cluster]->ended) {
    result = journal_.changed_since(here.memory);
  }
  undo_to(here);
  return result;
}
void Stepper::host_accesses(std::uintptr_t address, std::size_t bytes) {
  const memory::Range range = world_.space().find_range(address);
  if (range.size == 0) {
    return;
  }
  std::vector<Sums::WorkId> under_way;
  for (const auto& work : works_) {
    if (!work->done) {
      under_way.push_back(work->identity);
    }
  }
  // Where blocks start at once: what has been carried out early could as well still be to come.
  early_commands_.add_carried_out(under_way);
  const std::uint64_t place = address + static_cast<std::uint64_t>(range.delta);
  if (const auto* const at = static_cast<std::byte*>(world_.space().host_pointer(place, 1))) {
    followed_.order.host_accesses(at, bytes);
    clocks_.data().host_accesses(at, bytes);
  }
  constexpr std::uint64_t host = ~std::uint64_t{0};
  access_monitor_.sums().note_host(
      {.place = place,
       .bytes = static_cast<std::uint32_t>(bytes),
       .thread = host,
       .block = host,
       .contended = true,
       .of_host = true},
      under_way
  );
}

std::uint64_t Stepper::only_last_matters(std::span<const Move> moves) {
  const auto goes_alone = [](const Image* image) {
    return image->ended ||
           (image->ready.size() == 1 && (!image->loose || image->ready.front().count == 1));
  };
  std::uint64_t clusters = 0;
  for (const Move& move : moves) {
    if (!move.thread || move.through || move.endless || move.heap || move.work != moves[0].work ||
        !std::ranges::all_of(works_[move.work]->images, goes_alone)) {
      return 0;
    }
    clusters += move.count;
  }
  if (clusters <= last_ones() || clusters * moves.size() > most_tried) {
    return 0;
  }
  const Mark here = mark();
  bool holds = true;
  for (std::uint64_t left = clusters;
       holds && left >= (mutant_is(Mutant::LastOnesUntried) ? clusters : last_ones_matter);
       --left) {
    std::vector<WordPart> changes;
    for (std::size_t m = 0; holds && m < moves.size(); ++m) {
      const auto changed = changed_at_end(moves[m]);
      holds = changed && changed->size() <= 1 &&
              (m == 0 || std::ranges::equal(*changed, changes, same));
      changes = holds ? *changed : changes;
    }
    if (holds && changes.empty()) {
      break; // nor do they change later
    }
    journal_.write(changes);
  }
  undo_to(here);
  return holds ? clusters : 0;
}

/// Lanes of the warp that makes the move which have not ended.
isa::LaneMask Stepper::live_lanes(const Move& move) const {
  const Work& work = *works_[move.work];
  const std::vector<ThreadClass>& threads = work.images[move.cluster]->threads;
  const std::size_t first = thread_of(work, move) / isa::warp_size * isa::warp_size;
  isa::LaneMask live = 0;
  for (std::size_t t = 0; t < isa::warp_size && first + t < threads.size(); ++t) {
    live |= isa::LaneMask{threads[first + t] != 0} << t;
  }
  return live;
}

/// Of moves from `first` on, those of the same warp.
std::span<const Stepper::Move>
Stepper::of_one_warp(std::span<const Move> moves, std::size_t first) {
  const auto place = [](const Move& m) { return std::tie(m.work, m.cluster, m.block, m.warp); };
  std::size_t last = first;
  while (last < moves.size() && place(moves[last]) == place(moves[first])) {
    ++last;
  }
  return moves.subspan(first, last - first);
}

// [RED-ACTIVE]
std::span<const Stepper::Move> Stepper::answers_of_one_warp(std::span<const Move> moves) const {
  for (std::size_t first = 0; first < moves.size();) {
    const std::span<const Move> some = of_one_warp(moves, first);
    first += some.size();
    isa::LaneMask asking = 0;
    bool all_ask = true;
    for (const Move& move : some) {
      all_ask = all_ask && move.thread && !move.endless && asks_for_active(*move.code, *move.op);
      asking |= isa::LaneMask{1} << move.lane | move.lanes;
    }
    if ((all_ask || mutant_is(Mutant::ActiveOrNot)) && asking == live_lanes(some.front())) {
      return mutant_is(Mutant::ActiveFirst) ? some.first(1) : some;
    }
  }
  return {};
}

} // namespace heddle::reduce

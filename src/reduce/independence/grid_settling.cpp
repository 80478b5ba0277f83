#include "reduce/independence/grid_settling.h"

#include <algorithm>

namespace heddle::reduce {

void GridSettling::settle_clusters(std::size_t n, bool they_poll) {
  Work& work = *parts_.machine.works[n];
  for (std::size_t c = 0; c < work.clusters.size() && !parts_.under_way.failure; ++c) {
    if (!work.images[c]->ended) {
      present_.load(work, c);
      work.progress[c].polls = work.progress[c].polls || they_poll;
      settling_.settle(work, c);
      present_.capture(n, c);
    }
  }
}

void GridSettling::settle(std::size_t n, std::uint64_t before) {
  const Work& work = *parts_.machine.works[n];
  for (std::uint64_t now = barrier(work); now != before && !parts_.under_way.failure;
       now = barrier(work)) {
    parts_.under_way.repeatable = false;
    before = now;
    settle_clusters(n, false);
  }
  const bool stuck = std::ranges::all_of(work.images, [](const Image* image) {
    return image->ended || (image->made && image->ready.empty());
  });
  if (parts_.under_way.failure || !stuck || work.command->grid->cooperative_workspace() == 0 ||
      std::ranges::all_of(work.images, &Image::ended)) {
    return;
  }
  // Somebody will never come: those who wait for the grid ask forever.
  parts_.under_way.repeatable = false;
  settle_clusters(n, true);
}

void GridSettling::settle_outside_of_moves(std::size_t n, std::uint64_t before) {
  const Work& work = *parts_.machine.works[n];
  if (parts_.under_way.failure || !parts_.options.independence.phases || !work.kernel() ||
      !work.cooperative() || parts_.mutant_is(Mutant::StraightForgetsGrid)) {
    return;
  }
  const std::size_t made_before = parts_.independence.accesses().made().size();
  settle(n, before);
  parts_.independence.open().meet_since(n, made_before);
}

} // namespace heddle::reduce

#include "reduce/independence/open_monitor.h"

#include "reduce/states/lane.h"

namespace heddle::reduce {

void OpenMonitor::meet(const Move& move, std::span<const MadeAccess> made, Whose whose) {
  const auto is_by = [&](const MadeAccess& access, std::size_t n, std::size_t c, std::size_t t) {
    return n == move.work && c == (whose == Whose::Anybody ? access.cluster : move.cluster) &&
           t == (whose == Whose::Thread ? thread_of(*works_[n], move) : access.thread);
  };
  std::uint64_t places = 0;
  for (const MadeAccess& access : made) {
    places |= access.places;
  }
  for (std::size_t n = 0; places != 0 && n < works_.size(); ++n) {
    const Work& work = *works_[n];
    if ((work.open_places.all() & places) == 0) {
      continue;
    }
    for (std::size_t c = 0; c < work.images.size(); ++c) {
      if (work.images[c] == nullptr) {
        continue; // it is being made
      }
      const Image& image = *work.images[c];
      for (std::size_t t = 0; (image.open_places & places) != 0 && t < image.parts.size(); ++t) {
        if (image.parts[t] == nullptr || image.parts[t]->open.empty()) {
          continue;
        }
        for (const MadeAccess& access : made) {
          if (!is_by(access, n, c, t)) {
            accesses_.movers().meet(access.access, image.parts[t]->open);
          }
        }
      }
    }
  }
}

void OpenMonitor::meet_since(std::size_t n, std::size_t made_before) {
  Move nobodys;
  nobodys.work = n;
  if (mutant_ != Mutant::MoversForgetStarts) {
    meet(nobodys, std::span(accesses_.made()).subspan(made_before), Whose::Anybody);
  }
}

} // namespace heddle::reduce

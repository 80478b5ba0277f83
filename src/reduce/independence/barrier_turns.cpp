// Implements barrier_turns.h.
#include "reduce/independence/barrier_turns.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace heddle::reduce {

namespace {

constexpr std::size_t arrivals_word = BarrierTurns::barriers;
constexpr std::size_t completion_word = BarrierTurns::barriers + 1;

} // namespace

void BarrierTurns::start(std::size_t warps) {
  counted_ = 0;
  words_ = {};
  known_.assign(warps * isa::warp_size, static_cast<Bits>(~0U));
}

template <class F> void BarrierTurns::each_lane(std::size_t w, isa::LaneMask lanes, F&& f) {
  const std::span<Bits> warp = of_warp(w);
  for (; lanes != 0; lanes &= lanes - 1) {
    f(warp[static_cast<std::size_t>(std::countr_zero(lanes))]);
  }
}

BarrierTurns::Bits BarrierTurns::known_to(std::size_t w, isa::LaneMask lanes) const {
  Bits all = 0;
  const std::span<const Bits> warp = of_warp(w);
  for (; lanes != 0; lanes &= lanes - 1) {
    all |= warp[static_cast<std::size_t>(std::countr_zero(lanes))];
  }
  return all;
}

bool BarrierTurns::arrive(
    std::size_t id,
    std::size_t w,
    isa::LaneMask lanes,
    bool counted,
    bool waits
) {
  const Bits own = bit(id);
  if (!counted && (counted_ & own) == 0) {
    return true; // it takes all threads, so each of them has waited for the phase before
  }
  counted_ |= own;
  bool all_know = true;
  if (!waits) {
    words_[id] |= known_to(w, lanes);
  }
  each_lane(w, lanes, [&](Bits& known) {
    all_know = all_know && (known & own) != 0;
    known &= static_cast<Bits>(~own); // not of the phase in which it is now
  });
  return all_know;
}

void BarrierTurns::opened(std::size_t id, std::span<const isa::LaneMask> waiting) {
  const Bits own = bit(id);
  Bits all = std::exchange(words_[id], 0);
  for (std::size_t w = 0; w < waiting.size(); ++w) {
    all |= known_to(w, waiting[w]);
  }
  if ((counted_ & own) != 0) {
    const auto forget = static_cast<Bits>(~own);
    for (Bits& word : words_) {
      word &= forget;
    }
    for (Bits& known : known_) {
      known &= forget;
    }
    all |= own;
  }
  for (std::size_t w = 0; w < waiting.size(); ++w) {
    each_lane(w, waiting[w], [&](Bits& known) { known |= all; });
  }
}

void BarrierTurns::meet(std::size_t w, isa::LaneMask lanes) {
  const Bits all = known_to(w, lanes);
  each_lane(w, lanes, [&](Bits& known) { known = all; });
}

void BarrierTurns::cluster_arrived(std::size_t w, isa::LaneMask lanes) {
  words_[arrivals_word] |= known_to(w, lanes);
}

void BarrierTurns::cluster_opened() {
  words_[completion_word] = std::exchange(words_[arrivals_word], 0);
}

void BarrierTurns::cluster_passed(std::size_t w, isa::LaneMask lanes) {
  each_lane(w, lanes, [&](Bits& known) { known |= words_[completion_word]; });
}

} // namespace heddle::reduce

// BarrierTurns: which threads of a block know that the last phase of a barrier is over, in order to
// tell whether it matters when they arrive at it ([RED-JOIN] in spec/reductions.md).
//
// A phase completes when its count of threads has arrived. With a count below the block's size, or
// with threads that arrive without waiting (`bar.arrive`), more threads may arrive than one phase
// takes; then their order matters. It does not matter if each thread that arrives knows that the
// last phase, and the phase of its own last arrival, have completed: a thread that does not know
// could have arrived before the completion. (A phase must also take whole warps; BarrierMonitor
// checks that.) Knowledge follows the order of execution: threads that waited learn what all
// arrivals of their phase knew, lanes that meet learn from each other, and so do threads at the
// cluster's barrier.
//
//   turns.arrive(id, w, lanes, counted, waits)     // false: there is a doubt
//   turns.opened(id, waiting)
//
// Direction of error: what passes through memory or mbarriers counts as unknown, so there may be no
// doubt where it sees one.
#pragma once

#include "isa/exec.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::reduce {

class BarrierTurns {
public:
  using Bits = std::uint16_t; // by barrier
  static constexpr std::size_t barriers = 16;

  /// Everybody knows everything: nobody has arrived anywhere.
  void start(std::size_t warps);
  /// Has a barrier been used with a count? Else there is no doubt, whoever knows what.
  bool in_use() const { return counted_ != 0; }

  /// Lanes of a warp arrive, and wait for the others or not. `counted`: with a number of threads.
  [[nodiscard]] bool
  arrive(std::size_t id, std::size_t w, isa::LaneMask lanes, bool counted, bool waits);
  /// A phase has completed, for which these have waited.
  void opened(std::size_t id, std::span<const isa::LaneMask> waiting);
  void meet(std::size_t w, isa::LaneMask lanes);
  void cluster_arrived(std::size_t w, isa::LaneMask lanes);
  void cluster_opened();
  void cluster_passed(std::size_t w, isa::LaneMask lanes);

  // --- For images --------------------------------------------------------------------------------
  /// What belongs to no thread; f(member). Before it is read: start().
  template <class Self, class F> static void each_member(Self& self, F&& f) {
    f(self.counted_);
    if (self.in_use()) {
      f(self.words_);
    }
  }
  /// What the threads of warp `w` know: bytes that mean something if in_use().
  std::span<Bits> of_warp(std::size_t w) {
    return std::span(known_).subspan(w * isa::warp_size, isa::warp_size);
  }
  std::span<const Bits> of_warp(std::size_t w) const {
    return std::span(known_).subspan(w * isa::warp_size, isa::warp_size);
  }

private:
  static constexpr Bits bit(std::size_t id) { return static_cast<Bits>(1U << id); }
  template <class F> void each_lane(std::size_t w, isa::LaneMask lanes, F&& f);
  Bits known_to(std::size_t w, isa::LaneMask lanes) const;

  Bits counted_ = 0; // barriers that have been used with a count
  // What those know that have arrived at each barrier and did not wait; at the cluster's barrier;
  // in its last phase.
  std::array<Bits, barriers + 2> words_{};
  std::vector<Bits> known_; // by thread, 32 for each warp
};

} // namespace heddle::reduce

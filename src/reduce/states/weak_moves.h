// WeakMoves: the PTX memory model in a search (ModelOptions::weak, spec/memory-model.md): which
// lanes do what to it, and the moves that a read or a write becomes of which several are allowed.
//
//   weak.begin_run(lane, lanes, move.pick);  … the lanes run …  weak.end_run(lane, lanes, failed);
//   weak.next(lane);                         // the strong access at which it stands
//   weak.add_ways(move, image, moves);       // one move for each way to make it
//   weak.comes_early(lane)                   // [RED-EARLY]; is_settled: [RED-SETTLED]
//
// May be wrong: see weak_order.h. The host, copies and sets are seen at once by everybody, and see
// the newest of everything.
#pragma once

#include "model/weak_order.h"
#include "reduce/independence/access_kinds.h"
#include "reduce/independence/sums.h"
#include "reduce/mutant.h"
#include "reduce/states/image.h"
#include "reduce/states/lane.h"
#include "reduce/states/stepper_state.h"
#include "reduce/states/works.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle::reduce {

struct WeakOptions { // of StepperOptions
  bool same_value_races = true;
  bool settled = false;
  std::uint64_t rewritten = 0; // Learned's
  Mutant mutant = Mutant::None;
};

class WeakMoves {
public:
  WeakMoves(
      World& world,
      isa::Exec& exec,
      LiveState& live,
      const Works& works,
      AccessKinds& kinds,
      Sums& sums,
      const WeakOptions& options
  );

  WeakOrder& order() { return order_; }
  const WeakOrder& order() const { return order_; }

  // --- Threads and commands ----------------------------------------------------------------------
  /// A grid is ready. Not empty: why its threads cannot be looked at.
  std::string begin_threads(Work& work);
  void submitted(const Work& work, const std::set<const Command*>& before);
  /// A command has completed. What comes behind it knows what it knew.
  void completed(const Work& done);
  void note_ends(Work& work, std::size_t cluster);
  void host_writes(std::uintptr_t address, std::uint64_t bytes);

  // --- Accesses ----------------------------------------------------------------------------------
  /// The strong access at which the lane stands, if it is one that others may see.
  std::optional<WeakNext> next(const Lane& at);
  /// May it, or a fence, come at once, although others could tell when it comes ([RED-EARLY])?
  bool comes_early(const Lane& at);
  /// The move, or one for each way to make its access.
  void add_ways(Move move, const Image& image, std::vector<Move>& result) const;
  /// A move that comes before all others ([RED-SETTLED]) is about to be made. Returns which
  /// instruction that is, for the monitor.
  unsigned note_settled(const Move& move);

  /// The lanes are about to run; `pick`: which way they make their access.
  void begin_run(const Lane& at, isa::LaneMask lanes, std::uint32_t pick);
  /// They have. True: what they did cannot be, see failure().
  bool end_run(const Lane& at, isa::LaneMask lanes, bool failed);
  std::optional<Failure> failure() const;

private:
  static std::uint32_t name_of(const Work& work);
  static WeakOrder::Turn turn_of(const Lane& at);
  bool is_settled(
      const Move& move,
      const WeakNext& known,
      const WeakOrder::Next& next,
      const std::vector<WeakOrder::Way>& ways
  ) const;
  bool mutant_is(Mutant mutant) const { return options_.mutant == mutant; }

  World& world_;
  isa::Exec& exec_;
  LiveState& live_;
  const Works& works_;
  AccessKinds& kinds_;
  Sums& sums_;
  WeakOptions options_;
  WeakOrder order_;
  bool meets_ = false; // the lanes that run meet at once
};

} // namespace heddle::reduce

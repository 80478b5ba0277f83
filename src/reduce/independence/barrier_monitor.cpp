#include "reduce/independence/barrier_monitor.h"

#include "reduce/states/lane.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <utility>

namespace heddle::reduce {

namespace {

/// Tells Phases of the barriers of a block, and begins its epochs.
class BarrierMonitor final : public PhaseMonitor {
public:
  BarrierMonitor(
      Work::Progress& progress,
      Block& block,
      const isa::Exec& exec,
      std::size_t number,
      std::uint32_t first,
      Mutant mutant,
      WeakBarriers weak
  )
      : PhaseMonitor(progress.phases, block, first),
        progress_(progress),
        block_(block),
        exec_(exec),
        number_(number),
        mutant_(mutant),
        weak_(weak) {}

  void
  arriving(std::size_t id, std::size_t w, isa::LaneMask lanes, const Arrival& arrival) override {
    const bool sure = turns().arrive(id, w, lanes, arrival.counted, arrival.waits);
    progress_.turns_doubt = progress_.turns_doubt || !sure;
    if (turns().in_use()) {
      const isa::LaneMask live = block_.warps()[w].warp.live;
      progress_.in_pieces = progress_.in_pieces || !arrival.aligned || lanes != live;
    }
  }
  void opened(std::size_t id, std::span<const isa::LaneMask> waiting, bool counted) override {
    PhaseMonitor::opened(id, waiting, counted);
    if (turns().in_use()) {
      const bool doubt = counted && mutant_ != Mutant::TurnsInPieces && some_in_pieces(id);
      progress_.turns_doubt = progress_.turns_doubt || doubt;
      turns().opened(id, waiting);
    }
    if (weak_) {
      weak_.opened(id, waiting);
    }
    for (std::size_t w = 0; !counted && w < waiting.size(); ++w) {
      if (waiting[w] != 0) {
        // The last ones to arrive still stand at the barrier, unless it gives them a result.
        const int lane = std::countr_zero(waiting[w]);
        const Block::WarpState& state = block_.warps()[w];
        const isa::LaneMask behind =
            state.warp.blocked | state.red_popc | state.red_and | state.red_or;
        const isa::Op* const pc = state.warp.pc[static_cast<std::size_t>(lane)];
        const isa::Op& barrier = (behind >> lane & 1) != 0 ? pc[-1] : *pc;
        progress_.epochs[number_] = std::uint64_t{1} + barrier.instruction;
        break;
      }
    }
  }

  void arrived(std::size_t id, std::size_t w, isa::LaneMask lanes) override {
    PhaseMonitor::arrived(id, w, lanes);
    if (weak_) {
      weak_.arrived(weak_.key(id), w, lanes);
    }
  }
  void cluster_arrived(std::size_t w, isa::LaneMask lanes, bool release) override {
    PhaseMonitor::cluster_arrived(w, lanes, release);
    if (turns().in_use()) {
      turns().cluster_arrived(w, lanes);
    }
    if (weak_ && release) {
      weak_.arrived(weak_.cluster(), w, lanes);
    }
  }
  void cluster_passed(std::size_t w, isa::LaneMask lanes) override {
    PhaseMonitor::cluster_passed(w, lanes);
    progress_.unawaited &= ~(std::uint64_t{1} << number_);
    if (turns().in_use()) {
      turns().cluster_passed(w, lanes);
    }
    if (weak_) {
      weak_.left(weak_.cluster() + 1, w, lanes);
    }
  }
  void warp_synced(std::size_t w, isa::LaneMask lanes) override {
    PhaseMonitor::warp_synced(w, lanes);
    if (turns().in_use()) {
      turns().meet(w, lanes);
    }
    if (weak_) {
      weak_.met(w, lanes);
    }
  }

  // What a thread does behind its arrival at the cluster's barrier is not before the barrier.
  void neighbour_accessed(std::uint32_t rank) override {
    const isa::LaneMask arrived = block_.warps()[progress_.running_warp].cluster_arrived;
    const bool late = (arrived & exec_.mask()) != 0;
    (late ? progress_.visited_late : progress_.visited) |= std::uint64_t{1} << rank;
  }
  void cluster_opened() override {
    PhaseMonitor::cluster_opened();
    for (BarrierTurns& turns : progress_.turns) {
      turns.cluster_opened();
    }
    if (weak_) {
      weak_.cluster_opened();
    }
    const std::uint64_t met = std::exchange(progress_.visited, progress_.visited_late);
    progress_.unawaited |= mutant_ == Mutant::NeighboursArrivalsWait ? 0 : met;
    progress_.visited_late = 0;
  }

private:
  BarrierTurns& turns() { return progress_.turns[number_]; }
  /// Have some lanes of a warp come to the barrier in its present phase, and others that live not?
  bool some_in_pieces(std::size_t id) const {
    const Block::Barrier& barrier = block_.own().barriers[id];
    for (std::size_t w = 0; w < block_.warps().size(); ++w) {
      const isa::LaneMask here = barrier.waiting[w] | barrier.arrived[w];
      if (here != 0 && (block_.warps()[w].warp.live & ~here) != 0) {
        return true;
      }
    }
    return false;
  }

  Work::Progress& progress_; // stays where it is
  Block& block_;
  const isa::Exec& exec_; // its lanes are those that do something
  std::size_t number_;
  Mutant mutant_;
  WeakBarriers weak_;
};

} // namespace

bool some_gone(const Work::Progress& progress, Cluster& cluster) {
  const std::uint64_t visited = progress.visited | progress.visited_late | progress.unawaited;
  bool gone = false;
  for (std::size_t b = 0; visited != 0 && b < cluster.size(); ++b) {
    gone = gone || ((visited >> b & 1) != 0 && cluster.block(b).ended());
  }
  return gone;
}

void watch_barriers(Work& work, const isa::Exec& exec, WeakOrder* weak, Mutant mutant) {
  for (std::size_t c = 0; c < work.clusters.size(); ++c) {
    Cluster& cluster = *work.clusters[c];
    for (std::size_t b = 0; b < cluster.size(); ++b) {
      Block& block = cluster.block(b);
      block.watch(
          std::make_unique<BarrierMonitor>(
              work.progress[c],
              block,
              exec,
              b,
              number_in_cluster({&work, c, b, 0, 0}),
              mutant,
              WeakBarriers(
                  weak,
                  weak_thread({&work, c, b, 0, 0}),
                  weak_thread({&work, c, 0, 0, 0}) << 8
              )
          )
      );
    }
  }
}

} // namespace heddle::reduce

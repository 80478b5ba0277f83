// Implements the part of stepper.h that is about sums and orderly accesses (sums.h): whose accesses
// there were, and in which epoch of its block.
#include "isa/lower_memory_address.h"
#include "ptx/effect.h"

#include "reduce/owned.h"
#include "reduce/stepper_work.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace heddle::reduce {

namespace {

/// Has a block ended that others have visited since the cluster met? Then it may end before such a
/// visit, unless something else orders them.
template <class Progress> bool some_gone(const Progress& progress, Cluster& cluster) {
  const std::uint64_t visited = progress.visited | progress.visited_late;
  bool gone = false;
  for (std::size_t b = 0; visited != 0 && b < cluster.size(); ++b) {
    gone = gone || ((visited >> b & 1) != 0 && cluster.block(b).ended());
  }
  return gone;
}

} // namespace

/// Tells Phases of the barriers of a block, and begins its epochs.
class Stepper::BarrierMonitor final : public PhaseMonitor {
public:
  BarrierMonitor(
      Work::Progress& progress,
      Cluster& cluster,
      Block& block,
      std::size_t number,
      std::uint32_t first,
      WeakBarriers weak
  )
      : PhaseMonitor(progress.phases, block, first),
        progress_(progress),
        cluster_(cluster),
        block_(block),
        number_(number),
        weak_(weak) {}

  void opened(std::size_t id, std::span<const isa::LaneMask> waiting, bool counted) override {
    PhaseMonitor::opened(id, waiting, counted);
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
    if (weak_ && release) {
      weak_.arrived(weak_.cluster(), w, lanes);
    }
  }
  void cluster_passed(std::size_t w, isa::LaneMask lanes) override {
    PhaseMonitor::cluster_passed(w, lanes);
    if (weak_) {
      weak_.left(weak_.cluster() + 1, w, lanes);
    }
  }
  void warp_synced(std::size_t w, isa::LaneMask lanes) override {
    PhaseMonitor::warp_synced(w, lanes);
    if (weak_) {
      weak_.met(w, lanes);
    }
  }

  // What a thread does behind its arrival at the cluster's barrier is not before the barrier.
  void neighbour_accessed(std::uint32_t rank) override {
    const bool late = block_.warps()[progress_.running_warp].cluster_arrived != 0;
    (late ? progress_.visited_late : progress_.visited) |= std::uint64_t{1} << rank;
  }
  void cluster_opened() override {
    PhaseMonitor::cluster_opened();
    if (weak_) {
      weak_.cluster_opened();
    }
    progress_.visited_gone = progress_.visited_gone || some_gone(progress_, cluster_);
    progress_.visited = std::exchange(progress_.visited_late, 0);
  }

private:
  Work::Progress& progress_; // stays where it is
  Cluster& cluster_;
  Block& block_;
  std::size_t number_;
  WeakBarriers weak_;
};

/// Once for each work, when its clusters and Work::progress have been made.
void Stepper::watch_barriers(Work& work) const {
  const bool any = options_.phases || options_.orderly || options_.neighbours || weak_;
  for (std::size_t c = 0; any && c < work.clusters.size(); ++c) {
    Cluster& cluster = *work.clusters[c];
    for (std::size_t b = 0; b < cluster.size(); ++b) {
      Block& block = cluster.block(b);
      block.watch(
          std::make_unique<BarrierMonitor>(
              work.progress[c],
              cluster,
              block,
              b,
              number_in_cluster({&work, c, b, 0, 0}),
              WeakBarriers(
                  weak_.get(),
                  weak_thread({&work, c, b, 0, 0}),
                  weak_thread({&work, c, 0, 0, 0}) << 8
              )
          )
      );
    }
  }
}

void Stepper::note_ends(Work& work, std::size_t c) {
  Work::Progress& progress = work.progress[c];
  const bool met_without =
      std::exchange(progress.visited_gone, false) && !mutant_is(Mutant::NeighboursForgetOpenings);
  const bool gone =
      some_gone(progress, *work.clusters[c]) && !mutant_is(Mutant::NeighboursForgetEnds);
  neighbour_gone_ = neighbour_gone_ || met_without || gone;
}

/// A copy, or anything else that is no kernel, has been carried out.
void Stepper::note_command(const Work& work) {
  cone_.carried_out(*work.command);
  if (mutant_is(Mutant::IndependentForgetsCommands)) {
    return;
  }
  if (!work.command->touches) {
    sums_.note_command(work.identity, {});
    return;
  }
  const auto& touched = *work.command->touches;
  const auto place_of = [&](const Command::Region& region) {
    const memory::Range range = world_.space().find_range(region.begin); // none: the host's own
    return region.begin + static_cast<std::uint64_t>(range.delta);
  };
  for (const Command::Region& from : touched) {
    for (const Command::Region& to : touched) {
      if (!from.write && to.write && world_.space().find_range(to.begin).size != 0) {
        order_data_.copied(
            reinterpret_cast<const std::byte*>(place_of(from)),
            from.bytes,
            reinterpret_cast<const std::byte*>(place_of(to))
        );
      }
    }
  }
  for (const Command::Region& region : touched) {
    const std::uint64_t begin = place_of(region);
    sums_.note_command(
        work.identity,
        {.begin = begin, .end = begin + region.bytes, .write = region.write}
    );
  }
}

/// Before the journal absorbs them.
void Stepper::note_strong_accesses(
    Work& work,
    std::size_t c,
    std::span<const MemoryJournal::Bytes> own
) {
  Cluster& cluster = *work.clusters[c];
  const auto threads = static_cast<std::uint32_t>(cluster.block(0).warps().size() * isa::warp_size);
  // What lies in the cluster is named by its offset there. It is another place in each launch, and
  // its address differs between processes. 0: it lies elsewhere.
  const auto place_in_cluster = [&](const std::byte* at) -> std::uint64_t {
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i].contains(at)) {
        const std::uint64_t words[] = {work.identity, i};
        constexpr std::uint64_t room = std::uint64_t{1} << 32, not_an_address = 1ULL << 63;
        return (XXH3_64bits(words, sizeof words) / room * room | not_an_address) +
               static_cast<std::uint64_t>(at - own[i].begin);
      }
    }
    return 0;
  };
  const auto of_library = [&](const std::byte* at) { // see stepper_phases.cpp
    for (std::size_t b = 0; options_.phases && b < cluster.size(); ++b) {
      const Block& block = cluster.block(b);
      const std::byte* const end = block.all_shared().data() + block.all_shared().size();
      if (at < end && at >= end - memory::reserved_shared_bytes) {
        return true;
      }
    }
    return false;
  };
  for (std::size_t i = 0; i < journal_.strong().size(); ++i) {
    const AccessNotes::Strong& access = journal_.strong()[i];
    if (of_library(access.at)) {
      continue;
    }
    const std::uint64_t in_cluster = place_in_cluster(access.at);
    Sums::Access noted{
        .place = in_cluster != 0 ? in_cluster : reinterpret_cast<std::uint64_t>(access.at),
        .bytes = access.bytes,
        .shared = in_cluster != 0
    };
    const ptx::Function& function = *access.code->function;
    const ptx::Instruction& instruction = function.body[access.op->instruction];
    const ptx::Effect& effect = ptx::effect_of(instruction);
    const std::uint32_t sum = options_.sums ? access_kinds_.sum_kind(*access.code, *access.op) : 0;
    noted.kind = sum != 0                             ? sum
                 : effect.is(ptx::Effect::Kind::Load) ? AccessKind::Read
                                                      : AccessKind::Other;
    noted.bucket = access_kinds_.bucket(*access.code, *access.op);
    noted.contended = access_kinds_.contended(*access.code, *access.op) ||
                      (sum == 0 && !options_.orderly) ||
                      (!effect.is_strong() && live_.at(*access.code, *access.op).before_dead_end);
    const bool may_be = may_be_owned(function, access.op->instruction, options_.learned);
    const bool asked_for = (options_.learned.owned >> noted.bucket & 1) != 0;
    noted.owned = !noted.contended && may_be && (noted.kind == AccessKind::Other || asked_for);
    noted.effect = access_kind(instruction);
    // A block of a cluster may end, and with it memory that others access: more than data.
    noted.only_data =
        options_.data_order && cluster.size() == 1 &&
        (mutant_is(Mutant::DataOrderTakesAll) || order_data_.only_data(*access.code, *access.op));
    noted.unordered = noted.only_data && !noted.contended &&
                      (options_.learned.unordered >> noted.bucket & 1) != 0;
    if (noted.contended) { // those who are like it do the same without executing it
      noted.thread = noted.block = Sums::many;
    } else if (i < strong_by_.size()) {
      const By& by = strong_by_[i];
      const bool anywhere = noted.shared || mutant_is(Mutant::IndependentForgetsBlock);
      noted.thread = (anywhere ? 0 : c * cluster.size() * threads) + by.thread;
      noted.block = (noted.shared ? 0 : c * cluster.size()) + by.thread / threads;
      noted.epoch = by.epoch;
      if (noted.owned && !mutant_is(Mutant::SymmetryForgetsOwners)) {
        work.progress[c].loops[by.thread / threads][by.thread % threads / isa::warp_size].owners |=
            isa::LaneMask{1} << by.thread % isa::warp_size;
        work.progress[c].owner = work.progress[c].owner || !noted.shared;
      }
    } else {
      noted.thread = ++unknown_threads_; // nobody that was there before
      noted.block = ~noted.thread;
    }
    saw_choice_ = saw_choice_ || sum == 0; // in another order of grids it may find something else
    sums_.note(work.identity, noted);
    if (const std::uint64_t mixed = sums_.take_mixed(); mixed != 0) {
      order_data_.mark(access.at, access.bytes, mixed);
    }
  }
}

} // namespace heddle::reduce

// Implements access_monitor.h.
#include "reduce/independence/access_monitor.h"

#include "ptx/effect.h"
#include "reduce/independence/owned.h"

namespace heddle::reduce {

void AccessMonitor::end_turn(std::uint32_t first, std::uint64_t epoch) {
  for (const AccessNotes::Strong& access : journal_.strong().subspan(by_.size())) {
    by_.push_back({first + static_cast<std::uint32_t>(access.lane), epoch});
  }
}

/// By the thread of this number in the cluster.
void AccessMonitor::name_maker(
    Sums::Access& access,
    const Work& work,
    std::size_t c,
    std::uint32_t thread
) const {
  Cluster& cluster = *work.clusters[c];
  const auto threads = static_cast<std::uint32_t>(cluster.block(0).warps().size() * isa::warp_size);
  const bool anywhere = access.shared || assumed_.mutant == Mutant::IndependentForgetsBlock;
  access.thread = (anywhere ? 0 : c * cluster.size() * threads) + thread;
  access.block = (access.shared ? 0 : c * cluster.size()) + thread / threads;
}

/// The thread, of this number in the cluster, keeps its number.
void AccessMonitor::note_owned(
    Work& work,
    std::size_t c,
    const Sums::Access& access,
    std::uint32_t thread
) {
  owned_.push_back(access);
  owned_.back().thread = thread;
  if (assumed_.mutant == Mutant::SymmetryForgetsOwners) {
    return;
  }
  const std::size_t warps = work.clusters[c]->block(0).warps().size();
  const std::size_t warp = thread / isa::warp_size;
  work.progress[c].loops[warp / warps][warp % warps].owners |= isa::LaneMask{1}
                                                               << thread % isa::warp_size;
  work.progress[c].owner = work.progress[c].owner || !access.shared;
  made_owned_ = made_owned_ || !access.shared;
}

void AccessMonitor::note_again(
    const Work& work,
    std::size_t c,
    std::span<const Sums::Access> owned,
    std::optional<std::uint32_t> thread
) {
  if (assumed_.mutant == Mutant::AheadForgetsOwners) {
    return;
  }
  for (Sums::Access access : owned) {
    name_maker(access, work, c, thread.value_or(static_cast<std::uint32_t>(access.thread)));
    sums_.note(work.identity, access);
  }
}

namespace {

/// What lies in the cluster is named by its offset there. It is another place in each launch, and
/// its address differs between processes. 0: it lies elsewhere.
std::uint64_t
place_in_cluster(const Work& work, std::span<const MemoryJournal::Bytes> own, const std::byte* at) {
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].contains(at)) {
      const std::uint64_t words[] = {work.identity, i};
      constexpr std::uint64_t room = std::uint64_t{1} << 32, not_an_address = 1ULL << 63;
      return (XXH3_64bits(words, sizeof words) / room * room | not_an_address) +
             static_cast<std::uint64_t>(at - own[i].begin);
    }
  }
  return 0;
}

/// Where the barriers of libraries are (library_barriers.h): accesses there are no accesses.
class LibraryPlaces {
public:
  LibraryPlaces(
      const Work& work,
      Cluster& cluster,
      const memory::AddressSpace& space,
      const StepperOptions& assumed
  )
      : cluster_(cluster),
        assumed_(assumed.independence) {
    if (assumed_.phases && work.cooperative()) {
      if (const auto workspace = work.command->grid->cooperative_workspace(); workspace != 0) {
        grid_barrier_ =
            static_cast<const std::byte*>(space.host_pointer(workspace, sizeof(std::uint64_t)));
      }
    }
  }

  bool has(const std::byte* at, bool load) const {
    if (grid_barrier_ != nullptr && at >= grid_barrier_ &&
        at < grid_barrier_ + sizeof(std::uint64_t)) {
      return true;
    }
    const bool tiles = assumed_.phases && (load || assumed_.tiles);
    for (std::size_t b = 0; tiles && b < cluster_.size(); ++b) {
      const Block& block = cluster_.block(b);
      const std::byte* const end = block.all_shared().data() + block.all_shared().size();
      if (at < end && at >= end - memory::reserved_shared_bytes) {
        return true;
      }
    }
    return false;
  }

private:
  Cluster& cluster_;
  const IndependenceOptions& assumed_;
  const std::byte* grid_barrier_ = nullptr; // nullptr: the grid has none
};

} // namespace

bool AccessMonitor::note(Work& work, std::size_t c, std::span<const MemoryJournal::Bytes> own) {
  Cluster& cluster = *work.clusters[c];
  const LibraryPlaces of_library(work, cluster, space_, assumed_);
  bool some_choice = false;
  for (std::size_t i = 0; i < journal_.strong().size(); ++i) {
    const AccessNotes::Strong& access = journal_.strong()[i];
    const ptx::Function& function = *access.code->function;
    const ptx::Instruction& instruction = function.body[access.op->instruction];
    const ptx::Effect& effect = ptx::effect_of(instruction);
    if (!instruction.one_of(ptx::Category::Space) &&
        of_library.has(access.at, effect.is(ptx::Effect::Kind::Load))) {
      continue;
    }
    const std::uint64_t in_cluster = place_in_cluster(work, own, access.at);
    Sums::Access noted{
        .place = in_cluster != 0 ? in_cluster : reinterpret_cast<std::uint64_t>(access.at),
        .bytes = access.bytes,
        .shared = in_cluster != 0
    };
    const std::uint32_t sum =
        assumed_.independence.sums ? kinds_.sum_kind(*access.code, *access.op) : 0;
    noted.kind = sum != 0                             ? sum
                 : effect.is(ptx::Effect::Kind::Load) ? AccessKind::Read
                                                      : AccessKind::Other;
    noted.bucket = kinds_.bucket(*access.code, *access.op);
    const bool somewhere = kinds_.contended(*access.code, *access.op);
    const memory::Address address = memory::AddressSpace::device_address(access.at);
    noted.elsewhere = somewhere && !kinds_.contended(*access.code, *access.op, address);
    noted.contended =
        (somewhere && (!noted.elsewhere || assumed_.mutant == Mutant::PlacesUnwatched)) ||
        (sum == 0 && !assumed_.independence.orderly) ||
        (!effect.is_strong() && live_.at(*access.code, *access.op).before_dead_end);
    const bool may_be = may_be_owned(function, access.op->instruction, assumed_.learned);
    const bool asked_for = (assumed_.learned.owned >> noted.bucket & 1) != 0;
    noted.owned = !noted.contended && may_be && (noted.kind == AccessKind::Other || asked_for);
    noted.effect = access_kind(instruction);
    // A block of a cluster may end, and with it memory that others access: more than data.
    noted.only_data = assumed_.independence.data_order && cluster.size() == 1 &&
                      (assumed_.mutant == Mutant::DataOrderTakesAll ||
                       order_data_.only_data(*access.code, *access.op));
    noted.unordered = noted.only_data && !noted.contended &&
                      (assumed_.learned.unordered >> noted.bucket & 1) != 0;
    if (noted.contended) { // those who are like it do the same without executing it
      noted.thread = noted.block = Sums::many;
    } else if (i < by_.size()) {
      const By& by = by_[i];
      name_maker(noted, work, c, by.thread);
      noted.epoch = by.epoch;
      if (noted.owned) {
        note_owned(work, c, noted, by.thread);
      }
    } else {
      noted.thread = ++unknown_threads_; // nobody that was there before
      noted.block = ~noted.thread;
    }
    some_choice = some_choice || sum == 0;
    if (noted.contended && somewhere && kinds_.some_movable() &&
        memory::AddressSpace::in_device_range(address)) {
      constexpr std::uint32_t nobody = ~std::uint32_t{0};
      const bool known = i < by_.size();
      noted.mover = effect.is_access() && kinds_.movable(*access.code, *access.op, address);
      const OpenAccess open{
          noted.place,
          noted.kind,
          static_cast<std::uint16_t>(noted.bytes),
          static_cast<std::uint16_t>(noted.bucket)
      };
      const bool chosen = known && effect.is_access() && effect.is_strong();
      if (noted.mover && !known) {
        movers_.open_of_nobody(open);
      }
      note_mover(
          work,
          {open, places_of(open), known ? by_[i].thread : nobody, static_cast<std::uint32_t>(c)},
          noted.mover,
          chosen && !noted.mover
      );
    }
    noted.mover = noted.mover ||
                  (noted.contended && assumed_.independence.early_writes && assumed_.model.weak &&
                   effect.is_strong() && effect.is(ptx::Effect::Kind::Store) &&
                   kinds_.unseen_outside(*access.code, *access.op) &&
                   assumed_.mutant != Mutant::EarlyUnwatched);
    noted.mover = noted.mover ||
                  (noted.contended && settled_ == noted.bucket && noted.kind == AccessKind::Read);
    sums_.note(work.identity, noted);
    if (const std::uint64_t mixed = sums_.take_mixed(); mixed != 0) {
      order_data_.in_block(OrderData::memory_of(cluster, 0)); // others may have run meanwhile
      order_data_.mark(access.at, access.bytes, mixed);
    }
  }
  by_.clear();
  if (kinds_.some_movable()) {
    note_ended(work, c);
  }
  return some_choice;
}

/// Of others of the cluster; Stepper::meet_open knows all clusters.
void AccessMonitor::note_mover(Work& work, const MadeAccess& made, bool opens, bool closes) {
  auto& blocks = work.progress[made.cluster].loops;
  const std::size_t warps = blocks.front().size();
  const std::size_t warp = made.thread / isa::warp_size;
  for (std::size_t w = 0; w < blocks.size() * warps; ++w) {
    std::vector<OpenAccesses>& lanes = blocks[w / warps][w % warps].open;
    if (w == warp && opens && lanes.empty()) {
      lanes.resize(isa::warp_size);
    }
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      if (w * isa::warp_size + lane != made.thread) {
        movers_.meet(made.access, lanes[lane]);
        continue;
      }
      if (closes) {
        lanes[lane].clear();
      }
      if (opens) {
        movers_.open(lanes[lane], made.access);
      }
    }
  }
  made_.push_back(made);
}

void AccessMonitor::note_ended(Work& work, std::size_t c) {
  Cluster& cluster = *work.clusters[c];
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    for (std::size_t w = 0; w < cluster.block(b).warps().size(); ++w) {
      std::vector<OpenAccesses>& lanes = work.progress[c].loops[b][w].open;
      for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        if ((cluster.block(b).warps()[w].warp.live >> lane & 1) == 0) {
          movers_.end(lanes[lane]);
        }
      }
    }
  }
}

void AccessMonitor::carried_out(const Work& work) {
  if (assumed_.mutant == Mutant::IndependentForgetsCommands) {
    return;
  }
  if (!work.command->touches) {
    sums_.note_command(work.identity, {});
    return;
  }
  const auto& touched = *work.command->touches;
  const auto place_of = [&](const Command::Region& region) {
    const memory::Range range = space_.find_range(region.begin); // none: the host's own
    return region.begin + static_cast<std::uint64_t>(range.delta);
  };
  for (const Command::Region& from : touched) {
    for (const Command::Region& to : touched) {
      if (!from.write && to.write && space_.find_range(to.begin).size != 0) {
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

void AccessMonitor::looks(const Work& work, const Command::Region& at) {
  const memory::Range range = space_.find_range(at.begin);
  sums_.note(
      work.identity,
      {.place = at.begin + static_cast<std::uint64_t>(range.delta),
       .bytes = static_cast<std::uint32_t>(at.bytes),
       .contended = true,
       .of_host = true}
  );
}

} // namespace heddle::reduce

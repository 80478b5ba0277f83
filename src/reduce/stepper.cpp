// Implements the part of stepper.h that is about running threads until they stand at something that
// is a choice (operations.h).
#include "reduce/stepper.h"

#include "machine/fault_diagnostic.h"
#include "ptx/effect.h"
#include "reduce/lane.h"
#include "reduce/owned.h"
#include "reduce/stepper_work.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;
using isa::Stop;
using Kind = ptx::Effect::Kind;

namespace {

// After so many instructions or loops without a choice the threads of a warp are asked that for the
// first time, then after twice as many …
constexpr int first_patience = 1 << 12;
// … and after so many they may be meeting each other forever.
constexpr int last_patience = 1 << 20;
// How often lanes may read what others may write: no limit.
constexpr std::uint64_t any_number = ~std::uint64_t{0};

/// What the reductions want to know of each place in the code.
LiveState::Options live_options(const Stepper::Options& options) {
  const Learned& learned = options.learned;
  const Mutant mutant = options.mutant;
  return {
      .owns =
          [learned](const ptx::Function& f, std::uint32_t i) {
            return may_be_owned(f, i, learned);
          },
      .by_decisions = options.by_decisions,
      .decisive_store =
          [learned](const ptx::Function& f, std::uint32_t i) {
            return (learned.deciding >> store_bucket_of(f, i) & 1) != 0;
          },
      .forgets_low_bit = mutant == Mutant::FaintLowBit,
      .forgets_first_register = mutant == Mutant::FaintFirstRegister,
      .clocks =
          {.any_test = mutant == Mutant::ClocksAnyTest,
           .any_limit = mutant == Mutant::ClocksAnyLimit,
           .any_time = mutant == Mutant::ClocksAnyTime},
      .holds_all_times = options.clock_step != 0
  };
}

} // namespace

namespace {

/// Updates do not commute with weak memory: the later one may take what the earlier one passes on.
Stepper::Options sound(Stepper::Options options) {
  options.sums = options.sums && (!options.weak || options.mutant == Mutant::SumsInWeakMemory);
  return options;
}

} // namespace

Stepper::Stepper(World& world, Options options)
    : world_(world),
      options_(sound(std::move(options))),
      exec_(world.space()),
      journal_(world.space(), exec_),
      // Where lanes of a warp wait for each other a branch that does nothing is one all the same.
      live_(
          by_warps() || !options_.eager ? ptx::Liveness::Of::Reads : ptx::Liveness::Of::Effects,
          live_options(options_)
      ),
      followed_{
          OrderData(
              exec_,
              world.space(),
              options_.learned.unordered & ~options_.learned.contended,
              options_.retries,
              options_.mutant
          ),
          Cone(
              exec_,
              world.space(),
              live_,
              options_.learned,
              options_.host_decides,
              options_.mutant
          )
      },
      operations_(
          exec_,
          journal_,
          live_,
          world.space(),
          {.eager = options_.eager,
           .sums = options_.sums,
           .orderly = options_.orderly,
           .movers = options_.movers,
           .phases = options_.phases,
           .peeks = options_.peeks,
           .tiles = options_.tiles,
           .turns = options_.turns,
           .neighbours = options_.neighbours,
           .weak = options_.weak,
           .by_warps = by_warps(),
           .learned = options_.learned,
           .clock_step = options_.clock_step,
           .mutant = options_.mutant},
          [this] {
            followed_.order.called_library();
            followed_.cone.decided_by_anything();
          }
      ),
      works_(
          {.ignore_grid_order = options_.ignore_grid_order,
           .lasting = options_.learned.lasting,
           .mutant = options_.mutant}
      ),
      images_(
          live_,
          Renaming(options_.symmetry, by_warps(), options_.mutant),
          DeadData(options_.by_decisions, followed_.cone, options_.mutant),
          {.by_decisions = options_.by_decisions, .by_warps = by_warps(), .phases = options_.phases}
      ),
      access_monitor_(
          {options_.sums,
           options_.orderly,
           options_.early_writes && options_.weak,
           options_.data_order,
           options_.phases,
           options_.tiles,
           options_.learned,
           options_.mutant},
          journal_,
          world.space(),
          live_,
          operations_.kinds(),
          followed_.order
      ) {
  if (options_.weak) {
    begin_weak();
  }
  if (options_.data_order) {
    journal_.tell(followed_.order);
  }
  if (options_.by_decisions) {
    journal_.tell(followed_.cone);
    journal_.leave_out(followed_.cone);
  }
}
Stepper::~Stepper() = default;
Learned Stepper::learned() const {
  Learned result = options_.learned;
  result |= access_monitor_.sums().refuted();
  if (!access_monitor_.sums().clash()) { // else accesses that were free have not closed anything
    result |= access_monitor_.movers().refuted();
  }
  result |= followed_.cone.refuted();
  result.contended |= decided_by();
  result.lasting |= seen_.lasting;
  if ((operations_.mbarriers().clash() || operations_.library_barriers().grid_clash()) &&
      options_.phases) {
    result.refute(Assumption::Phases);
  }
  if (operations_.library_barriers().tiles_clash() && options_.tiles) {
    result.refute(Assumption::Tiles);
  }
  if (heap_ != nullptr && heap_->overflow() && !mutant_is(Mutant::HeapForgetsOverflow)) {
    result.refute(Assumption::HeapRoom);
  }
  if (seen_.turns_clash && options_.turns) {
    result.refute(Assumption::Turns);
  }
  if (seen_.in_pieces && !result.holds(Assumption::Turns)) {
    result.refute(Assumption::Whole);
  }
  if (seen_.neighbour_gone && options_.neighbours) {
    result.refute(Assumption::Neighbours);
  }
  return result;
}
// --- Running threads ---------------------------------------------------------------------------

/// False: there is no later time left.
bool Stepper::look_at_clock(const Lane& at, LaneMask lanes, Time time) {
  if (operations_.clocks().look(at, lanes, time)) {
    return true;
  }
  under_way_.failure = Failure{};
  under_way_.failure->incomplete = operations_.clocks().gap();
  return false;
}

/// Lets the lanes run, and takes down whose accesses those are that are strong. (A turn ends before
/// the second operation that others see, so all accesses are of the epoch in which it began.)
Stop Stepper::run(const Lane& at, std::int64_t fuel, LaneMask with, bool reconverge) {
  if (heap_ != nullptr) {
    const Cluster& cluster = *at.work->clusters[at.cluster];
    const std::uint64_t block = at.cluster * cluster.size() + at.block;
    const std::uint64_t threads = at.work->command->grid->config().block.count();
    heap_->turn(at.work->identity, block * threads + at.warp * isa::warp_size);
  }
  if (!look_at_clock(at, bit(at.lane) | with, operations_.clocks().take_time())) {
    return Stop::Unsupported;
  }
  const Stop stop =
      weak_ ? run_weakly(at, fuel, with, reconverge) : run_noting(at, fuel, with, reconverge);
  const bool wrong = journal_.misuse().op != nullptr ||
                     at.work->clusters[at.cluster]->block(at.block).divergence();
  return wrong ? Stop::Fault : stop;
}

Stop Stepper::run_noting(const Lane& at, std::int64_t fuel, LaneMask with, bool reconverge) {
  Cluster& cluster = *at.work->clusters[at.cluster];
  Block& running = cluster.block(at.block);
  if (options_.by_decisions) { // others visit the shared memory of a larger cluster
    followed_.cone.in_block(
        cluster.size() == 1 ? &at.work->command->grid->kernel() : nullptr,
        running.all_shared().data()
    );
  }
  if (!options_.orderly) {
    return run_turn(at, fuel, with, reconverge);
  }
  if (options_.data_order) {
    followed_.order.in_block(OrderData::memory_of(cluster, at.block));
  }
  access_monitor_.begin_turn();
  const std::uint32_t first = number_in_cluster({at.work, at.cluster, at.block, at.warp, 0});
  const std::uint64_t epoch = at.work->progress[at.cluster].epochs[at.block];
  const Stop stop = run_turn(at, fuel, with, reconverge);
  access_monitor_.end_turn(first, epoch);
  return stop;
}

Stop Stepper::run_turn(const Lane& at, std::int64_t fuel, LaneMask with, bool reconverge) {
  exec_.enter_block(at.work->clusters[at.cluster]->block(at.block).exec_block());
  at.work->progress[at.cluster].running_warp = at.warp;
  isa::Exec::Turn turn;
  turn.fuel = fuel;
  turn.stop_at_visible = true;
  turn.reconverge = reconverge;
  isa::Warp& warp = warp_state(at).warp;
  LaneMask lanes = bit(at.lane) | with;
  if (!options_.phases) {
    return exec_.run(warp, lanes, turn);
  }
  const auto index = static_cast<std::size_t>(at.lane);
  const Op& op = *warp.pc[index];
  if ((op.flags & isa::Visible) == 0) {
    return exec_.run(warp, lanes, turn);
  }
  const ptx::Instruction& i = warp.frame[index]->code->function->body[op.instruction];
  const ptx::Effect& effect = ptx::effect_of(i);
  if (effect.is(Kind::Mbarrier) || effect.is(Kind::Copy) || Mbarriers::tells_bytes(i, op)) {
    const Stop stop = operations_.mbarriers().run(at, lanes);
    if (stop == Stop::Fault || stop == Stop::Unsupported ||
        (warp.pc[index]->flags & isa::Visible) != 0) {
      return stop;
    }
    exec_.enter_block(at.work->clusters[at.cluster]->block(at.block).exec_block());
    return exec_.run(warp, lanes, turn);
  }
  operations_.library_barriers().note(at);
  Phases& phases = at.work->progress[at.cluster].phases;
  const std::vector<Mbarriers::Handover> word = phases.in_use()
                                                    ? operations_.mbarriers().handovers(at, lanes)
                                                    : std::vector<Mbarriers::Handover>();
  if (!word.empty()) {
    exec_.enter_block(at.work->clusters[at.cluster]->block(at.block).exec_block());
  }
  const Stop stop = exec_.run(warp, lanes, turn);
  for (const Mbarriers::Handover& handover : word) {
    phases.take_word({&handover.thread, 1}, handover.word);
    phases.leave_word({&handover.thread, 1}, handover.word);
  }
  if (phases.in_use() && (effect.is(Kind::Barrier) || effect.is_of_warp())) {
    // Lanes that met at once; of others Block tells.
    std::vector<Phases::Thread> met;
    for (lanes &= ~warp.blocked; lanes != 0; lanes &= lanes - 1) {
      Lane other = at;
      other.lane = std::countr_zero(lanes);
      met.push_back(number_in_cluster(other));
    }
    phases.meet(met);
  }
  return stop;
}

// [BAR-4]: threads of a warp execute an aligned barrier together. Lanes that have come to one wait
// for the others of their warp, wherever those go; when all that can run stand at some aligned
// barrier, each group of them executes its own.
LaneMask Stepper::together(const Lane& at) {
  const isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  LaneMask group = 0;
  for (LaneMask m = warp.live & ~warp.blocked; m != 0; m &= m - 1) {
    Lane other = at;
    other.lane = std::countr_zero(m);
    const auto i = static_cast<std::size_t>(other.lane);
    if (!stands_at_visible(other) || classify(other).kind != OperationKind::Aligned) {
      return 0;
    }
    if (warp.pc[i] == warp.pc[index] && warp.frame[i] == warp.frame[index]) {
      group |= bit(other.lane);
    }
  }
  return group;
}

// [WARP-MASK]: activemask names the lanes that execute it together, which may be any of those that
// have come to it. Sets that contain the lane and others: all of them if so few have come, else
// one, of all. (Then only the first lane also goes alone.)
std::vector<LaneMask> Stepper::active_with(const Lane& at) {
  const isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  if (!stands_at_visible(at) || !asks_for_active(*warp.frame[index]->code, *warp.pc[index])) {
    return {};
  }
  LaneMask others = 0;
  for (LaneMask m = warp.live & ~warp.blocked & ~bit(at.lane); m != 0; m &= m - 1) {
    Lane other = at;
    other.lane = std::countr_zero(m);
    const auto i = static_cast<std::size_t>(other.lane);
    if (warp.pc[i] == warp.pc[index] && warp.frame[i] == warp.frame[index] &&
        stands_at_visible(other)) {
      others |= bit(other.lane);
    }
  }
  std::vector<LaneMask> sets;
  if (std::popcount(others) < few_active) {
    for (LaneMask set = others; set != 0; set = (set - 1) & others) {
      sets.push_back(set | bit(at.lane));
    }
  } else {
    sets.push_back(others | bit(at.lane));
  }
  return sets;
}

/// Has the lane come to an aligned barrier and waits there for the rest of its warp, or has another
/// lane of its group the move?
bool Stepper::waits_for_warp(const Lane& at) {
  const Work::Progress& progress = at.work->progress[at.cluster];
  if (!progress.made || !stands_at_visible(at) || classify(at).kind != OperationKind::Aligned) {
    return false; // as the first step of its cluster, arriving is a move of each
  }
  const LaneMask group = together(at);
  return group == 0 || std::countr_zero(group) != at.lane;
}

bool Stepper::open_aligned(const Lane& at) {
  const LaneMask group = together(at);
  if (group == 0) {
    return true;
  }
  const Stop stop = run(at, plain_fuel, group);
  if (stop == Stop::Fault || stop == Stop::Unsupported) {
    fail(at);
    return false;
  }
  return true;
}

/// Lets a thread run until it stands at an operation that is somebody's choice; false if it failed.
bool Stepper::settle_lane(const Lane& at) {
  const isa::Warp& warp = warp_state(at).warp;
  Work::Progress& progress = at.work->progress[at.cluster];
  int rounds = 0;
  while ((warp.live & ~warp.blocked & ~progress.loops[at.block][at.warp].endless & bit(at.lane)) !=
         0) {
    if (is_choice(at)) {
      return true;
    }
    if (++rounds > 64) {
      return loops_for_ever(at, loop_rounds);
    }
    const Stop stop = run(at, plain_fuel);
    if (stop == Stop::Fault || stop == Stop::Unsupported) {
      fail(at);
      return false;
    }
  }
  return true;
}

/// Lets the threads of a warp run, those together that stand at the same place, until each stands
/// at something that is somebody's choice, or waits, or `rounds` are over; false if one failed.
/// Lanes that have read `asks` times what others may write wait at the next such read.
bool Stepper::settle_lanes(const Lane& any, int& rounds, std::uint64_t asks) {
  isa::Warp& warp = warp_state(any).warp;
  Work::Progress& progress = any.work->progress[any.cluster];
  constexpr std::uint64_t instructions = 16; // of a lane, as good as one that others can see
  LaneMask chosen = 0;                       // these stand at a choice
  while (rounds > 0) {
    const LaneMask can_run =
        warp.live & ~warp.blocked & ~progress.loops[any.block][any.warp].endless & ~chosen;
    if (can_run == 0) {
      return true;
    }
    // Those that are behind go first, so that lanes meet again.
    Lane at = any;
    at.lane = std::countr_zero(can_run);
    for (LaneMask m = can_run; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      const auto pc = [&](int l) { return warp.pc[static_cast<std::size_t>(l)]; };
      at.lane = std::less<>()(pc(lane), pc(at.lane)) ? lane : at.lane;
    }
    const auto index = static_cast<std::size_t>(at.lane);
    LaneMask group = 0;
    for (LaneMask m = can_run; m != 0; m &= m - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(m));
      group |= warp.pc[i] == warp.pc[index] && warp.frame[i] == warp.frame[index]
                   ? bit(static_cast<int>(i))
                   : 0;
    }
    const LaneMask now = choices(at, group);
    chosen |= now;
    group &= ~now;
    if (group == 0) {
      continue;
    }
    at.lane = std::countr_zero(group);
    if (asks != any_number && stands_at_visible(at)) {
      const Operation operation = classify(at);
      if (operation.kind == OperationKind::Orderly && operation.plain_read && asks-- == 0) {
        progress.loops[at.block][at.warp].plain |= group;
        asks = 0;
        continue;
      }
    }
    if (const bool own =
            heap_ != nullptr || under_way_.early || operations_.clocks().reading(at) != nullptr;
        own && stands_at_visible(at)) {
      const OperationKind kind = classify(at).kind;
      if (kind == OperationKind::Allocation || kind == OperationKind::Clock ||
          kind == OperationKind::Access) {
        group = bit(at.lane); // each call, time, and access that comes early, is somebody's
      }
    }
    // Without what is only tried out: that is remembered, so it depends on other states.
    const std::uint64_t executed = exec_.executed() - operations_.tried_out();
    const Stop stop = run(at, plain_fuel, group, /*reconverge=*/chosen == 0);
    const auto lanes = static_cast<std::uint64_t>(std::popcount(group));
    rounds -= 1 + static_cast<int>(
                      (exec_.executed() - operations_.tried_out() - executed) / lanes / instructions
                  );
    if (stop == Stop::Fault || stop == Stop::Unsupported) {
      fail(at);
      return false;
    }
  }
  return true;
}

/// Lets the threads of a warp run until each stands at a choice, waits, or loops forever.
bool Stepper::settle_lanes(const Lane& any) {
  const isa::Warp& warp = warp_state(any).warp;
  Work::Progress& progress = any.work->progress[any.cluster];
  // Lanes that meet in each round of a loop do not loop by themselves (loops_for_ever), but
  // together.
  std::uint64_t asks = any_number;
  for (int patience = first_patience;; patience = std::min(2 * patience, last_patience)) {
    int rounds = patience;
    if (!settle_lanes(any, rounds, std::exchange(asks, most_asked))) {
      return false;
    }
    if (rounds > 0) {
      return true;
    }
    const bool last = patience == last_patience;
    // Enough to see that a loop only asks, though it backs off for a different time each time.
    const std::uint64_t loops = std::max(static_cast<std::uint64_t>(patience) / 64, 2 * most_asked);
    progress.joins_are_moves = progress.joins_are_moves || last;
    for (LaneMask m = warp.live; m != 0; m &= m - 1) {
      Lane at = any;
      at.lane = std::countr_zero(m);
      const LaneMask can_run =
          warp.live & ~warp.blocked & ~progress.loops[any.block][any.warp].endless;
      if ((can_run & bit(at.lane)) != 0 && !is_choice(at) &&
          !loops_for_ever(at, last ? loop_rounds : loops)) {
        return false;
      }
    }
  }
}

void Stepper::settle_all(Work& work, std::size_t cluster) {
  // A barrier that opens lets lanes go that were looked at before: repeat until nothing changes.
  constexpr int many_passes = 4096;
  std::uint64_t executed = 0;
  bool moved = false; // a warp
  int passes = 0;
  do {
    if (++passes > many_passes) {
      work.progress[cluster].joins_are_moves = true;
    }
    executed = by_warps() ? 0 : exec_.executed() - operations_.tried_out();
    moved = false;
    Cluster& c = *work.clusters[cluster];
    for (std::size_t b = 0; b < c.size(); ++b) {
      for (std::size_t w = 0; w < c.block(b).warps().size(); ++w) {
        const isa::Warp& warp = c.block(b).warps()[w].warp;
        if (by_warps()) {
          if (!settle_warp({&work, cluster, b, w, 0}, &moved)) {
            return;
          }
          continue;
        }
        if (!settle_lanes({&work, cluster, b, w, 0})) {
          return;
        }
        const Work::Progress& progress = work.progress[cluster];
        const LaneMask can_run = warp.live & ~warp.blocked;
        if (can_run != 0 && progress.made && !progress.joins_are_moves && options_.eager &&
            options_.turns && !open_aligned({&work, cluster, b, w, std::countr_zero(can_run)})) {
          return;
        }
      }
    }
    if (!by_warps() && exec_.executed() - operations_.tried_out() == executed &&
        waits_for_ever(work, cluster)) {
      work.progress[cluster].polls = true;
      moved = true;
    }
  } while (moved || (!by_warps() && exec_.executed() - operations_.tried_out() != executed));
}

void Stepper::fail(const Lane& at) {
  if (under_way_.failure && !under_way_.failure->incomplete.empty()) {
    return; // it is our own gap
  }
  if (weak_ && fail_weakly()) {
    return;
  }
  under_way_.failure = Failure{};
  Block& block = at.work->clusters[at.cluster]->block(at.block);
  under_way_.failure->report = report_fault(*at.work->command->grid, block, at.warp, exec_);
  if (under_way_.failure->report.fault.kind == isa::FaultKind::HeapMisuse && heap_ != nullptr) {
    under_way_.failure->report.nearest = heap_->nearest(under_way_.failure->report.fault.address);
  }
  if (const AccessNotes::Misuse& misuse = journal_.misuse(); misuse.op != nullptr) {
    FaultReport& report = under_way_.failure->report;
    report.kind = FaultReport::Kind::Fault;
    report.nearest = heap_->nearest(misuse.at);
    report.fault = {};
    report.fault.kind = report.nearest && report.nearest->freed ? isa::FaultKind::UseAfterFree
                                                                : isa::FaultKind::OutOfBounds;
    report.fault.lane = misuse.lane;
    report.fault.address = heap_->address_of(misuse.at);
    report.fault.bytes = misuse.bytes;
    report.fault.store = misuse.store;
    report.thread = block.thread_index(at.warp, misuse.lane);
    report.lanes = 1;
    describe_instruction(*misuse.code, *misuse.op, report);
  }
}

/// Before the first launch of a kernel that may call malloc.
void Stepper::make_heap(const isa::Kernel& kernel) {
  if (heap_ != nullptr || !kernel.calls) {
    return;
  }
  heap_ =
      std::make_unique<DeviceHeap>(world_, journal_, exec_, options_.allocations, options_.mutant);
  if (!heap_->exists()) {
    heap_.reset();
    return;
  }
  journal_.check(*heap_);
  operations_.know_heap();
}

} // namespace heddle::reduce

// Implements the part of stepper.h that puts its parts together, and says what a search has
// refuted.
#include "reduce/stepper.h"

#include "reduce/owned.h"
#include "reduce/stepper_work.h"

#include <utility>

namespace heddle::reduce {

namespace {

/// What the reductions want to know of each place in the code.
LiveState::Options live_options(const Stepper::Options& options) {
  const Learned& learned = options.learned;
  const Mutant mutant = options.mutant;
  return {
      .owns =
          [learned](const ptx::Function& f, std::uint32_t i) {
            return may_be_owned(f, i, learned);
          },
      .by_decisions = options.dead_data.by_decisions,
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
      .holds_all_times = options.model.clock_step != 0
  };
}

} // namespace

namespace {

/// Updates do not commute with weak memory: the later one may take what the earlier one passes on.
Stepper::Options sound(Stepper::Options options) {
  options.independence.sums = options.independence.sums &&
                              (!options.model.weak || options.mutant == Mutant::SumsInWeakMemory);
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
          by_warps() || !options_.independence.eager ? ptx::Liveness::Of::Reads
                                                     : ptx::Liveness::Of::Effects,
          live_options(options_)
      ),
      followed_{
          OrderData(
              exec_,
              world.space(),
              options_.learned.unordered & ~options_.learned.contended,
              options_.independence.retries,
              options_.mutant
          ),
          Cone(
              exec_,
              world.space(),
              live_,
              options_.learned,
              options_.dead_data.host_decides,
              options_.mutant
          )
      },
      operations_(
          exec_,
          journal_,
          live_,
          world.space(),
          {.eager = options_.independence.eager,
           .sums = options_.independence.sums,
           .orderly = options_.independence.orderly,
           .movers = options_.independence.movers,
           .phases = options_.independence.phases,
           .peeks = options_.independence.peeks,
           .tiles = options_.independence.tiles,
           .turns = options_.independence.turns,
           .neighbours = options_.independence.neighbours,
           .weak = options_.model.weak,
           .by_warps = by_warps(),
           .learned = options_.learned,
           .clock_step = options_.model.clock_step,
           .mutant = options_.mutant},
          [this] {
            followed_.order.called_library();
            followed_.cone.decided_by_anything();
          }
      ),
      works_(
          {.ignore_grid_order = options_.model.ignore_grid_order,
           .lasting = options_.learned.lasting,
           .mutant = options_.mutant}
      ),
      images_(
          live_,
          Renaming(options_.renaming.symmetry, by_warps(), options_.mutant),
          DeadData(options_.dead_data.by_decisions, followed_.cone, options_.mutant),
          {.by_decisions = options_.dead_data.by_decisions,
           .by_warps = by_warps(),
           .phases = options_.independence.phases}
      ),
      access_monitor_(
          {options_.independence.sums,
           options_.independence.orderly,
           options_.independence.early_writes && options_.model.weak,
           options_.independence.data_order,
           options_.independence.phases,
           options_.independence.tiles,
           options_.learned,
           options_.mutant},
          journal_,
          world.space(),
          live_,
          operations_.kinds(),
          followed_.order
      ) {
  if (options_.model.weak) {
    weak_ = std::make_unique<WeakMoves>(
        world_,
        exec_,
        live_,
        works_,
        operations_.kinds(),
        access_monitor_.sums(),
        WeakOptions{
            .same_value_races = options_.model.same_value_races,
            .settled = options_.persistent.settled,
            .rewritten = options_.learned.rewritten,
            .mutant = options_.mutant
        }
    );
    journal_.tell_last(weak_->order());
    state_names_.tell(weak_->order());
  }
  if (options_.independence.data_order) {
    journal_.tell(followed_.order);
  }
  if (options_.dead_data.by_decisions) {
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
      options_.independence.phases) {
    result.refute(Assumption::Phases);
  }
  if (operations_.library_barriers().tiles_clash() && options_.independence.tiles) {
    result.refute(Assumption::Tiles);
  }
  if (heap_ != nullptr && heap_->overflow() && !mutant_is(Mutant::HeapForgetsOverflow)) {
    result.refute(Assumption::HeapRoom);
  }
  if (seen_.turns_clash && options_.independence.turns) {
    result.refute(Assumption::Turns);
  }
  if (seen_.in_pieces && !result.holds(Assumption::Turns)) {
    result.refute(Assumption::Whole);
  }
  if (seen_.neighbour_gone && options_.independence.neighbours) {
    result.refute(Assumption::Neighbours);
  }
  return result;
}
/// Before the first launch of a kernel that may call malloc.
void Stepper::make_heap(const isa::Kernel& kernel) {
  if (heap_ != nullptr || !kernel.calls) {
    return;
  }
  heap_ = std::make_unique<DeviceHeap>(
      world_,
      journal_,
      exec_,
      options_.independence.allocations,
      options_.mutant
  );
  if (!heap_->exists()) {
    heap_.reset();
    return;
  }
  journal_.check(*heap_);
  operations_.know_heap();
}

} // namespace heddle::reduce

#include "reduce/independence/independence.h"

#include "reduce/independence/barrier_monitor.h"

#include <utility>

namespace heddle::reduce {

Independence::Independence(
    Machine& machine,
    const StepperOptions& options,
    const std::function<void()>& decided_by_anything
)
    : machine_(machine),
      options_(options),
      order_(
          machine.exec,
          machine.world.space(),
          options.learned.unordered & ~options.learned.contended,
          options.independence.retries,
          options.mutant
      ),
      operations_(
          machine.exec,
          machine.journal,
          machine.live,
          machine.world.space(),
          options,
          [this, decided_by_anything] {
            order_.called_library();
            decided_by_anything();
          }
      ),
      accesses_(
          options,
          machine.journal,
          machine.world.space(),
          machine.live,
          operations_.kinds(),
          order_
      ),
      open_(machine.works, accesses_, options.mutant) {
  if (options.independence.data_order) {
    machine.journal.tell(order_);
  }
}

void Independence::know(const isa::Kernel& kernel) {
  if (heap_ != nullptr || !kernel.calls) {
    return;
  }
  heap_ = std::make_unique<DeviceHeap>(
      machine_.world,
      machine_.journal,
      machine_.exec,
      options_.independence.allocations,
      options_.mutant
  );
  if (!heap_->exists()) {
    heap_.reset();
    return;
  }
  machine_.journal.check(*heap_);
  operations_.know_heap();
}

void Independence::note_doubts(Work& work, std::size_t c) {
  const bool doubt = std::exchange(work.progress[c].turns_doubt, false);
  const bool in_pieces = std::exchange(work.progress[c].in_pieces, false);
  doubts_.in_pieces = doubts_.in_pieces || in_pieces;
  doubts_.turns = doubts_.turns || (doubt && !is(Mutant::TurnsForgotten));
}

void Independence::note_ends(Work& work, std::size_t c) {
  note_doubts(work, c);
  const bool gone =
      some_gone(work.progress[c], *work.clusters[c]) && !is(Mutant::NeighboursForgetEnds);
  doubts_.neighbour_gone = doubts_.neighbour_gone || gone;
}

bool Independence::clash() const {
  return accesses_.sums().clash() || accesses_.movers().clash() || decided_by() != 0;
}

void Independence::add_refuted(Learned& learned) const {
  const IndependenceOptions& on = options_.independence;
  learned |= accesses_.sums().refuted();
  if (!accesses_.sums().clash()) { // else accesses that were free have not closed anything
    learned |= accesses_.movers().refuted();
  }
  learned.contended |= decided_by();
  if ((operations_.mbarriers().clash() || operations_.library_barriers().grid_clash()) &&
      on.phases) {
    learned.refute(Assumption::Phases);
  }
  if (operations_.library_barriers().tiles_clash() && on.tiles) {
    learned.refute(Assumption::Tiles);
  }
  if (heap_ != nullptr && heap_->overflow() && !is(Mutant::HeapForgetsOverflow)) {
    learned.refute(Assumption::HeapRoom);
  }
  if (doubts_.turns && on.turns) {
    learned.refute(Assumption::Turns);
  }
  if (doubts_.in_pieces && !learned.holds(Assumption::Turns)) {
    learned.refute(Assumption::Whole);
  }
  if (doubts_.neighbour_gone && on.neighbours) {
    learned.refute(Assumption::Neighbours);
  }
}

} // namespace heddle::reduce

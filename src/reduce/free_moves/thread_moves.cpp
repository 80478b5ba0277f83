#include "reduce/free_moves/thread_moves.h"

#include "reduce/states/stepper_work.h"

namespace heddle::reduce {

using isa::LaneMask;
using isa::Stop;

namespace {

bool has_failed(Stop stop) {
  return stop == Stop::Fault || stop == Stop::Unsupported;
}

bool can_run(const Lane& at) {
  const isa::Warp& warp = warp_state(at).warp;
  return (warp.live & ~warp.blocked & bit(at.lane)) != 0;
}

} // namespace

bool ThreadMoves::make(const Move& move) {
  Work& work = *parts_.machine.works[move.work];
  present_.load(work, move.cluster);
  const Lane at{&work, move.cluster, move.block, move.warp, move.lane};
  const bool was_made = work.progress[move.cluster].made;
  parts_.under_way.barrier_before = grids_.barrier(work);
  Made made = Made::Settles;
  if (parts_.by_warps()) {
    made = free_.warps.begin_move(move, work) ? Made::Settles : Made::Failed;
  } else {
    const OperationKind first = parts_.independence.operations().classify(at).kind;
    const isa::Op* const from = warp_state(at).warp.pc[slot(at.lane)];
    if ((first == OperationKind::Plain ||
         (first == OperationKind::Allocation && parts_.options.independence.allocations)) &&
        (!was_made || !parts_.options.independence.eager)) {
      // Plain accesses go together with the operation that follows them.
      parts_.under_way.bundling = true;
      made = free_.settling.settle_lane(at) ? Made::Settles : Made::Failed;
      parts_.under_way.bundling = false;
    }
    if (made == Made::Settles && can_run(at) && free_.choices.is_choice(at)) {
      made = operate(move, at, from, was_made);
    }
  }
  if (made == Made::Failed) {
    work.loaded[move.cluster] = nullptr;
    parts_.machine.journal.absorb({});
  }
  return made == Made::Settles ? end(move, was_made) : made == Made::Stays;
}

/// The operation at which the lane stands, which is a choice.
ThreadMoves::Made
ThreadMoves::operate(const Move& move, const Lane& at, const isa::Op* from, bool was_made) {
  Work& work = *at.work;
  const isa::Warp& warp = warp_state(at).warp;
  const std::size_t lane = slot(at.lane);
  const Operation operation = parts_.independence.operations().classify(at);
  if (operation.kind == OperationKind::Heap && !move.heap) {
    return Made::Settles; // that cannot be taken back: a move of its own
  }
  if (warp.pc[lane] != from && (asks_for_active(*warp.frame[lane]->code, *warp.pc[lane]) ||
                                operation.kind == OperationKind::Clock || parts_.weak)) {
    // Others may come and be named with it; more than one time may be shown, or value be read: a
    // move of its own.
    return Made::Settles;
  }
  parts_.under_way.taken = operation.step;
  const bool may_stay =
      was_made && operation.kind == OperationKind::Access && move.lanes == 0 && !parts_.weak;
  if (may_stay && parts_.independence.operations().polls().reads_in_vain(at)) {
    // It reads, which others may have to know, and stays where it is.
    const Stop stop = free_.runner.run(at, plain_fuel);
    present_.absorb_writes(work, move.cluster);
    work.loaded[move.cluster] = nullptr;
    return has_failed(stop) ? Made::GivesUp : Made::Stays;
  }
  const bool aligned = operation.kind == OperationKind::Aligned;
  if (aligned && !was_made) {
    return Made::Settles; // it has arrived; settling brings the others, then they pass together
  }
  parts_.independence.operations().clocks().begin_look(at, move.time);
  parts_.under_way.weak_pick = move.pick;
  const Stop stop =
      free_.runner.run(at, plain_fuel, aligned ? free_.choices.together(at) : move.lanes);
  if (has_failed(stop)) {
    free_.runner.fail(at);
    return Made::Failed;
  }
  // What the thread does before its next choice belongs to this move, and may be a step.
  const bool allocates = operation.kind == OperationKind::Allocation;
  const bool looks = was_made && parts_.under_way.taken == StepKind::None;
  parts_.under_way.early =
      looks && parts_.weak && parts_.options.independence.early_writes && !parts_.under_way.tried;
  const Made made = allocates || looks ? run_on(at, allocates) : Made::Settles;
  parts_.under_way.early = false;
  return made;
}

/// On to the next operation that is a step, or a choice.
ThreadMoves::Made ThreadMoves::run_on(const Lane& at, bool allocates) {
  constexpr int most_rounds = 64;
  StepKind& taken = parts_.under_way.taken;
  for (int rounds = 0; rounds < most_rounds; ++rounds) {
    if (!can_run(at) || free_.choices.is_choice(at)) {
      break;
    }
    if (stands_at_visible(at)) {
      const Operation next = parts_.independence.operations().classify(at);
      const bool alone = next.kind == OperationKind::Silent ||
                         next.kind == OperationKind::Orderly || next.kind == OperationKind::Plain ||
                         next.kind == OperationKind::Access;
      if (taken == StepKind::None && (allocates || alone)) {
        taken = next.step;
      }
      if (!allocates && (taken != StepKind::None || !alone)) {
        break; // settling goes on
      }
    }
    if (has_failed(free_.runner.run(at, plain_fuel))) {
      parts_.under_way.early = false;
      free_.runner.fail(at);
      return Made::Failed;
    }
  }
  return Made::Settles;
}

/// Lets whoever may go on without a choice do so, and takes down where everybody is.
bool ThreadMoves::end(const Move& move, bool was_made) {
  Work& work = *parts_.machine.works[move.work];
  // [CLUSTER] [COOP]: from now on they are all guaranteed.
  if (move.through && parts_.under_way.taken == StepKind::None) {
    parts_.under_way.taken = StepKind::End; // [STEP.1]
  }
  // The literature's occupancy begins with any operation.
  const bool makes = (parts_.under_way.taken != StepKind::None ||
                      parts_.options.model.progress == ProgressModel::Lobe) &&
                     !was_made;
  work.progress[move.cluster].made = was_made || makes;
  free_.settling.settle(work, move.cluster);
  parts_.independence.operations().clocks().end_look(work, move);
  present_.capture(move.work, move.cluster);
  for (std::size_t c = 0; makes && work.cooperative() && c < work.clusters.size(); ++c) {
    if (c != move.cluster && !parts_.under_way.failure) {
      present_.load(work, c);
      work.progress[c].made = true;
      free_.settling.settle(work, c);
      present_.capture(move.work, c);
    }
  }
  if (!parts_.under_way.failure && parts_.options.independence.phases && work.cooperative()) {
    grids_.settle(move.work, parts_.under_way.barrier_before);
  }
  return !parts_.under_way.failure;
}

} // namespace heddle::reduce

// Implements the part of stepper.h that says which operations (operations.h) are moves that the
// explorer schedules.
#include "reduce/lane.h"
#include "reduce/stepper_work.h"

#include <bit>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;
using ptx::Mod;
using Kind = ptx::Effect::Kind;

/// Does the explorer choose when an operation of that kind happens ([RED-JOIN], [RED-PLAIN])? (A
/// plain or orderly read of a thread that loops on such reads is a choice, whatever other such
/// accesses are.)
bool Stepper::is_choice(const Lane& at, OperationKind kind) {
  const Work::Progress& progress = at.work->progress[at.cluster];
  switch (kind) {
  case OperationKind::Silent:
    return false;
  case OperationKind::Clock:
    return !operations_.clocks().asks_only_the_time(at);
  case OperationKind::Allocation:
    if (!options_.allocations) {
      return true;
    }
    [[fallthrough]];
  case OperationKind::Plain:
    return (!progress.made || !options_.eager) && !under_way_.bundling;
  case OperationKind::Access:
  case OperationKind::Heap:
  case OperationKind::Aligned: // its warp decides, see open_aligned
    return true;
  case OperationKind::Wait: // it stands there, but the move is not its own
    return true;
  case OperationKind::Join:
  case OperationKind::Sum:
  case OperationKind::Orderly:
  case OperationKind::Phase:
  case OperationKind::Io:
    break;
  case OperationKind::End:
    if (!options_.ends) {
      return true;
    }
    break;
  }
  return (!progress.made && !mutant_is(Mutant::EagerJoinsBeforeStart)) ||
         progress.joins_are_moves || !options_.eager ||
         options_.progress == ProgressModel::Hsa; // nobody is guaranteed for good
}

/// Is the thread's next operation a move that the explorer schedules?
bool Stepper::is_choice(const Lane& at) {
  if (!stands_at_visible(at)) {
    return false;
  }
  const OperationKind kind = classify(at).kind;
  if (kind == OperationKind::Access && comes_early(at)) {
    return false;
  }
  return is_choice(at, kind) || ((kind == OperationKind::Plain || kind == OperationKind::Orderly) &&
                                 (waiting(at) & bit(at.lane)) != 0);
}

/// Lanes of the warp that loop on plain or orderly reads.
LaneMask Stepper::waiting(const Lane& at) {
  return at.work->progress[at.cluster].loops[at.block][at.warp].plain;
}

/// For which lanes of a group (same frame, same pc) is it one?
LaneMask Stepper::choices(const Lane& first, LaneMask group) {
  const isa::Warp& warp = warp_state(first).warp;
  const auto index = static_cast<std::size_t>(first.lane);
  const Op& op = *warp.pc[index];
  if ((op.flags & isa::Visible) == 0) {
    return 0;
  }
  const isa::Code& code = *warp.frame[index]->code;
  const ptx::Instruction& i = code.function->body[op.instruction];
  LaneMask result = 0;
  // What kind of access it is depends on its address: whether others access that, too
  // ([RED-PLACES]), or whose memory it is.
  const ptx::Effect& effect = ptx::effect_of(i);
  const bool by_place = (effect.is_access() && operations_.kinds().contended(code, op) &&
                         !mutant_is(Mutant::PlacesOfFirstLane)) ||
                        i.has(Mod::SharedCluster);
  // … and whether it comes early, on what its thread knows.
  const bool early = under_way_.early && (effect.is(Kind::Fence) || effect.is_strong());
  const bool apart = effect.is(Kind::Mbarrier) || effect.is(Kind::Copy) || by_place || early;
  const bool alike = effect.is(Kind::Barrier) || effect.is(Kind::Fence) || effect.is(Kind::Exit) ||
                     i.one_of(ptx::Category::Space).has_value();
  if (!apart && (op.flags & isa::Guarded) == 0 && alike) {
    const OperationKind kind = classify(first).kind;
    result = is_choice(first, kind) ? group
             : kind == OperationKind::Plain || kind == OperationKind::Orderly
                 ? group & waiting(first)
                 : 0;
  } else {
    for (LaneMask m = group; m != 0; m &= m - 1) {
      Lane at = first;
      at.lane = std::countr_zero(m);
      result |= is_choice(at) ? bit(at.lane) : 0;
    }
  }
  return result;
}

} // namespace heddle::reduce

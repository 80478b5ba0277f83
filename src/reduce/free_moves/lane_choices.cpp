// Implements lane_choices.h.
#include "reduce/free_moves/lane_choices.h"

#include "reduce/states/stepper_work.h"

#include <bit>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;
using ptx::Mod;
using Kind = ptx::Effect::Kind;

bool LaneChoices::is_choice(const Lane& at, OperationKind kind) {
  const Work::Progress& progress = at.work->progress[at.cluster];
  switch (kind) {
  case OperationKind::Silent:
    return false;
  case OperationKind::Clock:
    return !parts_.independence.operations().clocks().asks_only_the_time(at);
  case OperationKind::Allocation:
    if (!parts_.options.independence.allocations) {
      return true;
    }
    [[fallthrough]];
  case OperationKind::Plain:
    return (!progress.made || !parts_.options.independence.eager) && !parts_.under_way.bundling;
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
    if (!parts_.options.independence.ends) {
      return true;
    }
    break;
  }
  return (!progress.made && !parts_.mutant_is(Mutant::EagerJoinsBeforeStart)) ||
         progress.joins_are_moves || !parts_.options.independence.eager ||
         parts_.options.model.progress == ProgressModel::Hsa; // nobody is guaranteed for good
}

bool LaneChoices::is_choice(const Lane& at) {
  if (!stands_at_visible(at)) {
    return false;
  }
  const OperationKind kind = parts_.independence.operations().classify(at).kind;
  if (kind == OperationKind::Access && parts_.comes_early(at)) {
    return false;
  }
  return is_choice(at, kind) || ((kind == OperationKind::Plain || kind == OperationKind::Orderly) &&
                                 (waiting(at) & bit(at.lane)) != 0);
}

LaneMask LaneChoices::waiting(const Lane& at) {
  return at.work->progress[at.cluster].loops[at.block][at.warp].plain;
}

LaneMask LaneChoices::of(const Lane& first, LaneMask group) {
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
  const bool by_place =
      (effect.is_access() && parts_.independence.operations().kinds().contended(code, op) &&
       !parts_.mutant_is(Mutant::PlacesOfFirstLane)) ||
      i.has(Mod::SharedCluster);
  // … and whether it comes early, on what its thread knows.
  const bool early = parts_.under_way.early && (effect.is(Kind::Fence) || effect.is_strong());
  const bool apart = effect.is(Kind::Mbarrier) || effect.is(Kind::Copy) || by_place || early;
  const bool alike = effect.is(Kind::Barrier) || effect.is(Kind::Fence) || effect.is(Kind::Exit) ||
                     i.one_of(ptx::Category::Space).has_value();
  if (!apart && (op.flags & isa::Guarded) == 0 && alike) {
    const OperationKind kind = parts_.independence.operations().classify(first).kind;
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

LaneMask LaneChoices::together(const Lane& at) {
  const isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  LaneMask group = 0;
  for (LaneMask m = warp.live & ~warp.blocked; m != 0; m &= m - 1) {
    Lane other = at;
    other.lane = std::countr_zero(m);
    const auto i = static_cast<std::size_t>(other.lane);
    if (!stands_at_visible(other) ||
        parts_.independence.operations().classify(other).kind != OperationKind::Aligned) {
      return 0;
    }
    if (warp.pc[i] == warp.pc[index] && warp.frame[i] == warp.frame[index]) {
      group |= bit(other.lane);
    }
  }
  return group;
}

std::vector<LaneMask> LaneChoices::active_with(const Lane& at) {
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

bool LaneChoices::waits_for_warp(const Lane& at) {
  const Work::Progress& progress = at.work->progress[at.cluster];
  if (!progress.made || !stands_at_visible(at) ||
      parts_.independence.operations().classify(at).kind != OperationKind::Aligned) {
    return false; // as the first step of its cluster, arriving is a move of each
  }
  const LaneMask group = together(at);
  return group == 0 || std::countr_zero(group) != at.lane;
}

bool LaneChoices::waits_for_phase(const Lane& at) {
  const Work::Progress& progress = at.work->progress[at.cluster];
  return progress.made && !progress.polls && !progress.joins_are_moves && stands_at_visible(at) &&
         parts_.independence.operations().classify(at).kind == OperationKind::Wait;
}

Operation LaneChoices::loop_operation(const Lane& at) {
  const auto& loops = at.work->progress[at.cluster].loops[at.block][at.warp];
  Operation result{OperationKind::Access, StepKind::None, "a loop without a step"};
  if ((loops.stepping & bit(at.lane)) != 0) {
    result.step = StepKind::Sync;
    result.what = "a loop that no other thread ends";
  } else if ((loops.local & bit(at.lane)) != 0) {
    result.what = "a loop that accesses only local variables";
  } else if ((loops.sleeping & bit(at.lane)) != 0) {
    result.what = "a loop that only sleeps";
  }
  return result;
}

} // namespace heddle::reduce

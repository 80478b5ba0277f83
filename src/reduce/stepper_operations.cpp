// Implements the part of stepper.h that classifies the next operation of each thread, and says
// which operations are moves that the explorer schedules.
#include "isa/lower_device_runtime.h"
#include "isa/lower_memory_address.h"
#include "isa/ops_address.h"
#include "ptx/effect.h"
#include "reduce/stepper_work.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;
using ptx::Mod;
using ptx::Opcode;
using Kind = ptx::Effect::Kind;

namespace {

LaneMask bit(int lane) {
  return LaneMask{1} << lane;
}

} // namespace
/// Is this access a scheduling point? ([RED-PLACES])
bool Stepper::contended(const isa::Code& code, const Op& op, memory::Address address) {
  constexpr memory::Address on = 16;
  return access_kinds_
      .contended(code, op, mutant_is(Mutant::PlacesOfOthers) ? address + on : address);
}

/// Is it one that others do not meet, or none of those that they meet is made before it?
bool Stepper::is_free(const isa::Code& code, const Op& op, memory::Address address) {
  return !contended(code, op, address) || access_kinds_.movable(code, op, address);
}

/// What an atomic or volatile access is to the search.
Operation Stepper::strong_access(const Lane& at, Operation as, memory::Address address) {
  as = library_barriers_.classify(at, as);
  const isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  const isa::Code& code = *warp.frame[index]->code;
  if (options_.orderly && as.kind == OperationKind::Access &&
      is_free(code, *warp.pc[index], address) && !library_barriers_.operation(at)) {
    as.kind = OperationKind::Orderly;
    as.plain_read =
        !ptx::effect_of(code.function->body[warp.pc[index]->instruction]).is(Kind::Store);
  }
  return as;
}

/// Is the address one of another block's shared memory?
bool Stepper::is_neighbours(const Lane& at, const ptx::Instruction& i, std::uint64_t address) {
  const auto space = i.one_of(ptx::Category::Space);
  if (space && *space != Mod::SharedCluster) {
    return false;
  }
  const std::uint64_t offset = space ? address : address - memory::shared_window;
  const std::uint64_t rank = offset >> memory::shared_rank_shift; // from 1; 0: one's own
  return offset < memory::window_size && rank != 0 && rank != at.block + 1;
}

// [STEP.1] to [STEP.4]: atomic writes, fences, and accesses to objects of automatic storage do not
// count as steps.
Operation Stepper::classify(const Lane& at) {
  isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  const Op& op = *warp.pc[index];
  const isa::Code& code = *warp.frame[index]->code;
  const ptx::Instruction& i = code.function->body[op.instruction];
  const ptx::Effect& effect = ptx::effect_of(i);
  seen_.bytes_at_once = seen_.bytes_at_once || (!options_.phases && Mbarriers::arrives_later(i));
  if (Mbarriers::tells_bytes(i, op)) { // visible to threads that wait at the mbarrier
    Operation result = mbarriers_.classify(at);
    result.step = effect.step;
    return result;
  }
  switch (effect.kind) {
  case Kind::Load:
  case Kind::Store:
  case Kind::Update: {
    std::uint64_t address[isa::warp_size];
    exec_.enter_block(at.work->clusters[at.cluster]->block(at.block).exec_block());
    exec_.select(warp, *warp.frame[index], bit(at.lane));
    isa::addresses<isa::Space::Generic>(exec_, op, address);
    if (!i.one_of(ptx::Category::Space)) {
      if (address[index] - memory::local_window < memory::window_size) {
        return {
            OperationKind::Silent,
            StepKind::None,
            "an access to a local variable",
            /*local=*/true
        };
      }
      if (address[index] - memory::param_window < memory::window_size) {
        return {OperationKind::Silent, StepKind::None, "a read of a parameter"};
      }
    }
    if (!options_.neighbours && at.work->clusters[at.cluster]->size() > 1 && !by_warps() &&
        is_neighbours(at, i, address[index])) {
      return {OperationKind::Access, effect.step, effect.name};
    }
    if (effect.is(Kind::Update) && options_.sums && access_kinds_.sum_kind(code, op) != 0 &&
        !contended(code, op, address[index]) && !library_barriers_.operation(at)) {
      return {OperationKind::Sum, effect.step, effect.name};
    }
    if (effect.is_strong()) {
      const Operation result =
          strong_access(at, {OperationKind::Access, effect.step, effect.name}, address[index]);
      seen_.vectors_at_once =
          seen_.vectors_at_once ||
          (!weak_ && result.kind == OperationKind::Access && model::access_elements(i) > 1);
      return result;
    }
    seen_.plain_access = true;
    if (live_.at(code, op).before_dead_end && !by_warps()) {
      // As racy as can be, and yet what `while (flag == 0) {}` becomes: exact at least here.
      journal_.count_as_strong(op);
      return {OperationKind::Access, effect.step, effect.name};
    }
    return {
        OperationKind::Plain,
        effect.step,
        effect.name,
        /*local=*/false,
        /*plain_read=*/effect.is(Kind::Load)
    };
  }
  case Kind::Fence:
    if (weak_ && weak_fence(i) && weak_fence(i)->fence.sc) { // [MEM-SC] in some order
      return {OperationKind::Access, effect.step, effect.name};
    }
    [[fallthrough]];
  case Kind::Dependency:
    return {OperationKind::Silent, effect.step, effect.name};
  case Kind::Barrier: {
    const bool aligned = effect.meets == ptx::Effect::Meets::Block &&
                         (i.opcode == Opcode::Bar || i.has(Mod::Aligned));
    const bool free = options_.turns || effect.meets != ptx::Effect::Meets::Block;
    return {
        aligned ? OperationKind::Aligned
        : free  ? OperationKind::Join
                : OperationKind::Access,
        effect.step,
        effect.name
    };
  }
  case Kind::Collective:
  case Kind::WarpWide: // those that load and store do so as weakly as plain accesses
    seen_.plain_access = seen_.plain_access || effect.reads() || effect.writes();
    return {OperationKind::Join, effect.step, effect.name};
  case Kind::Object: // [RACE]: weak, like other accesses to data
    seen_.plain_access = true;
    return {OperationKind::Plain, effect.step, effect.name};
  case Kind::Mbarrier: {
    Operation result = mbarriers_.classify(at);
    result.step = effect.step;
    return result;
  }
  case Kind::Copy: {
    if (effect.is_strong()) {
      seen_.sums_at_once = true;
      const bool sum = options_.sums && access_kinds_.sum_kind(code, op) != 0 &&
                       !access_kinds_.contended(code, op);
      return {sum ? OperationKind::Sum : OperationKind::Access, effect.step, effect.name};
    }
    if (!options_.neighbours && i.has(Mod::SharedCluster)) {
      return {OperationKind::Access, effect.step, effect.name};
    }
    seen_.plain_access = true; // as weak as a plain access; here it happens at once
    if (Mbarriers::copies_and_tells(i)) {
      return {mbarriers_.classify(at).kind, effect.step, effect.name};
    }
    return {OperationKind::Plain, effect.step, effect.name};
  }
  case Kind::Call:
    return classify_call(i);
  case Kind::Return:
  case Kind::Exit:
    return {OperationKind::End, effect.step, effect.name};
  default:
    if (clocks_.reading(at) != nullptr) {
      return clocks_.classify(at);
    }
    return {OperationKind::Access, effect.step, effect.name};
  }
}

/// What a call of a function of the device library is.
Operation Stepper::classify_call(const ptx::Instruction& call) {
  under_way_.repeatable = false;
  switch (ptx::library_function(call)) {
  case ptx::LibraryFunction::Output:
    return {OperationKind::Io, StepKind::Io, "printf"}; // [STEP.2]
  case ptx::LibraryFunction::Memory: {
    const bool of_its_own = heap_ != nullptr && !by_warps();
    return {
        of_its_own ? OperationKind::Allocation : OperationKind::Heap,
        StepKind::None,
        "a call of malloc or free"
    };
  }
  case ptx::LibraryFunction::Failure:
  case ptx::LibraryFunction::None:
    break;
  }
  followed_.order.called_library();
  clocks_.data().called_library();
  followed_.cone.decided_by_anything();
  const bool runtime = std::ranges::any_of(call.operands, [](const ptx::Operand& operand) {
    return isa::device_runtime_function(operand.name) != nullptr;
  });
  return runtime ? Operation{OperationKind::Heap, StepKind::None, "a call of the device runtime"}
                 : Operation{OperationKind::Access, StepKind::None, ptx::effect_of(call).name};
}

/// Does the explorer choose when an operation of that kind happens ([RED-JOIN], [RED-PLAIN])? (A
/// plain or orderly read of a thread that loops on such reads is a choice, whatever other such
/// accesses are.)
bool Stepper::is_choice(const Lane& at, OperationKind kind) {
  const Work::Progress& progress = at.work->progress[at.cluster];
  switch (kind) {
  case OperationKind::Silent:
    return false;
  case OperationKind::Clock:
    return !clocks_.asks_only_the_time(at);
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

/// Lanes of the warp that loop on plain or orderly reads.
LaneMask Stepper::waiting(const Lane& at) {
  return at.work->progress[at.cluster].loops[at.block][at.warp].plain;
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
  const bool by_place = (effect.is_access() && access_kinds_.contended(code, op) &&
                         !mutant_is(Mutant::PlacesOfFirstLane)) ||
                        i.has(Mod::SharedCluster);
  const bool apart =
      effect.is(Kind::Mbarrier) || effect.is(Kind::Copy) || by_place || under_way_.early;
  if (!apart && (op.flags & isa::Guarded) == 0 && i.one_of(ptx::Category::Space)) {
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

#include "reduce/independence/operations.h"

#include "isa/lower_device_runtime.h"
#include "isa/lower_memory_address.h"
#include "isa/ops_address.h"
#include "ptx/effect.h"
#include "reduce/states/lane.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;
using ptx::Mod;
using ptx::Opcode;
using Kind = ptx::Effect::Kind;

Operations::Operations(
    isa::Exec& exec,
    MemoryJournal& journal,
    LiveState& live,
    const memory::AddressSpace& space,
    const StepperOptions& options,
    std::function<void()> library_call
)
    : exec_(exec),
      journal_(journal),
      live_(live),
      options_(options),
      library_call_(std::move(library_call)),
      kinds_(
          live,
          options.learned,
          options.by_warps(),
          options.independence.movers,
          options.mutant
      ),
      trials_{exec, journal, live, *this, options.mutant},
      clocks_(
          trials_,
          space,
          {.step = options.model.clock_step,
           .tries = options.independence.eager && !options.by_warps() && !options.model.weak,
           .first = options.independence.eager,
           .mutant = options.mutant}
      ),
      mbarriers_(
          trials_,
          kinds_,
          {.phases = options.independence.phases,
           .peeks = options.independence.peeks,
           .neighbours = options.independence.neighbours,
           .sums = options.independence.sums,
           .contended = options.learned.contended,
           .unordered = options.learned.unordered}
      ),
      library_barriers_(
          trials_,
          space,
          kinds_,
          {.phases = options.independence.phases, .tiles = options.independence.tiles}
      ),
      polls_(trials_, space, options.independence.eager && !options.by_warps()) {}

/// Is this access a scheduling point? ([RED-PLACES])
bool Operations::contended(const isa::Code& code, const Op& op, memory::Address address) {
  constexpr memory::Address on = 16;
  return kinds_.contended(code, op, is(Mutant::PlacesOfOthers) ? address + on : address);
}

/// Is it one that others do not meet, or none of those that they meet is made before it?
bool Operations::is_free(const isa::Code& code, const Op& op, memory::Address address) {
  return !contended(code, op, address) || kinds_.movable(code, op, address);
}

/// What an atomic or volatile access is to the search.
Operation Operations::strong_access(const Lane& at, Operation as, memory::Address address) {
  as = library_barriers_.classify(at, as);
  const isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  const isa::Code& code = *warp.frame[index]->code;
  if (options_.independence.orderly && as.kind == OperationKind::Access &&
      is_free(code, *warp.pc[index], address) && !library_barriers_.operation(at)) {
    as.kind = OperationKind::Orderly;
    as.plain_read =
        !ptx::effect_of(code.function->body[warp.pc[index]->instruction]).is(Kind::Store);
  }
  return as;
}

/// Is the address one of another block's shared memory?
bool Operations::is_neighbours(const Lane& at, const ptx::Instruction& i, std::uint64_t address) {
  const auto space = i.one_of(ptx::Category::Space);
  if (space && *space != Mod::SharedCluster) {
    return false;
  }
  const std::uint64_t offset = space ? address : address - memory::shared_window;
  const std::uint64_t rank = offset >> memory::shared_rank_shift; // from 1; 0: one's own
  return offset < memory::window_size && rank != 0 && rank != at.block + 1;
}

/// With the place that is accessed, if that is asked for ([RED-GROUPS]).
Operation Operations::located(
    const Lane& at,
    Operation as,
    const ptx::Instruction& i,
    std::uint64_t address
) const {
  if (!options_.persistent.in_groups) {
    return as;
  }
  const auto space = i.one_of(ptx::Category::Space);
  const bool in_window = address - memory::shared_window < memory::window_size;
  const std::uint32_t bytes = model::access_bytes(i);
  as.is_shared =
      space ? *space == Mod::Shared || *space == Mod::SharedCta || *space == Mod::SharedCluster
            : in_window;
  as.place = address;
  as.bytes = static_cast<std::uint8_t>(bytes);
  if (as.is_shared) {
    const auto place = shared_place(at, address, bytes);
    constexpr unsigned block_shift = 40;
    as.place = place ? std::uint64_t{place->first} << block_shift | place->second : 0;
    as.bytes = place ? as.bytes : 0;
  }
  return as;
}

/// An access to memory by an address.
Operation Operations::classify_access(
    const Lane& at,
    const Op& op,
    const ptx::Instruction& i,
    const ptx::Effect& effect
) {
  isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  const isa::Code& code = *warp.frame[index]->code;
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
  if (!options_.independence.neighbours && at.work->clusters[at.cluster]->size() > 1 &&
      !options_.by_warps() && is_neighbours(at, i, address[index])) {
    return {OperationKind::Access, effect.step, effect.name}; // at a place that may be gone
  }
  if (effect.is(Kind::Update) && options_.independence.sums && kinds_.sum_kind(code, op) != 0 &&
      !contended(code, op, address[index]) && !library_barriers_.operation(at)) {
    return {OperationKind::Sum, effect.step, effect.name};
  }
  if (effect.is_strong()) {
    const Operation result =
        strong_access(at, {OperationKind::Access, effect.step, effect.name}, address[index]);
    seen_.vectors_at_once =
        seen_.vectors_at_once || (!options_.model.weak && result.kind == OperationKind::Access &&
                                  model::access_elements(i) > 1);
    return located(at, result, i, address[index]);
  }
  seen_.plain_access = true;
  if (live_.at(code, op).before_dead_end && !options_.by_warps()) {
    // As racy as can be, and yet what `while (flag == 0) {}` becomes: exact at least here.
    journal_.count_as_strong(op);
    return located(at, {OperationKind::Access, effect.step, effect.name}, i, address[index]);
  }
  return {
      OperationKind::Plain,
      effect.step,
      effect.name,
      /*local=*/false,
      /*plain_read=*/effect.is(Kind::Load)
  };
}

// [STEP.1] to [STEP.4]: atomic writes, fences, and accesses to objects of automatic storage do not
// count as steps.
Operation Operations::classify(const Lane& at) {
  isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  const Op& op = *warp.pc[index];
  const isa::Code& code = *warp.frame[index]->code;
  const ptx::Instruction& i = code.function->body[op.instruction];
  const ptx::Effect& effect = ptx::effect_of(i);
  seen_.bytes_at_once =
      seen_.bytes_at_once || (!options_.independence.phases && Mbarriers::arrives_later(i));
  if (Mbarriers::tells_bytes(i, op)) { // visible to threads that wait at the mbarrier
    Operation result = mbarriers_.classify(at);
    result.step = effect.step;
    return result;
  }
  switch (effect.kind) {
  case Kind::Load:
  case Kind::Store:
  case Kind::Update:
    return classify_access(at, op, i, effect);
  case Kind::Fence:
    if (options_.model.weak && weak_fence(i) && weak_fence(i)->fence.sc) { // [MEM-SC] in some order
      return {OperationKind::Access, effect.step, effect.name};
    }
    [[fallthrough]];
  case Kind::Dependency:
    return {OperationKind::Silent, effect.step, effect.name};
  case Kind::Barrier: {
    const bool aligned = effect.meets == ptx::Effect::Meets::Block &&
                         (i.opcode == Opcode::Bar || i.has(Mod::Aligned));
    const bool free = options_.independence.turns || effect.meets != ptx::Effect::Meets::Block;
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
      const bool sum = options_.independence.sums && kinds_.sum_kind(code, op) != 0 &&
                       !kinds_.contended(code, op);
      return {sum ? OperationKind::Sum : OperationKind::Access, effect.step, effect.name};
    }
    if (!options_.independence.neighbours && i.has(Mod::SharedCluster)) {
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
Operation Operations::classify_call(const ptx::Instruction& call) {
  met_call_ = true;
  switch (ptx::library_function(call)) {
  case ptx::LibraryFunction::Output:
    return {OperationKind::Io, StepKind::Io, "printf"}; // [STEP.2]
  case ptx::LibraryFunction::Memory: {
    const bool of_its_own = own_heap_ && !options_.by_warps();
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
  clocks_.data().called_library();
  library_call_();
  const bool runtime = std::ranges::any_of(call.operands, [](const ptx::Operand& operand) {
    return isa::device_runtime_function(operand.name) != nullptr;
  });
  return runtime ? Operation{OperationKind::Heap, StepKind::None, "a call of the device runtime"}
                 : Operation{OperationKind::Access, StepKind::None, ptx::effect_of(call).name};
}

} // namespace heddle::reduce

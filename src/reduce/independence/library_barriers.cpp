#include "reduce/independence/library_barriers.h"

#include "isa/lower_memory_address.h"
#include "isa/ops_address.h"

#include <algorithm>
#include <cstring>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;
using ptx::Opcode;

/// The memory by which cooperative groups makes barriers of grids and of several warps: nobody
/// else knows of it. nullptr: the address is another one.
const std::byte* LibraryBarriers::word_at(const Lane& at, std::uint64_t address) {
  Cluster& cluster = *at.work->clusters[at.cluster];
  const memory::Address workspace = cluster.grid().cooperative_workspace();
  if (workspace != 0 && address - workspace < sizeof(std::uint64_t)) {
    return static_cast<const std::byte*>(space_.host_pointer(address, 1));
  }
  const std::uint64_t shared = address - memory::shared_window;
  const std::uint64_t rank = shared >> memory::shared_rank_shift; // from 1; 0: one's own
  const std::uint64_t offset = shared & ((1ULL << memory::shared_rank_shift) - 1);
  const Block& block = cluster.block(at.block);
  if (shared < memory::window_size && (rank == 0 || rank - 1 == block.rank()) &&
      offset >= memory::reserved_shared_offset &&
      offset < memory::reserved_shared_offset + memory::reserved_shared_bytes) {
    return block.all_shared().data() + block.all_shared().size() - memory::reserved_shared_bytes +
           (offset - memory::reserved_shared_offset);
  }
  return nullptr;
}

std::optional<LibraryBarriers::LibraryOp> LibraryBarriers::operation(const Lane& at) {
  isa::Warp& warp = warp_state(at).warp;
  const Op& op = *warp.pc[static_cast<std::size_t>(at.lane)];
  const ptx::Instruction& i =
      warp.frame[static_cast<std::size_t>(at.lane)]->code->function->body[op.instruction];
  const bool load = i.opcode == Opcode::Ld;
  if ((!load && i.opcode != Opcode::Atom && i.opcode != Opcode::Red && i.opcode != Opcode::St) ||
      i.one_of(ptx::Category::Space) || !options_.phases) {
    return std::nullopt;
  }
  std::uint64_t address[isa::warp_size];
  trials_.exec.enter_block(at.work->clusters[at.cluster]->block(at.block).exec_block());
  trials_.exec.select(warp, *warp.frame[static_cast<std::size_t>(at.lane)], LaneMask{1} << at.lane);
  isa::addresses<isa::Space::Generic>(trials_.exec, op, address);
  const std::byte* const word = word_at(at, address[at.lane]);
  if (word == nullptr) {
    return std::nullopt;
  }
  return LibraryOp{load, address[at.lane] - memory::shared_window >= memory::window_size};
}

// --- Barriers of libraries -----------------------------------------------------------------------

bool LibraryBarriers::polls(const Lane& at) {
  const auto op = operation(at);
  return op && op->load;
}

Operation LibraryBarriers::classify(const Lane& at, Operation as) {
  const auto op = operation(at);
  if (!op || as.kind != OperationKind::Access) {
    return as;
  }
  if (!op->load) {
    as.kind = op->of_grid || options_.tiles ? OperationKind::Phase : as.kind;
    return as;
  }
  if (at.work->progress[at.cluster].polls) {
    as.kind = OperationKind::Silent;
    return as;
  }
  if (!Trial::possible(at)) {
    return as;
  }
  Trial trial(trials_, at);
  for (ShortRecurrence circle; circle.size() < most_questions;) {
    if (!circle.is_new(trial.state())) {
      as.kind = OperationKind::Wait;
      return as;
    }
    if (!trial.go_on()) {
      return as;
    }
    if (!polls(at)) {
      as.kind = OperationKind::Phase;
      return as;
    }
  }
  return as;
}

void LibraryBarriers::note(const Lane& at) {
  const auto op = operation(at);
  if (!op) {
    return;
  }
  if (!op->of_grid) {
    const isa::Warp& warp = warp_state(at).warp;
    const Op& update = *warp.pc[static_cast<std::size_t>(at.lane)];
    const isa::Code& code = *warp.frame[static_cast<std::size_t>(at.lane)]->code;
    const bool returns = code.function->body[update.instruction].opcode == Opcode::Atom;
    tiles_clash_ = tiles_clash_ || (returns && !kinds_.forgets_result(code, update) &&
                                    !is(Mutant::PhasesForgetLast));
    return;
  }
  std::uint64_t& arrived = at.work->progress[at.cluster].grid_arrived;
  const std::uint64_t own = std::uint64_t{1} << at.block;
  if (op->load) {
    arrived &= ~own;
    return;
  }
  grid_clash_ = grid_clash_ || ((arrived & own) != 0 && !is(Mutant::PhasesForgetDoubts));
  arrived |= own;
}

std::uint64_t LibraryBarriers::grid_barrier(const Work& work) const {
  const memory::Address workspace =
      options_.phases && work.kernel() ? work.command->grid->cooperative_workspace() : 0;
  std::uint64_t value = 0;
  if (workspace != 0) {
    std::memcpy(&value, space_.host_pointer(workspace, sizeof value), sizeof value);
  }
  return value;
}

} // namespace heddle::reduce

// Implements the part of stepper.h that is about mbarriers: arrivals happen as soon as they can,
// and who waits for a phase that has not completed is blocked, like at any other barrier.
//
// That nobody can tell when an arrival happens holds if there is no doubt which phase it, and each
// wait, is for; phases.h keeps watch over that, and phases_clash() says if it does not hold. That
// waiting can be taken for blocking holds if asking in vain changes nothing: from each question on
// the way, however many there are and wherever they stand in the code, a thread that is answered
// "complete" comes to one and the same state. A thread is tried out for that (asks_in_vain()).
//
// The same holds for the barriers that cooperative groups makes of memory that nobody else knows
// of: of a grid, and of tiles of several warps.
//
// Threads that wait for a phase of which nobody is left who could complete it go round in their
// loops again, so that a search sees them do so.
//
// May be wrong: knowledge that passes through memory is not seen, so that a search may begin again
// without this for no reason. A token that is not looked into (mbarrier.pending_count) by the
// function that gets it is taken for one that nobody looks into.
#include "isa/lower_async.h"
#include "isa/lower_memory_address.h"
#include "isa/ops_address.h"
#include "isa/ops_mbarrier.h"
#include "ptx/forgotten_answer.h"
#include "reduce/stepper_trial.h"

#include <algorithm>
#include <bit>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;
using isa::Stop;
using isa::ops::Mbarrier;
using ptx::Mod;
using ptx::Opcode;

namespace {

LaneMask bit(int lane) {
  return LaneMask{1} << lane;
}
std::size_t slot(int lane) {
  return static_cast<std::size_t>(lane);
}

Mbarrier read(const std::byte* word) {
  std::uint64_t value = 0;
  std::memcpy(&value, word, sizeof value);
  return Mbarrier::unpack(value);
}

bool asks_for_pending(const ptx::Function& function) {
  return std::ranges::any_of(function.body, [](const ptx::Instruction& i) {
    return i.opcode == Opcode::Mbarrier && i.has(Mod::PendingCount);
  });
}

} // namespace

/// Of a bulk copy, or an asynchronous store, that tells an mbarrier of its bytes: is this op the
/// one that does so?
bool Stepper::tells_bytes(const ptx::Instruction& i, const Op& op) {
  return i.has(Mod::MbarrierCompleteTxBytes) && !i.has(Mod::MulticastCluster) &&
         !i.has(Mod::Tensor) && i.opcode != Opcode::Clusterlaunchcontrol &&
         (&op + 1)->instruction != op.instruction;
}

/// Does a copy tell mbarriers of its bytes by the op that copies?
bool Stepper::copies_and_tells(const ptx::Instruction& i) {
  return i.opcode == Opcode::Cp && i.has(Mod::MbarrierCompleteTxBytes) &&
         (i.has(Mod::MulticastCluster) || i.has(Mod::Tensor));
}

std::uint32_t Stepper::number_in_cluster(const Lane& at) {
  Cluster& cluster = *at.work->clusters[at.cluster];
  const std::size_t warps = cluster.block(at.block).warps().size();
  return static_cast<std::uint32_t>((at.block * warps + at.warp) * isa::warp_size + slot(at.lane));
}

std::uint32_t Stepper::threads_of(Cluster& cluster) {
  return static_cast<std::uint32_t>(
      cluster.size() * cluster.block(0).warps().size() * isa::warp_size
  );
}

/// The block of the cluster, and the offset there, of a shared address: generic, within one's own
/// block, or with the rank of a block from 1. None: there are no such bytes.
std::optional<std::pair<std::size_t, std::uint64_t>>
Stepper::shared_place(const Lane& at, std::uint64_t address, std::size_t bytes) {
  const std::uint64_t shared = address - memory::shared_window < memory::window_size
                                   ? address - memory::shared_window
                                   : address & 0xffff'ffffU;
  const std::uint64_t rank = shared >> memory::shared_rank_shift;
  const std::size_t owner = rank == 0 ? at.block : rank - 1;
  const std::uint64_t offset = shared & ((1ULL << memory::shared_rank_shift) - 1);
  Cluster& cluster = *at.work->clusters[at.cluster];
  if (owner >= cluster.size() || offset + bytes > cluster.block(owner).shared_bytes()) {
    return std::nullopt;
  }
  return std::pair{owner, offset};
}

/// What the lane is about to do with which mbarrier; none: nothing of that kind.
std::optional<Stepper::PhaseOp> Stepper::phase_op(const Lane& at) const {
  isa::Warp& warp = warp_state(at).warp;
  const Op& op = *warp.pc[slot(at.lane)];
  isa::Frame& frame = *warp.frame[slot(at.lane)];
  const ptx::Instruction& i = frame.code->function->body[op.instruction];
  PhaseOp result;
  std::uint64_t address[isa::warp_size];
  Cluster& cluster = *at.work->clusters[at.cluster];
  if (i.opcode != Opcode::Mbarrier && i.opcode != Opcode::Cp && !tells_bytes(i, op)) {
    return std::nullopt;
  }
  exec_.enter_block(cluster.block(at.block).exec_block());
  exec_.select(warp, frame, bit(at.lane));
  if (i.has(Mod::MulticastCluster)) {
    return copy_to_all(at, op);
  }
  if (copies_and_tells(i)) {
    address[at.lane] = exec_.in<std::uint64_t>(op.d)[at.lane];
  } else if (i.opcode == Opcode::Cp && i.has(Mod::Mbarrier) && !i.has(Mod::Bulk)) {
    address[at.lane] = exec_.in<std::uint64_t>(op.a)[at.lane];
  } else if (i.opcode == Opcode::Mbarrier || tells_bytes(i, op)) {
    isa::addresses<isa::Space::Generic>(exec_, op, address);
  } else {
    return std::nullopt;
  }
  using Kind = PhaseOp::Kind;
  result.kind = i.has(Mod::Init)                                                ? Kind::Init
                : i.has(Mod::Inval)                                             ? Kind::Inval
                : ptx::asks_for_phase(i)                                        ? Kind::Wait
                : i.has(Mod::Arrive) || i.has(Mod::ArriveDrop)                  ? Kind::Arrive
                : i.has(Mod::ExpectTx)                                          ? Kind::Expect
                : i.has(Mod::CompleteTx) || i.has(Mod::MbarrierCompleteTxBytes) ? Kind::Bytes
                                                                                : Kind::Arrive;
  result.by_parity = i.has(Mod::Parity);
  if (result.kind == Kind::Wait) {
    result.operand = result.by_parity ? exec_.in<std::uint32_t>(op.b)[at.lane]
                                      : exec_.in<std::uint64_t>(op.b)[at.lane];
  }
  const auto place = shared_place(at, address[at.lane], sizeof(std::uint64_t));
  if (!place) {
    return std::nullopt; // it will fault
  }
  const auto [owner, offset] = *place;
  result.object = std::uint64_t{owner} << 32 | offset;
  result.word = cluster.block(owner).shared() + offset;
  return result;
}

/// A copy to the same place in several blocks, each of which is told; its operands are selected.
std::optional<Stepper::PhaseOp> Stepper::copy_to_all(const Lane& at, const Op& op) const {
  const ptx::Instruction& i =
      warp_state(at).warp.frame[slot(at.lane)]->code->function->body[op.instruction];
  const Cluster& cluster = *at.work->clusters[at.cluster];
  const std::uint64_t offset = exec_.in<std::uint64_t>(op.d)[at.lane] & isa::in_block_mask;
  const std::uint16_t blocks = exec_.in<std::uint16_t>(i.has(Mod::Tensor) ? op.c : op.e)[at.lane];
  const auto place = shared_place(at, offset, sizeof(std::uint64_t));
  if (!place || blocks == 0 || blocks >> cluster.size() != 0) {
    return std::nullopt; // it tells nobody, or will fault
  }
  const auto first = static_cast<std::uint64_t>(std::countr_zero(blocks));
  return PhaseOp{
      .kind = PhaseOp::Kind::Bytes,
      .object = first << 32 | offset,
      .blocks = blocks,
  };
}

/// The mbarriers of which the operation is.
std::vector<Stepper::PhaseWord> Stepper::words_of(const Lane& at, const PhaseOp& op) {
  if (op.blocks == 0) {
    return {{op.object, op.word, read(op.word).phase}};
  }
  std::vector<PhaseWord> result;
  Cluster& cluster = *at.work->clusters[at.cluster];
  const std::uint64_t offset = op.object & 0xffff'ffffU;
  for (std::uint32_t rest = op.blocks; rest != 0; rest &= rest - 1) {
    const auto block = static_cast<std::size_t>(std::countr_zero(rest));
    std::byte* const word = cluster.block(block).shared() + offset;
    result.push_back({std::uint64_t{block} << 32 | offset, word, read(word).phase});
  }
  return result;
}

namespace {

/// While it lives, the mbarrier says that this phase has not completed.
class AnsweredNo {
public:
  AnsweredNo(std::byte* word, unsigned phase) : word_(word) {
    std::memcpy(&value_, word_, sizeof value_);
    Mbarrier b = Mbarrier::unpack(value_);
    b.phase = phase;
    const std::uint64_t as = b.pack();
    std::memcpy(word_, &as, sizeof as);
  }
  ~AnsweredNo() { std::memcpy(word_, &value_, sizeof value_); }
  AnsweredNo(const AnsweredNo&) = delete;
  AnsweredNo& operator=(const AnsweredNo&) = delete;

private:
  std::byte* word_;
  std::uint64_t value_ = 0;
};

} // namespace

std::optional<Phases::Waited> Stepper::waited(const Lane& at, const PhaseOp& op) const {
  const Phases& phases = at.work->progress[at.cluster].phases;
  const std::uint32_t thread = number_in_cluster(at);
  return op.by_parity
             ? phases.waited_by_parity(thread, op.object, static_cast<unsigned>(op.operand))
             : phases.waited_by_token(thread, op.object, Mbarrier::unpack(op.operand).phase);
}

/// What an operation on an mbarrier is to the search.
Operation Stepper::classify_phase_op(const Lane& at) const {
  const Operation choice{OperationKind::Access, StepKind::Sync, "an mbarrier operation"};
  const std::optional<PhaseOp> op = options_.phases ? phase_op(at) : std::nullopt;
  const bool only_here =
      op && op->object >> 32 == at.block && (op->blocks & ~(1U << at.block)) == 0;
  if (!op || (!options_.neighbours && !only_here)) {
    return choice; // … or a visit of another block, which may end first
  }
  const isa::Warp& warp = warp_state(at).warp;
  const ptx::Function& function = *warp.frame[slot(at.lane)]->code->function;
  Operation result = choice;
  if (op->kind != PhaseOp::Kind::Wait) {
    const auto [asks, is_new] = tried_out_.asks_for_pending.try_emplace(&function, false);
    if (is_new) {
      asks->second = asks_for_pending(function);
    }
    result.kind = asks->second ? OperationKind::Access : OperationKind::Phase;
    return result;
  }
  if (at.work->progress[at.cluster].polls) {
    result.kind = OperationKind::Silent;
    return result;
  }
  const auto wait = waited(at, *op);
  if (wait && wait->known) {
    result.kind = OperationKind::Phase;
    return result;
  }
  const unsigned now = read(op->word).phase;
  const auto may_skip = [&] {
    const isa::Code& code = *warp.frame[slot(at.lane)]->code;
    return options_.peeks && access_kinds_.may_skip(code, *warp.pc[slot(at.lane)]) &&
           !at.work->progress[at.cluster]
                .phases.has_asked(number_in_cluster(at), op->object, wait->phase);
  };
  if (wait && (now == wait->phase || now == (wait->phase + 1) % 8) && !may_skip()) {
    if (asks_in_vain(at, *op, wait->phase)) {
      result.kind = now == wait->phase ? OperationKind::Wait : OperationKind::Phase;
      return result;
    }
    if (peeks(at, *op, *wait)) {
      result.kind = OperationKind::Phase;
      return result;
    }
  }
  // Who asks may be answered one thing or the other.
  seen_.phases_clash = !mutant_is(Mutant::PhasesForgetQuestions);
  return choice;
}

/// Does the thread ask a question whose answer it forgets, so that it can be "no" ([RED-PEEKS])?
bool Stepper::peeks(const Lane& at, const PhaseOp& op, const Phases::Waited& wait) const {
  const isa::Warp& warp = warp_state(at).warp;
  const isa::Code& code = *warp.frame[slot(at.lane)]->code;
  return options_.peeks && !wait.known && !at.work->progress[at.cluster].polls &&
         access_kinds_.forgets_answer(code, *warp.pc[slot(at.lane)]) &&
         !asks_in_vain(at, op, wait.phase);
}

/// Does it change nothing to ask whether the phase has completed while it has not?
bool Stepper::asks_in_vain(const Lane& at, const PhaseOp& op, unsigned phase) const {
  if (!Trial::possible(at)) {
    return false;
  }
  const Hash128 by_itself = lane_by_itself(at);
  const std::uint64_t key = by_itself.low ^ by_itself.high * 3 ^ phase;
  if (const auto known = tried_out_.asks_in_vain.find(key);
      known != tried_out_.asks_in_vain.end()) {
    return known->second;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, op.word, sizeof word);
  const auto answer = [&](bool complete) {
    Mbarrier b = Mbarrier::unpack(word);
    b.phase = complete ? phase + 1 : phase;
    const std::uint64_t as = b.pack();
    std::memcpy(op.word, &as, sizeof as);
  };
  const auto try_out = [&] {
    // Asking counts as a write, too.
    Trial trial(*this, at, {op.word, sizeof word});
    std::optional<Hash128> end;
    for (ShortRecurrence circle; circle.size() < most_questions;) {
      if (!circle.is_new(trial.state())) {
        return true; // from here on it goes round
      }
      const Trial::Here question = trial.here();
      answer(true);
      if (!trial.go_on()) {
        return false;
      }
      const Hash128 after = trial.state();
      if (end.value_or(after) != after) {
        return false;
      }
      end = after;
      trial.back_to(question);
      answer(false);
      if (!trial.go_on()) {
        return false;
      }
      const auto next = phase_op(at);
      if (!next || next->kind != PhaseOp::Kind::Wait || next->object != op.object) {
        return false;
      }
      const auto wait = waited(at, *next);
      if (!wait || wait->known || wait->phase != phase) {
        return false;
      }
    }
    return false;
  };
  const bool result = try_out();
  std::memcpy(op.word, &word, sizeof word);
  tried_out_.asks_in_vain.emplace(key, result);
  return result;
}

// --- Barriers of libraries -----------------------------------------------------------------------

/// The memory by which cooperative groups makes barriers of grids and of several warps: nobody
/// else knows of it. nullptr: the address is another one.
const std::byte* Stepper::library_word(const Lane& at, std::uint64_t address) const {
  Cluster& cluster = *at.work->clusters[at.cluster];
  const memory::Address workspace = cluster.grid().cooperative_workspace();
  if (workspace != 0 && address - workspace < sizeof(std::uint64_t)) {
    return static_cast<const std::byte*>(world_.space().host_pointer(address, 1));
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

/// Does the lane stand at an access to such memory by a generic address?
std::optional<Stepper::LibraryOp> Stepper::library_op(const Lane& at) const {
  isa::Warp& warp = warp_state(at).warp;
  const Op& op = *warp.pc[slot(at.lane)];
  const ptx::Instruction& i = warp.frame[slot(at.lane)]->code->function->body[op.instruction];
  const bool load = i.opcode == Opcode::Ld;
  if ((!load && i.opcode != Opcode::Atom && i.opcode != Opcode::Red && i.opcode != Opcode::St) ||
      i.one_of(ptx::Category::Space) || !options_.phases) {
    return std::nullopt;
  }
  std::uint64_t address[isa::warp_size];
  exec_.enter_block(at.work->clusters[at.cluster]->block(at.block).exec_block());
  exec_.select(warp, *warp.frame[slot(at.lane)], bit(at.lane));
  isa::addresses<isa::Space::Generic>(exec_, op, address);
  const std::byte* const word = library_word(at, address[at.lane]);
  if (word == nullptr) {
    return std::nullopt;
  }
  return LibraryOp{load, address[at.lane] - memory::shared_window >= memory::window_size};
}

bool Stepper::polls_library_word(const Lane& at) const {
  const auto op = library_op(at);
  return op && op->load;
}

/// What an access to a barrier of a library is to the search: arrivals happen at once, and who asks
/// in vain is blocked.
Operation Stepper::classify_library_op(const Lane& at, Operation as) const {
  const auto op = library_op(at);
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
  Trial trial(*this, at);
  for (ShortRecurrence circle; circle.size() < most_questions;) {
    if (!circle.is_new(trial.state())) {
      as.kind = OperationKind::Wait;
      return as;
    }
    if (!trial.go_on()) {
      return as;
    }
    if (!polls_library_word(at)) {
      as.kind = OperationKind::Phase;
      return as;
    }
  }
  return as;
}

/// Arrivals at the barrier of a tile commute as long as no thread acts differently because it was
/// the last to arrive. Arrivals at the barrier of a grid commute as long as each is made by a
/// thread that has waited for the phase of its block's previous arrival.
void Stepper::note_library_op(const Lane& at) {
  const auto op = library_op(at);
  if (!op) {
    return;
  }
  if (!op->of_grid) {
    const isa::Warp& warp = warp_state(at).warp;
    const Op& update = *warp.pc[slot(at.lane)];
    const isa::Code& code = *warp.frame[slot(at.lane)]->code;
    const bool returns = code.function->body[update.instruction].opcode == Opcode::Atom;
    seen_.tiles_clash =
        seen_.tiles_clash || (returns && !access_kinds_.forgets_result(code, update) &&
                              !mutant_is(Mutant::PhasesForgetLast));
    return;
  }
  std::uint64_t& arrived = at.work->progress[at.cluster].grid_arrived;
  const std::uint64_t own = std::uint64_t{1} << at.block;
  if (op->load) {
    arrived &= ~own;
    return;
  }
  seen_.phases_clash =
      seen_.phases_clash || ((arrived & own) != 0 && !mutant_is(Mutant::PhasesForgetDoubts));
  arrived |= own;
}

/// The barrier of a cooperative grid, as it is now.
std::uint64_t Stepper::grid_barrier(const Work& work) const {
  const memory::Address workspace =
      options_.phases && work.kernel() ? work.command->grid->cooperative_workspace() : 0;
  std::uint64_t value = 0;
  if (workspace != 0) {
    std::memcpy(&value, world_.space().host_pointer(workspace, sizeof value), sizeof value);
  }
  return value;
}

/// A move has changed the barrier of the grid from `before`: clusters that waited may go on, or
/// nobody ever can.
void Stepper::settle_grid(std::size_t n, std::uint64_t before) {
  Work& work = *works_[n];
  const auto settle_all = [&] {
    for (std::size_t c = 0; c < work.clusters.size() && !under_way_.failure; ++c) {
      if (!work.images[c]->ended) {
        load(work, c);
        settle(work, c);
        capture(n, c);
      }
    }
  };
  for (std::uint64_t now = grid_barrier(work); now != before && !under_way_.failure;
       now = grid_barrier(work)) {
    under_way_.repeatable = false;
    before = now;
    settle_all();
  }
  const bool stuck = std::ranges::all_of(work.images, [](const Image* image) {
    return image->ended || (image->made && image->ready.empty());
  });
  if (under_way_.failure || !stuck || work.command->grid->cooperative_workspace() == 0 ||
      std::ranges::all_of(work.images, &Image::ended)) {
    return;
  }
  // Somebody will never come: those who wait for the grid ask forever.
  under_way_.repeatable = false;
  for (std::size_t c = 0; c < work.clusters.size() && !under_way_.failure; ++c) {
    if (!work.images[c]->ended) {
      load(work, c);
      work.progress[c].polls = true;
      settle(work, c);
      capture(n, c);
    }
  }
}

/// Clusters have gone on without a move of theirs, from when the barrier of the grid was `before`.
void Stepper::settle_grid_outside_of_moves(std::size_t n, std::uint64_t before) {
  const Work& work = *works_[n];
  if (under_way_.failure || !options_.phases || !work.kernel() || !work.cooperative() ||
      mutant_is(Mutant::StraightForgetsGrid)) {
    return;
  }
  const std::size_t made_before = access_monitor_.made().size();
  settle_grid(n, before);
  meet_open_since(n, made_before);
}

// --- Knowledge -----------------------------------------------------------------------------------

/// The lanes are about to make an atomic exchange of shared memory in an order that the search
/// chooses: places through which those who come later learn what those before them knew. (So the
/// last of those who leave a cuda::pipeline may destroy its barriers.)
std::vector<Stepper::Handover> Stepper::handovers(const Lane& first, LaneMask lanes) const {
  std::vector<Handover> result;
  isa::Warp& warp = warp_state(first).warp;
  const Op& op = *warp.pc[slot(first.lane)];
  isa::Frame& frame = *warp.frame[slot(first.lane)];
  const ptx::Instruction& i = frame.code->function->body[op.instruction];
  const auto space = i.one_of(ptx::Category::Space);
  if (i.opcode != Opcode::Atom || (space && *space == Mod::Global)) {
    return result;
  }
  const std::uint64_t own = std::uint64_t{1} << access_kinds_.bucket(*frame.code, op);
  const bool chosen =
      (options_.learned.contended & own) != 0 || (options_.learned.unordered & own) == 0;
  if (!chosen || (options_.sums && access_kinds_.sum_kind(*frame.code, op) != 0)) {
    return result;
  }
  exec_.enter_block(first.work->clusters[first.cluster]->block(first.block).exec_block());
  exec_.select(warp, frame, lanes);
  std::uint64_t address[isa::warp_size];
  isa::addresses<isa::Space::Generic>(exec_, op, address);
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    Lane at = first;
    at.lane = std::countr_zero(m);
    const std::uint64_t to = address[at.lane];
    if (!space && to - memory::shared_window >= memory::window_size) {
      continue; // elsewhere
    }
    if (const auto place = shared_place(at, to, 1)) {
      result.push_back(
          {number_in_cluster(at), Phases::word_in_memory(place->first, place->second)}
      );
    }
  }
  return result;
}

// --- Waiting and arriving ------------------------------------------------------------------------

/// Does the thread wait for a phase like at a barrier?
bool Stepper::waits_for_phase(const Lane& at) const {
  const Work::Progress& progress = at.work->progress[at.cluster];
  return progress.made && !progress.polls && !progress.joins_are_moves && stands_at_visible(at) &&
         classify(at).kind == OperationKind::Wait;
}

/// Executes the operation on an mbarrier at which the lanes stand, one after the other, and takes
/// down who knows what now.
Stop Stepper::run_phase_op(const Lane& first, LaneMask lanes) {
  isa::Warp& warp = warp_state(first).warp;
  const Work::Progress& progress = first.work->progress[first.cluster];
  Phases& phases = first.work->progress[first.cluster].phases;
  Stop stop = Stop::None;
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    Lane at = first;
    at.lane = std::countr_zero(m);
    const std::uint32_t thread = number_in_cluster(at);
    const auto op = stands_at_visible(at) ? phase_op(at) : std::nullopt;
    const auto wait = op && op->kind == PhaseOp::Kind::Wait ? waited(at, *op) : std::nullopt;
    const auto words = op ? words_of(at, *op) : std::vector<PhaseWord>();
    const bool is_peek = wait && peeks(at, *op, *wait);
    {
      std::optional<AnsweredNo> answer;
      if (is_peek) {
        answer.emplace(op->word, wait->phase);
      }
      exec_.enter_block(first.work->clusters[first.cluster]->block(first.block).exec_block());
      stop = exec_.step(warp, bit(at.lane));
    }
    if (stop == Stop::Fault || stop == Stop::Unsupported) {
      seen_.phases_clash = seen_.phases_clash || op.has_value(); // in another order it may be fine
      return stop;
    }
    if (is_peek) {
      phases.note_question(thread, op->object, wait->phase);
      continue;
    }
    if (!op) {
      continue;
    }
    bool fine = true;
    switch (op->kind) {
    case PhaseOp::Kind::Init:
      fine = phases.init(thread, op->object);
      break;
    case PhaseOp::Kind::Inval:
      fine = phases.inval(thread, op->object);
      break;
    case PhaseOp::Kind::Arrive:
    case PhaseOp::Kind::Expect:
    case PhaseOp::Kind::Bytes:
      for (const auto& [object, word, before] : words) {
        const Mbarrier then = read(word);
        fine = phases.arrive(thread, object, before, then.phase) && fine;
        if (op->kind != PhaseOp::Kind::Bytes) {
          phases.note_expecting(thread, object, op->kind == PhaseOp::Kind::Expect);
        }
        if (then.phase != before || then.pending == 0) { // all have arrived
          fine = fine && then.transactions >= 0 && !phases.some_expecting(object);
        }
      }
      break;
    case PhaseOp::Kind::Wait:
      fine = progress.polls || Phases::in_time(wait, words.front().phase) ||
             phases.pass(thread, op->object, wait, words.front().phase);
      break;
    }
    seen_.phases_clash = seen_.phases_clash || (!fine && !mutant_is(Mutant::PhasesForgetDoubts));
  }
  return stop;
}

/// Is everybody in the cluster waiting, and somebody for a phase? Then that never completes.
bool Stepper::waits_for_ever(Work& work, std::size_t c) const {
  const Work::Progress& progress = work.progress[c];
  if (!options_.phases || !progress.made || progress.polls || progress.joins_are_moves) {
    return false;
  }
  Cluster& cluster = *work.clusters[c];
  bool some = false;
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    for (std::size_t w = 0; w < cluster.block(b).warps().size(); ++w) {
      const isa::Warp& warp = cluster.block(b).warps()[w].warp;
      if (cluster.block(b).warps()[w].grid_waiting != 0) {
        return false; // they go on when the grids before this one are over
      }
      for (LaneMask m = warp.live & ~warp.blocked & ~progress.loops[b][w].endless; m != 0;
           m &= m - 1) {
        const Lane at{&work, c, b, w, std::countr_zero(m)};
        if (waits_for_phase(at)) {
          const auto op = library_op(at);
          if (op && op->of_grid) {
            return false; // other clusters may come
          }
          some = true;
        } else if (!waits_for_warp(at)) {
          return false;
        }
      }
    }
  }
  return some;
}

} // namespace heddle::reduce

#include "reduce/independence/mbarriers.h"

#include "analysis/forgotten_answer.h"
#include "isa/lower_async.h"
#include "isa/lower_memory_address.h"
#include "isa/ops_address.h"
#include "isa/ops_mbarrier.h"
#include "reduce/states/lane.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;
using isa::Stop;
using isa::ops::Mbarrier;
using ptx::Mod;
using ptx::Opcode;

namespace {

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

bool Mbarriers::tells_bytes(const ptx::Instruction& i, const Op& op) {
  return i.has(Mod::MbarrierCompleteTxBytes) && !i.has(Mod::MulticastCluster) &&
         !i.has(Mod::Tensor) && i.opcode != Opcode::Clusterlaunchcontrol &&
         (&op + 1)->instruction != op.instruction;
}

bool Mbarriers::copies_and_tells(const ptx::Instruction& i) {
  return i.opcode == Opcode::Cp && i.has(Mod::MbarrierCompleteTxBytes) &&
         (i.has(Mod::MulticastCluster) || i.has(Mod::Tensor));
}

bool Mbarriers::arrives_later(const ptx::Instruction& i) {
  return i.has(Mod::MbarrierCompleteTxBytes) || (i.opcode == Opcode::Cp && i.has(Mod::Mbarrier));
}

std::optional<Mbarriers::PhaseOp> Mbarriers::operation(const Lane& at) {
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
  trials_.exec.enter_block(cluster.block(at.block).exec_block());
  trials_.exec.select(warp, frame, bit(at.lane));
  if (i.has(Mod::MulticastCluster)) {
    return copy_to_all(at, op);
  }
  if (copies_and_tells(i)) {
    address[at.lane] = trials_.exec.in<std::uint64_t>(op.d)[at.lane];
  } else if (i.opcode == Opcode::Cp && i.has(Mod::Mbarrier) && !i.has(Mod::Bulk)) {
    address[at.lane] = trials_.exec.in<std::uint64_t>(op.a)[at.lane];
  } else if (i.opcode == Opcode::Mbarrier || tells_bytes(i, op)) {
    isa::addresses<isa::Space::Generic>(trials_.exec, op, address);
  } else {
    return std::nullopt;
  }
  using Kind = PhaseOp::Kind;
  result.kind = i.has(Mod::Init)                                                ? Kind::Init
                : i.has(Mod::Inval)                                             ? Kind::Inval
                : analysis::asks_for_phase(i)                                   ? Kind::Wait
                : i.has(Mod::Arrive) || i.has(Mod::ArriveDrop)                  ? Kind::Arrive
                : i.has(Mod::ExpectTx)                                          ? Kind::Expect
                : i.has(Mod::CompleteTx) || i.has(Mod::MbarrierCompleteTxBytes) ? Kind::Bytes
                                                                                : Kind::Arrive;
  result.by_parity = i.has(Mod::Parity);
  if (result.kind == Kind::Wait) {
    result.operand = result.by_parity ? trials_.exec.in<std::uint32_t>(op.b)[at.lane]
                                      : trials_.exec.in<std::uint64_t>(op.b)[at.lane];
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
std::optional<Mbarriers::PhaseOp> Mbarriers::copy_to_all(const Lane& at, const Op& op) {
  const ptx::Instruction& i =
      warp_state(at).warp.frame[slot(at.lane)]->code->function->body[op.instruction];
  const Cluster& cluster = *at.work->clusters[at.cluster];
  const std::uint64_t offset = trials_.exec.in<std::uint64_t>(op.d)[at.lane] & isa::in_block_mask;
  const std::uint16_t blocks =
      trials_.exec.in<std::uint16_t>(i.has(Mod::Tensor) ? op.c : op.e)[at.lane];
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
std::vector<Mbarriers::PhaseWord> Mbarriers::words_of(const Lane& at, const PhaseOp& op) {
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

std::optional<Phases::Waited> Mbarriers::waited(const Lane& at, const PhaseOp& op) {
  const Phases& phases = at.work->progress[at.cluster].phases;
  const std::uint32_t thread = number_in_cluster(at);
  return op.by_parity
             ? phases.waited_by_parity(thread, op.object, static_cast<unsigned>(op.operand))
             : phases.waited_by_token(
                   thread,
                   op.object,
                   isa::ops::mbarrier_of_token(op.operand).phase
               );
}

Operation Mbarriers::classify(const Lane& at) {
  const Operation choice{OperationKind::Access, StepKind::Sync, "an mbarrier operation"};
  const std::optional<PhaseOp> op = options_.phases ? operation(at) : std::nullopt;
  const bool only_here =
      op && op->object >> 32 == at.block && (op->blocks & ~(1U << at.block)) == 0;
  if (!op || (!options_.neighbours && !only_here)) {
    return choice; // … or a visit of another block, which may end first
  }
  const isa::Warp& warp = warp_state(at).warp;
  const ptx::Function& function = *warp.frame[slot(at.lane)]->code->function;
  Operation result = choice;
  if (op->kind != PhaseOp::Kind::Wait) {
    const auto [asks, is_new] = asks_for_pending_.try_emplace(&function, false);
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
    return options_.peeks && kinds_.may_skip(code, *warp.pc[slot(at.lane)]) &&
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
  clash_ = !is(Mutant::PhasesForgetQuestions);
  return choice;
}

/// Does the thread ask a question whose answer it forgets, so that it can be "no" ([RED-PEEKS])?
bool Mbarriers::peeks(const Lane& at, const PhaseOp& op, const Phases::Waited& wait) {
  const isa::Warp& warp = warp_state(at).warp;
  const isa::Code& code = *warp.frame[slot(at.lane)]->code;
  return options_.peeks && !wait.known && !at.work->progress[at.cluster].polls &&
         kinds_.forgets_answer(code, *warp.pc[slot(at.lane)]) && !asks_in_vain(at, op, wait.phase);
}

/// Does it change nothing to ask whether the phase has completed while it has not?
bool Mbarriers::asks_in_vain(const Lane& at, const PhaseOp& op, unsigned phase) {
  if (!Trial::possible(at)) {
    return false;
  }
  const Hash128 by_itself = lane_by_itself(trials_.live, at);
  const std::uint64_t key = by_itself.low ^ by_itself.high * 3 ^ phase;
  if (const auto known = asks_in_vain_.find(key); known != asks_in_vain_.end()) {
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
    Trial trial(trials_, at, {op.word, sizeof word});
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
      const auto next = operation(at);
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
  asks_in_vain_.emplace(key, result);
  return result;
}

std::vector<Mbarriers::Handover> Mbarriers::handovers(const Lane& first, LaneMask lanes) {
  std::vector<Handover> result;
  isa::Warp& warp = warp_state(first).warp;
  const Op& op = *warp.pc[slot(first.lane)];
  isa::Frame& frame = *warp.frame[slot(first.lane)];
  const ptx::Instruction& i = frame.code->function->body[op.instruction];
  const auto space = i.one_of(ptx::Category::Space);
  if (i.opcode != Opcode::Atom || (space && *space == Mod::Global)) {
    return result;
  }
  const std::uint64_t own = std::uint64_t{1} << kinds_.bucket(*frame.code, op);
  const bool chosen = (options_.contended & own) != 0 || (options_.unordered & own) == 0;
  if (!chosen || (options_.sums && kinds_.sum_kind(*frame.code, op) != 0)) {
    return result;
  }
  trials_.exec.enter_block(first.work->clusters[first.cluster]->block(first.block).exec_block());
  trials_.exec.select(warp, frame, lanes);
  std::uint64_t address[isa::warp_size];
  isa::addresses<isa::Space::Generic>(trials_.exec, op, address);
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

Stop Mbarriers::run(const Lane& first, LaneMask lanes) {
  isa::Warp& warp = warp_state(first).warp;
  const Work::Progress& progress = first.work->progress[first.cluster];
  Phases& phases = first.work->progress[first.cluster].phases;
  Stop stop = Stop::None;
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    Lane at = first;
    at.lane = std::countr_zero(m);
    const std::uint32_t thread = number_in_cluster(at);
    const auto op = stands_at_visible(at) ? operation(at) : std::nullopt;
    const auto wait = op && op->kind == PhaseOp::Kind::Wait ? waited(at, *op) : std::nullopt;
    const auto words = op ? words_of(at, *op) : std::vector<PhaseWord>();
    const bool is_peek = wait && peeks(at, *op, *wait);
    {
      std::optional<AnsweredNo> answer;
      if (is_peek) {
        answer.emplace(op->word, wait->phase);
      }
      trials_.exec.enter_block(
          first.work->clusters[first.cluster]->block(first.block).exec_block()
      );
      stop = trials_.exec.step(warp, bit(at.lane));
    }
    if (stop == Stop::Fault || stop == Stop::Unsupported) {
      clash_ = clash_ || op.has_value(); // in another order it may be fine
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
    clash_ = clash_ || (!fine && !is(Mutant::PhasesForgetDoubts));
  }
  return stop;
}

} // namespace heddle::reduce

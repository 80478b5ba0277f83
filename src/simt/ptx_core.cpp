// Implements ptx_core.h.
#include "simt/ptx_core.h"

#include <bit>

namespace heddle::simt {
namespace {

std::size_t slot(int lane) {
  return static_cast<std::size_t>(lane);
}

LaneMask guarded(const isa::Frame& frame, const isa::Op& op, LaneMask lanes) {
  if ((op.flags & isa::Guarded) == 0) {
    return lanes;
  }
  isa::LaneMask p = 0; // guards are registers
  std::memcpy(&p, frame.registers.data() + op.guard.offset(), sizeof p);
  return lanes & (op.guard_negated ? ~p : p);
}

} // namespace

const CodeFacts::Fact& PtxCore::fact(Activation activation, Pc pc) {
  const isa::Code* code = frame_of(activation)->code;
  if (code != code_) {
    facts_ = &table_.facts(*code);
    code_ = code;
  }
  return facts_->of[static_cast<std::size_t>(op_of(pc) - code->ops.data())];
}

Kind PtxCore::kind(Activation activation, Pc pc) {
  return fact(activation, pc).kind;
}

Pc PtxCore::next(Activation /*activation*/, Pc pc) {
  return pc_of(op_of(pc) + 1);
}

Pc PtxCore::reconvergence(Activation activation, Pc branch) {
  const isa::Op* join = fact(activation, branch).reconvergence;
  return join != nullptr ? pc_of(join) : no_pc;
}

bool PtxCore::ends_early(Activation activation, Pc branch, Pc pc) {
  const std::uint32_t from = fact(activation, branch).block;
  return facts_->cfg.ends_early(from, fact(activation, pc).block);
}

LaneMask PtxCore::call_together(Activation activation, Pc pc, LaneMask lanes) {
  const isa::Op& op = *op_of(pc);
  const LaneMask calling = guarded(*frame_of(activation), op, lanes);
  if (calling == 0 || !fact(activation, pc).indirect) {
    return calling;
  }
  const int first = std::countr_zero(calling);
  exec_->select(warp_, *warp_.frame[slot(first)], calling);
  const auto* address = exec_->in<std::uint64_t>(op.a);
  LaneMask together = 0;
  for (LaneMask m = calling; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    together |= static_cast<LaneMask>(address[lane] == address[first]) << lane;
  }
  return together;
}

LaneMask PtxCore::stand_at(LaneMask lanes, Activation activation, Pc pc) const {
  LaneMask elsewhere = 0; // a loop that can be vectorised
  const isa::Op* op = op_of(pc);
  const isa::Frame* frame = frame_of(activation);
  for (int lane = 0; lane < warp_size; ++lane) {
    const bool here = warp_.pc[slot(lane)] == op && warp_.frame[slot(lane)] == frame;
    elsewhere |= static_cast<LaneMask>(!here) << lane;
  }
  return lanes & ~elsewhere;
}

bool PtxCore::execute(Activation activation, Pc pc, LaneMask lanes, Executed& result) {
  const isa::Op& op = *op_of(pc);
  result.acted = guarded(*frame_of(activation), op, lanes);
  if (cache_ != nullptr && result.acted != 0) {
    exec_->select(warp_, *warp_.frame[slot(std::countr_zero(lanes))], result.acted);
    cache_->before(*exec_, op);
  }
  stop_ = exec_->step(warp_, lanes);
  if (cache_ != nullptr) {
    cache_->after();
  }
  if (stop_ == isa::Stop::Fault || stop_ == isa::Stop::Unsupported) {
    return false;
  }
  result.ended = lanes & ~warp_.live;
  for (LaneMask left = lanes & warp_.live; left != 0;) {
    const auto first = slot(std::countr_zero(left));
    const Activation at = activation_of(warp_.frame[first]);
    const Pc to = pc_of(warp_.pc[first]);
    const LaneMask group = stand_at(left, at, to);
    result.add(group, at, to);
    left &= ~group;
  }
  return true;
}

} // namespace heddle::simt

// Implements language.h.
#include "language.h"

#include <bit>

namespace heddle::simt {
namespace {

ptx::Instruction skeleton(ptx::Opcode opcode, bool guarded) {
  ptx::Instruction i;
  i.opcode = opcode;
  if (guarded) {
    i.guard = ptx::Guard{};
  }
  return i;
}

/// The function as PTX, as far as its graph goes.
ptx::Function shape_of(const Function& function) {
  ptx::Function shape;
  const auto label = [&shape](std::uint32_t target) {
    ptx::Operand operand;
    operand.kind = ptx::OperandKind::Label;
    operand.index = static_cast<std::uint32_t>(shape.labels.size());
    shape.labels.push_back({"", target});
    return operand;
  };
  for (const Instruction& i : function.body) {
    switch (i.operation) {
    case Operation::BranchIf:
    case Operation::Script:
    case Operation::Jump:
      shape.body.push_back(skeleton(ptx::Opcode::Bra, i.operation != Operation::Jump));
      shape.body.back().operands.push_back(label(i.target));
      break;
    case Operation::Switch: {
      ptx::TargetList list;
      list.name = std::to_string(shape.targets.size());
      for (const std::uint32_t target : i.targets) {
        list.labels.push_back(label(target).index);
      }
      shape.body.push_back(skeleton(ptx::Opcode::Brx, false));
      shape.body.back().operands.resize(2);
      shape.body.back().operands[1].name = list.name;
      shape.targets.push_back(std::move(list));
      break;
    }
    case Operation::Return:
      shape.body.push_back(skeleton(ptx::Opcode::Ret, i.guard >= 0));
      break;
    case Operation::Exit:
      shape.body.push_back(skeleton(ptx::Opcode::Exit, i.guard >= 0));
      break;
    default:
      shape.body.push_back(skeleton(ptx::Opcode::Mov, false));
    }
  }
  return shape;
}

int scramble(int value, int with) {
  auto x = static_cast<std::uint32_t>(value) * 0x9e3779b1U + static_cast<std::uint32_t>(with) + 1;
  return static_cast<int>((x ^ (x >> 15)) & 0x7fff'ffffU);
}

std::uint32_t choose(const std::vector<std::uint32_t>& targets, int index) {
  const auto n = static_cast<std::size_t>(index);
  return index >= 0 && n < targets.size() ? targets[n] : targets.back();
}

std::uint32_t callee_of(const Instruction& call, const LaneState& lane) {
  return call.operation == Operation::Call
             ? call.target
             : choose(call.targets, lane.r[static_cast<std::size_t>(call.a)]);
}

} // namespace

void Program::finish() {
  for (Function& function : functions) {
    const analysis::Cfg cfg(shape_of(function), ends);
    function.join.assign(function.body.size(), no_pc);
    function.cfg.assign(1, cfg);
    function.block.assign(function.body.size() + 1, cfg.exit());
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      function.block[i] = cfg.block_of(i);
      if (const auto join = cfg.reconvergence(i)) {
        function.join[i] = *join;
      }
    }
  }
}

LanguageCore::LanguageCore(const Program& program, int count)
    : lanes(static_cast<std::size_t>(count)),
      program_(&program) {
  restart();
}

void LanguageCore::restart() {
  functions_.assign(1, 0);
  live_ = 0;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    LaneState& state = lanes[lane];
    state.calls.assign(1, Call{0, 0, 0});
    state.history.clear();
    state.decisions = 0;
    state.waiting = false;
    live_ |= LaneMask{1} << lane;
  }
  block.cell.assign(static_cast<std::size_t>(program_->cells), 0);
  block.cache = block.cell;
  block.cached = 0;
}

Warp LanguageCore::start() {
  Warp warp;
  simt::start(warp, live_, 0, 0);
  return warp;
}

const Instruction* LanguageCore::instruction(Activation activation, Pc pc) const {
  const Function& function = program_->functions[functions_[activation]];
  return pc < function.body.size() ? &function.body[pc] : nullptr; // behind the end: a return
}

Kind LanguageCore::kind(Activation activation, Pc pc) {
  const Instruction* i = instruction(activation, pc);
  switch (i == nullptr ? Operation::Return : i->operation) {
  case Operation::BranchIf:
  case Operation::Script:
  case Operation::Switch:
  case Operation::Jump:
    return Kind::Branch;
  case Operation::Call:
  case Operation::CallTable:
    return Kind::Call;
  case Operation::Return:
    return Kind::Return;
  case Operation::Exit:
    return Kind::Exit;
  case Operation::Barrier:
    return Kind::Barrier;
  case Operation::Ballot:
    return Kind::Collective;
  case Operation::Load:
  case Operation::LoadStrong:
    return Kind::Read;
  case Operation::Store:
    return Kind::Write;
  case Operation::Exchange:
    return Kind::Atomic;
  case Operation::Fence:
    return Kind::Fence;
  default:
    return Kind::Plain;
  }
}

Pc LanguageCore::next(Activation /*activation*/, Pc pc) {
  return pc + 1;
}

Pc LanguageCore::reconvergence(Activation activation, Pc branch) {
  return program_->functions[functions_[activation]].join[branch];
}

bool LanguageCore::ends_early(Activation activation, Pc branch, Pc pc) {
  const Function& function = program_->functions[functions_[activation]];
  return function.cfg[0].ends_early(function.block[branch], function.block[pc]);
}

LaneMask LanguageCore::waiting() const {
  LaneMask mask = 0;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    mask |= static_cast<LaneMask>(lanes[lane].waiting) << lane;
  }
  return mask;
}

LaneMask LanguageCore::stand_at(LaneMask of, Activation activation, Pc pc) const {
  LaneMask here = 0;
  for (LaneMask m = of; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    const auto& calls = lanes[lane].calls;
    const bool stands =
        !calls.empty() && calls.back().activation == activation && calls.back().pc == pc;
    here |= static_cast<LaneMask>(stands) << lane;
  }
  return here;
}

void LanguageCore::open_barrier() {
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (!lanes[lane].calls.empty() && !lanes[lane].waiting) {
      return;
    }
  }
  for (LaneState& state : lanes) {
    state.waiting = false;
  }
}

void LanguageCore::execute_lane(
    int lane,
    const Instruction* i,
    Activation callee,
    LaneMask together
) {
  LaneState& state = lanes[static_cast<std::size_t>(lane)];
  Call& at = state.calls.back();
  if (keep_history) {
    state.history.push_back(static_cast<std::uint16_t>(at.function * 256 + at.pc));
  }
  const auto leave = [&] {
    state.calls.pop_back();
    if (state.calls.empty()) {
      live_ &= ~(LaneMask{1} << lane);
      open_barrier();
    }
  };
  if (i == nullptr) {
    leave();
    return;
  }
  if (i->guard >= 0 && state.r[static_cast<std::size_t>(i->guard)] == 0) {
    ++at.pc;
    return;
  }
  int& a = state.r[static_cast<std::size_t>(i->a)];
  const int b = state.r[static_cast<std::size_t>(i->b)];
  const auto cell = static_cast<std::size_t>(i->value);
  std::uint32_t to = at.pc + 1;
  switch (i->operation) {
  case Operation::Assign:
    a = i->value;
    break;
  case Operation::Add:
    a += b + i->value;
    break;
  case Operation::LaneId:
    a = lane;
    break;
  case Operation::Mix:
    a = scramble(a, i->value);
    break;
  case Operation::BranchIf:
    to = a == i->value ? i->target : to;
    break;
  case Operation::Script:
    to = (state.script >> (state.decisions++ % state.script_bits) & 1) != 0 ? i->target : to;
    break;
  case Operation::Switch:
    to = choose(i->targets, a);
    break;
  case Operation::Jump:
    to = i->target;
    break;
  case Operation::Call:
  case Operation::CallTable:
    at.pc = to;
    state.calls.push_back({callee, functions_[callee], 0});
    return;
  case Operation::Return:
    leave();
    return;
  case Operation::Exit:
    state.calls.resize(1);
    leave();
    return;
  case Operation::Barrier:
    at.pc = to;
    state.waiting = true;
    open_barrier();
    return;
  case Operation::Ballot: {
    LaneMask votes = 0;
    for (LaneMask m = together; m != 0; m &= m - 1) {
      const int other = std::countr_zero(m);
      const auto& r = lanes[static_cast<std::size_t>(other)].r;
      votes |= static_cast<LaneMask>(r[static_cast<std::size_t>(i->b)] != 0) << other;
    }
    a = static_cast<int>(votes);
    break;
  }
  case Operation::Load: // [SIMT-READ]
    if (block.stale_reads) {
      if ((block.cached >> cell & 1) == 0) {
        block.cache[cell] = block.cell[cell];
        block.cached |= std::uint64_t{1} << cell;
      }
      a = block.cache[cell];
      break;
    }
    [[fallthrough]];
  case Operation::LoadStrong:
    a = block.cell[cell];
    break;
  case Operation::Store:
    block.cell[cell] = a;
    block.cached &= ~(std::uint64_t{1} << cell);
    break;
  case Operation::Exchange:
    std::swap(a, block.cell[cell]);
    block.cached &= ~(std::uint64_t{1} << cell);
    break;
  case Operation::Fence: // [SIMT-FENCE]
    block.cached = 0;
    break;
  }
  at.pc = to;
}

LaneMask LanguageCore::call_together(Activation activation, Pc pc, LaneMask mask) {
  const Instruction* i = instruction(activation, pc);
  std::optional<std::uint32_t> function;
  LaneMask together = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const LaneState& state = lanes[static_cast<std::size_t>(std::countr_zero(m))];
    if (i->guard >= 0 && state.r[static_cast<std::size_t>(i->guard)] == 0) {
      continue;
    }
    const std::uint32_t wanted = callee_of(*i, state);
    if (wanted == function.value_or(wanted)) {
      function = wanted;
      together |= m & (~m + 1);
    }
  }
  return together;
}

bool LanguageCore::execute(Activation activation, Pc pc, LaneMask mask, Executed& result) {
  const Instruction* i = instruction(activation, pc);
  const bool calls =
      i != nullptr && (i->operation == Operation::Call || i->operation == Operation::CallTable);
  Activation callee = 0;
  std::uint32_t function = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const LaneState& state = lanes[static_cast<std::size_t>(lane)];
    const bool acts =
        i == nullptr || i->guard < 0 || state.r[static_cast<std::size_t>(i->guard)] != 0;
    if (calls && acts) {
      const std::uint32_t wanted = callee_of(*i, state);
      if (callee == 0) {
        callee = functions_.size();
        function = wanted;
        functions_.push_back(function);
      } else if (wanted != function) {
        continue; // calls when it is its turn
      }
    }
    result.acted |= acts ? LaneMask{1} << lane : 0;
    execute_lane(lane, i, callee, mask);
  }
  result.ended = mask & ~live_;
  for (LaneMask left = mask & live_; left != 0;) {
    const Call& at = lanes[static_cast<std::size_t>(std::countr_zero(left))].calls.back();
    const LaneMask group = stand_at(left, at.activation, at.pc);
    result.add(group, at.activation, at.pc);
    left &= ~group;
  }
  return true;
}

bool LanguageCore::step_alone(int lane) {
  const LaneState& state = lanes[static_cast<std::size_t>(lane)];
  if (state.calls.empty() || state.waiting) {
    return false;
  }
  Executed result;
  const Call at = state.calls.back();
  return execute(at.activation, at.pc, LaneMask{1} << lane, result);
}

} // namespace heddle::simt

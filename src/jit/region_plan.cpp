// Which op of a code becomes what in its region: entries, joins, and what is known of operands.
#include "analysis/liveness.h"
#include "isa/call_arguments.h"
#include "isa/ops_address.h"
#include "jit/region_builder_impl.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>

namespace heddle::jit {

namespace {

/// Where lanes of a called function may return together: its last `ret` for all lanes; none: there
/// is no such op.
std::optional<std::uint32_t> find_return(const isa::Code& code) {
  if (code.function->entry) {
    return std::nullopt;
  }
  for (auto k = static_cast<std::uint32_t>(code.ops.size()); k-- > 1;) {
    const isa::Op& op = code.ops[k - 1];
    if (code.function->body[op.instruction].opcode == ptx::Opcode::Ret &&
        (op.flags & isa::Guarded) == 0) {
      return k - 1;
    }
  }
  return std::nullopt;
}

/// Can a call by this code, or by what it calls, lead to itself? Mostly, such calls are all that
/// the kernel does.
bool recurses(const isa::Code& code) {
  std::map<const isa::Code*, bool> under_way; // false: looked at
  const std::function<bool(const isa::Code&)> look = [&](const isa::Code& from) {
    under_way[&from] = true;
    for (const isa::Op& op : from.ops) {
      if (isa::what_calls(op) != isa::CallKind::Function) {
        continue;
      }
      const auto* callee = reinterpret_cast<const isa::Code*>(op.imm);
      const auto it = under_way.find(callee);
      if (it != under_way.end() ? it->second : look(*callee)) {
        return true;
      }
    }
    under_way[&from] = false;
    return false;
  };
  return look(code);
}

} // namespace

// --- Which op is what

bool RegionBuilder::known_operands(std::uint32_t k) const {
  return std::ranges::all_of(registers_.refs(k), [this](isa::Ref ref) {
    if (ref.none() || ref.area() != isa::Area::Frame) {
      return true;
    }
    const std::uint32_t index = registers_.at(ref.offset());
    return index != registers_.count() && registers_.place(index).element_bytes <= 8;
  });
}

PlannedOp RegionBuilder::plan(std::uint32_t k) const {
  const isa::Op& op = code_.ops[k];
  PlannedOp result;
  if (op.instruction >= code_.function->body.size() || &op == &code_.ops.back() ||
      !known_operands(k)) {
    return result;
  }
  if (code_.function->body[op.instruction].opcode == ptx::Opcode::Bra) {
    result.kind = Kind::Branch;
    result.target = op.target;
    return result;
  }
  if (is_call(code_, op)) {
    result.kind = plan_call(op);
    return result;
  }
  result.lane = functions_.lanes.of(code_, k, registers_);
  if (result.lane != nullptr && is_of_warps(k)) {
    if (!may_interpret(k)) {
      return {};
    }
    if (!result.lane->straight) {
      result.lane = nullptr;
    }
    result.members = membermask(k);
  }
  if (is_watched() && result.lane != nullptr && meets_monitor(k)) {
    const ptx::Effect& effect = ptx::effect_of(*instruction(k));
    const bool alone = (k == 0 || code_.ops[k - 1].instruction != op.instruction) &&
                       code_.ops[k + 1].instruction != op.instruction;
    result.watched = result.lane->straight && result.lane->reaches && alone &&
                     (effect.is(ptx::Effect::Kind::Load) || effect.is(ptx::Effect::Kind::Store)) &&
                     !effect.is_strong();
    if (!result.watched) {
      result.lane = nullptr; // its handler tells the monitor
    }
  }
  if (result.lane != nullptr) {
    result.operands = functions_.lanes.operands(code_, k, registers_);
    result.kind = result.lane->straight ? Kind::Lanes : Kind::Interpret;
  } else if (may_interpret(k) && registers_.names_all(k, membermask(k))) {
    result.operands = functions_.lanes.operands(code_, k, registers_);
    result.kind = Kind::Interpret;
    const isa::Ref members = membermask(k);
    if (!members.none() && members.area() == isa::Area::Frame) {
      result.operands.inputs.push_back(members);
    }
  }
  return result;
}

/// Objects on the stack are mostly accessed by generic addresses if a function is given their
/// address, and all variables are without optimisation. Where such an address comes from
/// `cvta.local` only, its accesses look in each lane's own memory first; what lies elsewhere is the
/// interpreter's.
void RegionBuilder::plan_stack() {
  if (is_watched()) {
    return;
  }
  const auto& body = code_.function->body;
  std::vector<bool> stack(code_.function->registers.size(), true);
  const auto is_stack = [&](const ptx::Operand& o) {
    return o.kind == ptx::OperandKind::Register && stack[o.index];
  };
  const auto makes_stack = [&](const ptx::Instruction& i) {
    switch (i.opcode) {
    case ptx::Opcode::Cvta:
      return i.has(ptx::Mod::Local) && !i.has(ptx::Mod::To);
    case ptx::Opcode::Mov:
    case ptx::Opcode::Sub:
      return is_stack(i.operands[1]);
    case ptx::Opcode::Add:
      return is_stack(i.operands[1]) || is_stack(i.operands[2]);
    case ptx::Opcode::Selp:
      return is_stack(i.operands[1]) && is_stack(i.operands[2]);
    default:
      return false;
    }
  };
  std::vector<bool> written(stack.size());
  for (bool again = true; again;) {
    again = false;
    for (const ptx::Instruction& i : body) {
      const bool makes = makes_stack(i);
      analysis::each_register(i, [&](analysis::RegisterUse use) {
        if (use.write) {
          written[use.index] = true;
          again = again || (stack[use.index] && !makes);
          stack[use.index] = stack[use.index] && makes;
        }
      });
    }
  }
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    PlannedOp& op = ops_[k];
    const std::uint32_t address = registers_.frame_register(code_.ops[k].a);
    if (op.kind != Kind::Lanes || !op.lane->reaches || address >= stack.size() || !stack[address] ||
        !written[address] || (code_.ops[k].imm2 & isa::NoWindow) != 0) {
      continue;
    }
    unsigned reaches = 0;
    bool plain = true; // weak, and generic
    for (const llvm::Instruction& i : op.lane->function->getEntryBlock()) {
      if (is_reach(i)) {
        ++reaches;
        plain = plain && space_of(i) == isa::Space::Generic && !is_update(i) && !is_alone(i);
      }
    }
    op.stack = plain && reaches == 1;
  }
}

/// What a monitor knows of calls goes by the interpreter's.
Kind RegionBuilder::plan_call(const isa::Op& op) const {
  if (is_watched()) {
    return Kind::Leave;
  }
  switch (isa::what_calls(op)) {
  case isa::CallKind::Function: {
    const isa::Code& callee = *reinterpret_cast<const isa::Code*>(op.imm);
    return !callee.ops.empty() && find_return(callee) ? Kind::Call : Kind::Leave;
  }
  case isa::CallKind::Address:
    return Kind::Call;
  case isa::CallKind::Heap:
    return Kind::Interpret;
  default:
    return Kind::Leave;
  }
}

/// All lanes of a call return together: each `ret` leads to the last one.
void RegionBuilder::plan_returns() {
  const std::optional<std::uint32_t> last = is_watched() ? std::nullopt : find_return(code_);
  if (!last) {
    return;
  }
  for (std::uint32_t k = 0; k < *last; ++k) {
    if (instruction(k)->opcode == ptx::Opcode::Ret) {
      ops_[k] = {};
      ops_[k].kind = Kind::Branch;
      ops_[k].target = *last;
    }
  }
  ops_[*last].kind = Kind::Return;
}

/// Does the monitor of a program that is watched look at what op k does? (What lanes tell each
/// other is nothing to it.)
bool RegionBuilder::meets_monitor(std::uint32_t k) const {
  const ptx::Instruction& i = *instruction(k);
  const ptx::Effect& effect = ptx::effect_of(i);
  using Kind = ptx::Effect::Kind;
  const bool visible = (code_.ops[k].flags & isa::Visible) != 0 && !effect.is(Kind::ActiveLanes);
  const bool orders = (visible && !effect.is(Kind::Collective)) || effect.is(Kind::Copy);
  const bool parameter =
      i.has(ptx::Mod::Param) || i.has(ptx::Mod::ParamEntry) || i.has(ptx::Mod::ParamFunc);
  const bool values = (effect.is_access() && !parameter) || effect.writes();
  // A monitor of order may watch beside the one of values (machine/monitor_pair.h).
  return orders || (launch_.watch == LaunchShape::Watch::All && values);
}

/// Ops without bitcode whose handlers go on behind them, or stop with a fault: strong accesses,
/// fences, textures, matrices, and warp collectives of converged lanes. What lanes do together is
/// executed by whole warps, as in the interpreter.
bool RegionBuilder::may_interpret(std::uint32_t k) const {
  const isa::Op& op = code_.ops[k];
  const ptx::Effect& effect = ptx::effect_of(*instruction(k));
  if (launch_.lanes != isa::warp_size && (is_of_whole_warps(effect) || is_matrix(k))) {
    return false;
  }
  if (is_collective(effect)) {
    const isa::Ref members = membermask(k);
    const bool known =
        members.none() ||
        (members.area() == isa::Area::Constant && constant_word(members) != nullptr) ||
        (members.area() == isa::Area::Frame &&
         registers_.at(members.offset()) != registers_.count());
    return (op.flags & isa::Visible) != 0 && known;
  }
  return effect.is(ptx::Effect::Kind::Fence) || effect.is(ptx::Effect::Kind::ActiveLanes) ||
         effect.is(ptx::Effect::Kind::Object) || is_matrix(k) ||
         (effect.is_access() && !effect.is_async());
}

/// It counts as a poll (isa::after_poll), before it is executed.
bool RegionBuilder::polls(std::uint32_t k) const {
  const ptx::Effect& effect = ptx::effect_of(*instruction(k));
  return effect.is_strong() && effect.reads() && instruction(k)->opcode != ptx::Opcode::Red;
}

/// An operation on matrices that has its result when it is over: not wgmma.
bool RegionBuilder::is_matrix(std::uint32_t k) const {
  switch (instruction(k)->opcode) {
  case ptx::Opcode::Wmma:
  case ptx::Opcode::Mma:
  case ptx::Opcode::Ldmatrix:
  case ptx::Opcode::Stmatrix:
  case ptx::Opcode::Movmatrix:
    return true;
  default:
    return false;
  }
}

/// The branch ends a loop that does nothing but ask one place again and again.
bool RegionBuilder::waits_in_vain(std::uint32_t branch) const {
  constexpr std::uint32_t most = 16;
  const std::uint32_t begin = ops_[branch].target;
  if (ops_[branch].kind != Kind::Branch || begin > branch || branch - begin > most) {
    return false;
  }
  bool asks = false;
  const auto writes = [&](std::uint32_t index) {
    for (std::uint32_t k = begin; k < branch; ++k) {
      const std::vector<std::uint32_t> all = registers_.writes(k);
      if (std::ranges::find(all, index) != all.end()) {
        return true;
      }
    }
    return false;
  };
  for (std::uint32_t k = begin; k < branch; ++k) {
    const ptx::Instruction* i = instruction(k);
    const ptx::Effect* effect = i != nullptr ? &ptx::effect_of(*i) : nullptr;
    if (effect == nullptr || (effect->is_access() && !effect->is(ptx::Effect::Kind::Load)) ||
        effect->meets != ptx::Effect::Meets::Nobody) {
      return false;
    }
    if (!effect->is(ptx::Effect::Kind::Load)) {
      continue;
    }
    const std::uint32_t address = registers_.frame_register(code_.ops[k].a);
    if (!effect->is_strong() || (address != registers_.count() && writes(address))) {
      return false;
    }
    asks = true;
  }
  return asks;
}

/// In a region such a loop asks once: its branch back, and with it the loop from then on, is the
/// interpreter's, which comes around sooner and then gives others their turn. With a monitor all of
/// it is.
void RegionBuilder::find_loops_that_wait() {
  waits_.assign(code_.ops.size(), false);
  in_wait_.assign(code_.ops.size(), false);
  for (std::uint32_t branch = 0; branch < code_.ops.size(); ++branch) {
    if (!waits_in_vain(branch)) {
      continue;
    }
    waits_[branch] = true;
    for (std::uint32_t k = ops_[branch].target; k <= branch; ++k) {
      in_wait_[k] = true;
      if (is_watched()) {
        ops_[k] = {};
      }
    }
  }
}

void RegionBuilder::plan_ops(BuiltRegion& result) {
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    ops_.push_back(plan(k));
  }
  recurses_ = recurses(code_);
  plan_returns();
  plan_stack();
  find_loops_that_wait();
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    if (ops_[k].kind == Kind::Leave) {
      result.left.push_back(k);
    } else if (ops_[k].kind == Kind::Interpret) {
      result.interpreted.push_back(k);
    }
  }
}

/// Its lanes tell each other something.
bool RegionBuilder::is_of_warps(std::uint32_t k) const {
  const ptx::Instruction* i = instruction(k);
  return i != nullptr && (is_collective(ptx::effect_of(*i)) ||
                          ptx::effect_of(*i).is(ptx::Effect::Kind::ActiveLanes));
}

/// Of a collective.
isa::Ref RegionBuilder::membermask(std::uint32_t k) const {
  const ptx::Instruction* i = instruction(k);
  if (i == nullptr || !is_collective(ptx::effect_of(*i))) {
    return {};
  }
  return {static_cast<std::uint32_t>(code_.ops[k].imm2)};
}

/// A barrier that gives a result, which is the same for all threads.
bool RegionBuilder::is_reduction(std::uint32_t k) const {
  const ptx::Instruction* i = instruction(k);
  return i != nullptr && reduces_block(*i);
}

/// bar.sync 0 or bar.red 0 of all threads, by all lanes.
bool RegionBuilder::is_barrier(std::uint32_t k) const {
  const isa::Op& op = code_.ops[k];
  const ptx::Instruction* i = instruction(k);
  if (i == nullptr || (op.flags & isa::Guarded) != 0 || op.a.none() || !op.b.none() ||
      op.a.area() != isa::Area::Constant || i->has(ptx::Mod::Arrive)) {
    return false;
  }
  if (i->has(ptx::Mod::Red)) {
    const std::uint32_t from = registers_.frame_register(op.c);
    const std::uint32_t to = registers_.frame_register(op.d);
    if (from == registers_.count() || to == registers_.count() ||
        !registers_.place(from).predicate) {
      return false;
    }
  }
  const ptx::Effect& effect = ptx::effect_of(*i);
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant_word(op.a));
  return effect.is(ptx::Effect::Kind::Barrier) && effect.meets == ptx::Effect::Meets::Block &&
         number != nullptr && (number->getZExtValue() & 0xffff'ffffU) == 0;
}

/// The end of the kernel for all lanes.
bool RegionBuilder::is_end(std::uint32_t k) const {
  if ((code_.ops[k].flags & isa::Guarded) != 0 || !code_.function->entry) {
    return false;
  }
  const ptx::Instruction* i = instruction(k);
  return i == nullptr || ptx::effect_of(*i).is(ptx::Effect::Kind::Return) ||
         ptx::effect_of(*i).is(ptx::Effect::Kind::Exit);
}

/// Blocks of which each warp has its own special values only when its warps have turns: handlers
/// must not ask for them.
bool RegionBuilder::whole_blocks() const {
  if (is_watched() || recurses_) {
    return false; // threads would get other turns; calls have program counters
  }
  const auto special = [](isa::Ref ref) { return ref.area() == isa::Area::Special; };
  for (const PlannedOp& op : ops_) {
    const bool calls = op.kind == Kind::Interpret || (op.lane != nullptr && op.lane->reaches);
    if (calls && std::ranges::any_of(op.operands.inputs, special)) {
      return false;
    }
  }
  return code_.function->entry;
}

Shape RegionBuilder::special_shape(std::uint32_t offset) const {
  using Layout = isa::SpecialLayout;
  switch (offset / Layout::u32x32) {
  case Layout::TidX:
    return launch_.rows ? Shape::regular(1) : Shape::vector();
  case Layout::TidY:
  case Layout::TidZ:
    return launch_.rows ? Shape::uniform() : Shape::vector();
  case Layout::LaneId:
    return Shape::regular(1);
  case Layout::LanemaskEq:
  case Layout::LanemaskLe:
  case Layout::LanemaskLt:
  case Layout::LanemaskGe:
  case Layout::LanemaskGt:
    return Shape::vector();
  case Layout::WarpId: // what is the same for the warps of a block has one place: special()
    return Shape::vector();
  default:
    return Shape::uniform(); // of the block or the grid
  }
}

llvm::Constant* RegionBuilder::constant_word(isa::Ref ref) const {
  const auto differs = [&](const auto& place) {
    return ref.offset() >= place.first &&
           ref.offset() < place.first + place.second * isa::warp_size;
  };
  if (std::ranges::any_of(code_.addresses, differs)) {
    return nullptr;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, code_.constants.data() + ref.offset(), sizeof word);
  return llvm::ConstantInt::get(llvm::Type::getInt64Ty(module_.getContext()), word);
}

/// By compiled code, which mostly enters a function for all of it.
bool RegionBuilder::is_callable() const {
  return !is_watched() && ops_[0].kind != Kind::Leave && find_return(code_);
}

/// Not if there is soon a call that is the interpreter's, or the end of a function. To enter the
/// region and to leave it costs about as much as to interpret some ops, and more if there are many
/// registers to load. Loops are followed.
bool RegionBuilder::is_worth_entering(std::uint32_t k) const {
  const std::size_t enough = (150 + 12 * registers_.live(k).size()) / 20; // ops
  std::uint32_t at = k;
  for (std::size_t ops = 0; ops <= enough; ++ops) {
    if (ops_[at].kind == Kind::Return) {
      return false;
    }
    if (ops_[at].kind == Kind::Leave) {
      const ptx::Instruction* i = instruction(at);
      const bool returns = !code_.function->entry &&
                           (i == nullptr || ptx::effect_of(*i).is(ptx::Effect::Kind::Return));
      return !returns && !is_call(code_, code_.ops[at]);
    }
    const bool back = ops_[at].kind == Kind::Branch && ops_[at].target <= at && !waits_[at];
    at = back ? ops_[at].target : at + 1;
  }
  return true;
}

std::vector<std::uint32_t> RegionBuilder::find_entries() const {
  std::vector<std::uint32_t> entries;
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    const bool parts = k != 0 && is_watched() && ops_[k - 1].kind == Kind::Branch;
    const bool behind = k != 0 && (ops_[k - 1].kind == Kind::Leave ||
                                   ops_[k - 1].kind == Kind::Call || waits_[k - 1]);
    const bool begins = k == 0 || joins_[k] || behind || parts;
    const bool leaves = ops_[k].kind == Kind::Leave || ops_[k].kind == Kind::Return;
    const bool whole = k == 0 && code_.function->entry;
    if (begins && !leaves && (whole || (!in_wait_[k] && is_worth_entering(k)))) {
      entries.push_back(k);
    }
  }
  return entries;
}

/// Where a group may begin, and looks whether others are behind: where lanes may go on when the
/// region has been left, and where loops begin. What lies between costs more than it gains.
void RegionBuilder::find_joins() {
  const Waiting& waiting = uniformity_->waiting();
  joins_.assign(code_.ops.size(), false);
  for (std::uint32_t k = 0; is_watched() && k < code_.ops.size(); ++k) {
    joins_[k] = (code_.ops[k].flags & isa::Join) != 0; // turns end there
  }
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    const bool back = ops_[k].kind == Kind::Branch && ops_[k].target <= k;
    if (back) {
      joins_[ops_[k].target] = true;
    }
    const bool leaves =
        ops_[k].kind == Kind::Leave || ops_[k].kind == Kind::Return || ops_[k].kind == Kind::Call;
    if (back || leaves || ops_[k].kind == Kind::Interpret || is_of_warps(k)) {
      for (const std::uint32_t place : waiting.at(k)) {
        joins_[place] = true;
      }
    }
  }
}

/// Nobody waits or is left out by a guard.
bool RegionBuilder::by_all_lanes(std::uint32_t k) const {
  return !uniformity_->waiting().some_at(k) && (code_.ops[k].flags & isa::Guarded) == 0;
}

/// Registers that the frame may not have as they are: what an exit has to write, and the
/// interpreter's handler for an op. The region is entered at an op with what the frame has, and
/// behind a barrier with what slots have.
void RegionBuilder::find_changed() {
  const auto count = static_cast<std::uint32_t>(code_.ops.size());
  changed_.assign(count, analysis::BitVector(registers_.count()));
  std::vector<analysis::BitVector> writes;
  for (std::uint32_t k = 0; k < count; ++k) {
    writes.emplace_back(registers_.count());
    for (const std::uint32_t index : registers_.writes(k)) {
      writes.back().set(index);
    }
    if (k + 1 < count && is_barrier(k) && whole_blocks()) {
      for (const std::uint32_t index : registers_.live(k + 1)) {
        if (shape(index).is_regular() || registers_.place(index).predicate) {
          changed_[k + 1].set(index);
        }
      }
      if (is_reduction(k)) {
        changed_[k + 1].set(registers_.at(code_.ops[k].d.offset()));
      }
    }
  }
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t k = 0; k < count; ++k) {
      if (ops_[k].kind == Kind::Leave || ops_[k].kind == Kind::Return) {
        continue;
      }
      analysis::BitVector behind = changed_[k];
      behind.unite(writes[k]);
      if (ops_[k].kind == Kind::Interpret && by_all_lanes(k)) { // through the frame
        for (const std::vector<isa::Ref>* refs :
             {&ops_[k].operands.inputs, &ops_[k].operands.outputs}) {
          for (const isa::Ref ref : *refs) {
            if (const auto index = registers_.frame_register(ref); index != registers_.count()) {
              behind.reset(index);
            }
          }
        }
      }
      const isa::Op& op = code_.ops[k];
      const bool branch = ops_[k].kind == Kind::Branch;
      if (branch) {
        again = changed_[ops_[k].target].unite(behind) || again;
      }
      if (k + 1 < count && (!branch || (op.flags & isa::Guarded) != 0)) {
        again = changed_[k + 1].unite(behind) || again;
      }
    }
  }
}

/// A group that goes on behind a barrier has all of them in its slots, one that starts has none.
void RegionBuilder::find_unsaved() {
  const auto count = static_cast<std::uint32_t>(code_.ops.size());
  unsaved_.assign(count, analysis::BitVector(registers_.count()));
  if (!whole_blocks()) {
    return;
  }
  for (std::uint32_t index = 0; index < registers_.count(); ++index) {
    unsaved_[0].set(index);
  }
  for (std::uint32_t k = 0; k + 1 < count; ++k) {
    if (is_barrier(k) && is_reduction(k)) {
      unsaved_[k + 1].set(registers_.at(code_.ops[k].d.offset()));
    }
  }
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t k = 0; k < count; ++k) {
      if (ops_[k].kind == Kind::Leave || ops_[k].kind == Kind::Return) {
        continue;
      }
      analysis::BitVector behind = unsaved_[k];
      for (const std::uint32_t index : registers_.writes(k)) {
        behind.set(index);
      }
      const bool branch = ops_[k].kind == Kind::Branch;
      if (branch) {
        again = unsaved_[ops_[k].target].unite(behind) || again;
      }
      if (k + 1 < count && (!branch || (code_.ops[k].flags & isa::Guarded) != 0)) {
        again = unsaved_[k + 1].unite(behind) || again;
      }
    }
  }
}

/// Can it be executed twice? It changes nothing but registers, and is executed by each lane for
/// itself. A weak load may have another value then, as if it had been executed later.
bool RegionBuilder::may_repeat(std::uint32_t k) const {
  if (ops_[k].kind != Kind::Lanes || is_watched() || polls(k) || is_of_warps(k) ||
      ptx::effect_of(*instruction(k)).writes()) {
    return false;
  }
  return std::ranges::all_of(
      ops_[k].lane->function->getEntryBlock(),
      [](const llvm::Instruction& i) {
        return !llvm::isa<llvm::FenceInst>(i) && (!is_reach(i) || (!is_store(i) && !is_update(i)));
      }
  );
}

/// Exits are most of the code of some kernels, because each writes all registers that are live. So
/// where a guess is wrong, the region is left in front of the first op of those that can be
/// repeated, and the interpreter executes these again: many ops share one exit. None of them may
/// write a register that is read from the first one on.
void RegionBuilder::find_restarts(const std::vector<std::uint32_t>& entries) {
  const auto count = static_cast<std::uint32_t>(code_.ops.size());
  const Waiting& waiting = uniformity_->waiting();
  std::vector<bool> begins(count, false);
  for (const std::uint32_t k : entries) {
    begins[k] = true;
  }
  for (std::uint32_t k = 0; k < count; ++k) {
    begins[k] = begins[k] || waiting.is_place(k) || (code_.ops[k].flags & isa::Join) != 0;
    if (ops_[k].kind == Kind::Branch) {
      begins[ops_[k].target] = true;
    }
  }
  restart_.resize(count);
  analysis::BitVector live(registers_.count());
  for (std::uint32_t k = 0; k < count; ++k) {
    const bool goes_on = k != 0 && !begins[k] && may_repeat(k - 1) &&
                         std::ranges::none_of(registers_.writes(k - 1), [&](auto index) {
                           return live.test(index);
                         });
    restart_[k] = goes_on ? restart_[k - 1] : k;
    if (!goes_on) {
      live = analysis::BitVector(registers_.count());
      std::ranges::for_each(registers_.live(k), [&](auto index) { live.set(index); });
    }
  }
}

/// By op: in how many loops it is, one within the other.
std::vector<std::uint32_t> RegionBuilder::loop_depths() const {
  std::vector<std::uint32_t> depth(code_.ops.size(), 0);
  for (std::uint32_t k = 0; k < depth.size(); ++k) {
    if (ops_[k].kind == Kind::Branch) {
      for (std::uint32_t in = ops_[k].target; in <= k; ++in) {
        ++depth[in];
      }
    }
  }
  return depth;
}

void RegionBuilder::find_any_nan() {
  const std::vector<std::uint32_t> depth = loop_depths();
  any_nan_.emplace(
      registers_,
      ops_,
      [this](isa::Ref ref) { return constant_word(ref); },
      [&](std::uint32_t k) { return std::exp2(3 * std::min(depth[k], 8U)); },
      [this](std::uint32_t k) { return whole_blocks() && is_barrier(k); }
  );
}

/// A program whose f64 operations often make NaN gets code without guesses.
void RegionBuilder::find_chains() {
  if (launch_.guesses && !is_watched()) {
    chains_ = NanChains(registers_, ops_, restart_, [this](std::uint32_t k) {
      return ops_[k].kind == Kind::Lanes && (code_.ops[k].flags & isa::Guarded) == 0 &&
             !goes_in_parts(k);
    });
  }
}

/// Accesses by irregular addresses or of each lane's own memory that are inlined: so few that
/// compiling stays quick, those in the innermost loops.
void RegionBuilder::find_inlined() {
  constexpr std::size_t most = 16;
  const auto count = static_cast<std::uint32_t>(code_.ops.size());
  const std::vector<std::uint32_t> depth = loop_depths();
  std::vector<std::uint32_t> irregular;
  for (std::uint32_t k = 0; k < count; ++k) {
    if (ops_[k].kind != Kind::Lanes || !ops_[k].lane->reaches ||
        update_of(*ops_[k].lane->function) != nullptr) {
      continue;
    }
    const std::uint32_t address = registers_.frame_register(code_.ops[k].a);
    const bool local =
        ops_[k].stack ||
        std::ranges::any_of(ops_[k].lane->function->getEntryBlock(), [](const auto& i) {
          return is_reach(i) && space_of(i) == isa::Space::Local;
        });
    if (local || (address != registers_.count() && !shape(address).is_regular())) {
      irregular.push_back(k);
    }
  }
  std::ranges::sort(irregular, [&](std::uint32_t a, std::uint32_t b) {
    return depth[a] != depth[b] ? depth[a] > depth[b] : a < b;
  });
  irregular.resize(std::min(irregular.size(), most));
  inlined_.assign(count, false);
  for (const std::uint32_t k : irregular) {
    inlined_[k] = true;
  }
}

/// Of lanes that leave the region at op k.
std::vector<std::uint32_t> RegionBuilder::changed_and_live(std::uint32_t k) const {
  std::vector<std::uint32_t> result = registers_.live(k);
  std::erase_if(result, [&](std::uint32_t index) { return !changed_[k].test(index); });
  return result;
}

} // namespace heddle::jit

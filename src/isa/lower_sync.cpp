// Lowers bar, barrier, barrier.cluster, bar.warp.sync, nanosleep, griddepcontrol, and the
// instructions that only advise the hardware: setmaxnreg, pmevent (PTX ISA 9.0, 9.7.13.1
// to 9.7.13.3, 9.7.13.13, 9.7.19). Who waits for whom is the machine's business: see Environment in
// exec.h for what the fields of Op mean to it.
//
// Memory ordering of barriers is the host's: one worker runs all lanes of a cluster in turns.
#include "isa/lower_collective.h"

#include <algorithm>

namespace heddle::isa {
namespace {

using ptx::Mod;

template <Environment::BarrierOp What, bool Aligned>
const Op* run_barrier(Exec& exec, const Op& op) {
  return exec.environment().barrier(exec, op, What, Aligned);
}

template <Environment::BarrierOp What> Handler barrier_handler(bool aligned) {
  return aligned ? run_barrier<What, true> : run_barrier<What, false>;
}

const Op* run_not(Exec& exec, const Op& op) {
  *exec.out<LaneMask>(op.d) = ~exec.predicate(op.a);
  return &op + 1;
}

/// A predicate operand; !p needs an op of its own, since the machine reads the operand later.
Ref predicate_source(Lowering& l, const ptx::Instruction& i, const ptx::Operand& operand) {
  const Ref plain = l.source(operand, Mod::Pred);
  if (!operand.negated) {
    return plain;
  }
  Op op = l.op(i);
  op.d = l.scratch_predicate();
  op.a = plain;
  op.execute = run_not;
  l.emit(op);
  return op.d;
}

template <Environment::ClusterBarrierOp What, bool Aligned>
const Op* run_cluster_barrier(Exec& exec, const Op& op) {
  return exec.environment().cluster_barrier(exec, op, What, Aligned);
}

Result<void> lower_cluster_barrier(Lowering& l, const ptx::Instruction& i) {
  using Op_ = Environment::ClusterBarrierOp;
  Op op = l.op(i);
  op.flags |= Visible;
  const bool aligned = i.has(Mod::Aligned);
  if (i.has(Mod::Arrive)) {
    op.execute =
        aligned ? run_cluster_barrier<Op_::Arrive, true> : run_cluster_barrier<Op_::Arrive, false>;
  } else {
    op.execute =
        aligned ? run_cluster_barrier<Op_::Wait, true> : run_cluster_barrier<Op_::Wait, false>;
  }
  l.emit(op);
  return {};
}

Result<void> lower_warp_barrier(Lowering& l, const ptx::Instruction& i) {
  Op op = l.op(i);
  op.flags |= Visible;
  op.imm2 = l.source(i.operands.at(0), Mod::B32).raw;
  op.execute = collect<WarpBarrier>;
  l.emit(op);
  return {};
}

/// bar.red.popc.u32 d, a{, b}, {!}c; bar.red.{and,or}.pred p, a{, b}, {!}c.
Result<void> lower_barrier_reduction(Lowering& l, const ptx::Instruction& i, bool aligned) {
  using Op_ = Environment::BarrierOp;
  const Ref predicate = predicate_source(l, i, i.operands.back());
  Op op = l.op(i);
  op.flags |= Visible;
  op.d = l.destination(i.operands.at(0));
  op.a = l.source(i.operands.at(1), Mod::U32);
  if (i.operands.size() > 3) {
    op.b = l.source(i.operands[2], Mod::U32);
  }
  op.c = predicate;
  if (op.d.none()) {
    return unsupported("a reducing barrier without a destination");
  }
  if (i.has(Mod::Popc)) {
    op.execute = barrier_handler<Op_::RedPopc>(aligned);
  } else if (i.has(Mod::And)) {
    op.execute = barrier_handler<Op_::RedAnd>(aligned);
  } else {
    op.execute = barrier_handler<Op_::RedOr>(aligned);
  }
  l.emit(op);
  return {};
}

Result<void> lower_barrier(Lowering& l, const ptx::Instruction& i) {
  using Op_ = Environment::BarrierOp;
  if (i.has(Mod::Warp)) {
    return lower_warp_barrier(l, i);
  }
  if (i.has(Mod::Cluster)) {
    return lower_cluster_barrier(l, i);
  }
  // bar is barrier.aligned under its older name.
  const bool aligned = i.opcode == ptx::Opcode::Bar || i.has(Mod::Aligned);
  if (i.has(Mod::Red)) {
    return lower_barrier_reduction(l, i, aligned);
  }
  Op op = l.op(i);
  op.flags |= Visible;
  op.a = l.source(i.operands.at(0), Mod::U32);
  if (i.operands.size() > 1) {
    op.b = l.source(i.operands[1], Mod::U32);
  }
  op.execute = i.has(Mod::Arrive) ? barrier_handler<Op_::Arrive>(aligned)
                                  : barrier_handler<Op_::Sync>(aligned);
  l.emit(op);
  return {};
}

const Op* run_nanosleep(Exec& exec, const Op& op) {
  const auto* a = exec.in<std::uint32_t>(op.a);
  std::uint32_t longest = 0;
  exec.each([&](int lane) { longest = std::max(longest, a[lane]); });
  return exec.environment().nanosleep(exec, op, longest);
}

Result<void> lower_nanosleep(Lowering& l, const ptx::Instruction& i) {
  Op op = l.op(i);
  op.a = l.source(i.operands.at(0), Mod::U32);
  op.execute = run_nanosleep;
  l.emit(op);
  return {};
}

const Op* run_launch_dependents(Exec& exec, const Op& op) {
  exec.environment().launch_dependents();
  return &op + 1;
}

const Op* run_grid_dependency_wait(Exec& exec, const Op& op) {
  return exec.environment().grid_dependency_wait(exec, op);
}

Result<void> lower_griddepcontrol(Lowering& l, const ptx::Instruction& i) {
  Op op = l.op(i);
  op.flags |= Visible;
  op.execute = i.has(Mod::LaunchDependents) ? run_launch_dependents : run_grid_dependency_wait;
  l.emit(op);
  return {};
}

Result<void> lower_nothing(Lowering&, const ptx::Instruction&) {
  return {};
}

} // namespace

void register_sync(LowerTable& table) {
  using ptx::Opcode;
  table[Opcode::Bar] = lower_barrier;
  table[Opcode::Barrier] = lower_barrier;
  table[Opcode::Nanosleep] = lower_nanosleep;
  table[Opcode::Griddepcontrol] = lower_griddepcontrol;
  table[Opcode::Setmaxnreg] = lower_nothing;
  table[Opcode::Pmevent] = lower_nothing;
  register_collective(table);
}

} // namespace heddle::isa

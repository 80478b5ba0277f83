// Lowers clusterlaunchcontrol (PTX ISA 9.0, 9.7.13.18): a running block asks for a cluster that has
// not started yet to be cancelled, in order to do its work itself.
//
// Every such request is refused, as it may be: then all clusters start on their own. Programs that
// rely on being given work, which PTX does not promise, are not caught; what they do with a request
// that is granted is not executed here (misses defects there, invents none).
#include "isa/lower_async.h"
#include "isa/lower_mbarrier.h"
#include "isa/lower_memory_address.h"

#include <cstring>

namespace heddle::isa {
namespace {

using ptx::Mod;

/// The answer, 16 bytes that only these instructions understand.
struct Answer {
  std::uint32_t granted = 0;
  std::uint32_t first_block[3] = {};
};
static_assert(sizeof(Answer) == 16);

/// op.a: where the answer goes, op.b: the object that is told, both in shared memory; op.imm: to
/// all blocks of the cluster.
const Op* run_request(Exec& exec, const Op& op) {
  const auto* to = exec.in<std::uint64_t>(op.a);
  const auto* object = exec.in<std::uint64_t>(op.b);
  const std::uint32_t blocks =
      op.imm == 0
          ? 1
          : *exec.in<std::uint32_t>(
                Ref::at(Area::Special, SpecialLayout::offset(SpecialLayout::ClusterNctarank))
            );
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    for (std::uint64_t rank = 0; rank < blocks; ++rank) {
      const auto in_block = [&](std::uint64_t address) {
        return op.imm == 0 ? address & 0xffff'ffffU
                           : (rank + 1) << memory::shared_rank_shift | (address & in_block_mask);
      };
      const Answer answer;
      std::byte* p = exec.translate_shared(lane, in_block(to[lane]), sizeof answer, /*store=*/true);
      if (p == nullptr) {
        return access_fault(exec, op);
      }
      std::memcpy(p, &answer, sizeof answer);
      if (!complete_tx(exec, lane, in_block(object[lane]), sizeof answer)) {
        return access_fault(exec, op);
      }
    }
  }
  return &op + 1;
}

const Op* run_is_granted(Exec& exec, const Op& op) {
  const auto* answer = exec.in<Answer>(op.a);
  LaneMask granted = 0;
  exec.each([&](int lane) { granted |= static_cast<LaneMask>(answer[lane].granted != 0) << lane; });
  exec.set_predicate(op.d, granted);
  return &op + 1;
}

/// op.imm: which coordinate.
const Op* run_first_block(Exec& exec, const Op& op) {
  const auto* answer = exec.in<Answer>(op.a);
  auto* d = exec.out<std::uint32_t>(op.d);
  exec.each([&](int lane) { d[lane] = answer[lane].first_block[op.imm]; });
  return &op + 1;
}

Result<void> lower_request(Lowering& l, const ptx::Instruction& i) {
  TRY(const Place to, lower_place(l, i, i.operands.at(0), nth_space(i, 0)));
  TRY(const Place object, lower_place(l, i, i.operands.at(1), nth_space(i, 0)));
  Op op = l.op(i);
  op.flags |= Visible;
  op.a = to.address;
  op.b = object.address;
  op.imm = i.has(Mod::MulticastClusterAll) ? 1 : 0;
  op.execute = run_request;
  l.emit(op);
  return {};
}

Result<void> lower_cluster_control(Lowering& l, const ptx::Instruction& i) {
  if (i.has(Mod::TryCancel)) {
    return lower_request(l, i);
  }
  Op op = l.op(i);
  op.a = l.source(i.operands.at(1), Mod::B128);
  if (i.has(Mod::IsCanceled)) {
    op.d = l.destination(i.operands.at(0));
    op.execute = run_is_granted;
    l.emit(op);
    return {};
  }
  op.execute = run_first_block;
  const std::vector<const ptx::Operand*> results = elements_of(i.operands.at(0));
  constexpr Mod names[] = {Mod::GetFirstCtaidX, Mod::GetFirstCtaidY, Mod::GetFirstCtaidZ};
  for (int k = 0; k < 3; ++k) {
    const bool all = i.has(Mod::GetFirstCtaid);
    if (!all && !i.has(names[k])) {
      continue;
    }
    op.d = l.destination(*results.at(all ? static_cast<std::size_t>(k) : 0));
    op.imm = k;
    if (!op.d.none()) {
      l.emit(op);
    }
  }
  return {};
}

} // namespace

void register_cluster_control(LowerTable& table) {
  table[ptx::Opcode::Clusterlaunchcontrol] = lower_cluster_control;
}

} // namespace heddle::isa

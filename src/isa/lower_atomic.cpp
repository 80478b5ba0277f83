// Lowers atom, red, fence and membar (PTX ISA 9.0, 9.7.13.4 to 9.7.13.6).
//
// Every fence and membar is a full fence of the host, whatever its order, scope and proxy: never
// too weak, so an outcome that only a weaker fence allows is never seen. Proxies (generic, async,
// alias, tensormap) share one memory here: forgetting a proxy fence has no effect that can be seen.
#include "isa/lower_atomic.h"

#include "isa/lower_mbarrier.h"
#include "isa/lower_memory_address.h"

#include <fmt/format.h>

#include <atomic>

namespace heddle::isa {
namespace {

using ptx::Mod;

struct MakeAtomic {
  template <class T, auto F, auto InShared> static Handler handler(Space space) {
    return space == Space::Shared ? atomic<Space::Shared, T, F, InShared>
                                  : atomic<Space::Generic, T, F, InShared>;
  }
};
struct MakeVector {
  template <class T, auto F, auto InShared> static Handler handler(Space space) {
    return space == Space::Generic ? atomic_vector<Space::Generic, T, F, InShared> : nullptr;
  }
};

Handler select_exch(Space space, ptx::Type type) {
  switch (ptx::type_bits(type)) {
  case 16:
    return MakeAtomic::
        handler<std::uint16_t, ops::atomic_exch<std::uint16_t>, ops::atomic_exch<std::uint16_t>>(
            space
        );
  case 32:
    return MakeAtomic::
        handler<std::uint32_t, ops::atomic_exch<std::uint32_t>, ops::atomic_exch<std::uint32_t>>(
            space
        );
  case 64:
    return MakeAtomic::
        handler<std::uint64_t, ops::atomic_exch<std::uint64_t>, ops::atomic_exch<std::uint64_t>>(
            space
        );
  case 128:
    return MakeAtomic::
        handler<ops::Uint128, ops::atomic_exch<ops::Uint128>, ops::atomic_exch<ops::Uint128>>(
            space
        );
  default:
    return nullptr;
  }
}

Handler select_cas(Space space, ptx::Type type) {
  const bool shared = space == Space::Shared;
  switch (ptx::type_bits(type)) {
  case 16:
    return shared ? atomic_cas<Space::Shared, std::uint16_t>
                  : atomic_cas<Space::Generic, std::uint16_t>;
  case 32:
    return shared ? atomic_cas<Space::Shared, std::uint32_t>
                  : atomic_cas<Space::Generic, std::uint32_t>;
  case 64:
    return shared ? atomic_cas<Space::Shared, std::uint64_t>
                  : atomic_cas<Space::Generic, std::uint64_t>;
  case 128:
    return shared ? atomic_cas<Space::Shared, ops::Uint128>
                  : atomic_cas<Space::Generic, ops::Uint128>;
  default:
    return nullptr;
  }
}

Result<void> lower_vector(
    Lowering& l,
    const ptx::Instruction& i,
    Op op,
    Space space,
    Mod operation,
    ptx::Type type,
    const ptx::Operand* destination,
    const ptx::Operand& value
) {
  std::vector<Ref> refs;
  for (const ptx::Operand& element : value.elements) {
    refs.push_back(l.source(element, type));
  }
  if (destination != nullptr && destination->kind == ptx::OperandKind::Vector) {
    for (const ptx::Operand& element : destination->elements) {
      refs.push_back(l.destination(element));
    }
    op.imm2 |= 1U << 8;
  }
  op.list = l.list(refs);
  op.count = static_cast<std::uint16_t>(refs.size());
  op.execute = select_update<MakeVector>(space, operation, type);
  if (op.execute == nullptr) {
    return unknown_form(i);
  }
  l.emit(op);
  return {};
}

} // namespace

Result<void> unknown_form(const ptx::Instruction& i) {
  std::string form(ptx::text(i.opcode));
  for (const Mod mod : i.modifiers) {
    form += '.';
    form += ptx::text(mod);
  }
  return unsupported(form);
}

Result<void> lower_update(
    Lowering& l,
    const ptx::Instruction& i,
    const ptx::Operand* destination,
    std::size_t first
) {
  const std::optional<ptx::Type> type = i.type();
  const std::optional<Mod> operation = i.one_of(ptx::Category::Operation);
  if (!type || !operation) {
    return unknown_form(i);
  }
  Op op = l.op(i);
  TRY(const Space space, lower_access(l, i.operands.at(first), space_of(i), op));
  op.flags |= Visible;
  if (space != Space::Generic && space != Space::Shared) {
    return unsupported("an atomic operation on local or param memory");
  }
  const ptx::Operand& value = i.operands.at(first + 1);
  if (value.kind == ptx::OperandKind::Vector) {
    return lower_vector(l, i, op, space, *operation, *type, destination, value);
  }
  const auto bytes = static_cast<std::uint32_t>(ptx::type_bits(*type)) / 8;
  op.b = l.source(value, *type);
  bool same_width = l.element_bytes(value, *type) == bytes;
  if (destination != nullptr) {
    op.d = l.destination(*destination);
    same_width = same_width && (op.d.none() || l.element_bytes(*destination, *type) == bytes);
  }
  if (*operation == Mod::Cas) {
    const ptx::Operand& desired = i.operands.at(first + 2);
    op.c = l.source(desired, *type);
    same_width = same_width && l.element_bytes(desired, *type) == bytes;
    op.execute = select_cas(space, *type);
  } else {
    op.execute = *operation == Mod::Exch ? select_exch(space, *type)
                                         : select_update<MakeAtomic>(space, *operation, *type);
  }
  if (op.execute == nullptr || !same_width) {
    return unknown_form(i);
  }
  l.emit(op);
  return {};
}

namespace {

Result<void> lower_atom(Lowering& l, const ptx::Instruction& i) {
  return lower_update(l, i, &i.operands.at(0), 1);
}

Result<void> lower_red(Lowering& l, const ptx::Instruction& i) {
  TRY_VOID(lower_update(l, i, nullptr, 0));
  // red.async to shared memory: the update may happen at once, and then its bytes are complete.
  if (i.has(Mod::MbarrierCompleteTxBytes)) {
    const auto bytes = static_cast<std::uint32_t>(ptx::type_bits(*i.type())) / 8;
    return emit_complete_tx(l, i, i.operands.back(), space_of(i), l.constant_of(bytes));
  }
  return {};
}

const Op* run_fence(Exec&, const Op& op) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return &op + 1;
}

Result<void> lower_fence(Lowering& l, const ptx::Instruction& i) {
  Op op = l.op(i);
  op.flags |= Visible;
  op.execute = run_fence;
  l.emit(op);
  return {};
}

} // namespace

void register_atomic(LowerTable& table) {
  using ptx::Opcode;
  table[Opcode::Atom] = lower_atom;
  table[Opcode::Red] = lower_red;
  table[Opcode::Fence] = lower_fence;
  table[Opcode::Membar] = lower_fence;
  register_mbarrier(table);
}

} // namespace heddle::isa

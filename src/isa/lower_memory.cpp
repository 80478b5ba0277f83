// Lowers ld, ldu, st and the hints about caches: prefetch, prefetchu, discard, applypriority,
// createpolicy; mapa and getctarank (PTX ISA 9.0, 9.7.9.8 to 9.7.9.24).
//
// Cache operators, eviction priorities, prefetch sizes, uses of cache policies and .unified do not
// change what a program computes and are ignored; so are the hints themselves (an address that does
// not exist is not a fault there: PTX lets a prefetch of it do nothing). `discard` leaves the bytes
// as they are, one of the values that a program may read afterwards.
#include "isa/lower_async.h"
#include "isa/lower_mbarrier.h"
#include "isa/lower_memory_address.h"
#include "isa/lower_tensor_map.h"
#include "isa/ops_address.h"
#include "isa/ops_memory.h"
#include "ptx/effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heddle::isa {
namespace {

using ptx::Mod;

enum class Access : std::uint8_t {
  Load,
  LoadVector,
  LoadStrong,
  Store,
  StoreVector,
  StoreStrong
};

template <Access A, Space S, class M, class R> constexpr Handler handler_of() {
  if constexpr (A == Access::Load) {
    return load<S, M, R>;
  } else if constexpr (A == Access::LoadVector) {
    return load_vector<S, M, R, /*Strong=*/false>;
  } else if constexpr (A == Access::LoadStrong) {
    return load_vector<S, M, R, /*Strong=*/true>;
  } else if constexpr (A == Access::Store) {
    return store<S, M, R>;
  } else if constexpr (A == Access::StoreVector) {
    return store_vector<S, M, R, /*Strong=*/false>;
  } else {
    return store_vector<S, M, R, /*Strong=*/true>;
  }
}

/// The handler for registers of `register_bytes`; nullptr if they are narrower than M.
template <Access A, Space S, class M> Handler by_register(std::uint32_t register_bytes) {
  if constexpr (sizeof(M) <= 2) {
    if (register_bytes == 2) {
      return handler_of<A, S, M, std::uint16_t>();
    }
  }
  if constexpr (sizeof(M) <= 4) {
    if (register_bytes == 4) {
      return handler_of<A, S, M, std::uint32_t>();
    }
  }
  if constexpr (sizeof(M) <= 8) {
    if (register_bytes == 8) {
      return handler_of<A, S, M, std::uint64_t>();
    }
  }
  if constexpr (sizeof(M) >= 8) {
    if (register_bytes == 16) {
      return handler_of<A, S, M, ops::Uint128>();
    }
  }
  return nullptr;
}

template <Access A, Space S> Handler by_type(ptx::Type type, std::uint32_t register_bytes) {
  if constexpr (
      (A == Access::LoadStrong || A == Access::StoreStrong) &&
      (S == Space::Local || S == Space::Param)
  ) {
    return nullptr; // nobody else sees them: never chosen
  }
  constexpr bool loads = A == Access::Load || A == Access::LoadVector || A == Access::LoadStrong;
  const bool extends = loads && ptx::is_signed(type) &&
                       register_bytes * 8 > static_cast<std::uint32_t>(ptx::type_bits(type));
  switch (ptx::type_bits(type)) {
  case 8:
    return extends ? by_register<A, S, std::int8_t>(register_bytes)
                   : by_register<A, S, std::uint8_t>(register_bytes);
  case 16:
    return extends ? by_register<A, S, std::int16_t>(register_bytes)
                   : by_register<A, S, std::uint16_t>(register_bytes);
  case 32:
    return extends ? by_register<A, S, std::int32_t>(register_bytes)
                   : by_register<A, S, std::uint32_t>(register_bytes);
  case 64:
    return extends ? by_register<A, S, std::int64_t>(register_bytes)
                   : by_register<A, S, std::uint64_t>(register_bytes);
  case 128:
    return by_register<A, S, ops::Uint128>(register_bytes);
  default:
    return nullptr;
  }
}

template <Access A> Handler by_space(Space space, ptx::Type type, std::uint32_t register_bytes) {
  switch (space) {
  case Space::Generic:
    return by_type<A, Space::Generic>(type, register_bytes);
  case Space::Shared:
    return by_type<A, Space::Shared>(type, register_bytes);
  case Space::Local:
    return by_type<A, Space::Local>(type, register_bytes);
  case Space::Param:
    return by_type<A, Space::Param>(type, register_bytes);
  }
  return nullptr;
}

Handler select(Access access, Space space, ptx::Type type, std::uint32_t register_bytes) {
  switch (access) {
  case Access::Load:
    return by_space<Access::Load>(space, type, register_bytes);
  case Access::LoadVector:
    return by_space<Access::LoadVector>(space, type, register_bytes);
  case Access::LoadStrong:
    return by_space<Access::LoadStrong>(space, type, register_bytes);
  case Access::Store:
    return by_space<Access::Store>(space, type, register_bytes);
  case Access::StoreVector:
    return by_space<Access::StoreVector>(space, type, register_bytes);
  case Access::StoreStrong:
    return by_space<Access::StoreStrong>(space, type, register_bytes);
  }
  return nullptr;
}

template <class M, int N> Handler unrolled(Space space, bool is_store) {
  switch (space) {
  case Space::Generic:
    return is_store ? store_elements<Space::Generic, M, N> : load_elements<Space::Generic, M, N>;
  case Space::Shared:
    return is_store ? store_elements<Space::Shared, M, N> : load_elements<Space::Shared, M, N>;
  case Space::Local:
    return is_store ? store_elements<Space::Local, M, N> : load_elements<Space::Local, M, N>;
  case Space::Param:
    return nullptr;
  }
  return nullptr;
}

/// The handler made for just this shape of weak vector, if there is one.
Handler select_unrolled(
    Space space,
    bool is_store,
    int bits,
    const std::vector<Ref>& refs,
    std::uint32_t register_bytes
) {
  const bool all_wanted = std::ranges::none_of(refs, &Ref::none);
  if (!all_wanted || static_cast<int>(register_bytes) * 8 != bits) {
    return nullptr;
  }
  if (bits == 32) {
    return refs.size() == 2   ? unrolled<std::uint32_t, 2>(space, is_store)
           : refs.size() == 4 ? unrolled<std::uint32_t, 4>(space, is_store)
                              : nullptr;
  }
  return bits == 64 && refs.size() == 2 ? unrolled<std::uint64_t, 2>(space, is_store) : nullptr;
}

/// The registers of one access, all of one width.
struct Registers {
  std::vector<Ref> refs;
  std::uint32_t bytes = 0;
};

/// Registers or immediates of `operand`, at the width of its registers.
Result<Registers>
registers_of(Lowering& l, const ptx::Operand& operand, ptx::Type type, bool is_source) {
  Registers result;
  const auto elements = elements_of(operand);
  for (const ptx::Operand* element : elements) {
    if (has_width(*element)) {
      const std::uint32_t bytes = l.element_bytes(*element, type);
      if (result.bytes != 0 && bytes != result.bytes) {
        return unsupported("a vector of registers of different widths");
      }
      result.bytes = bytes;
    }
  }
  if (result.bytes == 0) {
    result.bytes = std::max(2U, static_cast<std::uint32_t>(ptx::type_bits(type)) / 8);
  }
  for (const ptx::Operand* element : elements) {
    if (!is_source) {
      result.refs.push_back(l.destination(*element));
    } else if (has_width(*element) || l.element_bytes(*element, type) == result.bytes) {
      result.refs.push_back(l.source(*element, type));
    } else {
      // An immediate beside registers that are wider than the type: only its low bits are stored.
      result.refs.push_back(l.constant(&element->bits, result.bytes));
    }
  }
  return result;
}

Result<void> lower_load_store(
    Lowering& l,
    const ptx::Instruction& i,
    const ptx::Operand& value,
    const ptx::Operand& address,
    bool is_store
) {
  const std::optional<ptx::Type> type = i.type();
  if (!type) {
    return unsupported("an access without a type");
  }
  Op op = l.op(i);
  TRY(const Space space, lower_access(l, address, space_of(i), op));
  TRY(const Registers registers, registers_of(l, value, *type, is_store));
  const bool shared = space == Space::Generic || space == Space::Shared;
  Access access{};
  if (shared && ptx::effect_of(i).is_strong()) {
    access = is_store ? Access::StoreStrong : Access::LoadStrong;
  } else if (registers.refs.size() > 1) {
    access = is_store ? Access::StoreVector : Access::LoadVector;
  } else {
    access = is_store ? Access::Store : Access::Load;
  }
  if (access == Access::Load && registers.refs[0].none()) {
    access = Access::LoadVector; // the one that knows `_`
  }
  if (access == Access::Load) {
    op.d = registers.refs[0];
  } else if (access == Access::Store) {
    op.b = registers.refs[0];
  } else {
    op.list = l.list(registers.refs);
    op.count = static_cast<std::uint16_t>(registers.refs.size());
  }
  op.execute = nullptr;
  if (access == Access::LoadVector || access == Access::StoreVector) {
    op.execute =
        select_unrolled(space, is_store, ptx::type_bits(*type), registers.refs, registers.bytes);
  }
  if (op.execute == nullptr) {
    op.execute = select(access, space, *type, registers.bytes);
  }
  const std::size_t count = registers.refs.size();
  if (op.execute == nullptr || (count != 1 && count != 2 && count != 4 && count != 8)) {
    return unsupported(
        fmt::format("a .{} access with registers of {} bits", ptx::text(*type), registers.bytes * 8)
    );
  }
  l.emit(op);
  return {};
}

Result<void> lower_ld(Lowering& l, const ptx::Instruction& i) {
  return lower_load_store(l, i, i.operands[0], i.operands[1], /*is_store=*/false);
}

/// st.bulk: op.b bytes of zeros, eight at a time (the size and the address are multiples of that).
template <Space S, class Size> const Op* store_zeros(Exec& exec, const Op& op) {
  constexpr std::uint32_t step = 8;
  std::uint64_t address[lane_count];
  addresses<S>(exec, op, address);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t bytes = exec.in<Size>(op.b)[lane];
    for (std::uint64_t at = 0; at < bytes; at += step) {
      std::byte* p = host<S>(exec, op, lane, address[lane] + at, step, /*store=*/true);
      if (p == nullptr) {
        return access_fault(exec, op);
      }
      std::memset(p, 0, std::min<std::uint64_t>(step, bytes - at));
    }
  }
  return &op + 1;
}

Result<void> lower_st_bulk(Lowering& l, const ptx::Instruction& i) {
  Op op = l.op(i);
  TRY(const Space space, lower_access(l, i.operands.at(0), space_of(i), op));
  const bool wide = l.element_bytes(i.operands.at(1), Mod::U64) == 8;
  op.b = l.source(i.operands[1], Mod::U64);
  if (i.operands.at(2).bits != 0 || op.b.none()) {
    return unsupported("st.bulk of anything but zeros");
  }
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  if (space == Space::Shared) {
    op.execute = wide ? store_zeros<Space::Shared, U64> : store_zeros<Space::Shared, U32>;
  } else if (space == Space::Generic) {
    op.execute = wide ? store_zeros<Space::Generic, U64> : store_zeros<Space::Generic, U32>;
  } else {
    return unsupported("st.bulk outside of shared memory");
  }
  l.emit(op);
  return {};
}

Result<void> lower_st(Lowering& l, const ptx::Instruction& i) {
  if (i.has(Mod::Bulk)) {
    return lower_st_bulk(l, i);
  }
  TRY_VOID(lower_load_store(l, i, i.operands[1], i.operands[0], /*is_store=*/true));
  // st.async to shared memory: the store may happen at once, and then its bytes are complete.
  if (i.has(Mod::MbarrierCompleteTxBytes)) {
    const std::size_t elements = std::max<std::size_t>(1, i.operands[1].elements.size());
    const auto bytes = static_cast<std::uint32_t>(
        elements * static_cast<std::size_t>(ptx::type_bits(*i.type())) / 8
    );
    return emit_complete_tx(l, i, i.operands.back(), space_of(i), l.constant_of(bytes));
  }
  return {};
}

Result<void> lower_hint(Lowering&, const ptx::Instruction&) {
  return {};
}

// PTX calls a policy opaque. Programs may compare two of them, though (libcu++ makes policies on
// the host, too), so they are those of an H200, where they were recorded: 64 bits, of which the
// upper byte says the priorities.
//
//   fractional: byte | fraction × 15.99, without what is behind the point (4 bits) | 0
//   range:      byte + 8 | log2 of a granule's bytes, less 12 (4) | 0 | number of the first granule
//               (7) | granules of the primary range (7) | 0 (5); all in the upper half
//
// A granule is a 128th of the power of two that holds the whole range, and 4 KiB at least.
constexpr std::uint64_t policy_of_nothing = std::uint64_t{0x18} << 56;

std::uint64_t priorities(const ptx::Instruction& i) {
  std::uint64_t byte = 0;
  for (const Mod mod : i.modifiers) {
    const bool secondary = byte != 0;
    switch (mod) {
    case Mod::L2EvictFirst:
      byte |= secondary ? 0x01 : 0x12;
      break;
    case Mod::L2EvictLast:
      byte |= 0x14;
      break;
    case Mod::L2EvictNormal:
      byte |= 0x16;
      break;
    case Mod::L2EvictUnchanged:
      byte |= 0x10;
      break;
    default:
      break;
    }
  }
  return byte << 56;
}

/// op.a: .f32, op.imm: the upper byte.
const Op* fractional_policy(Exec& exec, const Op& op) {
  auto* d = exec.out<std::uint64_t>(op.d);
  const auto* a = exec.in<float>(op.a);
  exec.each([&](int lane) {
    const float sixteenths = a[lane] * 15.99F;
    const auto whole = static_cast<std::uint64_t>(sixteenths >= 1 ? std::min(sixteenths, 1e6F) : 0);
    d[lane] = static_cast<std::uint64_t>(op.imm) | (whole & 0xf) << 52;
  });
  return &op + 1;
}

/// op.a and op.imm: the address, op.b and op.c: bytes of the primary and of the whole range, op.e:
/// the upper byte.
const Op* range_policy(Exec& exec, const Op& op) {
  std::uint64_t address[lane_count];
  addresses<Space::Generic>(exec, op, address);
  auto* d = exec.out<std::uint64_t>(op.d);
  const auto* primary = exec.in<std::uint32_t>(op.b);
  const auto* total = exec.in<std::uint32_t>(op.c);
  const auto* byte = exec.in<std::uint64_t>(op.e);
  exec.each([&](int lane) {
    if (total[lane] == 0) {
      d[lane] = policy_of_nothing;
      return;
    }
    const auto power = static_cast<std::uint64_t>(std::bit_width(total[lane] - 1));
    const std::uint64_t shift = std::max<std::uint64_t>(power, 19) - 7;
    const std::uint64_t first = address[lane] >> shift;
    const std::uint64_t end =
        (address[lane] + (std::uint64_t{1} << shift) + primary[lane] - 1) >> shift;
    const std::uint64_t granules = std::min<std::uint64_t>(end - first, 0x7f);
    const std::uint64_t upper = (shift - 12) << 20 | (first & 0x7f) << 12 | granules << 5;
    d[lane] = byte[lane] | upper << 32;
  });
  return &op + 1;
}

const Op* copy_u64(Exec& exec, const Op& op) {
  auto* d = exec.out<std::uint64_t>(op.d);
  const auto* a = exec.in<std::uint64_t>(op.a);
  exec.each([&](int lane) { d[lane] = a[lane]; });
  return &op + 1;
}

Result<void> lower_createpolicy(Lowering& l, const ptx::Instruction& i) {
  constexpr std::uint64_t range_flag = std::uint64_t{0x08} << 56;
  Op op = l.op(i);
  op.d = l.destination(i.operands[0]);
  if (i.has(Mod::Range)) {
    TRY(const Lowering::AddressParts parts, l.address(i.operands.at(1)));
    op.a = parts.base;
    op.imm = parts.offset;
    op.imm2 = !parts.base.none() && parts.base_bytes == 4 ? std::uint64_t{Base32} : 0;
    op.b = l.source(i.operands.at(2), Mod::U32);
    op.c = l.source(i.operands.at(3), Mod::U32);
    op.e = l.constant_of(priorities(i) | range_flag);
    op.execute = range_policy;
  } else if (i.has(Mod::Fractional)) {
    op.a = i.operands.size() > 1 ? l.source(i.operands[1], Mod::F32) : l.constant_of(1.0F);
    op.imm = static_cast<std::int64_t>(priorities(i));
    op.execute = fractional_policy;
  } else { // .cvt: an access property is a policy
    op.a = l.source(i.operands.at(1), Mod::B64);
    op.execute = copy_u64;
  }
  l.emit(op);
  return {};
}

// --- Addresses in a cluster

inline constexpr std::uint64_t in_block_mask = (std::uint64_t{1} << memory::shared_rank_shift) - 1;

/// mapa: the same place in the shared memory of block op.b of the cluster. A: type of addresses.
template <class A, bool Generic> const Op* map_address(Exec& exec, const Op& op) {
  A* d = exec.out<A>(op.d);
  const A* a = exec.in<A>(op.a);
  const auto* rank = exec.in<std::uint32_t>(op.b);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (Generic && a[lane] - memory::shared_window >= memory::window_size) {
      wrong_space(exec, lane, a[lane], 1, /*store=*/false);
      return access_fault(exec, op);
    }
    // Always with the rank, one's own too: the result may be handed to another block.
    d[lane] = static_cast<A>(
        (Generic ? memory::shared_window : 0) | (a[lane] & in_block_mask) |
        (std::uint64_t{rank[lane]} + 1) << memory::shared_rank_shift
    );
  }
  return &op + 1;
}

/// getctarank: the block whose shared memory holds the address.
template <class A, bool Generic> const Op* rank_of_address(Exec& exec, const Op& op) {
  auto* d = exec.out<std::uint32_t>(op.d);
  const A* a = exec.in<A>(op.a);
  const auto* own = exec.in<std::uint32_t>(
      Ref::at(Area::Special, SpecialLayout::offset(SpecialLayout::ClusterCtarank))
  );
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (Generic && a[lane] - memory::shared_window >= memory::window_size) {
      wrong_space(exec, lane, a[lane], 1, /*store=*/false);
      return access_fault(exec, op);
    }
    const auto rank =
        static_cast<std::uint32_t>((a[lane] & 0xffff'ffffU) >> memory::shared_rank_shift);
    d[lane] = rank != 0 ? rank - 1 : own[lane];
  }
  return &op + 1;
}

/// A register, an immediate, or the name of a shared variable with or without an offset.
Result<Ref> address_source(Lowering& l, const ptx::Operand& operand, ptx::Type type) {
  if (operand.kind != ptx::OperandKind::Symbol) {
    return l.source(operand, type);
  }
  TRY(const SymbolResolver::Symbol symbol, l.symbol(operand.name));
  if (symbol.kind != SymbolResolver::Symbol::Kind::Shared) {
    return unsupported("a variable that does not lie in shared memory");
  }
  const std::uint64_t address = symbol.address + static_cast<std::uint64_t>(operand.offset);
  return ptx::type_bits(type) == 64 ? l.constant_of(address)
                                    : l.constant_of(static_cast<std::uint32_t>(address));
}

Result<void> lower_mapa(Lowering& l, const ptx::Instruction& i) {
  const ptx::Type type = i.type().value_or(Mod::U64);
  Op op = l.op(i);
  op.d = l.destination(i.operands[0]);
  TRY(op.a, address_source(l, i.operands[1], type));
  op.b = l.source(i.operands[2], Mod::U32);
  const bool wide = ptx::type_bits(type) == 64;
  if (space_of(i)) {
    op.execute = wide ? map_address<std::uint64_t, false> : map_address<std::uint32_t, false>;
  } else if (wide) {
    op.execute = map_address<std::uint64_t, true>;
  } else {
    return unsupported("a generic address of 32 bits");
  }
  l.emit(op);
  return {};
}

Result<void> lower_getctarank(Lowering& l, const ptx::Instruction& i) {
  const ptx::Type type = i.type().value_or(Mod::U64);
  Op op = l.op(i);
  op.d = l.destination(i.operands[0]);
  TRY(op.a, address_source(l, i.operands[1], type));
  const bool wide = ptx::type_bits(type) == 64;
  if (space_of(i)) {
    op.execute =
        wide ? rank_of_address<std::uint64_t, false> : rank_of_address<std::uint32_t, false>;
  } else if (wide) {
    op.execute = rank_of_address<std::uint64_t, true>;
  } else {
    return unsupported("a generic address of 32 bits");
  }
  l.emit(op);
  return {};
}

} // namespace

void register_memory(LowerTable& table) {
  using ptx::Opcode;
  table[Opcode::Ld] = lower_ld;
  table[Opcode::Ldu] = lower_ld;
  table[Opcode::St] = lower_st;
  table[Opcode::Prefetch] = lower_hint;
  table[Opcode::Prefetchu] = lower_hint;
  table[Opcode::Discard] = lower_hint;
  table[Opcode::Applypriority] = lower_hint;
  table[Opcode::Createpolicy] = lower_createpolicy;
  table[Opcode::Mapa] = lower_mapa;
  table[Opcode::Getctarank] = lower_getctarank;
  register_async(table);
  register_cluster_control(table);
  register_tensor_map(table);
}

} // namespace heddle::isa

// Lowers cp.async and its groups, cp.async.mbarrier.arrive, cp.async.bulk, its groups
// and prefetch, cp.reduce.async.bulk (PTX ISA 9.0, 9.7.9.25); those of tensors: lower_tensor.cpp.
//
// Every asynchronous operation is carried out at once, when it is issued, and its completion
// (complete-tx, arrival) with it: one of the behaviours that PTX allows. So commit and wait have
// nothing to do (their ops are there for monitors), and a program that forgets to wait is not
// caught here: it misses defects, it never invents any.
#include "isa/lower_async.h"

#include "isa/lower_atomic.h"
#include "isa/lower_mbarrier.h"
#include "isa/lower_memory_address.h"
#include "isa/lower_tensor.h"
#include "isa/ops_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::isa {
namespace {

using ptx::Mod;

// --- Addresses: these instructions have two, so that each becomes a register of 64 bits

template <Space S> const Op* run_address(Exec& exec, const Op& op) {
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  auto* d = exec.out<std::uint64_t>(op.d);
  exec.each([&](int lane) { d[lane] = address[lane]; });
  return &op + 1;
}

} // namespace

Result<Place> lower_place(
    Lowering& l,
    const ptx::Instruction& i,
    const ptx::Operand& operand,
    std::optional<Mod> space
) {
  Op op = l.op(i);
  TRY(const Space where, lower_access(l, operand, space, op));
  if (where != Space::Shared && where != Space::Generic) {
    return unsupported("an asynchronous copy from or to local or param memory");
  }
  op.flags &= static_cast<std::uint8_t>(~Visible); // it is only computed
  op.d = l.scratch(sizeof(std::uint64_t));
  op.execute = where == Space::Shared ? run_address<Space::Shared> : run_address<Space::Generic>;
  l.emit(op);
  return Place{op.d, where};
}

std::optional<Mod> nth_space(const ptx::Instruction& i, int n) {
  for (const Mod mod : i.modifiers) {
    if (ptx::category(mod) == ptx::Category::Space && n-- == 0) {
      return mod;
    }
  }
  return std::nullopt;
}

std::byte*
host_at(Exec& exec, Space space, int lane, std::uint64_t address, std::uint32_t bytes, bool store) {
  if (space == Space::Shared) {
    return exec.translate_shared(lane, address, bytes, store);
  }
  if (in_window(address)) {
    return wrong_space(exec, lane, address, bytes, store);
  }
  return exec.translate(lane, address, bytes, store);
}

namespace {

const Op* bad_size(Exec& exec, int lane, std::uint64_t address, std::uint32_t size) {
  Fault fault;
  fault.kind = FaultKind::Misaligned;
  fault.lane = lane;
  fault.address = address;
  fault.bytes = size;
  fault.text = fmt::format("the size of a bulk copy must be a multiple of 16, not {}", size);
  return exec.stop_fault(std::move(fault));
}

// --- cp.async: op.a to, op.b from, op.imm bytes, op.c bytes to read or none, op.e ignore or none

const Op* run_copy(Exec& exec, const Op& op) {
  const auto* to = exec.in<std::uint64_t>(op.a);
  const auto* from = exec.in<std::uint64_t>(op.b);
  const auto bytes = static_cast<std::uint32_t>(op.imm);
  LaneMask ignore = op.e.none() ? 0 : exec.predicate(op.e);
  if ((op.imm2 & 1) != 0) { // negated
    ignore = ~ignore;
  }
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::byte* d = exec.translate_shared(lane, to[lane], bytes, /*store=*/true);
    if (d == nullptr) {
      return access_fault(exec, op);
    }
    std::uint32_t read = op.c.none() ? bytes : std::min(bytes, exec.in<std::uint32_t>(op.c)[lane]);
    if ((ignore >> lane & 1) != 0) {
      read = 0;
    }
    std::byte value[16] = {};
    if (read == bytes) {
      const std::byte* s = host_at(exec, Space::Generic, lane, from[lane], bytes, /*store=*/false);
      if (s == nullptr) {
        return access_fault(exec, op);
      }
      std::memcpy(value, s, bytes);
    }
    // Fewer bytes are read one by one: nothing behind them need exist.
    for (std::uint32_t k = 0; read < bytes && k < read; ++k) {
      const std::byte* s = host_at(exec, Space::Generic, lane, from[lane] + k, 1, /*store=*/false);
      if (s == nullptr) {
        return access_fault(exec, op);
      }
      value[k] = *s;
    }
    std::memcpy(d, value, bytes);
  }
  return &op + 1;
}

bool is_predicate(const Lowering& l, const ptx::Operand& operand) {
  return operand.kind == ptx::OperandKind::Register &&
         l.function().registers[operand.index].type == Mod::Pred;
}

/// cp.async.{ca,cg}.shared.global [to], [from], size{, src-size | ignore-src}{, cache-policy}
Result<void> lower_copy(Lowering& l, const ptx::Instruction& i) {
  TRY(const Place to, lower_place(l, i, i.operands.at(0), nth_space(i, 0)));
  TRY(const Place from, lower_place(l, i, i.operands.at(1), nth_space(i, 1)));
  Op op = l.op(i);
  op.flags |= Visible;
  op.a = to.address;
  op.b = from.address;
  op.imm = static_cast<std::int64_t>(i.operands.at(2).bits);
  if (to.space != Space::Shared || from.space != Space::Generic ||
      (op.imm != 4 && op.imm != 8 && op.imm != 16)) {
    return unknown_form(i);
  }
  const std::size_t count = i.operands.size() - (i.has(Mod::L2CacheHint) ? 1 : 0);
  if (count > 3) {
    const ptx::Operand& more = i.operands[3];
    if (is_predicate(l, more)) {
      op.e = l.source(more, Mod::Pred);
      op.imm2 = more.negated ? 1 : 0;
    } else {
      op.c = l.source(more, Mod::U32);
    }
  }
  op.execute = run_copy;
  l.emit(op);
  return {};
}

/// cp.async.mbarrier.arrive: op.a object (shared address), op.imm: increment first.
template <Space S> const Op* run_arrive_on_copies(Exec& exec, const Op& op) {
  const auto* address = exec.in<std::uint64_t>(op.a);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::uint64_t a = address[lane];
    if constexpr (S == Space::Generic) {
      if (a - memory::shared_window >= memory::window_size) {
        wrong_space(exec, lane, a, sizeof(std::uint64_t), /*store=*/true);
        return access_fault(exec, op);
      }
      a -= memory::shared_window;
    }
    if (!arrive_async(exec, lane, a, op.imm != 0)) {
      return access_fault(exec, op);
    }
  }
  return &op + 1;
}

Result<void> lower_arrive_on_copies(Lowering& l, const ptx::Instruction& i) {
  TRY(const Place object, lower_place(l, i, i.operands.at(0), nth_space(i, 0)));
  Op op = l.op(i);
  op.flags |= Visible;
  op.a = object.address;
  op.imm = i.has(Mod::Noinc) ? 0 : 1;
  op.execute = object.space == Space::Shared ? run_arrive_on_copies<Space::Shared>
                                             : run_arrive_on_copies<Space::Generic>;
  l.emit(op);
  return {};
}

// --- cp.async.bulk: op.a to, op.b from, op.c bytes (u32), op.e mask (u16) or none

constexpr std::uint32_t bulk_unit = 16;

/// Copies the bytes of each unit whose bit in `byte_mask` is set. False: fault() has been filled
/// in.
template <Space To, Space From>
bool copy_units(
    Exec& exec,
    int lane,
    std::uint64_t to,
    std::uint64_t from,
    std::uint32_t bytes,
    std::uint16_t byte_mask
) {
  for (std::uint32_t done = 0; done < bytes; done += bulk_unit) {
    const std::byte* s = host_at(exec, From, lane, from + done, bulk_unit, /*store=*/false);
    if (s == nullptr) {
      return false;
    }
    std::byte* d = host_at(exec, To, lane, to + done, bulk_unit, /*store=*/true);
    if (d == nullptr) {
      return false;
    }
    if (byte_mask == 0xffff) {
      std::memmove(d, s, bulk_unit);
      continue;
    }
    for (std::uint32_t k = 0; k < bulk_unit; ++k) {
      if ((byte_mask >> k & 1) != 0) {
        d[k] = s[k];
      }
    }
  }
  return true;
}

template <Space To, Space From> const Op* run_bulk_copy(Exec& exec, const Op& op) {
  const auto* to = exec.in<std::uint64_t>(op.a);
  const auto* from = exec.in<std::uint64_t>(op.b);
  const auto* bytes = exec.in<std::uint32_t>(op.c);
  const auto* mask = op.e.none() ? nullptr : exec.in<std::uint16_t>(op.e);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (bytes[lane] % bulk_unit != 0) {
      return bad_size(exec, lane, to[lane], bytes[lane]);
    }
    const std::uint16_t byte_mask = mask != nullptr ? mask[lane] : std::uint16_t{0xffff};
    if (!copy_units<To, From>(exec, lane, to[lane], from[lane], bytes[lane], byte_mask)) {
      return access_fault(exec, op);
    }
  }
  return &op + 1;
}

/// .multicast::cluster: the same place in the shared memory of each block named in the mask op.e,
/// and complete-tx on each one's object at the place of op.d.
const Op* run_multicast(Exec& exec, const Op& op) {
  const auto* to = exec.in<std::uint64_t>(op.a);
  const auto* from = exec.in<std::uint64_t>(op.b);
  const auto* bytes = exec.in<std::uint32_t>(op.c);
  const auto* object = exec.in<std::uint64_t>(op.d);
  const auto* mask = exec.in<std::uint16_t>(op.e);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (bytes[lane] % bulk_unit != 0) {
      return bad_size(exec, lane, to[lane], bytes[lane]);
    }
    for (std::uint32_t blocks = mask[lane]; blocks != 0; blocks &= blocks - 1) {
      const std::uint64_t block = (static_cast<std::uint64_t>(std::countr_zero(blocks)) + 1)
                                  << memory::shared_rank_shift;
      const std::uint64_t there = block | (to[lane] & in_block_mask);
      if (!copy_units<Space::Shared, Space::Generic>(
              exec,
              lane,
              there,
              from[lane],
              bytes[lane],
              0xffff
          ) ||
          !complete_tx(exec, lane, block | (object[lane] & in_block_mask), bytes[lane])) {
        return access_fault(exec, op);
      }
    }
  }
  return &op + 1;
}

Result<void> lower_bulk_copy(Lowering& l, const ptx::Instruction& i) {
  const std::optional<Mod> to_space = nth_space(i, 0);
  TRY(const Place to, lower_place(l, i, i.operands.at(0), to_space));
  TRY(const Place from, lower_place(l, i, i.operands.at(1), nth_space(i, 1)));
  const Ref bytes = l.source(i.operands.at(2), Mod::U32);
  const bool signals = i.has(Mod::MbarrierCompleteTxBytes);
  if (i.has(Mod::IgnoreOob)) {
    return unknown_form(i);
  }
  Op op = l.op(i);
  op.flags |= Visible;
  op.a = to.address;
  op.b = from.address;
  op.c = bytes;
  if (i.has(Mod::MulticastCluster)) {
    TRY(const Place object, lower_place(l, i, i.operands.at(3), to_space));
    op.d = object.address;
    op.e = l.source(i.operands.at(4), Mod::U16);
    op.execute = run_multicast;
    l.emit(op);
    return {};
  }
  if (i.has(Mod::CpMask)) {
    op.e = l.source(i.operands.back(), Mod::U16);
  }
  if (to.space == Space::Shared && from.space == Space::Generic) {
    op.execute = run_bulk_copy<Space::Shared, Space::Generic>;
  } else if (to.space == Space::Shared) {
    op.execute = run_bulk_copy<Space::Shared, Space::Shared>;
  } else if (from.space == Space::Shared) {
    op.execute = run_bulk_copy<Space::Generic, Space::Shared>;
  } else {
    return unknown_form(i);
  }
  l.emit(op);
  return signals ? emit_complete_tx(l, i, i.operands.at(3), to_space, bytes) : Result<void>{};
}

// --- cp.reduce.async.bulk: op.a to, op.b from (shared), op.c bytes

template <Space To, class T, auto F, auto InShared>
const Op* run_bulk_reduce(Exec& exec, const Op& op) {
  const auto* to = exec.in<std::uint64_t>(op.a);
  const auto* from = exec.in<std::uint64_t>(op.b);
  const auto* bytes = exec.in<std::uint32_t>(op.c);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (bytes[lane] % bulk_unit != 0) {
      return bad_size(exec, lane, to[lane], bytes[lane]);
    }
    for (std::uint32_t done = 0; done < bytes[lane]; done += sizeof(T)) {
      const std::byte* s =
          host_at(exec, Space::Shared, lane, from[lane] + done, sizeof(T), /*store=*/false);
      std::byte* d = s == nullptr
                         ? nullptr
                         : host_at(exec, To, lane, to[lane] + done, sizeof(T), /*store=*/true);
      if (d == nullptr) {
        return access_fault(exec, op);
      }
      if constexpr (To == Space::Shared) {
        ops::update_alone<T, InShared>(d, ops::weak_load<T>(s));
      } else {
        ops::update_atomically<T, F>(d, ops::weak_load<T>(s));
      }
    }
  }
  return &op + 1;
}

struct MakeBulkReduce {
  template <class T, auto F, auto InShared> static Handler handler(Space to) {
    return to == Space::Shared ? run_bulk_reduce<Space::Shared, T, F, InShared>
                               : run_bulk_reduce<Space::Generic, T, F, InShared>;
  }
};

Result<void> lower_bulk_reduce(Lowering& l, const ptx::Instruction& i) {
  const std::optional<Mod> to_space = nth_space(i, 0);
  const std::optional<Mod> operation = i.one_of(ptx::Category::Operation);
  const std::optional<ptx::Type> type = i.type();
  TRY(const Place to, lower_place(l, i, i.operands.at(0), to_space));
  TRY(const Place from, lower_place(l, i, i.operands.at(1), nth_space(i, 1)));
  Op op = l.op(i);
  op.flags |= Visible;
  op.a = to.address;
  op.b = from.address;
  op.c = l.source(i.operands.at(2), Mod::U32);
  if (operation && type && from.space == Space::Shared) {
    op.execute = select_update<MakeBulkReduce>(to.space, *operation, *type);
  }
  if (op.execute == nullptr) {
    return unknown_form(i);
  }
  l.emit(op);
  return i.has(Mod::MbarrierCompleteTxBytes)
             ? emit_complete_tx(l, i, i.operands.at(3), to_space, op.c)
             : Result<void>{};
}

const Op* run_nothing(Exec&, const Op& op) {
  return &op + 1;
}

Result<void> lower_cp(Lowering& l, const ptx::Instruction& i) {
  if (i.has(Mod::Tensor)) {
    return lower_tensor_copy(l, i);
  }
  if (i.has(Mod::CommitGroup) || i.has(Mod::WaitGroup) || i.has(Mod::WaitAll)) {
    // Everything issued before has completed; a monitor wants to know all the same.
    Op op = l.op(i);
    op.execute = run_nothing;
    l.emit(op);
    return {};
  }
  if (i.has(Mod::Prefetch)) {
    return {};
  }
  if (i.has(Mod::Mbarrier)) {
    return lower_arrive_on_copies(l, i);
  }
  if (i.has(Mod::Reduce)) {
    return lower_bulk_reduce(l, i);
  }
  return i.has(Mod::Bulk) ? lower_bulk_copy(l, i) : lower_copy(l, i);
}

} // namespace

void register_async(LowerTable& table) {
  table[ptx::Opcode::Cp] = lower_cp;
}

} // namespace heddle::isa

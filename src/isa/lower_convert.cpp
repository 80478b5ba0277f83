// Data movement between registers: mov, cvta, isspacep (PTX ISA 9.0, 9.7.9).
#include "isa/lower_arithmetic.h"
#include "isa/ops_bits.h"
#include "memory/address_space.h"

namespace heddle::isa {

namespace {

using memory::Address;
using ptx::Mod;

// --- mov

struct Quad {
  std::uint64_t words[2];
};

/// A part of a packed value: so many bytes in elements of type Element. Registers of 8 bits have
/// 16-bit elements.
template <class E, std::size_t Bytes> struct Part {
  using Element = E;
  static constexpr std::size_t bytes = Bytes;
};
using Part8 = Part<std::uint16_t, 1>;
using Part16 = Part<std::uint16_t, 2>;
using Part32 = Part<std::uint32_t, 4>;
using Part64 = Part<std::uint64_t, 8>;

/// The part op.imm bits from the start of each source element.
template <class P, class Whole> const Op* extract(Exec& exec, const Op& op) {
  using E = typename P::Element;
  const Whole* a = exec.in<Whole>(op.a);
  const auto at = static_cast<unsigned>(op.imm);
  for_lanes(exec, exec.out<E>(op.d), [=](int lane) -> E {
    if constexpr (std::is_integral_v<Whole>) {
      return static_cast<E>((a[lane] >> at) & ops::low_bits<Whole>(8 * P::bytes));
    } else {
      E part = 0;
      std::memcpy(&part, reinterpret_cast<const char*>(a + lane) + at / 8, P::bytes);
      return part;
    }
  });
  return &op + 1;
}
/// Two parts packed, op.a lowest.
template <class P, class Whole> const Op* pack_two(Exec& exec, const Op& op) {
  using E = typename P::Element;
  const E* a = exec.in<E>(op.a);
  const E* b = exec.in<E>(op.b);
  constexpr E mask = ops::low_bits<E>(8 * P::bytes);
  for_lanes(exec, exec.out<Whole>(op.d), [=](int lane) {
    return static_cast<Whole>(
        static_cast<Whole>(a[lane] & mask) | static_cast<Whole>(b[lane] & mask) << (8 * P::bytes)
    );
  });
  return &op + 1;
}
/// The elements Code::refs[list … +count) packed, lowest first.
template <class P, class Whole> const Op* pack(Exec& exec, const Op& op) {
  using E = typename P::Element;
  Whole* d = exec.out<Whole>(op.d);
  for (std::size_t n = 0; n < op.count; ++n) {
    const E* a = exec.in<E>(exec.code().refs[op.list + n]);
    exec.each([=](int lane) {
      std::memcpy(reinterpret_cast<char*>(d + lane) + n * P::bytes, a + lane, P::bytes);
    });
  }
  return &op + 1;
}

/// f.operator()<Whole, Part>() for these widths in bits.
template <class Choose> Handler for_parts(int whole, int part, Choose choose) {
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  switch (whole * 1000 + part) {
  case 16'008:
    return choose.template operator()<U16, Part8>();
  case 32'008:
    return choose.template operator()<U32, Part8>();
  case 32'016:
    return choose.template operator()<U32, Part16>();
  case 64'008:
    return choose.template operator()<U64, Part8>();
  case 64'016:
    return choose.template operator()<U64, Part16>();
  case 64'032:
    return choose.template operator()<U64, Part32>();
  case 128'016:
    return choose.template operator()<Quad, Part16>();
  case 128'032:
    return choose.template operator()<Quad, Part32>();
  case 128'064:
    return choose.template operator()<Quad, Part64>();
  default:
    return nullptr;
  }
}
ptx::Type bits_type(int bits) {
  return bits == 8 ? Mod::B8 : bits == 16 ? Mod::B16 : bits == 32 ? Mod::B32 : Mod::B64;
}

/// mov.b64 {lo, hi}, a: one op per element. The source cannot be one of the elements, its width
/// differs.
Result<void> lower_unpack(Form& form, ptx::Type type) {
  const std::vector<ptx::Operand>& parts = form.operand(0).elements;
  const int part_bits = ptx::type_bits(type) / static_cast<int>(parts.size());
  const Handler handler =
      for_parts(ptx::type_bits(type), part_bits, []<class W, class P>() -> Handler {
        return extract<P, W>;
      });
  if (handler == nullptr) {
    return form.unsupported_form();
  }
  Lowering& l = form.lowering();
  const Ref source = form.source(1, type);
  TRY_VOID(form.check());
  for (std::size_t n = 0; n < parts.size(); ++n) {
    Op op = l.op(form.instruction());
    op.d = l.destination(parts[n]);
    if (op.d.none()) {
      continue;
    }
    op.execute = handler;
    op.a = source;
    op.imm = static_cast<std::int64_t>(n) * part_bits;
    l.emit(op);
  }
  return {};
}

Result<void> lower_pack(Form& form, ptx::Type type) {
  const std::vector<ptx::Operand>& parts = form.operand(1).elements;
  const int part_bits = ptx::type_bits(type) / static_cast<int>(parts.size());
  Lowering& l = form.lowering();
  std::vector<Ref> refs;
  for (const ptx::Operand& part : parts) {
    refs.push_back(form.source(part, bits_type(part_bits)));
  }
  Op op = l.op(form.instruction());
  const bool two = refs.size() == 2 && ptx::type_bits(type) < 128;
  op.execute = for_parts(ptx::type_bits(type), part_bits, [two]<class W, class P>() -> Handler {
    if constexpr (std::is_integral_v<W>) {
      if (two) {
        return pack_two<P, W>;
      }
    }
    return pack<P, W>;
  });
  if (two) {
    op.a = refs[0];
    op.b = refs[1];
  }
  op.d = form.destination();
  op.list = l.list(refs);
  op.count = static_cast<std::uint16_t>(refs.size());
  return form.emit(op);
}

/// mov.v4.u32 {…}, %tid or {…}: all sources are read before the first destination is written.
Result<void> lower_vector_mov(Form& form, ptx::Type type) {
  const std::vector<ptx::Operand>& to = form.operand(0).elements;
  std::vector<ptx::Operand> from = form.operand(1).elements;
  if (form.operand(1).kind == ptx::OperandKind::Special) {
    for (const char* part : {".x", ".y", ".z"}) {
      from.push_back(form.operand(1));
      from.back().name += part;
    }
    ptx::Operand zero; // the fourth element of %tid and its like
    zero.kind = ptx::OperandKind::Integer;
    from.push_back(zero);
  }
  if (from.size() < to.size()) {
    return form.unsupported_form();
  }
  Lowering& l = form.lowering();
  std::vector<Op> writes;
  for (std::size_t n = 0; n < to.size(); ++n) {
    Op read = l.op(form.instruction());
    read.execute = unary<ops::same<std::uint32_t>, std::uint32_t, std::uint32_t>;
    read.a = form.source(from[n], type);
    read.d = l.scratch(sizeof(std::uint32_t));
    TRY_VOID(form.check());
    Op write = read;
    write.a = read.d;
    write.d = l.destination(to[n]);
    l.emit(read);
    if (!write.d.none()) {
      writes.push_back(write);
    }
  }
  for (const Op& write : writes) {
    l.emit(write);
  }
  return {};
}

Result<void> lower_mov(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  if (form.take_one_of({Mod::V2, Mod::V4})) {
    return lower_vector_mov(form, type);
  }
  if (form.operand_count() != 2) {
    return form.unsupported_form();
  }
  if (form.operand(0).kind == ptx::OperandKind::Vector && !form.operand(0).elements.empty()) {
    return lower_unpack(form, type);
  }
  if (form.operand(1).kind == ptx::OperandKind::Vector && !form.operand(1).elements.empty()) {
    return lower_pack(form, type);
  }
  if (type == Mod::Pred) {
    return form.emit(copy_predicate, {type});
  }
  if (ptx::type_bits(type) == 128) {
    return form.emit(unary<ops::same<Quad>, Quad, Quad>, {type});
  }
  return form.emit(
      for_width(type, []<class T>() -> Handler { return unary<ops::same<T>, T, T>; }),
      {type}
  );
}

// --- cvta, isspacep

/// Where a space's window begins in the generic address space; 0 for those that are not windowed.
std::optional<Address> window_of(Form& form) {
  if (form.take_one_of({Mod::Global, Mod::Const})) {
    return 0;
  }
  if (form.take_one_of({Mod::Shared, Mod::SharedCta, Mod::SharedCluster})) {
    return memory::shared_window;
  }
  if (form.take(Mod::Local)) {
    return memory::local_window;
  }
  if (form.take_one_of({Mod::Param, Mod::ParamEntry})) {
    return memory::param_window;
  }
  return std::nullopt;
}

const Op* add_window(Exec& exec, const Op& op) {
  const Address* a = exec.in<Address>(op.a);
  const auto window = static_cast<Address>(op.imm);
  for_lanes(exec, exec.out<Address>(op.d), [=](int lane) { return a[lane] + window; });
  return &op + 1;
}

std::uint32_t own_special(Exec& exec, std::uint32_t which) {
  return *exec.in<std::uint32_t>(Ref::at(Area::Special, SpecialLayout::offset(which)));
}

/// Where the block's own shared memory is in the window that its cluster shares.
Address own_place(Exec& exec) {
  return (Address{own_special(exec, SpecialLayout::ClusterCtarank)} + 1)
         << memory::shared_rank_shift;
}

/// A generic address of the block's own shared memory means the same to all blocks of the cluster.
/// Addresses that name a block already keep it, and so does what the system reserves.
const Op* add_shared_window(Exec& exec, const Op& op) {
  const Address* a = exec.in<Address>(op.a);
  const bool alone = own_special(exec, SpecialLayout::ClusterNctarank) <= 1;
  const Address own = alone ? 0 : own_place(exec);
  for_lanes(exec, exec.out<Address>(op.d), [=](int lane) {
    const bool bare = a[lane] < memory::reserved_shared_offset;
    return a[lane] + memory::shared_window + (bare ? own : 0);
  });
  return &op + 1;
}

/// isspacep.shared: in the shared memory of the block itself.
const Op* in_own_shared(Exec& exec, const Op& op) {
  const Address* a = exec.in<Address>(op.a);
  const Address own = own_place(exec);
  LaneMask inside = 0;
  exec.each([&](int lane) {
    const Address offset = a[lane] - memory::shared_window;
    const Address block = offset >> memory::shared_rank_shift << memory::shared_rank_shift;
    const bool mine = offset < memory::window_size && (block == 0 || block == own);
    inside |= static_cast<LaneMask>(mine) << lane;
  });
  store_comparison(exec, op, inside);
  return &op + 1;
}

/// cvta.space d, a: to generic; cvta.to.space d, a: from generic.
Result<void> lower_cvta(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  const bool from_generic = form.take(Mod::To);
  const auto window = window_of(form);
  if (!window || ptx::type_bits(type) != 64) { // 32-bit generic addresses do not exist here
    return form.unsupported_form();
  }
  const bool to_shared = *window == memory::shared_window && !from_generic;
  Op op = form.op(
      *window == 0 ? unary<ops::same<Address>, Address, Address>
      : to_shared  ? add_shared_window
                   : add_window,
      {type}
  );
  op.imm = static_cast<std::int64_t>(from_generic ? 0 - *window : *window);
  return form.emit(op);
}

/// In the window op.imm2; for 0, in none of them.
const Op* in_window(Exec& exec, const Op& op) {
  const Address* a = exec.in<Address>(op.a);
  const Address window = op.imm2;
  const Address size = window != 0
                           ? memory::window_size
                           : memory::param_window + memory::window_size - memory::window_base;
  const Address base = window != 0 ? window : memory::window_base;
  LaneMask inside = 0;
  exec.each([&](int lane) { inside |= static_cast<LaneMask>(a[lane] - base < size) << lane; });
  store_comparison(exec, op, window != 0 ? inside : ~inside);
  return &op + 1;
}

/// Constants lie among the global allocations.
const Op* in_constant(Exec& exec, const Op& op) {
  const Address* a = exec.in<Address>(op.a);
  LaneMask inside = 0;
  exec.each([&](int lane) {
    const auto allocation = exec.space().find(a[lane]);
    const bool constant = allocation && allocation->kind == memory::AllocationKind::Constant;
    inside |= static_cast<LaneMask>(constant) << lane;
  });
  store_comparison(exec, op, inside);
  return &op + 1;
}

/// isspacep.space p, a.
Result<void> lower_isspacep(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  if (l.element_bytes(form.operand(1), Mod::U64) != sizeof(Address)) {
    return form.unsupported_form();
  }
  if (form.take(Mod::Const)) {
    return form.emit(in_constant, {Mod::U64});
  }
  if (form.take_one_of({Mod::Shared, Mod::SharedCta})) {
    return form.emit(in_own_shared, {Mod::U64});
  }
  const auto window = window_of(form);
  if (!window) {
    return form.unsupported_form();
  }
  Op op = form.op(in_window, {Mod::U64});
  op.imm2 = *window;
  return form.emit(op);
}

} // namespace

void register_convert(LowerTable& table) {
  using ptx::Opcode;
  table[Opcode::Mov] = lower_mov;
  table[Opcode::Cvta] = lower_cvta;
  table[Opcode::Isspacep] = lower_isspacep;
  register_cvt(table);
}

} // namespace heddle::isa

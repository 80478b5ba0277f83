// Logic, shifts and bit fields: and or xor not cnot lop3 shf shl shr popc clz bfind fns brev bfe
// bfi bmsk szext prmt (PTX ISA 9.0, 9.7.1, 9.7.8 and 9.7.9).
#include "isa/lower_arithmetic.h"
#include "isa/ops_bits.h"

namespace heddle::isa {

namespace {

using ptx::Mod;
using U32 = std::uint32_t;

// --- Logic, on predicates too

template <auto F> const Op* predicate_binary(Exec& exec, const Op& op) {
  exec.set_predicate(op.d, F(exec.predicate(op.a), exec.predicate(op.b)));
  return &op + 1;
}
const Op* predicate_not(Exec& exec, const Op& op) {
  exec.set_predicate(op.d, ~exec.predicate(op.a));
  return &op + 1;
}

struct And {
  template <class T> static constexpr T f(T a, T b) { return ops::bit_and(a, b); }
};
struct Or {
  template <class T> static constexpr T f(T a, T b) { return ops::bit_or(a, b); }
};
struct Xor {
  template <class T> static constexpr T f(T a, T b) { return ops::bit_xor(a, b); }
};

template <class Logic> Result<void> lower_logic(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  if (type == Mod::Pred) {
    return form.emit(predicate_binary<Logic::template f<LaneMask>>, {type, type});
  }
  return form.emit(
      for_width(type, []<class T>() -> Handler { return binary<Logic::template f<T>, T, T, T>; }),
      {type, type}
  );
}

Result<void> lower_not(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  if (type == Mod::Pred) {
    return form.emit(predicate_not, {type});
  }
  return form.emit(
      for_width(type, []<class T>() -> Handler { return unary<ops::bit_not<T>, T, T>; }),
      {type}
  );
}

Result<void> lower_cnot(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return form.emit(
      for_width(type, []<class T>() -> Handler { return unary<ops::logical_not<T>, T, T>; }),
      {type}
  );
}

const Op* lop3(Exec& exec, const Op& op) {
  const U32* a = exec.in<U32>(op.a);
  const U32* b = exec.in<U32>(op.b);
  const U32* c = exec.in<U32>(op.c);
  const auto table = static_cast<U32>(op.imm);
  for_lanes(exec, exec.out<U32>(op.d), [=](int lane) {
    return ops::lop3(a[lane], b[lane], c[lane], table);
  });
  return &op + 1;
}
/// p = BoolOp(d != 0, q).
const Op* lop3_predicate(Exec& exec, const Op& op) {
  const LaneMask t = lanes_where<[](U32 d) { return d != 0; }>(exec.mask(), exec.in<U32>(op.a));
  store_comparison(exec, op, t);
  return &op + 1;
}

/// lop3.b32 d, a, b, c, lut; and lop3.BoolOp.b32 d|p, a, b, c, lut, q.
Result<void> lower_lop3(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  const auto combining = form.take_one_of({Mod::And, Mod::Or, Mod::Xor});
  TRY_VOID(form.check());
  if (type != Mod::B32 || i.operands.size() < 5 ||
      i.operands[4].kind != ptx::OperandKind::Integer) {
    return form.unsupported_form();
  }
  const bool pair = i.operands[0].kind == ptx::OperandKind::PredicatePair;
  Op op = l.op(i);
  op.execute = lop3;
  op.a = form.source(1, type);
  op.b = form.source(2, type);
  op.c = form.source(3, type);
  op.imm = static_cast<std::int64_t>(i.operands[4].bits & 0xffU);
  op.d = l.destination(pair ? i.operands[0].elements[0] : i.operands[0]);
  if (!combining) {
    l.emit(op);
    return {};
  }
  if (!pair || i.operands.size() < 6) {
    return form.unsupported_form();
  }
  if (op.d.none()) {
    op.d = l.scratch(4); // d is a sink
  }
  l.emit(op);
  Op predicate = l.op(i);
  predicate.execute = lop3_predicate;
  predicate.a = op.d;
  predicate.d = l.destination(i.operands[0].elements[1]);
  predicate.c = l.source(i.operands[5], Mod::Pred);
  predicate.imm = combine_bits(*combining) | (i.operands[5].negated ? Combine::negate_c : 0);
  l.emit(predicate);
  return {};
}

// --- Shifts

Result<void> lower_shl(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return form.emit(
      for_width(type, []<class T>() -> Handler { return binary<ops::shl<T>, T, T, U32>; }),
      {type, Mod::U32}
  );
}

Result<void> lower_shr(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return form.emit(
      for_integer(type, []<class T>() -> Handler { return binary<ops::shr<T>, T, T, U32>; }),
      {type, Mod::U32}
  );
}

Result<void> lower_shf(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  const bool left = form.take(Mod::L);
  const bool right = form.take(Mod::R);
  const bool clamp = form.take(Mod::Clamp);
  const bool wrap = form.take(Mod::Wrap);
  Handler handler = nullptr;
  if (type == Mod::B32 && left != right && clamp != wrap) {
    handler = left ? (clamp ? ternary<ops::shf_left<true>, U32, U32, U32, U32>
                            : ternary<ops::shf_left<false>, U32, U32, U32, U32>)
                   : (clamp ? ternary<ops::shf_right<true>, U32, U32, U32, U32>
                            : ternary<ops::shf_right<false>, U32, U32, U32, U32>);
  }
  return form.emit(handler, {type, type, Mod::U32});
}

// --- Counting, finding, bit fields

Result<void> lower_popc(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return form.emit(
      for_wide(type, []<class T>() -> Handler { return unary<ops::popc<T>, U32, T>; }),
      {type}
  );
}

Result<void> lower_clz(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return form.emit(
      for_wide(type, []<class T>() -> Handler { return unary<ops::clz<T>, U32, T>; }),
      {type}
  );
}

Result<void> lower_bfind(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  const bool shift = form.take(Mod::Shiftamt);
  return form.emit(
      for_integer(
          type,
          [shift]<class T>() -> Handler {
            return shift ? unary<ops::bfind_shiftamt<T>, U32, T> : unary<ops::bfind<T>, U32, T>;
          }
      ),
      {type}
  );
}

Result<void> lower_fns(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  form.take_type();
  return form.emit(ternary<ops::fns, U32, U32, U32, std::int32_t>, {Mod::B32, Mod::B32, Mod::S32});
}

Result<void> lower_brev(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return form.emit(
      for_wide(type, []<class T>() -> Handler { return unary<ops::brev<T>, T, T>; }),
      {type}
  );
}

Result<void> lower_bfe(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return form.emit(
      for_integer(
          type,
          []<class T>() -> Handler {
            if constexpr (sizeof(T) >= 4) {
              return ternary<ops::bfe<T>, T, T, U32, U32>;
            } else {
              return nullptr;
            }
          }
      ),
      {type, Mod::U32, Mod::U32}
  );
}

Result<void> lower_bfi(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return form.emit(
      for_wide(
          type,
          []<class T>() -> Handler { return quaternary<ops::bfi<T>, T, T, T, U32, U32>; }
      ),
      {type, type, Mod::U32, Mod::U32}
  );
}

Result<void> lower_bmsk(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  form.take_type();
  const bool clamp = form.take(Mod::Clamp);
  form.take(Mod::Wrap);
  return form.emit(
      clamp ? binary<ops::bmsk<true>, U32, U32, U32> : binary<ops::bmsk<false>, U32, U32, U32>,
      {Mod::B32, Mod::B32}
  );
}

template <class T> Handler szext_handler(bool clamp) {
  return clamp ? binary<ops::szext<T, true>, T, T, U32> : binary<ops::szext<T, false>, T, T, U32>;
}
Result<void> lower_szext(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  const bool clamp = form.take(Mod::Clamp);
  form.take(Mod::Wrap);
  return form.emit(
      type == Mod::S32 ? szext_handler<std::int32_t>(clamp) : szext_handler<U32>(clamp),
      {type, Mod::U32}
  );
}

template <ops::Permute Mode>
constexpr Handler prmt_handler = ternary<ops::prmt<Mode>, U32, U32, U32, U32>;

Result<void> lower_prmt(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  form.take_type();
  Handler handler = prmt_handler<ops::Permute::Index>;
  if (form.take(Mod::F4e)) {
    handler = prmt_handler<ops::Permute::F4e>;
  } else if (form.take(Mod::B4e)) {
    handler = prmt_handler<ops::Permute::B4e>;
  } else if (form.take(Mod::Rc8)) {
    handler = prmt_handler<ops::Permute::Rc8>;
  } else if (form.take(Mod::Ecl)) {
    handler = prmt_handler<ops::Permute::Ecl>;
  } else if (form.take(Mod::Ecr)) {
    handler = prmt_handler<ops::Permute::Ecr>;
  } else if (form.take(Mod::Rc16)) {
    handler = prmt_handler<ops::Permute::Rc16>;
  }
  return form.emit(handler, {Mod::B32, Mod::B32, Mod::B32});
}

} // namespace

void register_bits(LowerTable& table) {
  using ptx::Opcode;
  table[Opcode::And] = lower_logic<And>;
  table[Opcode::Or] = lower_logic<Or>;
  table[Opcode::Xor] = lower_logic<Xor>;
  table[Opcode::Not] = lower_not;
  table[Opcode::Cnot] = lower_cnot;
  table[Opcode::Lop3] = lower_lop3;
  table[Opcode::Shl] = lower_shl;
  table[Opcode::Shr] = lower_shr;
  table[Opcode::Shf] = lower_shf;
  table[Opcode::Popc] = lower_popc;
  table[Opcode::Clz] = lower_clz;
  table[Opcode::Bfind] = lower_bfind;
  table[Opcode::Fns] = lower_fns;
  table[Opcode::Brev] = lower_brev;
  table[Opcode::Bfe] = lower_bfe;
  table[Opcode::Bfi] = lower_bfi;
  table[Opcode::Bmsk] = lower_bmsk;
  table[Opcode::Szext] = lower_szext;
  table[Opcode::Prmt] = lower_prmt;
}

} // namespace heddle::isa

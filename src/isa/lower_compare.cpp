// Comparison and selection: set setp selp slct testp (PTX ISA 9.0, 9.7.6, 9.7.7 and 9.7.3.1).
//
// A comparison makes a LaneMask; store_comparison (lanes.h) combines it with a predicate. `set` is
// a comparison into a scratch predicate followed by a selection between the values for true and
// false.
#include "isa/lower_arithmetic.h"
#include "isa/ops_compare.h"

namespace heddle::isa {

namespace {

using ptx::Mod;

template <class T> Relations integer_relations() {
  return {
      compare<ops::equal<std::make_unsigned_t<T>>, std::make_unsigned_t<T>>,
      compare<ops::less<T>, T>
  };
}
template <class T> Relations float_relations() {
  return {
      compare<ops::equal<T>, T>,
      compare<ops::less<T>, T>,
      compare<ops::less_equal<T>, T>,
      compare<ops::unequal_ordered<T>, T>,
      compare<ops::ordered<T>, T>
  };
}
Relations flushed_relations() {
  using F = float;
  return {
      compare<ops::flushed<ops::equal<F>>, F>,
      compare<ops::flushed<ops::less<F>>, F>,
      compare<ops::flushed<ops::less_equal<F>>, F>,
      compare<ops::flushed<ops::unequal_ordered<F>>, F>,
      compare<ops::ordered<F>, F>
  };
}

Relations relations_of(ptx::Type type, bool ftz) {
  switch (type) {
  case Mod::S16:
    return integer_relations<std::int16_t>();
  case Mod::S32:
    return integer_relations<std::int32_t>();
  case Mod::S64:
    return integer_relations<std::int64_t>();
  case Mod::U16:
  case Mod::B16:
    return integer_relations<std::uint16_t>();
  case Mod::U32:
  case Mod::B32:
    return integer_relations<std::uint32_t>();
  case Mod::U64:
  case Mod::B64:
    return integer_relations<std::uint64_t>();
  case Mod::F32:
    return ftz ? flushed_relations() : float_relations<float>();
  case Mod::F64:
    return float_relations<double>();
  case Mod::F16:
  case Mod::Bf16:
    return half_relations(type, ftz);
  default:
    return {};
  }
}

constexpr std::initializer_list<Mod> all_relations = {
    Mod::Eq,
    Mod::Ne,
    Mod::Lt,
    Mod::Le,
    Mod::Gt,
    Mod::Ge,
    Mod::Lo,
    Mod::Ls,
    Mod::Hi,
    Mod::Hs,
    Mod::Equ,
    Mod::Neu,
    Mod::Ltu,
    Mod::Leu,
    Mod::Gtu,
    Mod::Geu,
    Mod::Num,
    Mod::Nan
};

/// The operation of a comparison: sources from operands 1 and 2, c from operand 3 if it is
/// combined.
Result<Op> comparison_op(Form& form, ptx::Type type) {
  const bool ftz = form.take(Mod::Ftz);
  const auto relation = take_relation(form);
  const auto combining = form.take_one_of({Mod::And, Mod::Or, Mod::Xor});
  const Comparison comparison =
      relation ? pick_relation(relations_of(type, ftz), *relation) : Comparison{};
  if (comparison.handler == nullptr || form.operand_count() != (combining ? 4U : 3U)) {
    return form.unsupported_form();
  }
  Op op = form.lowering().op(form.instruction());
  op.execute = comparison.handler;
  op.a = form.source(comparison.swap ? 2 : 1, type);
  op.b = form.source(comparison.swap ? 1 : 2, type);
  op.imm = comparison.invert ? Combine::invert : 0;
  if (combining) {
    op.c = form.lowering().source(form.operand(3), Mod::Pred); // its negation is done by the op
    op.imm |= combine_bits(*combining) | (form.operand(3).negated ? Combine::negate_c : 0);
  }
  TRY_VOID(form.check());
  return op;
}

Result<void> lower_setp(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  if (type == Mod::F16x2 || type == Mod::Bf16x2) {
    return lower_half(form);
  }
  TRY(Op op, comparison_op(form, type));
  const ptx::Operand& d = form.operand(0);
  if (d.kind == ptx::OperandKind::PredicatePair) {
    op.d = l.destination(d.elements[0]);
    op.e = l.destination(d.elements[1]);
  } else {
    op.d = l.destination(d);
  }
  l.emit(op);
  return {};
}

// --- Selection

template <class T> const Op* select(Exec& exec, const Op& op) {
  const LaneMask chosen = exec.predicate(op.c);
  alignas(64) T result[lane_count];
  std::memcpy(result, exec.in<T>(op.b), sizeof result);
  store_lanes<sizeof(T)>(result, exec.in<T>(op.a), chosen);
  if (exec.mask() == all_lanes) {
    std::memcpy(exec.out<T>(op.d), result, sizeof result);
  } else {
    store_lanes<sizeof(T)>(exec.out<T>(op.d), result, exec.mask());
  }
  return &op + 1;
}
Handler select_handler(ptx::Type type) {
  return for_width(type, []<class T>() -> Handler { return select<T>; });
}

Result<void> lower_selp(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  if (form.operand_count() != 4) {
    return form.unsupported_form();
  }
  return form.emit(select_handler(type), {type, type, Mod::Pred});
}

/// set.CmpOp{.BoolOp}.dtype.stype: all ones or 1.0 for true, zero for false.
Result<void> lower_set(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.type(1);
  if (type == Mod::F16x2 || type == Mod::Bf16x2) {
    return lower_half(form);
  }
  const ptx::Type result = form.take_type(0);
  form.take_type(1);
  Op chosen = l.op(i);
  chosen.execute = isa::select<std::uint32_t>;
  chosen.b = l.constant_of(std::uint32_t{0});
  switch (result) {
  case Mod::U32:
  case Mod::S32:
    chosen.a = l.constant_of(~std::uint32_t{0});
    break;
  case Mod::F32:
    chosen.a = l.constant_of(1.0F);
    break;
  case Mod::U16:
  case Mod::S16:
    chosen.a = l.constant_of(std::uint16_t{0xffff});
    break;
  case Mod::F16:
    chosen.a = l.constant_of(std::uint16_t{0x3c00});
    break;
  case Mod::Bf16:
    chosen.a = l.constant_of(std::uint16_t{0x3f80});
    break;
  default:
    return form.unsupported_form();
  }
  if (ptx::type_bits(result) == 16) {
    chosen.execute = isa::select<std::uint16_t>;
  }
  TRY(Op comparison, comparison_op(form, type));
  comparison.d = l.scratch_predicate();
  l.emit(comparison);
  chosen.c = comparison.d;
  chosen.d = form.destination();
  l.emit(chosen);
  return {};
}

Result<void> lower_slct(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type(0);
  const ptx::Type condition = form.take_type(1);
  const bool ftz = form.take(Mod::Ftz);
  using S = std::int32_t;
  Handler handler = nullptr;
  if (condition == Mod::S32 && !ftz) {
    handler =
        for_width(type, []<class T>() -> Handler { return ternary<ops::slct<T, S>, T, T, T, S>; });
  } else if (condition == Mod::F32) {
    handler = for_width(type, [ftz]<class T>() -> Handler {
      return ftz ? ternary<ops::slct_ftz<T>, T, T, T, float>
                 : ternary<ops::slct<T, float>, T, T, T, float>;
    });
  }
  return form.emit(handler, {type, type, condition});
}

// --- testp

template <class T> Handler testp_handler(Form& form) {
  using ops::Test;
  const auto question = form.take_one_of(
      {Mod::Finite, Mod::Infinite, Mod::Number, Mod::Notanumber, Mod::Normal, Mod::Subnormal}
  );
  switch (question.value_or(Mod::Pred)) {
  case Mod::Finite:
    return test<ops::testp<Test::Finite, T>, T>;
  case Mod::Infinite:
    return test<ops::testp<Test::Infinite, T>, T>;
  case Mod::Number:
    return test<ops::testp<Test::Number, T>, T>;
  case Mod::Notanumber:
    return test<ops::testp<Test::NotANumber, T>, T>;
  case Mod::Normal:
    return test<ops::testp<Test::Normal, T>, T>;
  case Mod::Subnormal:
    return test<ops::testp<Test::Subnormal, T>, T>;
  default:
    return nullptr;
  }
}
Result<void> lower_testp(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  const Handler handler = type == Mod::F32   ? testp_handler<float>(form)
                          : type == Mod::F64 ? testp_handler<double>(form)
                                             : nullptr;
  return form.emit(handler, {type});
}

} // namespace

std::optional<Mod> take_relation(Form& form) {
  return form.take_one_of(all_relations);
}

Comparison pick_relation(const Relations& r, ptx::Mod relation) {
  const bool is_integer = r.less_equal == nullptr;
  switch (relation) {
  case Mod::Eq:
    return {r.equal};
  case Mod::Lo:
    return is_integer ? Comparison{r.less} : Comparison{};
  case Mod::Lt:
    return {r.less};
  case Mod::Hi:
    return is_integer ? Comparison{r.less, true} : Comparison{};
  case Mod::Gt:
    return {r.less, true};
  // On integers the others are complements; on floats they must be false for NaN.
  case Mod::Ne:
    return is_integer ? Comparison{r.equal, false, true} : Comparison{r.unequal_ordered};
  case Mod::Ls:
    return is_integer ? Comparison{r.less, true, true} : Comparison{};
  case Mod::Le:
    return is_integer ? Comparison{r.less, true, true} : Comparison{r.less_equal};
  case Mod::Hs:
    return is_integer ? Comparison{r.less, false, true} : Comparison{};
  case Mod::Ge:
    return is_integer ? Comparison{r.less, false, true} : Comparison{r.less_equal, true};
  default:
    break;
  }
  if (is_integer) {
    return {};
  }
  switch (relation) { // true for NaN: complements of the opposite
  case Mod::Equ:
    return {r.unequal_ordered, false, true};
  case Mod::Neu:
    return {r.equal, false, true};
  case Mod::Ltu:
    return {r.less_equal, true, true};
  case Mod::Leu:
    return {r.less, true, true};
  case Mod::Gtu:
    return {r.less_equal, false, true};
  case Mod::Geu:
    return {r.less, false, true};
  case Mod::Num:
    return {r.ordered};
  case Mod::Nan:
    return {r.ordered, false, true};
  default:
    return {};
  }
}

std::int64_t combine_bits(ptx::Mod operation) {
  return operation == Mod::And  ? Combine::with_and
         : operation == Mod::Or ? Combine::with_or
                                : Combine::with_xor;
}

void register_comparison(LowerTable& table) {
  using ptx::Opcode;
  table[Opcode::Set] = lower_set;
  table[Opcode::Setp] = lower_setp;
  table[Opcode::Selp] = lower_selp;
  table[Opcode::Slct] = lower_slct;
  table[Opcode::Testp] = lower_testp;
}

} // namespace heddle::isa

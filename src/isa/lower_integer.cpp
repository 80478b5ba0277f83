// Integer arithmetic: add sub mul mad mul24 mad24 sad div rem abs neg min max dp4a dp2a and the
// extended-precision forms (PTX ISA 9.0, 9.7.1 and 9.7.2). A float type goes to lower_float.cpp or
// lower_half.cpp from here.
#include "isa/lower_arithmetic.h"
#include "isa/ops_integer.h"

namespace heddle::isa {

namespace {

using ptx::Mod;

bool goes_to_float(const Form& form) {
  return ptx::is_float(form.type());
}
Result<void> to_float(Form& form) {
  return is_half(form.type()) ? lower_half(form) : lower_float(form);
}

// --- Carries

/// Op::imm of the carry forms: which way the flag is used.
constexpr std::int64_t reads_carry = 1;
constexpr std::int64_t writes_carry = 2;
constexpr std::int64_t carry_is_one = 4; // sub.cc: begins without a borrow

template <class T, class F> const Op* with_carry(Exec& exec, const Op& op, F&& f) {
  const LaneMask in = (op.imm & reads_carry) != 0    ? exec.predicate(op.e)
                      : (op.imm & carry_is_one) != 0 ? all_lanes
                                                     : 0;
  LaneMask out = 0;
  T* d = exec.out<T>(op.d);
  exec.each([&](int lane) {
    const ops::Carried<T> r = f(lane, ((in >> lane) & 1U) != 0);
    d[lane] = r.value;
    out |= static_cast<LaneMask>(r.carry) << lane;
  });
  if ((op.imm & writes_carry) != 0) {
    exec.set_predicate(op.e, out);
  }
  return &op + 1;
}
template <auto F, class T> const Op* binary_carry(Exec& exec, const Op& op) {
  const T* a = exec.in<T>(op.a);
  const T* b = exec.in<T>(op.b);
  return with_carry<T>(exec, op, [&](int lane, bool carry) { return F(a[lane], b[lane], carry); });
}
template <auto F, class T> const Op* ternary_carry(Exec& exec, const Op& op) {
  const T* a = exec.in<T>(op.a);
  const T* b = exec.in<T>(op.b);
  const T* c = exec.in<T>(op.c);
  return with_carry<T>(exec, op, [&](int lane, bool carry) {
    return F(a[lane], b[lane], c[lane], carry);
  });
}

Result<void>
emit_carry(Form& form, Handler handler, std::initializer_list<ptx::Type> sources, bool reads) {
  const bool writes = form.take(Mod::Cc);
  if (handler == nullptr || form.operand_count() < sources.size() + 1) {
    return form.unsupported_form();
  }
  TRY_VOID(form.check());
  Op op = form.op(handler, sources);
  op.e = form.lowering().carry();
  op.imm = (reads ? reads_carry : 0) | (writes ? writes_carry : 0) |
           (form.opcode() == ptx::Opcode::Sub ? carry_is_one : 0);
  form.lowering().emit(op);
  return {};
}

// --- add, sub

struct Addition {
  template <class T> static constexpr auto plain = ops::add<T>;
  template <class T> static constexpr auto carry = ops::add_carry<T>;
  static constexpr auto saturating = ops::add_sat;
};
struct Subtraction {
  template <class T> static constexpr auto plain = ops::sub<T>;
  template <class T> static constexpr auto carry = ops::sub_carry<T>;
  static constexpr auto saturating = ops::sub_sat;
};

template <class F> Result<void> lower_sum(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  if (goes_to_float(form)) {
    return to_float(form);
  }
  const ptx::Type type = form.take_type();
  if (i.has(Mod::Cc)) {
    return emit_carry(
        form,
        for_wide(type, []<class T>() -> Handler { return binary_carry<F::template carry<T>, T>; }),
        {type, type},
        false
    );
  }
  if (form.take(Mod::Sat)) {
    using S = std::int32_t;
    return form.emit(type == Mod::S32 ? binary<F::saturating, S, S, S> : nullptr, {type, type});
  }
  if (type == Mod::U16x2 || type == Mod::S16x2) {
    using U = std::uint32_t;
    using H = std::uint16_t;
    return form.emit(binary<ops::halves<F::template plain<H>, H>, U, U, U>, {type, type});
  }
  return form.emit(
      for_width(type, []<class T>() -> Handler { return binary<F::template plain<T>, T, T, T>; }),
      {type, type}
  );
}

Result<void> lower_addc(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return emit_carry(
      form,
      for_wide(type, []<class T>() -> Handler { return binary_carry<ops::add_carry<T>, T>; }),
      {type, type},
      true
  );
}

Result<void> lower_subc(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return emit_carry(
      form,
      for_wide(type, []<class T>() -> Handler { return binary_carry<ops::sub_carry<T>, T>; }),
      {type, type},
      true
  );
}

// --- mul, mad

template <class T> constexpr ptx::Type wide_type(ptx::Type type) {
  switch (type) {
  case Mod::S16:
    return Mod::S32;
  case Mod::U16:
    return Mod::U32;
  case Mod::S32:
    return Mod::S64;
  default:
    return Mod::U64;
  }
}

Result<void> lower_mul(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  if (goes_to_float(form)) {
    return to_float(form);
  }
  const ptx::Type type = form.take_type();
  Handler handler = nullptr;
  if (form.take(Mod::Lo)) {
    handler = for_width(type, []<class T>() -> Handler { return binary<ops::mul_lo<T>, T, T, T>; });
  } else if (form.take(Mod::Hi)) {
    handler =
        for_integer(type, []<class T>() -> Handler { return binary<ops::mul_hi<T>, T, T, T>; });
  } else if (form.take(Mod::Wide)) {
    handler = for_integer(type, []<class T>() -> Handler {
      if constexpr (sizeof(T) < 8) {
        return binary<ops::mul_wide<T>, ops::Wide<T>, T, T>;
      } else {
        return nullptr;
      }
    });
  }
  return form.emit(handler, {type, type});
}

Result<void> lower_mad(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  if (goes_to_float(form)) {
    return to_float(form);
  }
  const ptx::Type type = form.take_type();
  if (i.has(Mod::Cc)) {
    const bool low = form.take(Mod::Lo);
    const bool high = form.take(Mod::Hi);
    Handler handler = nullptr;
    if (low) {
      handler = for_integer(type, []<class T>() -> Handler {
        if constexpr (sizeof(T) >= 4) {
          return ternary_carry<ops::mad_lo_carry<T>, T>;
        } else {
          return nullptr;
        }
      });
    } else if (high) {
      handler = for_integer(type, []<class T>() -> Handler {
        if constexpr (sizeof(T) >= 4) {
          return ternary_carry<ops::mad_hi_carry<T>, T>;
        } else {
          return nullptr;
        }
      });
    }
    return emit_carry(form, handler, {type, type, type}, false);
  }
  if (form.take(Mod::Lo)) {
    return form.emit(
        for_width(type, []<class T>() -> Handler { return ternary<ops::mad_lo<T>, T, T, T, T>; }),
        {type, type, type}
    );
  }
  if (form.take(Mod::Hi)) {
    if (form.take(Mod::Sat)) {
      using S = std::int32_t;
      return form.emit(
          type == Mod::S32 ? ternary<ops::mad_hi_sat, S, S, S, S> : nullptr,
          {type, type, type}
      );
    }
    return form.emit(
        for_integer(type, []<class T>() -> Handler { return ternary<ops::mad_hi<T>, T, T, T, T>; }),
        {type, type, type}
    );
  }
  if (form.take(Mod::Wide)) {
    return form.emit(
        for_integer(
            type,
            []<class T>() -> Handler {
              if constexpr (sizeof(T) < 8) {
                return ternary<ops::mad_wide<T>, ops::Wide<T>, T, T, ops::Wide<T>>;
              } else {
                return nullptr;
              }
            }
        ),
        {type, type, wide_type<void>(type)}
    );
  }
  return form.unsupported_form();
}

Result<void> lower_madc(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  Handler handler = nullptr;
  if (form.take(Mod::Lo)) {
    handler =
        for_wide(type, []<class T>() -> Handler { return ternary_carry<ops::mad_lo_carry<T>, T>; });
  } else if (form.take(Mod::Hi)) {
    handler = for_integer(type, []<class T>() -> Handler {
      if constexpr (sizeof(T) >= 4) {
        return ternary_carry<ops::mad_hi_carry<T>, T>;
      } else {
        return nullptr;
      }
    });
  }
  return emit_carry(form, handler, {type, type, type}, true);
}

template <class T> Result<void> emit_mul24(Form& form, ptx::Type type) {
  if (form.take(Mod::Hi)) {
    return form.emit(binary<ops::mul24_hi<T>, T, T, T>, {type, type});
  }
  return form.emit(form.take(Mod::Lo) ? binary<ops::mul24_lo<T>, T, T, T> : nullptr, {type, type});
}

Result<void> lower_mul24(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return type == Mod::S32 ? emit_mul24<std::int32_t>(form, type)
                          : emit_mul24<std::uint32_t>(form, type);
}

template <class T> Result<void> emit_mad24(Form& form, ptx::Type type) {
  if (form.take(Mod::Hi)) {
    if (form.take(Mod::Sat)) {
      using S = std::int32_t;
      return form.emit(
          type == Mod::S32 ? ternary<ops::mad24_hi_sat, S, S, S, S> : nullptr,
          {type, type, type}
      );
    }
    return form.emit(ternary<ops::mad24_hi<T>, T, T, T, T>, {type, type, type});
  }
  return form.emit(
      form.take(Mod::Lo) ? ternary<ops::mad24_lo<T>, T, T, T, T> : nullptr,
      {type, type, type}
  );
}

Result<void> lower_mad24(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return type == Mod::S32 ? emit_mad24<std::int32_t>(form, type)
                          : emit_mad24<std::uint32_t>(form, type);
}

// --- The rest

Result<void> lower_sad(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return form.emit(
      for_integer(type, []<class T>() -> Handler { return ternary<ops::sad<T>, T, T, T, T>; }),
      {type, type, type}
  );
}

Result<void> lower_div(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  if (goes_to_float(form)) {
    return to_float(form);
  }
  const ptx::Type type = form.take_type();
  return form.emit(
      for_integer(type, []<class T>() -> Handler { return binary<ops::div<T>, T, T, T>; }),
      {type, type}
  );
}

Result<void> lower_rem(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  return form.emit(
      for_integer(type, []<class T>() -> Handler { return binary<ops::rem<T>, T, T, T>; }),
      {type, type}
  );
}

Result<void> lower_abs(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  if (goes_to_float(form)) {
    return to_float(form);
  }
  const ptx::Type type = form.take_type();
  return form.emit(
      for_integer(
          type,
          []<class T>() -> Handler {
            if constexpr (std::is_signed_v<T>) {
              return unary<ops::abs<T>, T, T>;
            } else {
              return nullptr;
            }
          }
      ),
      {type}
  );
}

Result<void> lower_neg(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  if (goes_to_float(form)) {
    return to_float(form);
  }
  const ptx::Type type = form.take_type();
  return form.emit(
      for_width(type, []<class T>() -> Handler { return unary<ops::neg<T>, T, T>; }),
      {type}
  );
}

template <bool Max> Result<void> lower_extremum(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  if (goes_to_float(form)) {
    return to_float(form);
  }
  using U = std::uint32_t;
  using S = std::int32_t;
  using S16 = std::int16_t;
  using U16 = std::uint16_t;
  const ptx::Type type = form.take_type();
  const bool relu = form.take(Mod::Relu);
  Handler handler = nullptr;
  if (type == Mod::S16x2) {
    handler = relu
                  ? binary<ops::halves<Max ? ops::max_relu<S16> : ops::min_relu<S16>, S16>, U, U, U>
                  : binary<ops::halves<Max ? ops::max<S16> : ops::min<S16>, S16>, U, U, U>;
  } else if (relu) {
    handler = type == Mod::S32 ? binary < Max ? ops::max_relu<S> : ops::min_relu<S>, S, S,
    S >                        : nullptr;
  } else if (type == Mod::U16x2) {
    handler = binary<ops::halves<Max ? ops::max<U16> : ops::min<U16>, U16>, U, U, U>;
  } else {
    handler = for_integer(type, []<class T>() -> Handler {
      return binary < Max ? ops::max<T> : ops::min<T>, T, T, T > ;
    });
  }
  return form.emit(handler, {type, type});
}

template <class A, class B> Handler dot_handler(bool two, bool upper) {
  using U = std::uint32_t;
  if (!two) {
    return ternary<ops::dp4a<A, B>, U, U, U, U>;
  }
  using A16 = std::conditional_t<std::is_signed_v<A>, std::int16_t, std::uint16_t>;
  return upper ? ternary<ops::dp2a<A16, B, true>, U, U, U, U>
               : ternary<ops::dp2a<A16, B, false>, U, U, U, U>;
}

/// dp4a and dp2a: two types, of a and of b; the accumulator is signed if either is.
Result<void> lower_dot(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const bool two = form.opcode() == ptx::Opcode::Dp2a;
  const bool upper = form.take(Mod::Hi);
  form.take(Mod::Lo);
  const bool a_signed = form.take_type(0) == Mod::S32;
  const bool b_signed = form.take_type(1) == Mod::S32;
  using S = std::int8_t;
  using U = std::uint8_t;
  const Handler handler =
      a_signed ? (b_signed ? dot_handler<S, S>(two, upper) : dot_handler<S, U>(two, upper))
               : (b_signed ? dot_handler<U, S>(two, upper) : dot_handler<U, U>(two, upper));
  return form.emit(handler, {Mod::B32, Mod::B32, Mod::B32});
}

} // namespace

void register_integer(LowerTable& table) {
  using ptx::Opcode;
  table[Opcode::Add] = lower_sum<Addition>;
  table[Opcode::Sub] = lower_sum<Subtraction>;
  table[Opcode::Addc] = lower_addc;
  table[Opcode::Subc] = lower_subc;
  table[Opcode::Mul] = lower_mul;
  table[Opcode::Mad] = lower_mad;
  table[Opcode::Madc] = lower_madc;
  table[Opcode::Mul24] = lower_mul24;
  table[Opcode::Mad24] = lower_mad24;
  table[Opcode::Sad] = lower_sad;
  table[Opcode::Div] = lower_div;
  table[Opcode::Rem] = lower_rem;
  table[Opcode::Abs] = lower_abs;
  table[Opcode::Neg] = lower_neg;
  table[Opcode::Min] = lower_extremum<false>;
  table[Opcode::Max] = lower_extremum<true>;
  table[Opcode::Dp4a] = lower_dot;
  table[Opcode::Dp2a] = lower_dot;
  register_bits(table);
  register_comparison(table);
  register_video(table);
}

} // namespace heddle::isa

// f32, f64 and f32x2 arithmetic: add sub mul fma mad div rcp sqrt rsqrt neg abs min max copysign
// and the approximate functions (PTX ISA 9.0, 9.7.3).
#include "isa/lower_arithmetic.h"
#include "isa/ops_approx.h"
#include "isa/ops_convert.h"
#include "isa/ops_float.h"

namespace heddle::isa {

namespace {

using ops::Round;
using ptx::Mod;

/// f.operator()<T, Round, Ftz>() for the instruction's type and modifiers; takes those modifiers.
template <class F> Handler for_rounding(Form& form, ptx::Type type, F&& f) {
  const auto word = form.take_one_of({Mod::Rn, Mod::Rz, Mod::Rm, Mod::Rp}).value_or(Mod::Rn);
  const auto pick = [&]<class T, bool Ftz>() -> Handler {
    switch (word) {
    case Mod::Rz:
      return f.template operator()<T, Round::Zero, Ftz>();
    case Mod::Rm:
      return f.template operator()<T, Round::Down, Ftz>();
    case Mod::Rp:
      return f.template operator()<T, Round::Up, Ftz>();
    default:
      return f.template operator()<T, Round::Nearest, Ftz>();
    }
  };
  if (type == Mod::F32) {
    return form.take(Mod::Ftz) ? pick.template operator()<float, true>()
                               : pick.template operator()<float, false>();
  }
  return type == Mod::F64 ? pick.template operator()<double, false>() : nullptr;
}

/// Two f32 in a 64-bit register (.f32x2).
struct Pair {
  float low, high;
};
template <auto F, class... Pairs> Pair both(Pairs... pairs) {
  return {F(pairs.low...), F(pairs.high...)};
}
/// f.operator()<Round, Ftz>() for .f32x2.
template <class F> Handler for_pairs(Form& form, F&& f) {
  return for_rounding(form, Mod::F32, [&]<class, Round R, bool Ftz>() -> Handler {
    return f.template operator()<R, Ftz>();
  });
}

/// f.operator()<Ftz>() for f32; takes .ftz.
template <class F> Handler for_ftz(Form& form, ptx::Type type, F&& f) {
  const bool ftz = form.take(Mod::Ftz);
  if (type != Mod::F32) {
    return nullptr;
  }
  return ftz ? f.template operator()<true>() : f.template operator()<false>();
}

/// Emits the op and, for .sat (f32 only), a second one that saturates its result.
Result<void> emit_saturating(Form& form, const Op& op) {
  const bool sat = form.take(Mod::Sat);
  TRY_VOID(form.emit(op));
  if (sat) {
    Op saturation = form.lowering().op(form.instruction());
    saturation.execute = unary<ops::saturate<float>, float, float>;
    saturation.a = saturation.d = op.d;
    form.lowering().emit(saturation);
  }
  return {};
}
Result<void>
emit_saturating(Form& form, Handler handler, std::initializer_list<ptx::Type> sources) {
  if (form.operand_count() != sources.size() + 1) {
    return form.unsupported_form();
  }
  return emit_saturating(form, form.op(handler, sources));
}

/// What add, sub and mul have in common.
struct Add {
  template <class T, Round R, bool Ftz> static constexpr auto f = ops::float_add<T, R, Ftz>;
};
struct Sub {
  template <class T, Round R, bool Ftz> static constexpr auto f = ops::float_sub<T, R, Ftz>;
};
struct Mul {
  template <class T, Round R, bool Ftz> static constexpr auto f = ops::float_mul<T, R, Ftz>;
};

/// An f16 or bf16 operand as f32: exact. (Mixed precision: add.f32.f16 d, a, c and its kin.)
Ref widened(Form& form, std::size_t operand, ptx::Type type) {
  Op op = form.lowering().op(form.instruction());
  op.execute = type == Mod::F16 ? unary<ops::half_to_float<ops::Half>, float, ops::Half>
                                : unary<ops::half_to_float<ops::Bfloat>, float, ops::Bfloat>;
  op.a = form.source(operand, type);
  op.d = form.lowering().scratch(4);
  form.lowering().emit(op);
  return op.d;
}

template <class Operation> Result<void> lower_binary_arithmetic(Form& form) {
  const ptx::Type type = form.take_type();
  if (type == Mod::F32x2) {
    return form.emit(
        for_pairs(
            form,
            []<Round R, bool Ftz>() -> Handler {
              return binary<
                  both<Operation::template f<float, R, Ftz>, Pair, Pair>,
                  Pair,
                  Pair,
                  Pair>;
            }
        ),
        {type, type}
    );
  }
  const Handler handler = for_rounding(form, type, []<class T, Round R, bool Ftz>() -> Handler {
    return binary<Operation::template f<T, R, Ftz>, T, T, T>;
  });
  if (is_half(form.type(1))) { // mixed precision
    Op op = form.lowering().op(form.instruction());
    op.execute = handler;
    op.a = widened(form, 1, form.take_type(1));
    op.b = form.source(2, type);
    op.d = form.destination();
    return emit_saturating(form, op);
  }
  return emit_saturating(form, handler, {type, type});
}

/// fma, and mad on floats: the same since sm_20.
Result<void> lower_fused(Form& form) {
  const ptx::Type type = form.take_type();
  if (type == Mod::F32x2) {
    return form.emit(
        for_pairs(
            form,
            []<Round R, bool Ftz>() -> Handler {
              return ternary<
                  both<ops::float_fma<float, R, Ftz>, Pair, Pair, Pair>,
                  Pair,
                  Pair,
                  Pair,
                  Pair>;
            }
        ),
        {type, type, type}
    );
  }
  const Handler handler = for_rounding(form, type, []<class T, Round R, bool Ftz>() -> Handler {
    return ternary<ops::float_fma<T, R, Ftz>, T, T, T, T>;
  });
  if (is_half(form.type(1))) { // mixed precision
    const ptx::Type half = form.take_type(1);
    Op op = form.lowering().op(form.instruction());
    op.execute = handler;
    op.a = widened(form, 1, half);
    op.b = widened(form, 2, half);
    op.c = form.source(3, type);
    op.d = form.destination();
    return emit_saturating(form, op);
  }
  return emit_saturating(form, handler, {type, type, type});
}

Result<void> lower_div(Form& form) {
  const ptx::Type type = form.take_type();
  using F = float;
  if (form.take(Mod::Approx)) {
    return form.emit(
        for_ftz(
            form,
            type,
            []<bool Ftz>() -> Handler { return binary<ops::div_approx<Ftz>, F, F, F>; }
        ),
        {type, type}
    );
  }
  if (form.take(Mod::Full)) {
    return form.emit(
        for_ftz(
            form,
            type,
            []<bool Ftz>() -> Handler { return binary<ops::div_full<Ftz>, F, F, F>; }
        ),
        {type, type}
    );
  }
  return form.emit(
      for_rounding(
          form,
          type,
          []<class T, Round R, bool Ftz>() -> Handler {
            return binary<ops::float_div<T, R, Ftz>, T, T, T>;
          }
      ),
      {type, type}
  );
}

Result<void> lower_sign(Form& form) {
  const ptx::Type type = form.take_type();
  const bool abs = form.opcode() == ptx::Opcode::Abs;
  if (type == Mod::F64) {
    return form.emit(
        abs ? unary<ops::float_abs<double>, double, double>
            : unary<ops::float_neg<double>, double, double>,
        {type}
    );
  }
  return form.emit(
      for_ftz(
          form,
          type,
          [abs]<bool Ftz>() -> Handler {
            return abs ? unary<ops::float_abs<float, Ftz>, float, float>
                       : unary<ops::float_neg<float, Ftz>, float, float>;
          }
      ),
      {type}
  );
}

template <bool Max, bool Nan, bool Magnitude> Handler extremum_handler(bool ftz) {
  using F = float;
  return ftz ? binary<ops::float_extremum<F, Max, true, Nan, Magnitude>, F, F, F>
             : binary<ops::float_extremum<F, Max, false, Nan, Magnitude>, F, F, F>;
}

/// min, max of three operands (sm_100): two of two, .abs of the operands first.
template <bool Max> Result<void> lower_extremum_of_three(Form& form, bool nan, bool ftz) {
  Lowering& l = form.lowering();
  const bool abs = form.take(Mod::Abs);
  Ref values[3];
  for (std::size_t n = 0; n < 3; ++n) {
    values[n] = form.source(n + 1, Mod::F32);
    if (abs) {
      Op op = l.op(form.instruction());
      op.execute = unary<ops::float_abs<float>, float, float>;
      op.a = values[n];
      op.d = values[n] = l.scratch(4);
      l.emit(op);
    }
  }
  Op op = l.op(form.instruction());
  op.execute =
      nan ? extremum_handler<Max, true, false>(ftz) : extremum_handler<Max, false, false>(ftz);
  op.a = values[0];
  op.b = values[1];
  op.d = l.scratch(4);
  l.emit(op);
  op.a = op.d;
  op.b = values[2];
  op.d = form.destination();
  return form.emit(op);
}

template <bool Max> Result<void> lower_extremum(Form& form) {
  const ptx::Type type = form.take_type();
  using D = double;
  if (type == Mod::F64) {
    return form.emit(binary<ops::float_extremum<D, Max>, D, D, D>, {type, type});
  }
  if (type != Mod::F32) {
    return form.unsupported_form();
  }
  const bool nan = form.take(Mod::NaN);
  const bool ftz = form.take(Mod::Ftz);
  if (form.operand_count() == 4) {
    return lower_extremum_of_three<Max>(form, nan, ftz);
  }
  if (form.take(Mod::Xorsign) && form.take(Mod::Abs)) {
    return form.emit(
        nan ? extremum_handler<Max, true, true>(ftz) : extremum_handler<Max, false, true>(ftz),
        {type, type}
    );
  }
  return form.emit(
      nan ? extremum_handler<Max, true, false>(ftz) : extremum_handler<Max, false, false>(ftz),
      {type, type}
  );
}

// --- Opcodes that only floats have

Result<void> lower_fma(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  return is_half(form.type()) ? lower_half(form) : lower_fused(form);
}

struct Reciprocal {
  template <bool Ftz> static constexpr auto approximate = ops::rcp_approx<Ftz>;
  template <class T, Round R, bool Ftz> static constexpr auto rounded = ops::float_rcp<T, R, Ftz>;
};
struct SquareRoot {
  template <bool Ftz> static constexpr auto approximate = ops::sqrt_approx<Ftz>;
  template <class T, Round R, bool Ftz> static constexpr auto rounded = ops::float_sqrt<T, R, Ftz>;
};

/// rcp and sqrt: rounded, or approximate for f32.
template <class F> Result<void> lower_root(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  if (form.take(Mod::Approx)) {
    if (std::is_same_v<F, Reciprocal> && type == Mod::F64 && form.take(Mod::Ftz)) {
      return form.emit(unary<ops::rcp_approx_upper, double, double>, {type});
    }
    return form.emit(
        for_ftz(
            form,
            type,
            []<bool Ftz>() -> Handler { return unary<F::template approximate<Ftz>, float, float>; }
        ),
        {type}
    );
  }
  return form.emit(
      for_rounding(
          form,
          type,
          []<class T, Round R, bool Ftz>() -> Handler {
            return unary<F::template rounded<T, R, Ftz>, T, T>;
          }
      ),
      {type}
  );
}

Result<void> lower_rsqrt(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  form.take(Mod::Approx);
  if (type == Mod::F64) {
    return form.emit(
        form.take(Mod::Ftz) ? unary<ops::rsqrt_approx_upper, double, double>
                            : unary<ops::rsqrt_approx_f64, double, double>,
        {type}
    );
  }
  return form.emit(
      for_ftz(
          form,
          type,
          []<bool Ftz>() -> Handler { return unary<ops::rsqrt_approx<Ftz>, float, float>; }
      ),
      {type}
  );
}

/// sin cos lg2 ex2 tanh: .approx only.
Result<void> lower_function(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  if (is_half(form.type())) {
    return lower_half(form);
  }
  const ptx::Type type = form.take_type();
  form.take(Mod::Approx);
  const ptx::Opcode opcode = form.opcode();
  return form.emit(
      for_ftz(
          form,
          type,
          [opcode]<bool Ftz>() -> Handler {
            switch (opcode) {
            case ptx::Opcode::Sin:
              return unary<ops::sin_approx<Ftz>, float, float>;
            case ptx::Opcode::Cos:
              return unary<ops::cos_approx<Ftz>, float, float>;
            case ptx::Opcode::Lg2:
              return unary<ops::lg2_approx<Ftz>, float, float>;
            case ptx::Opcode::Ex2:
              return unary<ops::ex2_approx<Ftz>, float, float>;
            case ptx::Opcode::Tanh:
              return Ftz ? nullptr : unary<ops::tanh_approx, float, float>;
            default:
              return nullptr;
            }
          }
      ),
      {type}
  );
}

Result<void> lower_copysign(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  using F = float;
  using D = double;
  return form.emit(
      type == Mod::F32   ? binary<ops::float_copysign<F>, F, F, F>
      : type == Mod::F64 ? binary<ops::float_copysign<D>, D, D, D>
                         : nullptr,
      {type, type}
  );
}

} // namespace

Result<void> lower_float(Form& form) {
  switch (form.opcode()) {
  case ptx::Opcode::Add:
    return lower_binary_arithmetic<Add>(form);
  case ptx::Opcode::Sub:
    return lower_binary_arithmetic<Sub>(form);
  case ptx::Opcode::Mul:
    return lower_binary_arithmetic<Mul>(form);
  case ptx::Opcode::Mad:
    return lower_fused(form);
  case ptx::Opcode::Div:
    return lower_div(form);
  case ptx::Opcode::Abs:
  case ptx::Opcode::Neg:
    return lower_sign(form);
  case ptx::Opcode::Min:
    return lower_extremum<false>(form);
  case ptx::Opcode::Max:
    return lower_extremum<true>(form);
  default:
    return form.unsupported_form();
  }
}

void register_float(LowerTable& table) {
  using ptx::Opcode;
  table[Opcode::Fma] = lower_fma;
  table[Opcode::Rcp] = lower_root<Reciprocal>;
  table[Opcode::Sqrt] = lower_root<SquareRoot>;
  table[Opcode::Rsqrt] = lower_rsqrt;
  table[Opcode::Sin] = lower_function;
  table[Opcode::Cos] = lower_function;
  table[Opcode::Lg2] = lower_function;
  table[Opcode::Ex2] = lower_function;
  table[Opcode::Tanh] = lower_function;
  table[Opcode::Copysign] = lower_copysign;
}

} // namespace heddle::isa

// f32, f64 and f32x2 arithmetic: add sub mul fma mad div rcp sqrt rsqrt neg abs min max copysign
// and the approximate functions (PTX ISA 9.0, 9.7.3).
#include "isa/lower_arithmetic.h"
#include "isa/ops_approx.h"
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

/// f.operator()<Ftz>() for f32; takes .ftz.
template <class F> Handler for_ftz(Form& form, ptx::Type type, F&& f) {
  const bool ftz = form.take(Mod::Ftz);
  if (type != Mod::F32) {
    return nullptr;
  }
  return ftz ? f.template operator()<true>() : f.template operator()<false>();
}

/// Emits the op and, for .sat (f32 only), a second one that saturates its result.
Result<void>
emit_saturating(Form& form, Handler handler, std::initializer_list<ptx::Type> sources) {
  const bool sat = form.take(Mod::Sat);
  TRY_VOID(form.emit(handler, sources));
  if (sat) {
    Op op = form.lowering().op(form.instruction());
    op.execute = unary<ops::saturate<float>, float, float>;
    op.d = form.destination();
    op.a = op.d;
    form.lowering().emit(op);
  }
  return {};
}

Result<void> lower_binary_arithmetic(Form& form) {
  const ptx::Type type = form.take_type();
  Handler handler = nullptr;
  switch (form.opcode()) {
  case ptx::Opcode::Add:
    handler = for_rounding(form, type, []<class T, Round R, bool Ftz>() -> Handler {
      return binary<ops::float_add<T, R, Ftz>, T, T, T>;
    });
    break;
  case ptx::Opcode::Sub:
    handler = for_rounding(form, type, []<class T, Round R, bool Ftz>() -> Handler {
      return binary<ops::float_sub<T, R, Ftz>, T, T, T>;
    });
    break;
  default:
    handler = for_rounding(form, type, []<class T, Round R, bool Ftz>() -> Handler {
      return binary<ops::float_mul<T, R, Ftz>, T, T, T>;
    });
    break;
  }
  return emit_saturating(form, handler, {type, type});
}

/// fma, and mad on floats: the same since sm_20.
Result<void> lower_fused(Form& form) {
  const ptx::Type type = form.take_type();
  const Handler handler = for_rounding(form, type, []<class T, Round R, bool Ftz>() -> Handler {
    return ternary<ops::float_fma<T, R, Ftz>, T, T, T, T>;
  });
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

template <bool Max> Result<void> lower_extremum(Form& form) {
  const ptx::Type type = form.take_type();
  using D = double;
  if (type == Mod::F64) {
    return form.emit(binary<ops::float_extremum<D, Max>, D, D, D>, {type, type});
  }
  const bool nan = form.take(Mod::NaN);
  const bool magnitude = form.take(Mod::Xorsign);
  if (magnitude && !form.take(Mod::Abs)) {
    return form.unsupported_form();
  }
  using F = float;
  return form.emit(
      for_ftz(
          form,
          type,
          [=]<bool Ftz>() -> Handler {
            if (magnitude) {
              return nan ? binary<ops::float_extremum<F, Max, Ftz, true, true>, F, F, F>
                         : binary<ops::float_extremum<F, Max, Ftz, false, true>, F, F, F>;
            }
            return nan ? binary<ops::float_extremum<F, Max, Ftz, true>, F, F, F>
                       : binary<ops::float_extremum<F, Max, Ftz>, F, F, F>;
          }
      ),
      {type, type}
  );
}

// --- Opcodes that only floats have
// -------------------------------------------------------------------

Result<void> lower_fma(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  return is_half(form.type()) ? lower_half(form) : lower_fused(form);
}

Result<void> lower_rcp(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  if (form.take(Mod::Approx)) {
    if (type == Mod::F64 && form.take(Mod::Ftz)) {
      return form.emit(unary<ops::rcp_approx_upper, double, double>, {type});
    }
    return form.emit(
        for_ftz(
            form,
            type,
            []<bool Ftz>() -> Handler { return unary<ops::rcp_approx<Ftz>, float, float>; }
        ),
        {type}
    );
  }
  return form.emit(
      for_rounding(
          form,
          type,
          []<class T, Round R, bool Ftz>() -> Handler {
            return unary<ops::float_rcp<T, R, Ftz>, T, T>;
          }
      ),
      {type}
  );
}

Result<void> lower_sqrt(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  const ptx::Type type = form.take_type();
  if (form.take(Mod::Approx)) {
    return form.emit(
        for_ftz(
            form,
            type,
            []<bool Ftz>() -> Handler { return unary<ops::sqrt_approx<Ftz>, float, float>; }
        ),
        {type}
    );
  }
  return form.emit(
      for_rounding(
          form,
          type,
          []<class T, Round R, bool Ftz>() -> Handler {
            return unary<ops::float_sqrt<T, R, Ftz>, T, T>;
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
  case ptx::Opcode::Sub:
  case ptx::Opcode::Mul:
    return lower_binary_arithmetic(form);
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
  table[Opcode::Rcp] = lower_rcp;
  table[Opcode::Sqrt] = lower_sqrt;
  table[Opcode::Rsqrt] = lower_rsqrt;
  table[Opcode::Sin] = lower_function;
  table[Opcode::Cos] = lower_function;
  table[Opcode::Lg2] = lower_function;
  table[Opcode::Ex2] = lower_function;
  table[Opcode::Tanh] = lower_function;
  table[Opcode::Copysign] = lower_copysign;
}

} // namespace heddle::isa

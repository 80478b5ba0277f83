// f16, bf16 and their packed forms: add sub mul fma neg abs min max, comparisons, tanh ex2 (PTX
// ISA 9.0, 9.7.4 and 9.7.5).
//
// Each handler exists for f16, bf16 and, on both halves of a 32-bit register, f16x2 and bf16x2.
#include "isa/lower_arithmetic.h"
#include "isa/ops_compare.h"
#include "isa/ops_half.h"

namespace heddle::isa {

namespace {

using ops::After;
using ops::Bfloat;
using ops::Half;
using ptx::Mod;
using Pair = std::uint32_t;

template <class H, auto F> Handler unary_handler(bool is_packed) {
  return is_packed ? unary<ops::packed<H, F, Pair>, Pair, Pair> : unary<F, H, H>;
}
template <class H, auto F> Handler binary_handler(bool is_packed) {
  return is_packed ? binary<ops::packed<H, F, Pair, Pair>, Pair, Pair, Pair> : binary<F, H, H, H>;
}
template <class H, auto F> Handler ternary_handler(bool is_packed) {
  return is_packed ? ternary<ops::packed<H, F, Pair, Pair, Pair>, Pair, Pair, Pair, Pair>
                   : ternary<F, H, H, H, H>;
}

/// What the modifiers of an arithmetic instruction say.
struct Style {
  bool is_packed = false;
  bool brain = false; // bf16
  bool ftz = false;
  After after = After::Nothing;
};
Style take_style(Form& form, ptx::Type type) {
  Style s;
  s.is_packed = ptx::type_bits(type) == 32;
  s.brain = type == Mod::Bf16 || type == Mod::Bf16x2;
  s.ftz = form.take(Mod::Ftz);
  s.after = form.take(Mod::Sat)    ? After::Saturate
            : form.take(Mod::Relu) ? After::Relu
                                   : After::Nothing;
  return s;
}

/// f.operator()<H, Ftz, After>(): what f16 and bf16 have of it.
template <class F> Handler for_style(const Style& s, F&& f) {
  if (s.brain) { // bf16 has neither .ftz nor .sat
    if (s.ftz || s.after == After::Saturate) {
      return nullptr;
    }
    return s.after == After::Relu ? f.template operator()<Bfloat, false, After::Relu>()
                                  : f.template operator()<Bfloat, false, After::Nothing>();
  }
  switch (s.after) {
  case After::Saturate:
    return s.ftz ? f.template operator()<Half, true, After::Saturate>()
                 : f.template operator()<Half, false, After::Saturate>();
  case After::Relu:
    return s.ftz ? f.template operator()<Half, true, After::Relu>()
                 : f.template operator()<Half, false, After::Relu>();
  default:
    return s.ftz ? f.template operator()<Half, true, After::Nothing>()
                 : f.template operator()<Half, false, After::Nothing>();
  }
}

Result<void> lower_binary_arithmetic(Form& form) {
  const ptx::Type type = form.take_type();
  form.take(Mod::Rn);
  const Style s = take_style(form, type);
  if (s.after == After::Relu) {
    return form.unsupported_form();
  }
  const ptx::Opcode opcode = form.opcode();
  const Handler handler = for_style(s, [&]<class H, bool Ftz, After What>() -> Handler {
    if constexpr (What == After::Relu) {
      return nullptr;
    } else {
      switch (opcode) {
      case ptx::Opcode::Add:
        return binary_handler<H, ops::half_add<H, Ftz, What>>(s.is_packed);
      case ptx::Opcode::Sub:
        return binary_handler<H, ops::half_sub<H, Ftz, What>>(s.is_packed);
      default:
        return binary_handler<H, ops::half_mul<H, Ftz, What>>(s.is_packed);
      }
    }
  });
  return form.emit(handler, {type, type});
}

Result<void> lower_fma(Form& form) {
  const ptx::Type type = form.take_type();
  form.take(Mod::Rn);
  const bool oob = form.take(Mod::Oob);
  const Style s = take_style(form, type);
  const Handler handler = for_style(s, [&]<class H, bool Ftz, After What>() -> Handler {
    if constexpr (!Ftz && What != After::Saturate) {
      if (oob) {
        return ternary_handler<H, ops::half_fma_oob<H, What>>(s.is_packed);
      }
    }
    return oob ? nullptr : ternary_handler<H, ops::half_fma<H, Ftz, What>>(s.is_packed);
  });
  return form.emit(handler, {type, type, type});
}

Result<void> lower_sign(Form& form) {
  const ptx::Type type = form.take_type();
  const Style s = take_style(form, type);
  const bool abs = form.opcode() == ptx::Opcode::Abs;
  const auto pick = [&]<class H, bool Ftz>() -> Handler {
    return abs ? unary_handler<H, ops::half_abs<H, Ftz>>(s.is_packed)
               : unary_handler<H, ops::half_neg<H, Ftz>>(s.is_packed);
  };
  if (s.after != After::Nothing || (s.brain && s.ftz)) {
    return form.unsupported_form();
  }
  const Handler handler = s.brain ? pick.template operator()<Bfloat, false>()
                          : s.ftz ? pick.template operator()<Half, true>()
                                  : pick.template operator()<Half, false>();
  return form.emit(handler, {type});
}

template <bool Max> Result<void> lower_extremum(Form& form) {
  const ptx::Type type = form.take_type();
  const bool nan = form.take(Mod::NaN);
  const bool magnitude = form.take(Mod::Xorsign);
  if (magnitude && !form.take(Mod::Abs)) {
    return form.unsupported_form();
  }
  const Style s = take_style(form, type);
  if (s.after != After::Nothing || (s.brain && s.ftz)) {
    return form.unsupported_form();
  }
  const auto pick = [&]<class H, bool Ftz>() -> Handler {
    if (magnitude) {
      return nan ? binary_handler<H, ops::half_extremum<H, Max, Ftz, true, true>>(s.is_packed)
                 : binary_handler<H, ops::half_extremum<H, Max, Ftz, false, true>>(s.is_packed);
    }
    return nan ? binary_handler<H, ops::half_extremum<H, Max, Ftz, true, false>>(s.is_packed)
               : binary_handler<H, ops::half_extremum<H, Max, Ftz, false, false>>(s.is_packed);
  };
  const Handler handler = s.brain ? pick.template operator()<Bfloat, false>()
                          : s.ftz ? pick.template operator()<Half, true>()
                                  : pick.template operator()<Half, false>();
  return form.emit(handler, {type, type});
}

Result<void> lower_function(Form& form) {
  const ptx::Type type = form.take_type();
  form.take(Mod::Approx);
  const Style s = take_style(form, type);
  Handler handler = nullptr;
  if (form.opcode() == ptx::Opcode::Tanh && !s.ftz) {
    handler = s.brain ? unary_handler<Bfloat, ops::half_tanh<Bfloat>>(s.is_packed)
                      : unary_handler<Half, ops::half_tanh<Half>>(s.is_packed);
  } else if (form.opcode() == ptx::Opcode::Ex2 && s.ftz == s.brain) {
    handler = s.brain ? unary_handler<Bfloat, ops::half_ex2<Bfloat, true>>(s.is_packed)
                      : unary_handler<Half, ops::half_ex2<Half>>(s.is_packed);
  }
  return form.emit(handler, {type});
}

// --- Comparisons: as floats

template <class H, bool (*F)(float, float), bool Ftz, bool High>
inline bool compare_word(std::uint32_t a, std::uint32_t b) {
  const H x{static_cast<std::uint16_t>(High ? a >> 16 : a)};
  const H y{static_cast<std::uint16_t>(High ? b >> 16 : b)};
  return F(to_float(ops::flush_half_if<Ftz>(x)), to_float(ops::flush_half_if<Ftz>(y)));
}
template <class H, bool (*F)(float, float), bool Ftz> inline bool compare_half(H a, H b) {
  return F(to_float(ops::flush_half_if<Ftz>(a)), to_float(ops::flush_half_if<Ftz>(b)));
}

/// f.operator()<F>() for the five base relations.
template <class Make> Relations relations_by(Make make) {
  using F = float;
  return {
      make.template operator()<ops::equal<F>>(),
      make.template operator()<ops::less<F>>(),
      make.template operator()<ops::less_equal<F>>(),
      make.template operator()<ops::unequal_ordered<F>>(),
      make.template operator()<ops::ordered<F>>()
  };
}

/// Comparisons of one half of packed operands.
template <bool High> Relations packed_relations(ptx::Type type, bool ftz) {
  if (type == Mod::Bf16x2) {
    return ftz ? Relations{} : relations_by([]<bool (*F)(float, float)>() -> Handler {
      return compare<compare_word<Bfloat, F, false, High>, Pair>;
    });
  }
  return ftz ? relations_by([]<bool (*F)(float, float)>() -> Handler {
    return compare<compare_word<Half, F, true, High>, Pair>;
  })
             : relations_by([]<bool (*F)(float, float)>() -> Handler {
                 return compare<compare_word<Half, F, false, High>, Pair>;
               });
}

/// d = the constants op.a where the predicate op.c holds else zero, in the low half, and likewise
/// op.e in the high half; 16-bit results leave op.e alone.
const Op* select_halves(Exec& exec, const Op& op) {
  const auto* ones = exec.in<Pair>(op.a);
  const LaneMask low = exec.predicate(op.b);
  const LaneMask high = exec.predicate(op.c);
  for_lanes(exec, exec.out<Pair>(op.d), [=](int lane) {
    return ones[lane] & ((((low >> lane) & 1U) != 0 ? 0xffffU : 0U) |
                         (((high >> lane) & 1U) != 0 ? 0xffff'0000U : 0U));
  });
  return &op + 1;
}

/// setp and set on packed operands: one comparison per half, p and q (or the halves of d) get them.
Result<void> lower_packed_comparison(Form& form) {
  Lowering& l = form.lowering();
  const bool to_predicates = form.opcode() == ptx::Opcode::Setp;
  const ptx::Type result = form.take_type(0);
  const ptx::Type type = to_predicates ? result : form.take_type(1);
  const bool ftz = form.take(Mod::Ftz);
  const auto relation = take_relation(form);
  const auto combining = form.take_one_of({Mod::And, Mod::Or, Mod::Xor});
  if (!relation || form.operand_count() != (combining ? 4U : 3U)) {
    return form.unsupported_form();
  }
  Ref places[2]; // low, high
  Op chosen = l.op(form.instruction());
  if (to_predicates) {
    const ptx::Operand& d = form.operand(0);
    if (d.kind != ptx::OperandKind::PredicatePair) {
      return form.unsupported_form();
    }
    places[0] = l.destination(d.elements[0]);
    places[1] = l.destination(d.elements[1]);
  } else {
    const bool to_masks = result == Mod::U32 || result == Mod::S32;
    if (result != type && !to_masks) {
      return form.unsupported_form();
    }
    chosen.execute = select_halves;
    chosen.a = l.constant_of(
        to_masks             ? 0xffff'ffffU
        : type == Mod::F16x2 ? 0x3c00'3c00U
                             : 0x3f80'3f80U
    );
    chosen.b = places[0] = l.scratch_predicate();
    chosen.c = places[1] = l.scratch_predicate();
    chosen.d = form.destination();
  }
  const Ref a = form.source(1, type);
  const Ref b = form.source(2, type);
  // c may be the register that the first comparison writes.
  Ref c = combining ? form.source(3, Mod::Pred) : Ref{};
  TRY_VOID(form.check());
  if (combining && to_predicates) {
    Op copy = l.op(form.instruction());
    copy.execute = copy_predicate;
    copy.a = c;
    copy.d = c = l.scratch_predicate();
    l.emit(copy);
  }
  const Relations halves[2] = {
      packed_relations<false>(type, ftz),
      packed_relations<true>(type, ftz)
  };
  for (int half = 0; half < 2; ++half) {
    const Comparison comparison = pick_relation(halves[half], *relation);
    if (comparison.handler == nullptr) {
      return form.unsupported_form();
    }
    Op op = l.op(form.instruction());
    op.execute = comparison.handler;
    op.a = comparison.swap ? b : a;
    op.b = comparison.swap ? a : b;
    op.c = c;
    op.d = places[half];
    op.imm = (comparison.invert ? Combine::invert : 0) | (combining ? combine_bits(*combining) : 0);
    l.emit(op);
  }
  if (!to_predicates) {
    l.emit(chosen);
  }
  return {};
}

} // namespace

Relations half_relations(ptx::Type type, bool ftz) {
  if (type == Mod::Bf16) {
    return ftz ? Relations{} : relations_by([]<bool (*F)(float, float)>() -> Handler {
      return compare<compare_half<Bfloat, F, false>, Bfloat>;
    });
  }
  return ftz ? relations_by([]<bool (*F)(float, float)>() -> Handler {
    return compare<compare_half<Half, F, true>, Half>;
  })
             : relations_by([]<bool (*F)(float, float)>() -> Handler {
                 return compare<compare_half<Half, F, false>, Half>;
               });
}

Result<void> lower_half(Form& form) {
  switch (form.opcode()) {
  case ptx::Opcode::Add:
  case ptx::Opcode::Sub:
  case ptx::Opcode::Mul:
    return lower_binary_arithmetic(form);
  case ptx::Opcode::Fma:
    return lower_fma(form);
  case ptx::Opcode::Abs:
  case ptx::Opcode::Neg:
    return lower_sign(form);
  case ptx::Opcode::Min:
    return lower_extremum<false>(form);
  case ptx::Opcode::Max:
    return lower_extremum<true>(form);
  case ptx::Opcode::Tanh:
  case ptx::Opcode::Ex2:
    return lower_function(form);
  case ptx::Opcode::Set:
  case ptx::Opcode::Setp:
    return lower_packed_comparison(form);
  default:
    return form.unsupported_form();
  }
}

} // namespace heddle::isa

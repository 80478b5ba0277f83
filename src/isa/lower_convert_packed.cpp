// cvt to and from packed and small floating-point types: f16x2 bf16x2 tf32 and the 8-, 6- and 4-bit
// formats, with .relu, .satfinite, .rs, .rna; cvt.pack (PTX ISA 9.0, 9.7.9.21 and 9.7.9.22).
//
// Not executed: .rs to 8-, 6- and 4-bit formats (sm_100a only): which random bits meet which
// operand is not published as text.
#include "isa/lower_arithmetic.h"
#include "isa/ops_convert.h"

namespace heddle::isa {

namespace {

using ops::Format;
using ops::Round;
using ptx::Mod;
using F = float;
using U16 = std::uint16_t;
using U32 = std::uint32_t;

struct Modifiers {
  Mod rounding{};
  bool relu = false;
  bool satfinite = false;
};

/// f.operator()<Relu, Satfinite>()
template <class Choose> Handler for_clamps(const Modifiers& m, Choose choose) {
  return m.relu ? (m.satfinite ? choose.template operator()<true, true>()
                               : choose.template operator()<true, false>())
                : (m.satfinite ? choose.template operator()<false, true>()
                               : choose.template operator()<false, false>());
}

// --- To f16, bf16 and pairs of them from f32

template <Format To, Round R, bool Relu, bool Satfinite> U16 narrow_to_word(F a) {
  return static_cast<U16>(ops::narrow<To, R, Relu, Satfinite>(a));
}

template <Format To> Handler narrow_to_half(const Modifiers& m, bool two) {
  return for_clamps(m, [&]<bool Relu, bool Satfinite>() -> Handler {
    if (m.rounding == Mod::Rn) {
      return two ? binary<ops::narrow_two<To, Round::Nearest, Relu, Satfinite, 16>, U32, F, F>
                 : unary<narrow_to_word<To, Round::Nearest, Relu, Satfinite>, U16, F>;
    }
    if (m.rounding == Mod::Rz) {
      return two ? binary<ops::narrow_two<To, Round::Zero, Relu, Satfinite, 16>, U32, F, F>
                 : unary<narrow_to_word<To, Round::Zero, Relu, Satfinite>, U16, F>;
    }
    if (m.rounding == Mod::Rs && two) {
      constexpr unsigned random_bits = 23 - To.mantissa_bits;
      return ternary<ops::narrow_two_stochastic<To, random_bits, Relu, Satfinite>, U32, F, F, U32>;
    }
    return nullptr;
  });
}

Handler narrow_to_tf32(const Modifiers& m) {
  return for_clamps(m, [&]<bool Relu, bool Satfinite>() -> Handler {
    switch (m.rounding) {
    case Mod::Rn:
      return unary<ops::narrow_to_tf32<Round::Nearest, Relu, Satfinite>, U32, F>;
    case Mod::Rz:
      return unary<ops::narrow_to_tf32<Round::Zero, Relu, Satfinite>, U32, F>;
    case Mod::Rna:
      return Relu ? nullptr : unary<ops::narrow_to_tf32_away<Satfinite>, U32, F>;
    default:
      return nullptr;
    }
  });
}

// --- 8-, 6- and 4-bit formats

/// f.operator()<Format, Width>() for a packed pair of a small format.
template <class Choose> Handler for_small_format(ptx::Type type, Choose choose) {
  switch (type) {
  case Mod::E4m3x2:
    return choose.template operator()<ops::e4m3_format, 8>();
  case Mod::E5m2x2:
    return choose.template operator()<ops::e5m2_format, 8>();
  case Mod::E2m3x2:
    return choose.template operator()<ops::e2m3_format, 8>();
  case Mod::E3m2x2:
    return choose.template operator()<ops::e3m2_format, 8>();
  case Mod::E2m1x2:
    return choose.template operator()<ops::e2m1_format, 4>();
  default:
    return nullptr;
  }
}
bool is_small_pair(ptx::Type type) {
  return for_small_format(type, []<Format To, unsigned Width>() -> Handler {
           return copy_predicate; // any
         }) != nullptr;
}

template <Format To, bool Relu, unsigned Width> U16 narrow_two_small(F a, F b) {
  return static_cast<U16>(ops::narrow_two<To, Round::Nearest, Relu, true, Width>(a, b));
}
Handler small_from_singles(ptx::Type type, bool relu) {
  return for_small_format(type, [relu]<Format To, unsigned Width>() -> Handler {
    return relu ? binary<narrow_two_small<To, true, Width>, U16, F, F>
                : binary<narrow_two_small<To, false, Width>, U16, F, F>;
  });
}
template <class H> Handler small_from_halves(ptx::Type type, bool relu) {
  return for_small_format(type, [relu]<Format To, unsigned Width>() -> Handler {
    return relu ? unary<ops::narrow_packed<To, true, Width, H>, U16, U32>
                : unary<ops::narrow_packed<To, false, Width, H>, U16, U32>;
  });
}
Handler halves_from_small(ptx::Type type, bool relu) {
  return for_small_format(type, [relu]<Format From, unsigned Width>() -> Handler {
    return relu ? unary<ops::widen_packed<From, true, Width>, U32, U16>
                : unary<ops::widen_packed<From, false, Width>, U32, U16>;
  });
}

/// f.operator()<Up, Satfinite>()
template <class Choose> Handler for_ue8m0(const Modifiers& m, Choose choose) {
  if (m.relu || (m.rounding != Mod::Rz && m.rounding != Mod::Rp)) {
    return nullptr;
  }
  return m.rounding == Mod::Rp ? (m.satfinite ? choose.template operator()<true, true>()
                                              : choose.template operator()<true, false>())
                               : (m.satfinite ? choose.template operator()<false, true>()
                                              : choose.template operator()<false, false>());
}

Result<void> lower_small(Form& form, ptx::Type to, ptx::Type from, const Modifiers& m) {
  if (to == Mod::Ue8m0x2 && from == Mod::F32) {
    return form.emit(
        for_ue8m0(
            m,
            []<bool Up, bool Satfinite>() -> Handler {
              return binary<ops::narrow_two_to_ue8m0<Up, Satfinite>, U16, F, F>;
            }
        ),
        {from, from}
    );
  }
  if (to == Mod::Ue8m0x2 && from == Mod::Bf16x2) {
    return form.emit(
        for_ue8m0(
            m,
            []<bool Up, bool Satfinite>() -> Handler {
              return unary<ops::narrow_packed_to_ue8m0<Up, Satfinite>, U16, U32>;
            }
        ),
        {from}
    );
  }
  if (m.rounding != Mod::Rn) {
    return form.unsupported_form();
  }
  if (from == Mod::Ue8m0x2 && to == Mod::Bf16x2) {
    return form.emit(unary<ops::widen_packed_ue8m0, U32, U16>, {Mod::B16});
  }
  if (is_small_pair(from)) {
    return form.emit(
        to == Mod::F16x2 && !m.satfinite ? halves_from_small(from, m.relu) : nullptr,
        {Mod::B16}
    );
  }
  if (!m.satfinite) {
    return form.unsupported_form();
  }
  switch (from) {
  case Mod::F32:
    return form.emit(small_from_singles(to, m.relu), {from, from});
  case Mod::F16x2:
    return form.emit(small_from_halves<ops::Half>(to, m.relu), {from});
  case Mod::Bf16x2:
    return form.emit(small_from_halves<ops::Bfloat>(to, m.relu), {from});
  default:
    return form.unsupported_form();
  }
}

// --- cvt.pack

Result<void> lower_pack(Form& form) {
  const ptx::Type to = form.take_type(0);
  const bool from_words = form.take_type(1) == Mod::S32;
  form.take(Mod::Pack);
  if (!form.take(Mod::Sat) || !from_words) {
    return form.unsupported_form();
  }
  using S = std::int32_t;
  if (to == Mod::U16 || to == Mod::S16) {
    return form.emit(
        to == Mod::S16 ? binary<ops::pack_saturated_pair<16, true>, U32, S, S>
                       : binary<ops::pack_saturated_pair<16, false>, U32, S, S>,
        {Mod::S32, Mod::S32}
    );
  }
  form.take_type(2);
  Handler handler = nullptr;
  switch (to) {
  case Mod::U8:
    handler = ternary<ops::pack_saturated<8, false>, U32, S, S, U32>;
    break;
  case Mod::S8:
    handler = ternary<ops::pack_saturated<8, true>, U32, S, S, U32>;
    break;
  case Mod::U4:
    handler = ternary<ops::pack_saturated<4, false>, U32, S, S, U32>;
    break;
  case Mod::S4:
    handler = ternary<ops::pack_saturated<4, true>, U32, S, S, U32>;
    break;
  case Mod::U2:
    handler = ternary<ops::pack_saturated<2, false>, U32, S, S, U32>;
    break;
  case Mod::S2:
    handler = ternary<ops::pack_saturated<2, true>, U32, S, S, U32>;
    break;
  default:
    break;
  }
  return form.emit(handler, {Mod::S32, Mod::S32, Mod::B32});
}

} // namespace

bool is_packed_cvt(const Form& form) {
  const ptx::Instruction& i = form.instruction();
  const auto special = [](ptx::Type type) {
    return type == Mod::F16x2 || type == Mod::Bf16x2 || type == Mod::Tf32 || type == Mod::Ue8m0x2 ||
           is_small_pair(type);
  };
  return i.has(Mod::Pack) || i.has(Mod::Relu) || i.has(Mod::Satfinite) || special(form.type(0)) ||
         special(form.type(1));
}

Result<void> lower_packed_cvt(Form& form) {
  if (form.instruction().has(Mod::Pack)) {
    return lower_pack(form);
  }
  const ptx::Type to = form.take_type(0);
  const ptx::Type from = form.take_type(1);
  Modifiers m;
  m.rounding = form.take_one_of({Mod::Rn, Mod::Rz, Mod::Rp, Mod::Rna, Mod::Rs}).value_or(Mod::Pred);
  m.relu = form.take(Mod::Relu);
  m.satfinite = form.take(Mod::Satfinite);
  if (from != Mod::F32 || is_small_pair(to) || to == Mod::Ue8m0x2) {
    return lower_small(form, to, from, m);
  }
  switch (to) {
  case Mod::F16:
    return form.emit(narrow_to_half<ops::f16_format>(m, false), {from});
  case Mod::Bf16:
    return form.emit(narrow_to_half<ops::bf16_format>(m, false), {from});
  case Mod::Tf32:
    return form.emit(narrow_to_tf32(m), {from});
  default:
    break;
  }
  const Handler handler = to == Mod::F16x2    ? narrow_to_half<ops::f16_format>(m, true)
                          : to == Mod::Bf16x2 ? narrow_to_half<ops::bf16_format>(m, true)
                                              : nullptr;
  if (m.rounding == Mod::Rs) {
    return form.emit(handler, {from, from, Mod::B32});
  }
  return form.emit(handler, {from, from});
}

} // namespace heddle::isa

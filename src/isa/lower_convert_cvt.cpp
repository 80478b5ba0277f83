// cvt (PTX ISA 9.0, 9.7.9.21). Registers may be wider than the types. The common conversions are
// one op; the others are put together from up to three through scratch registers: the source as an
// integer or float of its register's natural width, the conversion proper, the result extended to
// its register.
#include "isa/lower_arithmetic.h"
#include "isa/ops_bits.h"
#include "isa/ops_convert.h"

namespace heddle::isa {

namespace {

using ops::Round;
using ptx::Mod;

bool is_integer(ptx::Type type) {
  return ptx::is_signed(type) || ptx::is_unsigned(type) || ptx::is_bits(type);
}
/// Width of the register that a value of `type` has at least.
int natural_bits(ptx::Type type) {
  const int bits = ptx::type_bits(type);
  return bits < 16 ? 16 : bits;
}
ptx::Type integer_type(int bits, bool is_signed) {
  switch (bits) {
  case 8:
    return is_signed ? Mod::S8 : Mod::U8;
  case 16:
    return is_signed ? Mod::S16 : Mod::U16;
  case 32:
    return is_signed ? Mod::S32 : Mod::U32;
  default:
    return is_signed ? Mod::S64 : Mod::U64;
  }
}

/// A value on its way: where it lies and how wide its elements are.
struct Value {
  Ref ref;
  int bits = 0; // of the element: 16, 32 or 64
};

/// One cvt while its ops are put together.
class Conversion {
public:
  explicit Conversion(Form& form) : form_(form), l_(form.lowering()) {}

  Value source(ptx::Type type) {
    const ptx::Operand& operand = form_.operand(1);
    if (operand.kind == ptx::OperandKind::Register) {
      const auto bits = 8 * static_cast<int>(l_.element_bytes(operand, type));
      return {l_.source(operand, type), bits};
    }
    return {form_.source(operand, type), natural_bits(type)};
  }
  int destination_bits(ptx::Type type) const {
    return 8 * static_cast<int>(l_.element_bytes(form_.operand(0), type));
  }

  /// Adds an op from `from` to a new value of `bits`.
  Value step(Handler handler, Value from, int bits) {
    Op op = l_.op(form_.instruction());
    op.execute = handler;
    op.a = from.ref;
    op.d = Ref{};
    ops_.push_back(op);
    bits_.push_back(bits);
    bad_ |= handler == nullptr;
    return {Ref{}, bits};
  }
  Op& last() { return ops_.back(); }
  bool empty() const { return ops_.empty(); }

  /// Connects the ops and emits them; the last one writes the destination.
  Result<void> finish() {
    TRY_VOID(form_.check());
    if (bad_ || ops_.empty()) {
      return form_.unsupported_form();
    }
    for (std::size_t n = 0; n < ops_.size(); ++n) {
      ops_[n].d = n + 1 < ops_.size() ? l_.scratch(static_cast<std::uint32_t>(bits_[n]) / 8)
                                      : form_.destination();
      if (n > 0) {
        ops_[n].a = ops_[n - 1].d;
      }
      l_.emit(ops_[n]);
    }
    return {};
  }

private:
  Form& form_;
  Lowering& l_;
  std::vector<Op> ops_;
  std::vector<int> bits_; // of what each of them writes
  bool bad_ = false;
};

// --- Integer to integer

template <class D, class A> Handler extend_handler(ptx::Type part) {
  switch (part) {
  case Mod::S8:
    return unary<ops::extend<D, std::int8_t, A>, D, A>;
  case Mod::U8:
    return unary<ops::extend<D, std::uint8_t, A>, D, A>;
  case Mod::S16:
    return unary<ops::extend<D, std::int16_t, A>, D, A>;
  case Mod::U16:
    return unary<ops::extend<D, std::uint16_t, A>, D, A>;
  case Mod::S32:
    if constexpr (sizeof(A) >= 4 && sizeof(D) >= 4) {
      return unary<ops::extend<D, std::int32_t, A>, D, A>;
    }
    break;
  case Mod::U32:
    if constexpr (sizeof(A) >= 4 && sizeof(D) >= 4) {
      return unary<ops::extend<D, std::uint32_t, A>, D, A>;
    }
    break;
  default:
    if constexpr (sizeof(A) == 8 && sizeof(D) == 8) {
      return unary<ops::extend<D, std::uint64_t, A>, D, A>;
    }
    break;
  }
  return nullptr;
}
/// The low bits of `part` out of elements of `from` bits, extended into elements of `to` bits.
Handler extend_handler(int from, int to, ptx::Type part) {
  // Bits that do not fit into either element cannot matter.
  const int bits = std::min({ptx::type_bits(part), from, to});
  part = integer_type(bits, ptx::is_signed(part));
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  switch (from * 100 + to) {
  case 1616:
    return extend_handler<U16, U16>(part);
  case 1632:
    return extend_handler<U32, U16>(part);
  case 1664:
    return extend_handler<U64, U16>(part);
  case 3216:
    return extend_handler<U16, U32>(part);
  case 3232:
    return extend_handler<U32, U32>(part);
  case 3264:
    return extend_handler<U64, U32>(part);
  case 6416:
    return extend_handler<U16, U64>(part);
  case 6432:
    return extend_handler<U32, U64>(part);
  case 6464:
    return extend_handler<U64, U64>(part);
  default:
    return nullptr;
  }
}

/// Clamps 64-bit elements to [op.imm, op.imm2] in T's order.
template <class T> const Op* clamp_elements(Exec& exec, const Op& op) {
  const T* a = exec.in<T>(op.a);
  const T low = static_cast<T>(op.imm);
  const T high = static_cast<T>(op.imm2);
  for_lanes(exec, exec.out<T>(op.d), [=](int lane) { return ops::clamp(a[lane], low, high); });
  return &op + 1;
}

void integer_to_integer(
    Conversion& c,
    Value value,
    ptx::Type from,
    ptx::Type to,
    int to_bits,
    bool saturate
) {
  if (saturate) {
    const int bits = ptx::type_bits(to);
    const bool from_signed = ptx::is_signed(from);
    const bool to_signed = ptx::is_signed(to);
    value = c.step(extend_handler(value.bits, 64, from), value, 64);
    value = c.step(
        from_signed ? clamp_elements<std::int64_t> : clamp_elements<std::uint64_t>,
        value,
        64
    );
    const std::uint64_t high =
        ~std::uint64_t{0} >> (64 - bits + (to_signed || (from_signed && bits == 64) ? 1 : 0));
    c.last().imm2 = high;
    c.last().imm = from_signed && to_signed ? -static_cast<std::int64_t>(high) - 1 : 0;
    c.step(extend_handler(64, to_bits, to), value, to_bits);
    return;
  }
  const int from_bits = ptx::type_bits(from);
  const int bits = ptx::type_bits(to);
  if (bits <= from_bits) {
    c.step(extend_handler(value.bits, to_bits, to), value, to_bits);
  } else if (!ptx::is_signed(from) || ptx::is_signed(to) || bits == to_bits) {
    c.step(extend_handler(value.bits, to_bits, from), value, to_bits);
  } else { // sign-extended to the type, then zero-extended to the register
    value = c.step(extend_handler(value.bits, natural_bits(to), from), value, natural_bits(to));
    c.step(extend_handler(value.bits, to_bits, to), value, to_bits);
  }
}

// --- Between integers and floats

Round rounding_of(Mod word) {
  switch (word) {
  case Mod::Rz:
  case Mod::Rzi:
    return Round::Zero;
  case Mod::Rm:
  case Mod::Rmi:
    return Round::Down;
  case Mod::Rp:
  case Mod::Rpi:
    return Round::Up;
  default:
    return Round::Nearest;
  }
}
/// f.operator()<Round>()
template <class F> Handler for_round(Round round, F&& f) {
  switch (round) {
  case Round::Zero:
    return f.template operator()<Round::Zero>();
  case Round::Down:
    return f.template operator()<Round::Down>();
  case Round::Up:
    return f.template operator()<Round::Up>();
  default:
    return f.template operator()<Round::Nearest>();
  }
}

/// f.operator()<I>() for 32 and 64 bits.
template <class F> Handler for_large_integer(ptx::Type type, F&& f) {
  switch (type) {
  case Mod::S32:
    return f.template operator()<std::int32_t>();
  case Mod::U32:
    return f.template operator()<std::uint32_t>();
  case Mod::S64:
    return f.template operator()<std::int64_t>();
  default:
    return f.template operator()<std::uint64_t>();
  }
}

/// The type in which a conversion of `type` to or from a float is done: at least 32 bits.
ptx::Type working_type(ptx::Type type) {
  return ptx::type_bits(type) < 32 ? Mod::S32
                                   : integer_type(ptx::type_bits(type), ptx::is_signed(type));
}

template <class T> Handler integer_to_float_handler(ptx::Type from, Round round) {
  return for_large_integer(from, [round]<class I>() -> Handler {
    return for_round(round, []<Round R>() -> Handler {
      return unary<ops::integer_to_float<T, I, R>, T, I>;
    });
  });
}
template <class H> Handler integer_to_half_handler(bool is_signed, Round round) {
  return for_round(round, [is_signed]<Round R>() -> Handler {
    using S = std::int64_t;
    using U = std::uint64_t;
    return is_signed ? unary<ops::integer_to_half<H, S, R>, H, S>
                     : unary<ops::integer_to_half<H, U, R>, H, U>;
  });
}

template <class T> Handler float_to_integer_handler(ptx::Type to, Round round, bool ftz) {
  return for_large_integer(to, [=]<class I>() -> Handler {
    return for_round(round, [=]<Round R>() -> Handler {
      if constexpr (sizeof(T) == 4 && (R == Round::Down || R == Round::Up)) {
        if (ftz) { // matters only where a subnormal would become 1 or -1
          return unary<ops::float_to_integer<I, T, R, true>, I, T>;
        }
      }
      return unary<ops::float_to_integer<I, T, R>, I, T>;
    });
  });
}
/// f64 to u8 and u16, whose NaN is not that of s32 clamped.
Handler double_to_small_unsigned(ptx::Type to, Round round) {
  return for_round(round, [to]<Round R>() -> Handler {
    using U8 = std::uint8_t;
    using U16 = std::uint16_t;
    using D = double;
    return to == Mod::U8 ? unary<ops::float_to_integer<U8, D, R>, U16, D>
                         : unary<ops::float_to_integer<U16, D, R>, U16, D>;
  });
}

// --- Between floats

/// What the modifiers of a cvt say.
struct Style {
  Round round = Round::Nearest;
  bool integral = false; // .rni .rzi .rmi .rpi
  bool ftz = false;
  bool saturate = false;
};

template <class F> Handler same_float_handler(const Style& style) {
  if (style.integral) {
    return for_round(style.round, [&]<Round R>() -> Handler {
      if constexpr (sizeof(F) == 4) {
        if (style.ftz) {
          return unary<ops::float_to_integral<F, R, true>, F, F>;
        }
      }
      return unary<ops::float_to_integral<F, R>, F, F>;
    });
  }
  if constexpr (sizeof(F) == 4) {
    if (style.ftz) {
      return unary<ops::float_flushed, F, F>;
    }
  }
  return unary<ops::same<F>, F, F>;
}
template <class H> Handler same_half_handler(const Style& style) {
  if (style.integral) {
    return for_round(style.round, []<Round R>() -> Handler {
      return unary<ops::half_to_integral<H, R>, H, H>;
    });
  }
  return unary<ops::half_canonical<H>, H, H>;
}

template <class H> Handler to_half_handler(ptx::Type from, const Style& style) {
  using F = float;
  using D = double;
  return for_round(style.round, [&]<Round R>() -> Handler {
    if (from == Mod::F64) {
      return unary<ops::double_to_half<H, R>, H, D>;
    }
    return unary<ops::float_to_half<H, R>, H, F>;
  });
}
template <class H> Handler from_half_handler(const Style& style) {
  return style.ftz ? unary<ops::half_to_float<H, true>, float, H>
                   : unary<ops::half_to_float<H>, float, H>;
}

/// Between types of the same width, and between f32 and any other; f64 to halves.
Handler float_to_float_handler(ptx::Type to, ptx::Type from, const Style& style) {
  using ops::Bfloat;
  using ops::Half;
  using F = float;
  using D = double;
  if (to == from) {
    switch (to) {
    case Mod::F16:
      return same_half_handler<Half>(style);
    case Mod::Bf16:
      return same_half_handler<Bfloat>(style);
    case Mod::F32:
      return same_float_handler<F>(style);
    default:
      return same_float_handler<D>(style);
    }
  }
  switch (to) {
  case Mod::F16:
    return to_half_handler<Half>(from, style);
  case Mod::Bf16:
    return to_half_handler<Bfloat>(from, style);
  case Mod::F64:
    if (is_half(from)) {
      return from == Mod::F16 ? unary<ops::half_to_double<Half>, D, Half>
                              : unary<ops::half_to_double<Bfloat>, D, Bfloat>;
    }
    return style.ftz ? unary<ops::float_to_double<true>, D, F>
                     : unary<ops::float_to_double<>, D, F>;
  default:
    break;
  }
  switch (from) {
  case Mod::F16:
    return from_half_handler<Half>(style);
  case Mod::Bf16:
    return from_half_handler<Bfloat>(style);
  default:
    return for_round(style.round, [&]<Round R>() -> Handler {
      return style.ftz ? unary<ops::double_to_float<R, true>, F, D>
                       : unary<ops::double_to_float<R>, F, D>;
    });
  }
}

Handler saturate_handler(ptx::Type type) {
  switch (type) {
  case Mod::F16:
    return unary<ops::half_saturated, ops::Half, ops::Half>;
  case Mod::F32:
    return unary<ops::saturate<float>, float, float>;
  case Mod::F64:
    return unary<ops::saturate<double>, double, double>;
  default:
    return nullptr;
  }
}

// --- cvt

void float_to_integer(
    Conversion& c,
    Value value,
    ptx::Type from,
    ptx::Type to,
    int to_bits,
    const Style& style
) {
  const bool wide = from == Mod::F64;
  if (wide && (to == Mod::U8 || to == Mod::U16)) {
    value = c.step(double_to_small_unsigned(to, style.round), value, 16);
    if (to_bits != 16) {
      integer_to_integer(c, value, Mod::U16, Mod::U16, to_bits, false);
    }
    return;
  }
  const ptx::Type work = working_type(to);
  value = c.step(
      wide ? float_to_integer_handler<double>(work, style.round, false)
           : float_to_integer_handler<float>(work, style.round, style.ftz),
      value,
      ptx::type_bits(work)
  );
  if (ptx::type_bits(to) < 32) {
    integer_to_integer(c, value, work, to, to_bits, true);
  } else if (to_bits != value.bits) {
    integer_to_integer(c, value, to, to, to_bits, false);
  }
}

Value integer_to_any_float(Conversion& c, Value value, ptx::Type from, ptx::Type to, Round round) {
  const bool half = is_half(to);
  const ptx::Type work = half ? integer_type(64, ptx::is_signed(from)) : working_type(from);
  const int bits = ptx::type_bits(work);
  if (value.bits != bits || ptx::type_bits(from) != bits) {
    value = c.step(extend_handler(value.bits, bits, from), value, bits);
  }
  const Handler handler =
      to == Mod::F16    ? integer_to_half_handler<ops::Half>(ptx::is_signed(from), round)
      : to == Mod::Bf16 ? integer_to_half_handler<ops::Bfloat>(ptx::is_signed(from), round)
      : to == Mod::F32  ? integer_to_float_handler<float>(work, round)
                        : integer_to_float_handler<double>(work, round);
  return c.step(handler, value, ptx::type_bits(to));
}

Result<void> lower_cvt(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  if (is_packed_cvt(form)) {
    return lower_packed_cvt(form);
  }
  const ptx::Type to = form.take_type(0);
  const ptx::Type from = form.take_type(1);
  if (form.operand_count() != 2 || form.operand(1).kind == ptx::OperandKind::Vector) {
    return form.unsupported_form();
  }
  const auto word = form.take_one_of(
      {Mod::Rn, Mod::Rz, Mod::Rm, Mod::Rp, Mod::Rni, Mod::Rzi, Mod::Rmi, Mod::Rpi}
  );
  Style style;
  style.round = rounding_of(word.value_or(Mod::Rn));
  style.integral = word == Mod::Rni || word == Mod::Rzi || word == Mod::Rmi || word == Mod::Rpi;
  style.ftz = form.take(Mod::Ftz);
  style.saturate = form.take(Mod::Sat);
  Conversion c(form);
  Value value = c.source(from);
  const int to_bits = c.destination_bits(to);
  if (is_integer(to) && is_integer(from)) {
    integer_to_integer(c, value, from, to, to_bits, style.saturate);
    return c.finish();
  }
  if (is_integer(from)) {
    value = integer_to_any_float(c, value, from, to, style.round);
  } else {
    const int bits = ptx::type_bits(from);
    if (value.bits != bits) { // a register wider than the type: its low bits
      value = c.step(extend_handler(value.bits, bits, integer_type(bits, false)), value, bits);
    }
    ptx::Type source = from;
    if (is_half(source) && to != source && to != Mod::F32 && to != Mod::F64) { // exact in f32
      value = c.step(float_to_float_handler(Mod::F32, source, Style{}), value, 32);
      source = Mod::F32;
    }
    if (is_integer(to)) {
      float_to_integer(c, value, source, to, to_bits, style);
      return c.finish();
    }
    value = c.step(float_to_float_handler(to, source, style), value, ptx::type_bits(to));
  }
  if (style.saturate) {
    value = c.step(saturate_handler(to), value, value.bits);
  }
  if (to_bits != value.bits) {
    c.step(extend_handler(value.bits, to_bits, integer_type(value.bits, false)), value, to_bits);
  }
  return c.finish();
}

} // namespace

void register_cvt(LowerTable& table) {
  table[ptx::Opcode::Cvt] = lower_cvt;
}

} // namespace heddle::isa

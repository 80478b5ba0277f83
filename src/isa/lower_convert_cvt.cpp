// cvt (PTX ISA 9.0, 9.7.9.21). Registers may be wider than the types. The common conversions are
// one op; the others are put together from up to three through scratch registers: the source as an
// integer or float of its register's natural width, the conversion proper, the result extended to
// its register.
#include "isa/lower_arithmetic.h"
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
      ops_[n].d = n + 1 < ops_.size() ? l_.scratch(8) : form_.destination();
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
  bool bad_ = false;
};

// --- Integer to integer
// ------------------------------------------------------------------------------

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
// ---------------------------------------------------------------------

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

// --- cvt
// ---------------------------------------------------------------------------------------------

Handler float_to_float_handler(ptx::Type to, ptx::Type from, Round round, bool integral, bool ftz) {
  using ops::Bfloat;
  using ops::Half;
  using F = float;
  using D = double;
  if (to == from && to == Mod::F32) {
    if (!integral) {
      return ftz ? unary<ops::float_to_same<F, true>, F, F> : unary<ops::float_to_same<F>, F, F>;
    }
    return for_round(round, [ftz]<Round R>() -> Handler {
      return ftz ? unary<ops::float_to_integral<F, R, true>, F, F>
                 : unary<ops::float_to_integral<F, R>, F, F>;
    });
  }
  if (to == from && to == Mod::F64) {
    if (!integral) {
      return unary<ops::float_to_same<D>, D, D>;
    }
    return for_round(round, []<Round R>() -> Handler {
      return unary<ops::float_to_integral<D, R>, D, D>;
    });
  }
  if (to == Mod::F32 && from == Mod::F64) {
    return for_round(round, [ftz]<Round R>() -> Handler {
      return ftz ? unary<ops::double_to_float<R, true>, F, D>
                 : unary<ops::double_to_float<R>, F, D>;
    });
  }
  if (to == Mod::F64 && from == Mod::F32) {
    return ftz ? unary<ops::float_to_double<true>, D, F> : unary<ops::float_to_double<>, D, F>;
  }
  if (to == Mod::F32 && from == Mod::F16) {
    return ftz ? unary<ops::half_to_float<Half, true>, F, Half>
               : unary<ops::half_to_float<Half>, F, Half>;
  }
  if (to == Mod::F32 && from == Mod::Bf16) {
    return ftz ? unary<ops::half_to_float<Bfloat, true>, F, Bfloat>
               : unary<ops::half_to_float<Bfloat>, F, Bfloat>;
  }
  if (to == Mod::F16 && from == Mod::F32) {
    return for_round(round, [ftz]<Round R>() -> Handler {
      return ftz ? unary<ops::float_to_half<Half, R, true>, Half, F>
                 : unary<ops::float_to_half<Half, R>, Half, F>;
    });
  }
  if (to == Mod::Bf16 && from == Mod::F32) {
    return for_round(round, []<Round R>() -> Handler {
      return unary<ops::float_to_half<Bfloat, R>, Bfloat, F>;
    });
  }
  return nullptr;
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
  const Round round = rounding_of(word.value_or(Mod::Rn));
  const bool integral =
      word == Mod::Rni || word == Mod::Rzi || word == Mod::Rmi || word == Mod::Rpi;
  const bool ftz = form.take(Mod::Ftz);
  const bool saturate = form.take(Mod::Sat);
  Conversion c(form);
  Value value = c.source(from);
  const int to_bits = c.destination_bits(to);
  if (is_integer(to) && is_integer(from)) {
    integer_to_integer(c, value, from, to, to_bits, saturate);
    return c.finish();
  }
  // A float in a register wider than its type: take its low bits.
  if (!is_integer(from) && value.bits != ptx::type_bits(from)) {
    const int bits = ptx::type_bits(from);
    value = c.step(extend_handler(value.bits, bits, integer_type(bits, false)), value, bits);
  }
  ptx::Type source = from;
  if (is_half(source) && to != source && to != Mod::F32) { // exactly representable in f32
    value =
        c.step(float_to_float_handler(Mod::F32, source, Round::Nearest, false, false), value, 32);
    source = Mod::F32;
  }
  if (is_integer(to)) {
    const ptx::Type work = working_type(to);
    const bool wide = source == Mod::F64;
    value = c.step(
        wide ? float_to_integer_handler<double>(work, round, false)
             : float_to_integer_handler<float>(work, round, ftz),
        value,
        ptx::type_bits(work)
    );
    if (ptx::type_bits(to) < 32) {
      integer_to_integer(c, value, work, to, to_bits, true);
    } else if (to_bits != value.bits) {
      integer_to_integer(c, value, to, to, to_bits, false);
    }
    return c.finish();
  }
  if (is_integer(source)) {
    const ptx::Type work = working_type(source);
    if (value.bits != ptx::type_bits(source) || ptx::type_bits(source) < 32) {
      const int bits = ptx::type_bits(work);
      value = c.step(extend_handler(value.bits, bits, source), value, bits);
    }
    if (to == Mod::F64) {
      value = c.step(integer_to_float_handler<double>(work, round), value, 64);
    } else if (to == Mod::F32) {
      value = c.step(integer_to_float_handler<float>(work, round), value, 32);
    } else {
      return form.unsupported_form();
    }
  } else {
    value =
        c.step(float_to_float_handler(to, source, round, integral, ftz), value, ptx::type_bits(to));
  }
  if (saturate) {
    if (to == Mod::F32) {
      value = c.step(unary<ops::saturate<float>, float, float>, value, 32);
    } else if (to == Mod::F64) {
      value = c.step(unary<ops::saturate<double>, double, double>, value, 64);
    } else {
      return form.unsupported_form();
    }
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

// cvt of one thread: between integers, between integers and floats, between floats (PTX
// ISA 9.0, 9.7.9.21).
//
// Integers narrower than their register and results narrower than theirs are dealt with by
// `extend`; the other functions work on types of exactly the register's width. Conversions to
// integers always saturate, as PTX says.
#pragma once

#include "isa/ops_half.h"

namespace heddle::isa::ops {

// --- Between integers ----------------------------------------------------------------------------

/// The low bits of a, as the integer type Part, extended by Part's sign to D.
template <class D, class Part, class A> constexpr D extend(A a) {
  return static_cast<D>(static_cast<Part>(a));
}
/// cvt.sat: clamped to [low, high]; wide enough for all types of up to 64 bits.
template <class A> constexpr A clamp(A a, A low, A high) {
  return a < low ? low : a > high ? high : a;
}

// --- Integer to float ----------------------------------------------------------------------------

template <class F, class I, Round R> constexpr F integer_to_float(I a) {
  if constexpr (R == Round::Nearest) {
    return static_cast<F>(a);
  } else {
    const bool negative = a < 0;
    const auto magnitude = static_cast<std::uint64_t>(a);
    return rounded<R, F>(exact_integer(negative ? 0 - magnitude : magnitude, negative));
  }
}

// --- Float to integer ----------------------------------------------------------------------------

template <Round R, class F> inline F to_integral(F a) {
  if constexpr (R == Round::Nearest) {
    return std::nearbyint(a);
  } else if constexpr (R == Round::Zero) {
    return std::trunc(a);
  } else if constexpr (R == Round::Down) {
    return std::floor(a);
  } else {
    return std::ceil(a);
  }
}

/// What NaN becomes: zero, but if f64 or a 64-bit integer is involved only the top bit set.
template <class I, class F> constexpr I integer_of_nan() {
  using U = std::make_unsigned_t<I>;
  return static_cast<I>(sizeof(F) == 8 || sizeof(I) == 8 ? U{1} << (8 * sizeof(I) - 1) : U{0});
}
template <class I, class F, Round R, bool Ftz = false> inline I float_to_integer(F a) {
  // Both bounds are powers of two, or zero: exact in any format.
  constexpr F below = static_cast<F>(std::numeric_limits<I>::min());
  constexpr F above = static_cast<F>(std::numeric_limits<I>::max() / 2 + 1) * F{2};
  const F value = to_integral<R>(flush_if<Ftz>(a));
  if (value >= above) {
    return std::numeric_limits<I>::max();
  }
  if (value <= below) {
    return std::numeric_limits<I>::min();
  }
  return value == value ? static_cast<I>(value) : integer_of_nan<I, F>();
}

// --- Float to float ------------------------------------------------------------------------------
// Between f32 and f64 a NaN keeps its sign and as much of its payload as fits, made quiet: the
// host's own conversions do just that.

/// cvt.rni.f32.f32 and its kin: to an integral value of the same type.
template <class F, Round R, bool Ftz = false> inline F float_to_integral(F a) {
  const F value = to_integral<R>(flush_if<Ftz>(a));
  return value == value ? value : nan_of(a);
}
/// The value itself, flushed or not, with the canonical NaN: cvt.ftz.f32.f32. (Without .ftz it is a
/// mov.)
template <bool Ftz> constexpr float float_flushed_if(float a) {
  return a == a ? flush_if<Ftz>(a) : nan_of(a);
}
constexpr float float_flushed(float a) {
  return float_flushed_if<true>(a);
}
template <Round R, bool Ftz = false> constexpr float double_to_float(double a) {
  if constexpr (R == Round::Nearest) {
    const auto r = static_cast<float>(a);
    if constexpr (Ftz) {
      constexpr double limit = 0x1p-126 - 0x1p-151; // below it, 24 bits are not enough for 2^-126
      return a < limit && a > -limit ? std::copysign(0.0F, r) : r;
    } else {
      return r;
    }
  } else {
    return a == a ? rounded<R, float, Ftz>(exact(a)) : static_cast<float>(a);
  }
}
template <bool Ftz = false> constexpr double float_to_double(float a) {
  return static_cast<double>(Ftz ? float_flushed(a) : a);
}

// --- Half precision ------------------------------------------------------------------------------

constexpr Exact exact(Half a) {
  return unpack(a.word, Half::format);
}
constexpr Exact exact(Bfloat a) {
  return unpack(a.word, Bfloat::format);
}

/// f16: NaN is canonical. bf16: the upper half of the f32, unless .ftz.
template <class H, bool Ftz = false> inline float half_to_float(H a) {
  const float r = to_float(a);
  if constexpr (Ftz || std::is_same_v<H, Half>) {
    return float_flushed_if<Ftz>(r);
  } else {
    return r;
  }
}
/// NaN keeps its sign and payload.
template <class H> inline double half_to_double(H a) {
  return static_cast<double>(to_float(a));
}
/// .ftz means nothing here: hardware rounds subnormal f32 like any other.
template <class H, Round R> inline H float_to_half(float a) {
  if constexpr (R == Round::Nearest) {
    return from_float<H>(a);
  } else {
    return {static_cast<std::uint16_t>(round_to(exact(a), H::format, R))};
  }
}
/// NaN keeps its sign and the upper bits of its payload, made quiet.
template <class H, Round R> constexpr H double_to_half(double a) {
  if (a != a) {
    constexpr auto quiet = H::format.infinity() | 1U << (H::format.mantissa_bits - 1);
    const auto payload =
        bits(a) >> (52 - H::format.mantissa_bits) & ((1U << H::format.mantissa_bits) - 1);
    return {static_cast<std::uint16_t>((bits(a) >> 48 & half_sign) | quiet | payload)};
  }
  return {static_cast<std::uint16_t>(round_to(exact(a), H::format, R))};
}
/// I is std::int64_t or std::uint64_t.
template <class H, class I, Round R> inline H integer_to_half(I a) {
  const bool negative = a < 0;
  const auto word = static_cast<std::uint64_t>(a);
  const std::uint64_t magnitude = negative ? 0 - word : word;
  if (R == Round::Nearest && magnitude < (1U << 24)) { // exact in f32
    return from_float<H>(static_cast<float>(static_cast<std::int64_t>(a)));
  }
  return {static_cast<std::uint16_t>(round_to(exact_integer(magnitude, negative), H::format, R))};
}
/// cvt.rni.f16.f16 and its kin.
template <class H, Round R> inline H half_to_integral(H a) {
  return from_float<H>(to_integral<R>(to_float(a)));
}
/// cvt.f16.f16, cvt.bf16.bf16
template <class H> constexpr H half_canonical(H a) {
  return is_nan(a) ? H{half_nan} : a;
}
/// cvt.sat.f16.f16
inline Half half_saturated(Half a) {
  return from_float<Half>(saturate(to_float(a)));
}

// --- Formats of 4 to 19 bits

/// a in format To, in the low bits. Relu: negative numbers (and -0) become zero. Satfinite: too
/// large numbers and infinities become the largest number.
template <Format To, Round R, bool Relu, bool Satfinite, class A> inline std::uint32_t narrow(A a) {
  if constexpr (
      To.mantissa_bits == 10 && To.exponent_bits == 5 && R == Round::Nearest && !Relu &&
      !Satfinite && std::is_same_v<A, float>
  ) {
    return from_float<Half>(a).word;
  }
  const Exact x = exact(a);
  if (Relu && x.sign && !x.nan()) {
    return 0;
  }
  return static_cast<std::uint32_t>(round_to(x, To, R, Satfinite));
}
/// tf32 lies in the upper 19 bits of an f32.
template <Round R, bool Relu, bool Satfinite> inline std::uint32_t narrow_to_tf32(float a) {
  return narrow<tf32_format, R, Relu, Satfinite>(a) << 13;
}
/// cvt.rna.tf32 works on the bits: NaN is cut off, and .satfinite steps down from everything that
/// is not finite, NaN too.
template <bool Satfinite> constexpr std::uint32_t narrow_to_tf32_away(float a) {
  const std::uint32_t word = (a == a ? bits(a) + 0x1000U : bits(a)) & ~0x1fffU;
  const bool finite = (word & ~FloatBits<float>::sign) < FloatBits<float>::infinity;
  return Satfinite && !finite ? word - 0x2000U : word;
}
/// Two of them, a in the upper half of the result.
template <Format To, Round R, bool Relu, bool Satfinite, unsigned Width>
inline std::uint32_t narrow_two(float a, float b) {
  return narrow<To, R, Relu, Satfinite>(a) << Width | narrow<To, R, Relu, Satfinite>(b);
}
template <Format To, bool Relu, unsigned Width, class H>
inline std::uint16_t narrow_packed(std::uint32_t a) {
  const H low{static_cast<std::uint16_t>(a)};
  const H high{static_cast<std::uint16_t>(a >> 16)};
  return static_cast<std::uint16_t>(
      narrow<To, Round::Nearest, Relu, true>(high) << Width |
      narrow<To, Round::Nearest, Relu, true>(low)
  );
}
/// The two numbers of a small format in a, as f16x2.
template <Format From, bool Relu, unsigned Width>
constexpr std::uint32_t widen_packed(std::uint16_t a) {
  constexpr unsigned mask = (1U << Width) - 1;
  std::uint32_t result = 0;
  for (unsigned part = 0; part < 2; ++part) {
    const std::uint64_t bits_of_part =
        (a >> (Width * part)) & mask & static_cast<unsigned>(From.sign() * 2 - 1);
    const Exact x = unpack(bits_of_part, From);
    const bool zeroed = Relu && x.sign && !x.nan();
    const auto word =
        zeroed ? 0U : static_cast<std::uint32_t>(round_to(x, f16_format, Round::Nearest));
    result |= word << (16 * part);
  }
  return result;
}

/// Stochastic rounding (.rs): the random bits are added to the bits of a that To cannot hold; the
/// carry rounds away from zero.
template <Format To, unsigned RandomBits, bool Relu, bool Satfinite>
constexpr std::uint32_t narrow_stochastic(float a, std::uint32_t random) {
  Exact x = exact(a);
  if (Relu && x.sign && !x.nan()) {
    return 0;
  }
  if (x.finite()) {
    const int top = x.exponent + top_bit(x.mantissa);
    const int last =
        top - To.mantissa_bits > To.lowest_bit() ? top - To.mantissa_bits : To.lowest_bit();
    const int shift = last - x.exponent + 40; // in units of 2^-40 of a's last bit
    x.mantissa <<= 40;
    x.exponent -= 40;
    if (shift >= 64 + 40) {
      return static_cast<std::uint32_t>(x.sign ? To.sign() : 0);
    }
    random &= (1U << RandomBits) - 1;
    x.mantissa += static_cast<Uint128>(random) << (shift - static_cast<int>(RandomBits));
  }
  return static_cast<std::uint32_t>(round_to(x, To, Round::Zero, Satfinite));
}
template <Format To, unsigned RandomBits, bool Relu, bool Satfinite>
constexpr std::uint32_t narrow_two_stochastic(float a, float b, std::uint32_t random) {
  return narrow_stochastic<To, RandomBits, Relu, Satfinite>(a, random >> 16) << 16 |
         narrow_stochastic<To, RandomBits, Relu, Satfinite>(b, random);
}

/// ue8m0: 2^(code - 127), without sign or zero; 0xff is NaN. Up: to the next power of two.
template <bool Up, bool Satfinite> constexpr std::uint32_t narrow_to_ue8m0(float a) {
  const std::uint32_t magnitude = bits(a) & ~FloatBits<float>::sign;
  if (magnitude > FloatBits<float>::infinity) {
    return 0xff;
  }
  std::uint32_t code = magnitude >> 23;
  // Subnormal numbers above 2^-127 have code 0 as 2^-127 itself.
  const std::uint32_t power =
      code != 0 ? magnitude & 0x7f'ffffU : (magnitude > 0x40'0000U ? 1U : 0U);
  code += Up && power != 0 ? 1 : 0;
  return code >= 0xff ? (Satfinite ? 0xfeU : 0xffU) : code;
}
template <bool Up, bool Satfinite> constexpr std::uint16_t narrow_two_to_ue8m0(float a, float b) {
  return static_cast<std::uint16_t>(
      narrow_to_ue8m0<Up, Satfinite>(a) << 8 | narrow_to_ue8m0<Up, Satfinite>(b)
  );
}
template <bool Up, bool Satfinite> constexpr std::uint16_t narrow_packed_to_ue8m0(std::uint32_t a) {
  return narrow_two_to_ue8m0<Up, Satfinite>(
      to_float(Bfloat{static_cast<std::uint16_t>(a >> 16)}),
      to_float(Bfloat{static_cast<std::uint16_t>(a)})
  );
}
constexpr std::uint32_t widen_ue8m0(std::uint32_t code) {
  return code == 0xff ? half_nan : code == 0 ? 0x0040U : code << 7; // 2^-127 is subnormal
}
constexpr std::uint32_t widen_packed_ue8m0(std::uint16_t a) {
  return widen_ue8m0(a >> 8U) << 16 | widen_ue8m0(a & 0xffU);
}

// --- cvt.pack

/// a and b clamped to Width-bit integers, b lowest; above them the low bits of c.
template <unsigned Width, bool Signed>
constexpr std::uint32_t pack_saturated(std::int32_t a, std::int32_t b, std::uint32_t c) {
  constexpr std::int32_t high = (1 << (Signed ? Width - 1 : Width)) - 1;
  constexpr std::int32_t low = Signed ? -high - 1 : 0;
  constexpr std::uint32_t mask = (1U << Width) - 1;
  const std::uint32_t pair = (static_cast<std::uint32_t>(clamp(a, low, high)) & mask) << Width |
                             (static_cast<std::uint32_t>(clamp(b, low, high)) & mask);
  if constexpr (Width == 16) {
    return pair;
  } else {
    return c << (2 * Width) | pair;
  }
}
template <unsigned Width, bool Signed>
constexpr std::uint32_t pack_saturated_pair(std::int32_t a, std::int32_t b) {
  return pack_saturated<Width, Signed>(a, b, 0);
}

} // namespace heddle::isa::ops

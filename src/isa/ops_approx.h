// Approximate f32 and f64 functions of one thread: div.approx div.full rcp.approx sqrt.approx
// rsqrt.approx sin cos lg2 ex2 tanh (PTX ISA 9.0, 9.7.3).
//
// PTX bounds their error and fixes their special values. Here they are computed in double and
// rounded once, so they are at least as good as PTX asks for; hardware's last bits differ. A
// program whose outcome depends on those bits sees another admissible result.
#pragma once

#include "isa/ops_float.h"

namespace heddle::isa::ops {

/// A result that was computed in double: one rounding, canonical NaN, .ftz.
template <bool Ftz> inline float approximated(double value) {
  const auto r = static_cast<float>(value);
  return r == r ? flush_if<Ftz>(r) : nan_of(r);
}

template <bool Ftz> inline float rcp_approx(float a) {
  return approximated<Ftz>(1.0 / static_cast<double>(flush_if<Ftz>(a)));
}
template <bool Ftz> inline float sqrt_approx(float a) {
  return approximated<Ftz>(std::sqrt(static_cast<double>(flush_if<Ftz>(a))));
}
template <bool Ftz> inline float rsqrt_approx(float a) {
  return approximated<Ftz>(1.0 / std::sqrt(static_cast<double>(flush_if<Ftz>(a))));
}
/// div.approx: a × (1/b), where 1/b is zero for |b| above 2^126.
template <bool Ftz> inline float div_approx(float a, float b) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  if (b == b && std::fabs(b) > 0x1p126F) {
    return approximated<Ftz>(static_cast<double>(a) * std::copysign(0.0, static_cast<double>(b)));
  }
  return approximated<Ftz>(static_cast<double>(a) / static_cast<double>(b));
}
/// div.full: over the whole range.
template <bool Ftz> inline float div_full(float a, float b) {
  return float_div<float, Round::Nearest, Ftz>(a, b);
}
template <bool Ftz> inline float sin_approx(float a) {
  return approximated<Ftz>(std::sin(static_cast<double>(flush_if<Ftz>(a))));
}
template <bool Ftz> inline float cos_approx(float a) {
  return approximated<Ftz>(std::cos(static_cast<double>(flush_if<Ftz>(a))));
}
template <bool Ftz> inline float lg2_approx(float a) {
  return approximated<Ftz>(std::log2(static_cast<double>(flush_if<Ftz>(a))));
}
template <bool Ftz> inline float ex2_approx(float a) {
  return approximated<Ftz>(std::exp2(static_cast<double>(flush_if<Ftz>(a))));
}
inline float tanh_approx(float a) {
  return approximated<false>(std::tanh(static_cast<double>(a)));
}

/// rcp.approx.ftz.f64, rsqrt.approx.ftz.f64: only the upper 32 bits of the operand are looked at,
/// and only those of the result are not zero.
inline constexpr double upper_nan = std::bit_cast<double>(0x7fff'ffff'0000'0000ULL);
inline double upper_word(double a) {
  return from_bits<double>(bits(a) & 0xffff'ffff'0000'0000ULL);
}
inline double upper_word_rounded(double a) {
  return upper_word(std::isfinite(a) ? from_bits<double>(bits(a) + 0x8000'0000ULL) : a);
}
inline double rcp_approx_upper(double a) {
  const double r = 1.0 / flush(upper_word(a));
  return r == r ? flush(upper_word_rounded(r)) : upper_nan;
}
inline double rsqrt_approx_upper(double a) {
  const double r = 1.0 / std::sqrt(flush(upper_word(a)));
  return r == r ? upper_word_rounded(r) : upper_nan;
}
/// rsqrt.approx.f64
inline double rsqrt_approx_f64(double a) {
  const auto r = static_cast<double>(1.0L / std::sqrt(static_cast<long double>(a)));
  return r == r ? r : nan_of(a);
}

} // namespace heddle::isa::ops

// Approximate f32 and f64 functions of one thread: div.approx div.full rcp.approx sqrt.approx
// rsqrt.approx sin cos lg2 ex2 tanh (PTX ISA 9.0, 9.7.3).
//
// PTX bounds their error and fixes their special values. Here they are rounded once, most of them
// from double, so they are at least as good as PTX asks for; hardware's last bits differ. A
// program whose outcome depends on those bits sees another admissible result.
#pragma once

#include "isa/ops_float.h"

namespace heddle::isa::ops {

/// The end of each: canonical NaN, .ftz.
template <bool Ftz> inline float approximated(float r) {
  return r == r ? flush_if<Ftz>(r) : nan_of(r);
}
/// A result that was computed in double: one rounding.
template <bool Ftz> inline float approximated(double value) {
  return approximated<Ftz>(static_cast<float>(value));
}

template <bool Ftz> inline float rcp_approx(float a) {
  return approximated<Ftz>(1.0F / flush_if<Ftz>(a));
}
template <bool Ftz> inline float sqrt_approx(float a) {
  return approximated<Ftz>(std::sqrt(flush_if<Ftz>(a)));
}
/// A root and a quotient of f32, and what their rounding has lost: processors compute these several
/// times as fast as those of double. Correctly rounded but for one number in 2^24, and for
/// subnormal operands, where the last bit may differ.
template <bool Ftz> inline float rsqrt_approx(float a) {
  a = flush_if<Ftz>(a);
  const float root = std::sqrt(a);
  const float r = 1.0F / root;
  const float of_root = std::fma(-root, root, a); // a = root² + of_root
  const float of_quotient = std::fma(-r, root, 1.0F);
  const float better = std::fma(r, std::fma(of_root * -0.5F * r, r, of_quotient), r);
  return approximated<Ftz>(better == better ? better : r); // of zero and infinity: r
}
/// div.approx: a × (1/b), where 1/b is zero for |b| above 2^126.
template <bool Ftz> inline float div_approx(float a, float b) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  if (b == b && std::fabs(b) > 0x1p126F) {
    return approximated<Ftz>(a * std::copysign(0.0F, b));
  }
  return approximated<Ftz>(a / b);
}
/// div.full: over the whole range.
template <bool Ftz> inline float div_full(float a, float b) {
  return float_div<float, Round::Nearest, Ftz>(a, b);
}
// The functions below are series without a branch or a table, so that many lanes are computed at
// once. Their error, before the one rounding, is below 2^-40 of the result.

/// 2^x for |x| below 1,000; anything beyond the range of float comes out beyond it.
inline double power_of_two(double x) {
  constexpr double most = 300;
  x = x > most ? most : x;
  x = x < -most ? -most : x;
  constexpr double shift = 0x1.8p52; // what is added to it is rounded to a whole number
  const double whole = x + shift;
  const double f = x - (whole - shift); // 2^f at -1/2 to 1/2, with an error below 2^-44
  double sum = 0x1.b63880a30e9ffp-24;
  sum = __builtin_fma(sum, f, 0x1.63d136366db24p-20);
  sum = __builtin_fma(sum, f, 0x1.ffcb9515a8016p-17);
  sum = __builtin_fma(sum, f, 0x1.4308ac85aa947p-13);
  sum = __builtin_fma(sum, f, 0x1.5d87fe86fe88ep-10);
  sum = __builtin_fma(sum, f, 0x1.3b2ab7181b755p-7);
  sum = __builtin_fma(sum, f, 0x1.c6b08d7047e52p-5);
  sum = __builtin_fma(sum, f, 0x1.ebfbdff823cedp-3);
  sum = __builtin_fma(sum, f, 0x1.62e42fefa39efp-1);
  sum = __builtin_fma(sum, f, 1.0);
  return sum * from_bits<double>((bits(whole) + 1023) << 52);
}
/// log2(x) of a double that has been a float.
inline double binary_logarithm(double x) {
  constexpr std::uint64_t root =
      0x3fe6'a09e'667f'3bcdULL; // of 1/2: the fraction is in [root, 2 root)
  const std::uint64_t exponent = ((bits(x) - root) >> 52) & 0xfff;
  const double m = from_bits<double>(bits(x) - (exponent << 52));
  const auto whole = static_cast<double>(static_cast<std::int32_t>(exponent << 20) >> 20);
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  double sum = 1.0 / 21;
  sum = sum * square + 1.0 / 19;
  sum = sum * square + 1.0 / 17;
  sum = sum * square + 1.0 / 15;
  sum = sum * square + 1.0 / 13;
  sum = sum * square + 1.0 / 11;
  sum = sum * square + 1.0 / 9;
  sum = sum * square + 1.0 / 7;
  sum = sum * square + 1.0 / 5;
  sum = sum * square + 1.0 / 3;
  sum = sum * square + 1;
  const double result = whole + s * sum * 2.88539008177792681;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double special = x == 0 ? -infinity : x < 0 ? std::numeric_limits<double>::quiet_NaN() : x;
  return x > 0 && x < infinity ? result : special;
}
/// sin(x + quarters × π/2). PTX promises nothing of large arguments: from 2^50 on, sin is 0 here.
inline double sine(double x, std::uint64_t quarters) {
  x = std::fabs(x) < 0x1p50 ? x : x * 0; // NaN for infinity
  constexpr double shift = 0x1.8p52;
  const double shifted = x * 0.636619772367581343 + shift;
  const double whole = shifted - shift;
  double y = __builtin_fma(-whole, 0x1.921fb54442d18p0, x);
  y = __builtin_fma(-whole, 0x1.1a62633145c07p-54, y);
  const std::uint64_t quarter = bits(shifted) + quarters;
  const double square = y * y;
  double odd = 1.0 / 6227020800;
  odd = odd * square - 1.0 / 39916800;
  odd = odd * square + 1.0 / 362880;
  odd = odd * square - 1.0 / 5040;
  odd = odd * square + 1.0 / 120;
  odd = odd * square - 1.0 / 6;
  odd = y + y * square * odd;
  double even = -1.0 / 87178291200;
  even = even * square + 1.0 / 479001600;
  even = even * square - 1.0 / 3628800;
  even = even * square + 1.0 / 40320;
  even = even * square - 1.0 / 720;
  even = even * square + 1.0 / 24;
  even = even * square - 0.5;
  even = 1 + square * even;
  const double result = (quarter & 1) != 0 ? even : odd;
  return from_bits<double>(bits(result) ^ (quarter >> 1 << 63));
}

template <bool Ftz> inline float sin_approx(float a) {
  const auto x = static_cast<double>(flush_if<Ftz>(a));
  return approximated<Ftz>(x == 0 ? x : sine(x, 0)); // keeps the sign of zero
}
template <bool Ftz> inline float cos_approx(float a) {
  return approximated<Ftz>(sine(static_cast<double>(flush_if<Ftz>(a)), 1));
}
template <bool Ftz> inline float lg2_approx(float a) {
  return approximated<Ftz>(binary_logarithm(static_cast<double>(flush_if<Ftz>(a))));
}
template <bool Ftz> inline float ex2_approx(float a) {
  return approximated<Ftz>(power_of_two(static_cast<double>(flush_if<Ftz>(a))));
}
inline float tanh_approx(float a) {
  const auto x = static_cast<double>(a);
  const double large = 1 - 2 / (power_of_two(x * 2.88539008177792681) + 1);
  const double small = x * (1 - x * x / 3); // keeps the sign of zero
  return approximated<false>(std::fabs(x) < 0x1p-10 ? small : large);
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

// Error bounds of the approximate instructions, PTX ISA 9.0 sections 9.7.3 (f32, f64) and 9.7.4
// (f16, bf16), against long double. Where the manual gives no number (rcp and rsqrt of f64: "gross
// approximation") the bound is what an H200 keeps (facts.md), rounded up.
//
// May be wrong in this direction: the reference is libm's long double function, good to far less
// than a thousandth of any bound here, so a result that just misses a bound may pass.
#include "reference.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace heddle::golden {
namespace {

enum class Format {
  F16,
  BF16,
  F32,
  F64
};

struct Layout {
  int mantissa;
  int exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
Layout layout(Format f) {
  switch (f) {
  case Format::F16:
    return {10, 5};
  case Format::BF16:
    return {7, 8};
  case Format::F32:
    return {23, 8};
  case Format::F64:
    return {52, 11};
  }
  return {};
}

long double decode(Format f, std::uint64_t bits) {
  Layout l = layout(f);
  bool negative = (bits >> (l.mantissa + l.exponent_bits) & 1) != 0;
  auto exponent = static_cast<int>(bits >> l.mantissa & ((1U << l.exponent_bits) - 1));
  std::uint64_t fraction = bits & ((std::uint64_t{1} << l.mantissa) - 1);
  long double value = 0;
  if (exponent == (1 << l.exponent_bits) - 1) {
    value = fraction != 0 ? std::numeric_limits<long double>::quiet_NaN()
                          : std::numeric_limits<long double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<long double>(fraction), 1 - l.bias() - l.mantissa);
  } else {
    value = std::ldexp(
        static_cast<long double>(fraction | std::uint64_t{1} << l.mantissa),
        exponent - l.bias() - l.mantissa
    );
  }
  return negative ? -value : value;
}

long double smallest_normal(Format f) {
  return std::ldexp(1.0L, 1 - layout(f).bias());
}
long double largest(Format f) {
  Layout l = layout(f);
  return std::ldexp(2.0L - std::ldexp(1.0L, -l.mantissa), l.bias());
}

/// Unit in the last place of x.
long double ulp(Format f, long double x) {
  int exponent = 0;
  std::frexp(std::max(std::abs(x), smallest_normal(f)), &exponent);
  return std::ldexp(1.0L, exponent - 1 - layout(f).mantissa);
}

/// "rcp.ftz.f32" taken apart.
struct Function {
  std::string name;
  bool ftz = false;
  bool packed = false;
  Format format = Format::F32;
};

Function function_of(const Form& form) {
  std::string text = form.compare.substr(form.compare.find(' ') + 1);
  Function f;
  f.name = text.substr(0, text.find('.'));
  std::string type = text.substr(text.rfind('.') + 1);
  f.packed = type.ends_with("x2");
  f.ftz = text.find(".ftz") != std::string::npos;
  f.format = type.starts_with("f16")    ? Format::F16
             : type.starts_with("bf16") ? Format::BF16
             : type == "f64"            ? Format::F64
                                        : Format::F32;
  f.ftz = f.ftz || (f.name == "ex2" && f.format == Format::BF16); // PTX has no other
  return f;
}

long double exact(const Function& f, long double x, long double y) {
  if (f.name == "rcp") {
    return 1 / x;
  }
  if (f.name == "sqrt") {
    return std::sqrt(x);
  }
  if (f.name == "rsqrt") {
    return 1 / std::sqrt(x);
  }
  if (f.name == "sin") {
    return std::sin(x);
  }
  if (f.name == "cos") {
    return std::cos(x);
  }
  if (f.name == "lg2") {
    return std::log2(x);
  }
  if (f.name == "ex2") {
    return std::exp2(x);
  }
  if (f.name == "tanh") {
    return std::tanh(x);
  }
  return x / y; // div, divfull
}

/// How far from `e` a result may be. Infinity: anything goes.
long double bound(const Function& f, long double x, long double y, long double e) {
  constexpr long double none = std::numeric_limits<long double>::infinity();
  long double size = std::abs(e);
  if (f.format == Format::F64) {
    return size * (f.name == "rsqrt" && !f.ftz ? std::exp2(-51.0L) : std::exp2(-19.9L));
  }
  if (f.name == "rcp") {
    return ulp(f.format, e);
  }
  if (f.name == "divfull") {
    return 2 * ulp(f.format, e);
  }
  if (f.name == "div") { // promised for 2^-126 <= |y| <= 2^126
    return std::abs(y) >= std::exp2(-126.0L) && std::abs(y) <= std::exp2(126.0L)
               ? 2 * ulp(f.format, e)
               : none;
  }
  if (f.name == "sqrt") {
    return std::max(size * std::exp2(-23.0L), ulp(f.format, e));
  }
  if (f.name == "rsqrt") {
    return size * std::exp2(-22.9L);
  }
  if (f.name == "sin" || f.name == "cos") {
    constexpr long double pi = 3.14159265358979323846L;
    // The manual says 2^-20.5; an H200's cos reaches 2^-20.43.
    return std::abs(x) <= 2 * pi     ? std::exp2(-20.4L)
           : std::abs(x) <= 100 * pi ? std::exp2(-14.7L)
                                     : none;
  }
  if (f.name == "lg2") {
    return x > 0.5L && x < 2 ? std::exp2(-22.0L) : size * std::exp2(-22.0L);
  }
  if (f.name == "ex2") {
    return f.format == Format::F16    ? size * std::exp2(-9.9L)
           : f.format == Format::BF16 ? size * std::exp2(-7.0L)
                                      : 2 * ulp(f.format, e);
  }
  return f.format == Format::F16    ? std::exp2(-10.987L) // tanh
         : f.format == Format::BF16 ? std::exp2(-8.0L)
                                    : size * std::exp2(-11.0L);
}

bool allowed(const Function& f, std::uint64_t a, std::uint64_t b, std::uint64_t result) {
  long double x = decode(f.format, a), y = decode(f.format, b), r = decode(f.format, result);
  if (f.ftz) {
    x = std::abs(x) < smallest_normal(f.format) ? std::copysign(0.0L, x) : x;
    y = std::abs(y) < smallest_normal(f.format) ? std::copysign(0.0L, y) : y;
  }
  if (f.format == Format::F64 && f.ftz) { // the operand's upper half is all that is read
    x = decode(f.format, a & 0xffff'ffff'0000'0000U);
    x = std::abs(x) < smallest_normal(f.format) ? std::copysign(0.0L, x) : x;
  }
  if (f.name == "div" && std::abs(y) > std::exp2(126.0L) && std::isfinite(y)) {
    return true; // documented as NaN or 0, by the way the reciprocal is taken
  }
  long double e = exact(f, x, y);
  long double most = bound(f, x, y, e);
  if (f.format == Format::F64 && f.ftz && (result & 0xffffffffU) != 0) {
    return false;
  }
  if (std::isnan(e)) {
    return std::isnan(r);
  }
  if (std::isinf(most) && std::isfinite(e)) {
    return true; // no promise
  }
  if (std::isinf(e)) {
    return r == e;
  }
  if (std::isnan(r)) {
    return false;
  }
  // The bounds are met before the result is rounded; the halves are truncated.
  long double slack = f.format == Format::F64   ? 0
                      : f.format == Format::F32 ? ulp(f.format, e) / 2
                                                : ulp(f.format, e);
  if (std::isinf(r)) {
    return std::abs(e) + most + slack >= largest(f.format) && std::signbit(e) == std::signbit(r);
  }
  if (f.ftz && std::abs(e) <= smallest_normal(f.format) + most && r == 0) {
    return true;
  }
  return std::abs(r - e) <= most + slack;
}

} // namespace

bool within_documented_error(
    const Form& form,
    std::span<const std::uint64_t> inputs,
    std::uint64_t result
) {
  Function f = function_of(form);
  std::uint64_t b = inputs.size() > 1 ? inputs[1] : 0;
  if (!f.packed) {
    return allowed(f, inputs[0], b, result);
  }
  return allowed(f, inputs[0] & 0xffff, 0, result & 0xffff) &&
         allowed(f, inputs[0] >> 16, 0, result >> 16);
}

bool is_special_result(
    const Form& form,
    std::span<const std::uint64_t> inputs,
    std::uint64_t result
) {
  Function f = function_of(form);
  if (f.packed) {
    return false; // the scalar form shows it
  }
  long double r = decode(f.format, result);
  bool special_operand = false;
  for (std::uint64_t input : inputs) {
    long double x = decode(f.format, input);
    special_operand = special_operand || x == 0 || std::isinf(x);
  }
  return !std::isfinite(r) || (r == 0 && special_operand);
}

} // namespace heddle::golden

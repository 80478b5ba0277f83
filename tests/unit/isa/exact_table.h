// An oracle for rounding to small floating-point formats that shares nothing with the product:
// every finite number of the format as an exact integer multiple of 2^-unit, sorted; rounding is a
// search.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace heddle::test {

using Wide = __int128;

enum class Direction : std::uint8_t {
  Nearest,
  Away,
  Zero,
  Down,
  Up
};

class ExactTable {
public:
  /// sign, exponent and mantissa bits; ieee: the largest exponent is infinity and NaN. Numbers are
  /// multiples of 2^-unit.
  ExactTable(int exponent_bits, int mantissa_bits, int finite_codes, int unit) : unit_(unit) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    for (int code = 0; code < finite_codes; ++code) {
      const int exponent = code >> mantissa_bits;
      const int mantissa = code & ((1 << mantissa_bits) - 1);
      const Wide significand = mantissa + (exponent != 0 ? 1 << mantissa_bits : 0);
      const int scale = std::max(exponent, 1) - bias - mantissa_bits + unit;
      values_.push_back(significand << scale);
    }
  }
  Wide value(std::uint32_t code) const { return values_[code]; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(values_.size()); }
  /// A double as a multiple of 2^-unit; it must be one.
  Wide scaled(double v) const {
    int exponent = 0;
    const double fraction = std::frexp(v, &exponent); // fraction × 2^53 is an integer
    const auto integer = static_cast<Wide>(std::ldexp(fraction, 53));
    const int shift = exponent - 53 + unit_;
    return shift >= 0 ? integer << shift : integer / (Wide{1} << -shift);
  }

  /// Code of |v| rounded; count() means beyond the largest number.
  std::uint32_t round(Wide v, Direction direction) const {
    const bool negative = v < 0;
    const Wide magnitude = negative ? -v : v;
    const auto above = std::lower_bound(values_.begin(), values_.end(), magnitude);
    const auto upper = static_cast<std::uint32_t>(above - values_.begin());
    if (above != values_.end() && *above == magnitude) {
      return upper;
    }
    const std::uint32_t lower = upper - 1;
    // Beyond the largest number the next one would be as far away again.
    const Wide high = upper < count() ? values_[upper] : 2 * values_[lower] - values_[lower - 1];
    const Wide to_low = magnitude - values_[lower], to_high = high - magnitude;
    switch (direction) {
    case Direction::Zero:
      return lower;
    case Direction::Down:
      return negative ? upper : lower;
    case Direction::Up:
      return negative ? lower : upper;
    case Direction::Nearest:
      return to_low < to_high || (to_low == to_high && lower % 2 == 0) ? lower : upper;
    case Direction::Away:
      return to_low < to_high ? lower : upper;
    }
    return lower;
  }

private:
  int unit_;
  std::vector<Wide> values_;
};

} // namespace heddle::test

// A number of seconds as a reader wants it: what is left of a minute is 59, not 59.017.
//
//   rounded_seconds(4.912441347)      // "4.9"
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace heddle::report {

/// Whole from ten on, one digit behind the point from one on; "0.05" keeps what it has, up to two
/// digits that count.
inline std::string rounded_seconds(double seconds) {
  if (seconds < 1) {
    return fmt::format("{:.2g}", seconds);
  }
  constexpr double long_enough = 10;
  const double scale = seconds < long_enough ? 10 : 1;
  return fmt::format("{}", std::round(seconds * scale) / scale);
}

} // namespace heddle::report

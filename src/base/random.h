// Random: the numbers by which a schedule is chosen that a seed names.
//
//   Random random(seed); std::uint64_t which = random.below(count);
//
// The same seed gives the same numbers on every machine: the standard says what mt19937_64 gives,
// but not what its distributions make of it.
#pragma once

#include <cstdint>
#include <random>

namespace heddle {

class Random {
public:
  explicit Random(std::uint64_t seed) : numbers_(seed) {}

  /// One of 0 to n-1; `n` is not 0, and so small that the bias of a remainder does not matter.
  std::uint64_t below(std::uint64_t n) { return numbers_() % n; }

private:
  std::mt19937_64 numbers_;
};

} // namespace heddle

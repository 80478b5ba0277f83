// Values that break arithmetic: random ones of every magnitude, and the special ones.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace heddle::test {

/// A repeatable stream of 64-bit values (xorshift64*).
class Stream {
public:
  explicit Stream(std::uint64_t seed = 0x9e3779b97f4a7c15ULL) : state_(seed) {}
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dULL;
  }
  /// As many significant bits as another random number says: small numbers are as likely as large.
  std::uint64_t sized() {
    const std::uint64_t value = next();
    return value >> (next() % 64);
  }
  template <class T> T integer() {
    const std::uint64_t value = sized();
    return static_cast<T>((next() & 1U) != 0 ? value : ~value);
  }
  /// A float whose exponent is near `center`, or anything.
  float single(int center, int spread) {
    const auto r = static_cast<std::uint32_t>(next());
    const int exponent =
        center + static_cast<int>(next() % (2U * static_cast<unsigned>(spread) + 1)) - spread;
    const std::uint32_t biased = static_cast<std::uint32_t>(
        exponent < 0     ? 0
        : exponent > 254 ? 254
                         : exponent
    );
    return std::bit_cast<float>((r & 0x807f'ffffU) | biased << 23);
  }

private:
  std::uint64_t state_;
};

inline std::vector<float> special_singles() {
  std::vector<float> values;
  for (const std::uint32_t word :
       {0x0000'0000U, 0x0000'0001U, 0x0000'0002U, 0x007f'ffffU, 0x0080'0000U, 0x0080'0001U,
        0x00ff'ffffU, 0x3380'0000U, 0x3f7f'ffffU, 0x3f80'0000U, 0x3f80'0001U, 0x3fc0'0000U,
        0x4000'0000U, 0x4049'0fdbU, 0x4b80'0000U, 0x4f00'0000U, 0x5f00'0000U, 0x7e80'0000U,
        0x7f00'0001U, 0x7f7f'ffffU, 0x7f80'0000U, 0x7f80'0001U, 0x7fc0'0000U, 0x7fff'ffffU}) {
    values.push_back(std::bit_cast<float>(word));
    values.push_back(std::bit_cast<float>(word | 0x8000'0000U));
  }
  return values;
}
inline std::vector<double> special_doubles() {
  std::vector<double> values;
  for (const std::uint64_t word :
       {0x0000000000000000ULL,
        0x0000000000000001ULL,
        0x000fffffffffffffULL,
        0x0010000000000000ULL,
        0x0010000000000001ULL,
        0x3ca0000000000000ULL,
        0x3fefffffffffffffULL,
        0x3ff0000000000000ULL,
        0x3ff0000000000001ULL,
        0x3ff8000000000000ULL,
        0x4000000000000000ULL,
        0x4340000000000000ULL,
        0x7fd0000000000000ULL,
        0x7fefffffffffffffULL,
        0x7ff0000000000000ULL,
        0x7ff0000000000001ULL,
        0x7ff8000000000000ULL}) {
    values.push_back(std::bit_cast<double>(word));
    values.push_back(std::bit_cast<double>(word | 0x8000000000000000ULL));
  }
  return values;
}

} // namespace heddle::test

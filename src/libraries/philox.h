// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw ("Parallel Random
// Numbers: As Easy as 1, 2, 3", SC 2011).
#pragma once

#include <array>
#include <cstdint>

namespace heddle::libraries {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

inline PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
  constexpr std::uint64_t multiplier[] = {0xD2511F53, 0xCD9E8D57};
  constexpr std::uint32_t weyl[] = {0x9E3779B9, 0xBB67AE85};
  constexpr int rounds = 10;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t a = multiplier[0] * counter[0];
    const std::uint64_t b = multiplier[1] * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0],
        static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1],
        static_cast<std::uint32_t>(a)
    };
    key[0] += weyl[0];
    key[1] += weyl[1];
  }
  return counter;
}

} // namespace heddle::libraries

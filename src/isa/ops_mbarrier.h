// The mbarrier object: an opaque 64-bit word in shared memory, and the operations on it.
//
// Implements PTX ISA 9.0, 9.7.13.15 (mbarrier). The word:
//
//   63  61 60                40 39                20 19                 0
//   +-----+--------------------+--------------------+--------------------+
//   |phase| tx-count (signed)  | expected arrivals  | pending arrivals   |
//   +-----+--------------------+--------------------+--------------------+
//
// A phase completes when no arrival is pending and the tx-count is zero; then the phase number goes
// up by one (mod 8; its lowest bit is the parity) and the expected arrivals become pending again.
// The state token that arrive returns is the word before the arrival, or what no program may tell
// from it (base/outside.h). An invalidated object is all
// zeros, so that arriving at it, as at memory never initialised, is noticed as one arrival too
// many. Not noticed: a wait on an object that was never initialised.
#pragma once

#include "base/outside.h"

#include <cstdint>

namespace heddle::isa::ops {

struct Mbarrier {
  static constexpr std::uint32_t largest_count = (1U << 20) - 1; // of arrivals and of transactions

  std::uint32_t pending = 0;
  std::uint32_t expected = 0;
  std::int32_t transactions = 0;
  std::uint32_t phase = 0;

  static constexpr Mbarrier unpack(std::uint64_t word) {
    Mbarrier b;
    b.pending = static_cast<std::uint32_t>(word & largest_count);
    b.expected = static_cast<std::uint32_t>(word >> 20 & largest_count);
    b.transactions = static_cast<std::int32_t>(static_cast<std::int64_t>(word << 3) >> 43);
    b.phase = static_cast<std::uint32_t>(word >> 61);
    return b;
  }
  constexpr std::uint64_t pack() const {
    return std::uint64_t{pending} | std::uint64_t{expected} << 20 |
           (static_cast<std::uint64_t>(transactions) & 0x1f'ffffU) << 40 |
           std::uint64_t{phase & 7} << 61;
  }
};

/// What an operation found to be misuse; the text for the report. nullptr: fine.
using MbarrierMisuse = const char*;

constexpr void mbarrier_advance(Mbarrier& b) {
  if (b.pending == 0 && b.transactions == 0) {
    b.phase = (b.phase + 1) & 7;
    b.pending = b.expected;
  }
}

constexpr MbarrierMisuse mbarrier_init(Mbarrier& b, std::uint32_t count) {
  if (count == 0 || count > Mbarrier::largest_count) {
    return "mbarrier.init with a count outside 1 to 1048575";
  }
  b = Mbarrier{};
  b.pending = count;
  b.expected = count;
  return nullptr;
}

/// drop: the expected arrivals of the phases that follow go down too.
constexpr MbarrierMisuse mbarrier_arrive(Mbarrier& b, std::uint32_t count, bool drop) {
  if (count > b.pending) {
    return b.expected == 0 && b.pending == 0
               ? "arrival at an mbarrier that is not initialised"
               : "more arrivals at an mbarrier than its phase expects";
  }
  if (drop) {
    if (count > b.expected) {
      return "arrive_drop of more arrivals than the mbarrier expects";
    }
    b.expected -= count;
  }
  b.pending -= count;
  mbarrier_advance(b);
  return nullptr;
}

constexpr MbarrierMisuse mbarrier_expect_tx(Mbarrier& b, std::uint32_t transactions) {
  const std::int64_t sum = std::int64_t{b.transactions} + transactions;
  if (transactions > Mbarrier::largest_count || sum > std::int64_t{Mbarrier::largest_count}) {
    return "tx-count of an mbarrier above 1048575";
  }
  b.transactions = static_cast<std::int32_t>(sum);
  if (transactions != 0) {
    mbarrier_advance(b); // the bytes may have arrived before they were expected
  }
  return nullptr;
}

constexpr MbarrierMisuse mbarrier_complete_tx(Mbarrier& b, std::uint32_t transactions) {
  const std::int64_t sum = std::int64_t{b.transactions} - transactions;
  if (transactions > Mbarrier::largest_count || sum < -std::int64_t{Mbarrier::largest_count}) {
    return "tx-count of an mbarrier below -1048575";
  }
  b.transactions = static_cast<std::int32_t>(sum);
  mbarrier_advance(b);
  return nullptr;
}

/// The token for a state of the object, and back.
inline std::uint64_t mbarrier_token(std::uint64_t word) {
  return is_other(SystemAnswer::DeviceAddresses) ? ~word : word;
}
inline Mbarrier mbarrier_of_token(std::uint64_t token) {
  return Mbarrier::unpack(mbarrier_token(token));
}
/// Has the phase of the token (state of the object before an arrival) completed?
inline bool mbarrier_test(const Mbarrier& b, std::uint64_t token) {
  return mbarrier_of_token(token).phase != b.phase;
}
/// Has the phase with this parity, the current or the one before it, completed?
constexpr bool mbarrier_test_parity(const Mbarrier& b, std::uint32_t parity) {
  return (b.phase & 1) != (parity & 1);
}

} // namespace heddle::isa::ops

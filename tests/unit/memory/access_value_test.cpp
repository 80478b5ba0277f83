// Copies of what an access reads or writes: exactly as many bytes as it has.
#include "memory/access_value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace heddle::memory {
namespace {

using Bytes = std::array<std::uint8_t, AccessValue::most_bytes + 2>;

Bytes counted() {
  Bytes bytes{};
  std::ranges::generate(bytes, [n = 0]() mutable { return static_cast<std::uint8_t>(++n); });
  return bytes;
}

TEST(AccessValue, HasAsManyBytesAsTheAccess) {
  const Bytes from = counted();
  for (std::size_t bytes = 1; bytes <= AccessValue::most_bytes; ++bytes) {
    const auto value = AccessValue::at(from.data(), bytes);
    Bytes to{};
    value.write_to(to.data());
    EXPECT_TRUE(std::equal(from.begin(), from.begin() + static_cast<long>(bytes), to.begin()));
    EXPECT_EQ(to[bytes], 0) << bytes;
    EXPECT_EQ(value.parts(), (bytes + 7) / 8);
  }
}

// Each byte counts, and none that it does not have.
TEST(AccessValue, ValuesDifferIfABytesDoes) {
  for (std::size_t bytes = 1; bytes <= AccessValue::most_bytes; ++bytes) {
    Bytes other = counted();
    const auto value = AccessValue::at(other.data(), bytes);
    for (std::size_t n = 0; n < other.size(); ++n) {
      other[n] ^= 0x80;
      EXPECT_EQ(AccessValue::at(other.data(), bytes) == value, n >= bytes) << n << " of " << bytes;
      other[n] ^= 0x80;
    }
  }
}

TEST(AccessValue, APartHasNoBytesThatTheValueHasNot) {
  const Bytes from = counted();
  for (std::size_t bytes = 1; bytes <= AccessValue::most_bytes; ++bytes) {
    auto value = AccessValue::at(from.data(), bytes);
    for (std::size_t n = 0; n < value.parts(); ++n) {
      value.set_part(n, ~std::uint64_t{0});
    }
    Bytes to{};
    value.write_to(to.data());
    EXPECT_EQ(std::ranges::count(to, 0xff), static_cast<long>(bytes));
    EXPECT_EQ(value, AccessValue::at(to.data(), bytes));
  }
}

TEST(AccessValue, SomeOfItsBytes) {
  const Bytes from = counted();
  const auto value = AccessValue::at(from.data(), 16);
  EXPECT_EQ(value.slice(8, 8), AccessValue::at(from.data() + 8, 8));
  EXPECT_EQ(value.slice(13, 2), AccessValue::at(from.data() + 13, 2));
}

} // namespace
} // namespace heddle::memory

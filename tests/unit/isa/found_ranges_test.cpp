// FoundRanges: a range is found by the addresses that were looked up, and never by another one.
#include "isa/found_ranges.h"

#include <gtest/gtest.h>

namespace heddle::isa {
namespace {

memory::Range range_at(memory::Address base, std::uint64_t size) {
  memory::Range result;
  result.base = base;
  result.size = size;
  return result;
}

TEST(FoundRanges, AreKnownWhereTheyWereKept) {
  FoundRanges found;
  EXPECT_EQ(found.at(0x1000), nullptr);
  found.keep(0x1010, range_at(0x1010, 16));
  ASSERT_NE(found.at(0x101f), nullptr);
  EXPECT_EQ(found.at(0x101f)->base, 0x1010U);
  EXPECT_EQ(found.at(0x100f), nullptr);     // in front of it, in the same 256 bytes
  EXPECT_EQ(found.at(0x1020), nullptr);     // behind it
  found.keep(0x1020, range_at(0x1020, 16)); // the last one that was kept there
  EXPECT_EQ(found.at(0x1010), nullptr);
  EXPECT_EQ(found.at(0x1020)->base, 0x1020U);
}

TEST(FoundRanges, LargeOnesAreKnownWhereSomebodyLooked) {
  FoundRanges found;
  found.keep(0x3000, range_at(0x2000, 0x4000));
  EXPECT_NE(found.at(0x30ff), nullptr);
  EXPECT_EQ(found.at(0x3100), nullptr);
}

TEST(FoundRanges, AddressesOfOnePlaceAreToldApart) {
  FoundRanges found;
  const memory::Address one = 1U << 8;
  const memory::Address other = 4096U << 8; // the same place in the table
  found.keep(one, range_at(one, 64));
  found.keep(other, range_at(other, 64));
  EXPECT_EQ(found.at(one), nullptr);
  EXPECT_EQ(found.at(other)->base, other);
}

TEST(FoundRanges, AreForgottenTogether) {
  FoundRanges found;
  found.keep(0x1000, range_at(0x1000, 256));
  found.keep(0x5000, range_at(0x5000, 256));
  found.forget();
  EXPECT_EQ(found.at(0x1000), nullptr);
  EXPECT_EQ(found.at(0x5000), nullptr);
  found.keep(0x1000, range_at(0x1000, 128));
  EXPECT_EQ(found.at(0x1000)->size, 128U);
  EXPECT_EQ(found.at(0x5000), nullptr);
}

} // namespace
} // namespace heddle::isa

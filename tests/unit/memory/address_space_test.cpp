// memory::AddressSpace: allocation, gaps, freeing, host memory, nearest allocation for messages.
#include "memory/address_space.h"

#include <gtest/gtest.h>

#include <cstring>

namespace heddle::memory {
namespace {

TEST(AddressSpace, AllocationIsZeroAlignedAndFoundInside) {
  AddressSpace space;
  const Address a = *space.allocate(100, 256, AllocationKind::Device, 0);
  EXPECT_EQ(a % 256, 0U);
  EXPECT_TRUE(AddressSpace::in_device_range(a));
  EXPECT_EQ(space.find(a)->size, 100U);
  EXPECT_TRUE(space.find(a + 99).has_value());
  EXPECT_FALSE(space.find(a + 100).has_value());
  const auto* p = static_cast<const char*>(space.host_pointer(a, 100));
  ASSERT_NE(p, nullptr);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(p[i], 0);
  }
  EXPECT_EQ(space.host_pointer(a, 101), nullptr);
}

TEST(AddressSpace, NeighboursAreApart) {
  AddressSpace space;
  const Address a = *space.allocate(16, 16, AllocationKind::Heap, 0);
  const Address b = *space.allocate(16, 16, AllocationKind::Heap, 0);
  EXPECT_GE(b - a, 16U + 256U);
}

TEST(AddressSpace, FreedMemoryIsExplainedNotFound) {
  AddressSpace space;
  const Address a = *space.allocate(1 << 20, 256, AllocationKind::Device, 0);
  std::memset(space.host_pointer(a, 1 << 20), 7, 1 << 20);
  const std::uint64_t before = space.generation();
  ASSERT_TRUE(space.release(a).has_value());
  EXPECT_NE(space.generation(), before);
  EXPECT_FALSE(space.find(a).has_value());
  EXPECT_EQ(space.find_range(a).size, 0U);
  ASSERT_TRUE(space.nearest(a + 8).has_value());
  EXPECT_TRUE(space.nearest(a + 8)->freed);
  EXPECT_FALSE(space.release(a).has_value()) << "double free";
  EXPECT_EQ(space.bytes_in_use(0), 0U);
}

TEST(AddressSpace, AddressesAreUsedAgainOnlyWhenTheRangeIsExhausted) {
  AddressSpace space;
  const std::uint64_t big = 300ULL << 30; // three fit into the range of 1 TiB
  Address first = 0;
  for (int i = 0; i < 8; ++i) {
    const auto a = space.allocate(big, 256, AllocationKind::Device, 0);
    ASSERT_TRUE(a.has_value()) << i;
    if (i == 0) {
      first = *a;
    } else if (i < 3) {
      EXPECT_GT(*a, first);
    }
    ASSERT_TRUE(space.release(*a).has_value());
  }
  EXPECT_FALSE(space.allocate(2ULL << 40, 256, AllocationKind::Device, 0).has_value());
}

TEST(AddressSpace, HostMemoryKeepsItsAddress) {
  AddressSpace space;
  int value[4] = {1, 2, 3, 4};
  ASSERT_TRUE(space.add_host(value, sizeof value, AllocationKind::Registered, 0).has_value());
  EXPECT_EQ(space.host_pointer(reinterpret_cast<Address>(&value[2]), 4), &value[2]);
  EXPECT_FALSE(space.add_host(&value[1], 4, AllocationKind::Registered, 0).has_value());
  ASSERT_TRUE(space.release(reinterpret_cast<Address>(value)).has_value());
  EXPECT_TRUE(space.add_host(&value[1], 4, AllocationKind::Registered, 0).has_value());
}

TEST(AddressSpace, ConstantIsNotWritable) {
  AddressSpace space;
  const Address a = *space.allocate(16, 256, AllocationKind::Constant, 0, "table");
  EXPECT_FALSE(space.find_range(a).writable);
  EXPECT_EQ(space.nearest(a + 20)->name, "table");
}

TEST(AddressSpace, WhoElseReachesIt) {
  AddressSpace space;
  const auto of_devices = [&](AllocationKind kind, int device) {
    return space.find_range(*space.allocate(16, 256, kind, device)).of_devices;
  };
  EXPECT_TRUE(of_devices(AllocationKind::Device, 0));
  EXPECT_TRUE(of_devices(AllocationKind::Heap, 0));
  EXPECT_TRUE(of_devices(AllocationKind::Global, 0));
  EXPECT_FALSE(of_devices(AllocationKind::Managed, 0));
  EXPECT_FALSE(of_devices(AllocationKind::Pinned, 0));
  EXPECT_FALSE(of_devices(AllocationKind::Device, -1)); // reserved addresses
  const std::uint64_t before = space.generation();
  space.share_with_processes();
  EXPECT_NE(space.generation(), before);
  EXPECT_FALSE(of_devices(AllocationKind::Device, 0));
}

TEST(AddressSpace, FreedMemoryLivesAgainWithZeros) {
  AddressSpace space;
  const Address at = *space.allocate(100, 256, AllocationKind::Device, 0);
  const std::uint64_t id = space.find(at)->id;
  *static_cast<char*>(space.host_pointer(at, 1)) = 7;
  EXPECT_FALSE(space.revive(at)); // lives
  ASSERT_TRUE(space.release(at));
  EXPECT_FALSE(space.find(at));
  ASSERT_TRUE(space.revive(at));
  EXPECT_EQ(*static_cast<char*>(space.host_pointer(at, 1)), 0);
  EXPECT_EQ(space.bytes_in_use(0), 100U);
  EXPECT_NE(space.find(at)->id, id);
  EXPECT_FALSE(space.revive(at + 4096));
}

} // namespace
} // namespace heddle::memory

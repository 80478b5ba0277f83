// What device code allocates: memory::HeapRecords, and AddressSpace's heap among other allocations.
#include "memory/address_space.h"
#include "memory/heap_records.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace heddle::memory {
namespace {

TEST(HeapRecords, FindWhatATreeFinds) {
  HeapRecords heap;
  std::map<std::uint64_t, HeapRecord> tree;
  std::mt19937 random(1);
  std::uint64_t next = 0x2000'0000'1230;
  for (int n = 0; n < 3000; ++n) {
    const HeapRecord record{.base = next, .size = random() % 4000, .id = static_cast<unsigned>(n)};
    heap.add(record);
    tree.emplace(next, record);
    next += record.size + 256 + (n % 100 == 7 ? 1'000'000 : 0); // others' memory in between
  }
  for (int n = 0; n < 20'000; ++n) {
    const std::uint64_t a = 0x2000'0000'0000 + random() % (next - 0x2000'0000'0000 + 5000);
    const auto after = tree.upper_bound(a);
    const HeapRecord* found = heap.after(a);
    ASSERT_EQ(found != nullptr ? found->base : 0, after != tree.end() ? after->first : 0) << a;
    found = heap.before(a);
    const std::uint64_t before = after != tree.begin() ? std::prev(after)->first : 0;
    ASSERT_EQ(found != nullptr ? found->base : 0, before) << a;
    const bool inside = before != 0 && a < tree.at(before).end();
    ASSERT_EQ(heap.holding(a) != nullptr, inside || a == before) << a;
  }
}

TEST(Heap, LivesAmongOtherAllocations) {
  AddressSpace space;
  const Address a = *space.allocate(64, 256, AllocationKind::Device, 0);
  const Address b = *space.allocate_heap(40, 0);
  const Address c = *space.allocate(64, 256, AllocationKind::Device, 0, "c");
  const Address d = *space.allocate_heap(1 << 20, 0); // has whole pages
  const Address e = *space.allocate_heap(0, 0);
  EXPECT_GE(b, a + 64 + 256);
  EXPECT_GE(c, b + 40 + 256);
  EXPECT_EQ(space.bytes_in_use(0), 64U + 40 + 64 + (1 << 20));
  std::vector<Address> live;
  space.each_live([&](const Allocation& allocation) { live.push_back(allocation.base); });
  EXPECT_EQ(live, (std::vector<Address>{a, b, c, d, e}));
  EXPECT_EQ(space.find(b + 39)->kind, AllocationKind::Heap);
  EXPECT_EQ(space.find(b + 39)->name, "device heap");
  EXPECT_EQ(space.find(b)->id, space.find(a)->id + 1);
  EXPECT_FALSE(space.find(b + 40));
  EXPECT_EQ(space.find_range(b + 4).base, b);
  EXPECT_EQ(space.find_range(e).size, 0U);
  EXPECT_EQ(space.find(e)->base, e);
  EXPECT_EQ(space.nearest(b + 50)->base, b);
  EXPECT_EQ(space.nearest(c - 1)->base, c);
  std::memset(space.host_pointer(b, 40), 7, 40);
  EXPECT_FALSE(space.release_heap(b + 8));
  EXPECT_FALSE(space.release_heap(a)) << "it is no memory of the heap";
  EXPECT_EQ(space.release_heap(b), 40U);
  EXPECT_FALSE(space.release_heap(b)) << "twice";
  EXPECT_FALSE(space.find(b));
  EXPECT_EQ(space.find_range(b).size, 0U);
  EXPECT_TRUE(space.nearest(b + 8)->freed);
  EXPECT_EQ(space.release_heap(d), std::uint64_t{1} << 20);
  EXPECT_FALSE(space.release_heap(d));
  EXPECT_EQ(space.bytes_in_use(0), 128U);
}

TEST(Heap, AddressesThatWereItsOwnAreFoundWhenOthersHaveThem) {
  AddressSpace space;
  const Address freed = *space.allocate_heap(1000, 0);
  const Address kept = *space.allocate_heap(1000, 0);
  ASSERT_TRUE(space.release_heap(freed));
  // All addresses have been used once, then what is free in between is used again.
  for (std::uint64_t size = 64ULL << 30; size >= 4096; size /= 2) {
    while (space.allocate(size, 256, AllocationKind::Device, 0)) {
    }
  }
  Address again = kept + 1;
  for (int n = 0; n < 100 && again > kept; ++n) {
    const auto a = space.allocate_heap(512, 0);
    ASSERT_TRUE(a.has_value());
    again = *a;
  }
  EXPECT_LT(again, kept);
  EXPECT_EQ(space.find(again + 4)->base, again);
  EXPECT_FALSE(space.find(again + 4)->freed);
  EXPECT_EQ(space.find(kept + 4)->base, kept);
  EXPECT_TRUE(space.release_heap(again));
}

TEST(Heap, WhatHasBeenFreedIsRemembered) {
  AddressSpace space;
  std::array<AddressSpace::Freed, AddressSpace::most_freed> freed;
  std::uint64_t now = 0;
  const Address a = *space.allocate_heap(10, 0);
  const Address b = *space.allocate(10, 16, AllocationKind::Device, 0);
  const std::uint64_t from = space.generation();
  EXPECT_EQ(space.freed_since(from, freed, now), 0U);
  ASSERT_TRUE(space.release_heap(a));
  ASSERT_TRUE(space.release(b));
  EXPECT_EQ(space.freed_since(from, freed, now), 2U);
  EXPECT_EQ(now, space.generation());
  EXPECT_EQ(freed[0].base, a);
  EXPECT_EQ(freed[1].base, b);
  EXPECT_EQ(space.freed_since(from + 1, freed, now), 1U);
  EXPECT_EQ(freed[0].base, b);
  space.set_peer_access(0, 1, true); // something else
  EXPECT_FALSE(space.freed_since(from, freed, now));
  const std::uint64_t then = space.generation();
  for (std::size_t n = 0; n <= AddressSpace::most_freed; ++n) {
    ASSERT_TRUE(space.release_heap(*space.allocate_heap(8, 0)));
  }
  EXPECT_FALSE(space.freed_since(then, freed, now));
  EXPECT_EQ(space.freed_since(then + 1, freed, now), AddressSpace::most_freed);
}

} // namespace
} // namespace heddle::memory

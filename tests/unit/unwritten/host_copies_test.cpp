// What the host has copied from devices although nobody has written it: which reads use it.
#include "unwritten/host_copies.h"

#include <gtest/gtest.h>

#include <array>

namespace heddle::unwritten {
namespace {

class HostCopiesTest : public testing::Test {
protected:
  HostCopiesTest() {
    copies_.on_memory([this](memory::Address, std::uint64_t bytes) { told_ += bytes; });
    device_.written(0, 8); // of 32 bytes
  }
  memory::Address host(std::size_t n) const {
    return reinterpret_cast<memory::Address>(host_.data() + n);
  }
  void copy() {
    copies_.copied(
        {.from = device_, .values = values_.data(), .to = host(0), .bytes = values_.size()},
        [] { return HostCopies::Copy{.by = "cudaMemcpy", .memory = ""}; }
    );
    host_ = values_;
  }

  std::array<std::byte, 32> values_{};
  std::array<std::byte, 32> host_{};
  Area device_{0x1000, 32, 1};
  HostCopies copies_;
  std::uint64_t told_ = 0;
};

TEST_F(HostCopiesTest, AReadOfWhatNobodyHasWrittenIsAUse) {
  copy();
  EXPECT_EQ(told_, 24U);
  EXPECT_FALSE(copies_.read(host(0), 4));
  EXPECT_TRUE(copies_.read(host(8), 4));
  EXPECT_EQ(copies_.read(host(28), 4)->by, "cudaMemcpy");
}

TEST_F(HostCopiesTest, AReadOfWrittenBytesAsWellIsNone) {
  copy();
  EXPECT_FALSE(copies_.read(host(4), 8));
  EXPECT_FALSE(copies_.read(host(28), 8)); // beyond its end
}

TEST_F(HostCopiesTest, LargeReadsAreCopies) {
  copy();
  EXPECT_FALSE(copies_.read(host(8), 24));
}

TEST_F(HostCopiesTest, WhatTheHostWritesIsItsOwn) {
  copy();
  copies_.written(host(12), 4);
  EXPECT_TRUE(copies_.read(host(8), 4));
  EXPECT_FALSE(copies_.read(host(12), 4));
  EXPECT_TRUE(copies_.read(host(16), 4));
  copies_.written(host(0), 32);
  EXPECT_FALSE(copies_.read(host(16), 4));
}

TEST_F(HostCopiesTest, AnotherValueHasBeenWrittenByCodeThatIsNotSeen) {
  copy();
  host_[9] = std::byte{1};
  EXPECT_FALSE(copies_.read(host(8), 4));
  EXPECT_TRUE(copies_.read(host(12), 4));
}

TEST_F(HostCopiesTest, ACopyOfWrittenMemoryReplacesAnEarlierOne) {
  copy();
  device_.written(0, 32);
  copy();
  EXPECT_FALSE(copies_.read(host(8), 4));
}

} // namespace
} // namespace heddle::unwritten

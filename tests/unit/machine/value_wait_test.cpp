// What a stream that waits for a value finds fulfilled.
#include "machine/value_wait.h"

#include <gtest/gtest.h>

#include <cstring>

namespace heddle::machine {
namespace {

using Condition = ValueWait::Condition;

class ValueWaits : public ::testing::Test {
protected:
  bool holds(std::uint64_t value, std::uint64_t wanted, Condition condition, std::uint32_t bytes) {
    std::memcpy(space_.host_pointer(at_, sizeof value), &value, sizeof value);
    return ValueWait{&space_, at_, bytes, wanted, condition}.holds();
  }

  memory::AddressSpace space_;
  memory::Address at_ = *space_.allocate(8, 8, memory::AllocationKind::Device, 0);
};

TEST_F(ValueWaits, AtLeastGoesRound) {
  EXPECT_TRUE(holds(5, 5, Condition::AtLeast, 4));
  EXPECT_FALSE(holds(4, 5, Condition::AtLeast, 4));
  EXPECT_TRUE(holds(2, 0xffff'ffff, Condition::AtLeast, 4));
  EXPECT_FALSE(holds(0x8000'0000, 0, Condition::AtLeast, 4));
  EXPECT_TRUE(holds(0x8000'0000, 0, Condition::AtLeast, 8));
  EXPECT_FALSE(holds(1ULL << 63, 0, Condition::AtLeast, 8));
}

TEST_F(ValueWaits, LooksAtItsBytesOnly) {
  EXPECT_TRUE(holds(0xabcd'0000'0007, 7, Condition::Equal, 4));
  EXPECT_FALSE(holds(0xabcd'0000'0007, 7, Condition::Equal, 8));
  EXPECT_FALSE(holds(0xff00'0000'0000, 0xff00'0000'0000, Condition::And, 4));
  EXPECT_TRUE(holds(0xff00'0000'0000, 0xff00'0000'0000, Condition::And, 8));
}

TEST_F(ValueWaits, NorWantsABitOfNeither) {
  EXPECT_TRUE(holds(0xf0, 0x0f, Condition::Nor, 4));
  EXPECT_FALSE(holds(0xffff'fff0, 0x0f, Condition::Nor, 4));
  EXPECT_TRUE(holds(0xffff'fff0, 0x0f, Condition::Nor, 8));
}

TEST_F(ValueWaits, MemoryThatIsFreedFulfilsNothing) {
  EXPECT_TRUE(holds(1, 1, Condition::Equal, 4));
  ASSERT_TRUE(space_.release(at_));
  const ValueWait wait{&space_, at_, 4, 1, Condition::Equal};
  EXPECT_FALSE(wait.holds());
  EXPECT_NE(wait.describe().find("freed"), std::string::npos);
}

} // namespace
} // namespace heddle::machine

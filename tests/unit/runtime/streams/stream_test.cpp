// The order of work: which commands a command waits for, by CUDA's rules about default streams.
#include "runtime/streams/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::runtime {
namespace {

using machine::CommandPtr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Never runs anything, so that `after` lists stay as they were built.
class Idle : public machine::Driver {
public:
  void submitted(const CommandPtr&) override {}
  void
  wait(const std::function<bool()>&, std::span<const machine::CommandPtr>, const char*) override {}
  bool query(const std::function<bool()>& ready, std::span<const machine::CommandPtr>) override {
    return ready();
  }
  void api_call(const char*) override {}
};

class Streams : public testing::Test {
protected:
  Streams() { world_.set_driver(std::make_unique<Idle>()); }
  CommandPtr put(const StreamPtr& stream) {
    auto command = std::make_shared<machine::Command>();
    table_.submit(*stream, command);
    return command;
  }

  memory::AddressSpace space_;
  machine::World world_{space_, *machine::device_model("sm_90"), 2};
  StreamTable table_{world_, 2};
  StreamPtr a_ = table_.create(0, cudaStreamDefault, 0);
  StreamPtr b_ = table_.create(0, cudaStreamDefault, 0);
  StreamPtr free_ = table_.create(0, cudaStreamNonBlocking, 0);
  StreamPtr legacy_ = table_.legacy(0);
};

TEST_F(Streams, OneStreamKeepsItsOrder) {
  const auto first = put(a_);
  const auto second = put(a_);
  EXPECT_THAT(first->after, IsEmpty());
  EXPECT_THAT(second->after, UnorderedElementsAre(first));
}

TEST_F(Streams, BlockingStreamsAreIndependentOfEachOther) {
  put(a_);
  EXPECT_THAT(put(b_)->after, IsEmpty());
}

TEST_F(Streams, LegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
  const auto on_a = put(a_);
  const auto on_b = put(b_);
  put(free_);
  const auto on_legacy = put(legacy_);
  EXPECT_THAT(on_legacy->after, UnorderedElementsAre(on_a, on_b));
  EXPECT_THAT(put(a_)->after, UnorderedElementsAre(on_a, on_legacy));
}

TEST_F(Streams, NonBlockingStreamsStandAside) {
  put(legacy_);
  const auto on_free = put(free_);
  EXPECT_THAT(on_free->after, IsEmpty());
}

TEST_F(Streams, PerThreadStreamIsABlockingStream) {
  const auto mine = table_.create_per_thread(0);
  const auto on_mine = put(mine);
  const auto on_legacy = put(legacy_);
  EXPECT_THAT(on_legacy->after, UnorderedElementsAre(on_mine));
  EXPECT_EQ(mine->handle, cudaStreamPerThread);
}

TEST_F(Streams, DevicesAreIndependent) {
  put(a_);
  put(legacy_);
  EXPECT_THAT(put(table_.legacy(1))->after, IsEmpty());
}

TEST_F(Streams, CompleteWorkIsNotWaitedFor) {
  put(a_)->done = true;
  EXPECT_THAT(put(a_)->after, IsEmpty());
}

TEST_F(Streams, WorkOfADestroyedStreamStillCounts) {
  const auto on_a = put(a_);
  table_.destroy(a_);
  EXPECT_EQ(table_.find(a_->handle), nullptr);
  EXPECT_THAT(table_.pending_on_device(0), UnorderedElementsAre(on_a));
  EXPECT_THAT(put(legacy_)->after, UnorderedElementsAre(on_a));
}

TEST_F(Streams, WaitEventTakesTheEventAsItWasRecordedLast) {
  const auto event = table_.create_event(0, 0);
  const auto mark = std::make_shared<machine::Command>();
  table_.record(*a_, event, mark);
  const auto wait = std::make_shared<machine::Command>();
  table_.wait_event(*b_, event, wait);
  EXPECT_THAT(wait->after, UnorderedElementsAre(mark));
  const auto again = std::make_shared<machine::Command>();
  table_.record(*a_, event, again);
  EXPECT_THAT(put(b_)->after, UnorderedElementsAre(wait));
}

TEST_F(Streams, GroupHangsOnTheStreamByItsRoots) {
  const auto before = put(a_);
  const auto root = std::make_shared<machine::Command>();
  const auto leaf = std::make_shared<machine::Command>();
  leaf->after.push_back(root);
  const CommandPtr group[] = {root, leaf};
  table_.submit_group(*a_, group, leaf);
  EXPECT_THAT(root->after, UnorderedElementsAre(before));
  EXPECT_THAT(leaf->after, UnorderedElementsAre(root));
  EXPECT_THAT(put(a_)->after, UnorderedElementsAre(leaf));
}

TEST_F(Streams, WorkIsDoneAtOnceOnlyOnAnIdleStream) {
  int done = 0;
  EXPECT_TRUE(table_.run_if_idle(*legacy_, [&] { ++done; }));
  const auto on_a = put(a_);
  EXPECT_FALSE(table_.run_if_idle(*a_, [&] { ++done; }));
  EXPECT_FALSE(table_.run_if_idle(*legacy_, [&] { ++done; }));
  EXPECT_TRUE(table_.run_if_idle(*b_, [&] { ++done; }));
  on_a->done = true;
  EXPECT_TRUE(table_.run_if_idle(*legacy_, [&] { ++done; }));
  EXPECT_EQ(done, 3);
}

TEST_F(Streams, HandlesAreNeverReused) {
  const auto handle = a_->handle;
  table_.destroy(a_);
  for (int i = 0; i < 100; ++i) {
    EXPECT_NE(table_.create(0, 0, 0)->handle, handle);
  }
  EXPECT_EQ(table_.find(handle), nullptr);
  EXPECT_EQ(table_.find(reinterpret_cast<cudaStream_t>(this)), nullptr);
  EXPECT_EQ(table_.find_event(nullptr), nullptr);
}

} // namespace
} // namespace heddle::runtime

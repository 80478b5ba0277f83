// What a driver that keeps commands back lets go, and when (machine/held_back.h).
#include "machine/held_back.h"

#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace heddle::machine {
namespace {

/// Notes what is submitted to it.
class Noting final : public Driver {
public:
  void submitted(const CommandPtr& command) override {
    const std::lock_guard lock(mutex_);
    order_.push_back(command->id);
  }
  void wait(
      const std::function<bool()>& /*done*/,
      std::span<const CommandPtr> /*commands*/,
      const char* /*what*/
  ) override {}
  bool query(const std::function<bool()>& ready, std::span<const CommandPtr>) override {
    return ready();
  }
  void api_call(const char* /*name*/) override {}
  std::vector<std::uint64_t> order() const {
    const std::lock_guard lock(mutex_);
    return order_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> order_;
};

/// Keeps back what has one of these ids.
class Chosen final : public Holder {
public:
  explicit Chosen(std::set<std::uint64_t> ids) : ids_(std::move(ids)) {}
  bool holds(const CommandPtr& command, const std::set<std::uint64_t>& /*before*/) override {
    return ids_.contains(command->id);
  }
  void lets_go(const Command& command, const char* unpromised) override {
    if (unpromised != nullptr) {
      unpromised_.emplace(command.id, unpromised);
    }
  }
  void call_begins() override {}
  void call_ends() override {}
  void host_waited(Promise promise) override { last_ = promise; }
  const std::map<std::uint64_t, std::string>& unpromised() const { return unpromised_; }
  Promise last() const { return last_; }

private:
  std::set<std::uint64_t> ids_;
  std::map<std::uint64_t, std::string> unpromised_;
  Promise last_ = Promise::Made;
};

struct HeldBackTest : testing::Test {
  using Ids = std::vector<std::uint64_t>;

  void keep(std::set<std::uint64_t> ids) {
    auto inner = std::make_unique<Noting>();
    inner_ = inner.get();
    auto holder = std::make_unique<Chosen>(std::move(ids));
    holder_ = holder.get();
    driver_ = std::make_unique<HeldBack>(std::move(inner), std::move(holder));
  }
  CommandPtr submit(std::uint64_t id, std::vector<CommandPtr> after, CommandKind kind = {}) {
    auto command = std::make_shared<Command>();
    command->id = id;
    command->kind = kind;
    command->after = std::move(after);
    driver_->submitted(command);
    return command;
  }
  void wait_for(const CommandPtr& command) {
    driver_->wait([] { return true; }, {{command}}, "a test");
  }

  Noting* inner_ = nullptr;
  Chosen* holder_ = nullptr;
  std::unique_ptr<HeldBack> driver_;
};

TEST_F(HeldBackTest, LetsGoWhatTheHostWaitsForAndWhatIsBeforeIt) {
  keep({1, 2, 3});
  const CommandPtr first = submit(1, {});
  const CommandPtr other = submit(2, {});
  const CommandPtr between = submit(4, {first});
  const CommandPtr last = submit(3, {between});
  EXPECT_EQ(inner_->order(), Ids({4}));
  wait_for(last);
  EXPECT_EQ(inner_->order(), Ids({4, 1, 3}));
  wait_for(other);
  EXPECT_EQ(inner_->order(), Ids({4, 1, 3, 2}));
}

TEST_F(HeldBackTest, AWaitThatNeedNotBeIsToldOfAsSuch) {
  keep({1, 2});
  const CommandPtr first = submit(1, {});
  const CommandPtr second = submit(2, {});
  {
    const UnpromisedWait here;
    driver_->wait_unpromised([] { return true; }, {{first}}, "cudaFree");
  }
  EXPECT_EQ(holder_->last(), Holder::Promise::None);
  wait_for(second);
  EXPECT_EQ(holder_->last(), Holder::Promise::Made);
  EXPECT_EQ(holder_->unpromised(), (std::map<std::uint64_t, std::string>{{1, "cudaFree"}}));
}

TEST_F(HeldBackTest, AQuestionLetsGoWhatItIsAbout) {
  keep({1, 2});
  const CommandPtr first = submit(1, {});
  submit(2, {});
  EXPECT_FALSE(driver_->query([] { return false; }, {{first}}));
  EXPECT_EQ(inner_->order(), Ids({1}));
}

TEST_F(HeldBackTest, AFunctionOfTheHostLetsAllGo) {
  keep({1, 2});
  submit(1, {});
  submit(2, {});
  submit(3, {}, CommandKind::HostFunction);
  EXPECT_EQ(inner_->order(), Ids({1, 2, 3}));
}

TEST_F(HeldBackTest, TheEndLetsAllGo) {
  keep({1});
  submit(1, {});
  driver_->complete_rest();
  EXPECT_EQ(inner_->order(), Ids({1}));
}

TEST_F(HeldBackTest, NothingIsPutOffForLong) {
  keep({1});
  submit(1, {});
  timespec time{0, 10'000'000};
  for (int looks = 0; inner_->order().empty() && looks < 3000; ++looks) {
    ::nanosleep(&time, nullptr);
  }
  EXPECT_EQ(inner_->order(), Ids({1}));
}

} // namespace
} // namespace heddle::machine

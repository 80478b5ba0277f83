// Where a host thread stands that computes forever: at one place, whenever the timer has come.
#include "explore/host/computing.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::explore {
namespace {

struct Place {
  std::uintptr_t pc;
  std::uint64_t state = 0;
};

/// Both signals have one handler, as in HostThreads, until the end of a test.
class ComputingTest : public testing::Test {
protected:
  void SetUp() override {
    struct sigaction action{};
    action.sa_sigaction = [](int, siginfo_t*, void*) {};
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGVTALRM, &action, &before_[0]);
    ::sigaction(SIGTRAP, &action, &before_[1]);
  }
  void TearDown() override {
    ::sigaction(SIGVTALRM, &before_[0], nullptr);
    ::sigaction(SIGTRAP, &before_[1], nullptr);
  }

  /// Where it stands in the end, and after how many instructions, when the timer comes at `from`,
  /// and then at `from` again.
  std::pair<std::uintptr_t, unsigned> place_of(const std::vector<Place>& loop, std::size_t from) {
    Computing computing;
    const auto at = [&](int signal, std::size_t n) {
      const Place& place = loop[n % loop.size()];
      return computing.interrupted(signal, context_, place.pc, [&] {
        return Hash128{place.state, place.pc};
      });
    };
    EXPECT_TRUE(at(SIGVTALRM, from).value_or(0) > 0);
    EXPECT_EQ(at(SIGVTALRM, from), 0);
    EXPECT_NE(context_.uc_mcontext.gregs[REG_EFL] & 0x100, 0); // the trap flag
    unsigned steps = 1;
    while (steps < 200'000 && at(SIGTRAP, from + steps)) {
      ++steps;
    }
    EXPECT_EQ(context_.uc_mcontext.gregs[REG_EFL] & 0x100, 0);
    return {loop[(from + steps) % loop.size()].pc, steps};
  }

  ucontext_t context_{};

private:
  struct sigaction before_[2]{};
};

TEST_F(ComputingTest, ALoopHasOnePlace) {
  const std::vector<Place> loop = {{.pc = 24}, {.pc = 26}, {.pc = 28}, {.pc = 20}, {.pc = 22}};
  for (std::size_t from = 0; from < loop.size(); ++from) {
    EXPECT_EQ(place_of(loop, from).first, 20) << from;
  }
  EXPECT_EQ(place_of({{.pc = 20}}, 0).first, 20);
}

TEST_F(ComputingTest, OneOfSeveralRoundsOfAnInnerLoopIsThePlace) {
  const std::vector<Place> loop =
      {{20, 3}, {22, 3}, {20, 1}, {22, 1}, {20, 2}, {22, 2}, {.pc = 30}, {.pc = 32}};
  for (std::size_t from = 0; from < loop.size(); ++from) {
    const auto [pc, steps] = place_of(loop, from);
    EXPECT_EQ(pc, 20) << from;
    EXPECT_EQ((from + steps) % loop.size(), 2) << from; // with the least state
  }
}

TEST_F(ComputingTest, OutsideTheProgramItDoesNotStand) {
  const std::vector<Place> loop = {{.pc = 0}, {.pc = 0}, {.pc = 22}, {.pc = 20}, {.pc = 0}};
  EXPECT_EQ(place_of(loop, 2).first, 20);
  EXPECT_EQ(place_of(loop, 3).first, 20);
}

TEST_F(ComputingTest, ALongLoopIsLeftWhereItIs) {
  std::vector<Place> loop;
  for (std::uintptr_t pc = 100'000; pc > 20'000; --pc) {
    loop.push_back({.pc = pc});
  }
  EXPECT_EQ(place_of(loop, 0).second, 50'000);
}

TEST_F(ComputingTest, AProgramThatHandlesTheTrapItselfIsLeftWhereItIs) {
  ::signal(SIGTRAP, SIG_IGN);
  Computing computing;
  const auto state = [] { return Hash128{1, 2}; };
  EXPECT_TRUE(computing.interrupted(SIGVTALRM, context_, 20, state).has_value());
  EXPECT_FALSE(computing.interrupted(SIGVTALRM, context_, 20, state).has_value());
  EXPECT_EQ(context_.uc_mcontext.gregs[REG_EFL], 0);
}

} // namespace
} // namespace heddle::explore

// Single schedules on small systems made by hand: the hang that is there is found, and none that is
// not.
#include "explore/single/sampler.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::explore {
namespace {

constexpr int end_of = 99;

/// Threads that are programs over a few cells: each step goes from one place of a thread to
/// another.
struct System {
  struct Thread {
    int at = 0;
    bool started = false;
  };
  std::vector<Thread> threads;
  std::array<int, 8> cells{};
  bool all_guaranteed = true; // else only those that have started
  // Makes a step of the thread; the threads are the same program, told apart by their number.
  std::function<void(System&, std::size_t)> step;

  Hash128 hash() const {
    Hasher hasher;
    for (const Thread& t : threads) {
      hasher.value(t.at);
      hasher.value(t.started);
    }
    for (const int cell : cells) {
      hasher.value(cell);
    }
    return hasher.finish();
  }
};

struct Course {
  std::string end; // "hang", "ended", "cut off"
  std::optional<Sampler::Hang> hang;
  std::vector<std::size_t> order;
};

Course run(System system, const SamplePlan& plan) {
  Sampler sampler(plan);
  Course result;
  for (;;) {
    std::vector<Sampler::Candidate> candidates;
    std::vector<Demand> demands;
    for (std::size_t t = 0; t < system.threads.size(); ++t) {
      if (system.threads[t].at == end_of) {
        continue;
      }
      const bool owed = system.all_guaranteed || system.threads[t].started;
      candidates.push_back(
          {.kind = ActorKind::DeviceThread,
           .actor = t + 1,
           .warp = t + 1,
           .cluster = t + 1,
           .owed = owed}
      );
      if (owed) {
        demands.push_back({Rule::Device, t + 1});
      }
    }
    if (candidates.empty()) {
      result.end = sampler.best() ? "hang" : "ended";
      break;
    }
    // A host waits for the end in a call: somebody has to move.
    demands.push_back({Rule::Api, 0});
    const auto next =
        sampler.next({.state = system.hash(), .candidates = candidates, .demands = demands});
    if (next.answer != Sampler::Answer::Move) {
      result.end = sampler.best() ? "hang" : "cut off";
      break;
    }
    const std::size_t who = candidates[next.candidate].actor - 1;
    result.order.push_back(who);
    system.step(system, who);
    system.threads[who].started = true;
    Edge edge;
    edge.actor = 1; // any device thread
    edge.who = who + 1;
    edge.step = Step::Sync;
    edge.site = static_cast<std::uint32_t>(who) + 10;
    sampler.moved(edge, {});
  }
  result.hang = sampler.best();
  return result;
}

/// Takes cells `first` and `second`, then gives both back.
void take_two(System& s, std::size_t who, std::size_t first, std::size_t second) {
  int& at = s.threads[who].at;
  const auto take = [&](std::size_t cell) {
    if (s.cells[cell] == 0) {
      s.cells[cell] = 1;
      ++at;
    }
  };
  switch (at) {
  case 0:
    return take(first);
  case 1:
    return take(second);
  case 2:
    s.cells[second] = 0;
    at = 3;
    return;
  default:
    s.cells[first] = 0;
    at = end_of;
  }
}

System philosophers(bool ordered) {
  System system;
  system.threads.resize(5);
  system.step = [ordered](System& s, std::size_t who) {
    const std::size_t left = who, right = (who + 1) % s.threads.size();
    take_two(
        s,
        who,
        ordered ? std::min(left, right) : left,
        ordered ? std::max(left, right) : right
    );
  };
  return system;
}

/// Thread n waits for cell n - 1, then sets cell n.
System chain(bool all_guaranteed) {
  System system;
  system.threads.resize(6);
  system.all_guaranteed = all_guaranteed;
  system.step = [](System& s, std::size_t who) {
    if (who == 0 || s.cells[who - 1] == 1) {
      s.cells[who] = 1;
      s.threads[who].at = end_of;
    }
  };
  return system;
}

/// How many of the first sweeps' schedules end in which way.
std::array<int, 3> ends(const System& system, std::uint32_t schedules = 10 * sweep) {
  std::array<int, 3> count{};
  for (std::uint32_t n = 0; n < schedules; ++n) {
    const std::string end = run(system, plan_for(1, n)).end;
    ++count[end == "hang" ? 0 : end == "ended" ? 1 : 2];
  }
  return count;
}

TEST(Sampler, FindsTheCircleOfPhilosophers) {
  const auto [hangs, ended, cut_off] = ends(philosophers(false));
  EXPECT_GT(hangs, 10);
  EXPECT_GT(ended, 10);
  EXPECT_EQ(cut_off, 0);
}

TEST(Sampler, FindsNothingWhereForksAreOrdered) {
  EXPECT_EQ(ends(philosophers(true)), (std::array<int, 3>{0, 10 * sweep, 0}));
}

TEST(Sampler, WhoNeedNotStartIsLeftOut) {
  EXPECT_GT(ends(chain(false))[0], 50);
  EXPECT_EQ(ends(chain(true)), (std::array<int, 3>{0, 10 * sweep, 0}));
}

TEST(Sampler, TheHangThatLeavesOutFewestIsTold) {
  for (std::uint32_t n = 0; n < sweep; ++n) {
    const Course r = run(chain(false), plan_for(1, n));
    if (r.hang) {
      EXPECT_GE(r.hang->left_out, 1U);
      EXPECT_LT(r.hang->left_out, 6U);
      EXPECT_FALSE(r.hang->sites.empty());
    }
  }
}

TEST(Sampler, AHangCanBeMetAgain) {
  for (std::uint32_t n = 0; n < sweep; ++n) {
    SamplePlan plan = plan_for(1, n);
    const Course first = run(chain(false), plan);
    if (!first.hang) {
      continue;
    }
    plan.stop_at = first.hang->at;
    const Course again = run(chain(false), plan);
    EXPECT_EQ(again.end, "hang");
    EXPECT_EQ(again.order.size(), first.hang->at);
    EXPECT_TRUE(std::equal(again.order.begin(), again.order.end(), first.order.begin()));
  }
}

TEST(Sampler, StatesThatNeverRepeatAreCutOff) {
  System counter;
  counter.threads.resize(2);
  counter.step = [](System& s, std::size_t) { ++s.cells[0]; };
  const auto [hangs, ended, cut_off] = ends(counter, sweep);
  EXPECT_EQ(hangs, 0);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(cut_off, static_cast<int>(sweep));
}

TEST(Sampler, TheSameScheduleForTheSameNumbers) {
  for (std::uint32_t n = 0; n < 2 * sweep; ++n) {
    EXPECT_EQ(
        run(philosophers(false), plan_for(7, n)).order,
        run(philosophers(false), plan_for(7, n)).order
    );
  }
}

TEST(Sampler, EveryStrategyHasANameAndASchedule) {
  for (std::uint32_t n = 0; n < sweep; ++n) {
    const SamplePlan plan = plan_for(3, n);
    EXPECT_EQ(plan.strategy, static_cast<Strategy>(n % strategy_count));
    EXPECT_FALSE(name(plan.strategy).empty());
    EXPECT_LT(plan.first_part, plan.most_steps);
    EXPECT_LT(plan.most_steps, plan_for(3, n + 3 * sweep).most_steps);
  }
}

} // namespace
} // namespace heddle::explore

// Which searches there are: by what they have met, and by nothing else. What a search meets is made
// up here, at random.
#include "explore/strategy/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace heddle::explore {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// What a search comes to.
struct Outcome {
  Plan::Seen seen;
  Plan::Found found;
};

class Outcomes {
public:
  explicit Outcomes(unsigned seed) : random_(seed) {}
  Outcome next() {
    const auto one_in = [&](unsigned n) { return random_() % n == 0; };
    Outcome o;
    o.seen = {
        .sums_clash = one_in(4),
        .refuted = one_in(6),
        .host_clash = one_in(8),
        .retries = one_in(4),
        .gave_up = one_in(3),
        .host_got_data = one_in(3),
        .circle = one_in(4),
        .learned = {}
    };
    if (one_in(2)) {
      o.seen.learned.contended = random_() & 0xf0;
      o.seen.learned.unordered = random_() & 0xf;
      o.seen.learned.places = random_() & 0xff;
      o.seen.learned.rewritten = random_() & 0x3;
    }
    o.found = {.clean = !one_in(5), .complete = one_in(3), .straight = one_in(2)};
    return o;
  }

private:
  std::mt19937 random_;
};

constexpr int most_attempts = 60;

/// The attempts of a plan, each as its options; `between` may take another plan's place.
template <class Between>
std::vector<std::string> attempts(Options asked, unsigned seed, Between between) {
  Plan plan(asked);
  Outcomes outcomes(seed);
  std::vector<std::string> result;
  for (int n = 0; n < most_attempts; ++n) {
    between(plan);
    const Plan::Attempt attempt = plan.next();
    Options without_clock = attempt.options;
    without_clock.max_seconds = Options().max_seconds;
    result.push_back(std::to_string(attempt.number) + " " + to_text(without_clock));
    const Outcome outcome = outcomes.next();
    const Plan::Next next = plan.after(outcome.seen, [&] { return outcome.found; });
    if (next == Plan::Next::This || next == Plan::Next::Kept) {
      result.emplace_back(next == Plan::Next::This ? "this" : "kept");
      break;
    }
  }
  return result;
}

constexpr auto nothing = [](Plan&) {};

TEST(Plans, DependOnNoClock) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Options asked;
    const auto usual = attempts(asked, seed, nothing);
    for (const double seconds : {0.001, 0.5, 1e6}) {
      asked.max_seconds = seconds;
      EXPECT_EQ(attempts(asked, seed, nothing), usual) << seed;
    }
  }
}

TEST(Plans, GoOnFromALine) {
  unsigned longest = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Options asked;
    asked.max_states = 777;
    asked = seed % 7 == 0 ? with_ptx_memory(asked) : asked;
    const auto whole = attempts(asked, seed, nothing);
    longest = std::max(longest, static_cast<unsigned>(whole.size()));
    const auto resumed = attempts(asked, seed, [&](Plan& plan) {
      Plan other(asked);
      ASSERT_TRUE(other.go_on_from(plan.to_text()));
      EXPECT_EQ(other.to_text(), plan.to_text());
      plan = other;
    });
    EXPECT_EQ(resumed, whole) << seed;
  }
  EXPECT_GT(longest, 6U);
}

TEST(Plans, AreNotBelievedIfDamaged) {
  Plan plan{Options()};
  const std::string text = plan.to_text();
  for (std::size_t length = 0; length < text.size(); ++length) {
    if (text.substr(0, length).ends_with("kept-with=")) {
      continue; // nothing was kept, with the usual options
    }
    EXPECT_FALSE(Plan(Options()).go_on_from(text.substr(0, length))) << length;
  }
  EXPECT_FALSE(plan.go_on_from(text + " more=1"));
  EXPECT_FALSE(plan.go_on_from("budget=4" + text));
  EXPECT_EQ(plan.to_text(), text);
}

TEST(Plans, BeginningsHaveBudgetsOfStatesAndWork) {
  Options asked;
  asked.one_order_after = 3000;
  Plan plan(asked);
  const Plan::Attempt first = plan.next();
  EXPECT_TRUE(first.is_beginning);
  EXPECT_TRUE(first.options.gives_up);
  EXPECT_EQ(first.options.max_states, 3000U);
  EXPECT_EQ(first.options.max_work, work_for(3000));
  EXPECT_EQ(first.options.max_computed, work_for(3000));
  EXPECT_EQ(kind_of(first), "every order");
  EXPECT_GE(work_for(1), work_for(1000));
  EXPECT_EQ(work_for(~0U), ~0U);
}

TEST(Plans, TheLastSearchHasAllThereIs) {
  Options asked;
  asked.cone = asked.data_order = asked.straight = false;
  Plan plan(asked);
  const Plan::Attempt last = plan.next();
  EXPECT_FALSE(last.is_beginning);
  EXPECT_EQ(last.options.max_states, asked.max_states);
  EXPECT_EQ(last.options.max_work, 0U);
}

/// What is cut short leads to no search of another kind.
TEST(Plans, AreOverWhenTheTimeIs) {
  Plan plan{Options()};
  const std::string before = plan.to_text();
  EXPECT_EQ(plan.stop({}), Plan::Next::This);
  EXPECT_EQ(plan.to_text(), before);
  EXPECT_EQ(plan.stop({.refuted = true}), Plan::Next::Again); // for what is true
}

TEST(Plans, GoFromKindToKind) {
  Plan plan{Options()};
  std::vector<std::string> kinds;
  const auto no_more = [] {
    return Plan::Found{.clean = true, .complete = false, .straight = true};
  };
  for (int n = 0; n < 5; ++n) {
    kinds.push_back(kind_of(plan.next()));
    plan.after({.gave_up = n == 0, .host_got_data = n == 3}, no_more);
  }
  EXPECT_THAT(
      kinds,
      ElementsAre(
          "every order",
          "blocks start at once, every order",
          "blocks start at once, in groups, every order",
          "blocks start at once, by decisions",
          "by decisions"
      )
  );
}

TEST(Plans, GoOnWithoutGroupsIfOthersCome) {
  Plan plan{Options()};
  const auto no_more = [] {
    return Plan::Found{.clean = true, .complete = false, .straight = true};
  };
  plan.after({.gave_up = true}, no_more);
  plan.after({}, no_more);
  ASSERT_EQ(kind_of(plan.next()), "blocks start at once, in groups, every order");
  Plan::Seen seen{.sums_clash = true};
  seen.learned.refute(reduce::Assumption::Groups);
  EXPECT_EQ(plan.after(seen, no_more), Plan::Next::Again);
  EXPECT_EQ(kind_of(plan.next()), "blocks start at once, by decisions");
}

// --- Evidence ------------------------------------------------------------------------------------

using Order = Evidence::Order;

TEST(Evidence, EndsAReductionThatNothingIsToBlameFor) {
  Options assumed;
  Evidence evidence;
  const Seen clash{.sums_clash = true, .learned = {.contended = 4}};
  evidence.add(clash, Order::Every, assumed);
  EXPECT_TRUE(assumed.orderly); // without that instruction
  EXPECT_EQ(assumed.learned.contended, 4U);
  EXPECT_EQ(evidence.contended, 4U);
  evidence.add(clash, Order::Every, assumed);
  EXPECT_FALSE(assumed.orderly);
  EXPECT_FALSE(is_void(clash, assumed));
}

TEST(Evidence, TakesAllPlacesForContendedAfterFourRounds) {
  Options assumed;
  Evidence evidence;
  for (std::uint64_t round = 0; round < 4; ++round) {
    evidence.add(
        {.sums_clash = true, .learned = {.places = 1ULL << round, .rewritten = 1ULL << round}},
        Order::Every,
        assumed
    );
    EXPECT_EQ(assumed.learned.places, (2ULL << round) - 1);
    EXPECT_EQ(assumed.learned.rewritten, (2ULL << round) - 1);
  }
  evidence.add(
      {.sums_clash = true, .learned = {.places = 1ULL << 7, .rewritten = 1ULL << 7}},
      Order::Every,
      assumed
  );
  EXPECT_EQ(assumed.learned.places, ~std::uint64_t{0});
  EXPECT_EQ(assumed.learned.rewritten, ~std::uint64_t{0});
}

TEST(Evidence, KeepsOnlyOneOrderOfAccessesThatOnlyDataDependsOn) {
  Options assumed;
  Evidence evidence;
  evidence.add({.sums_clash = true, .learned = {.unordered = 3}}, Order::EveryYet, assumed);
  EXPECT_EQ(evidence.only_data(), 3U);      // one order would do …
  EXPECT_EQ(assumed.learned.contended, 3U); // … and each is looked at
  EXPECT_EQ(assumed.learned.unordered, 0U);
  evidence.add({.sums_clash = true, .learned = {.contended = 5}}, Order::Every, assumed);
  EXPECT_EQ(evidence.only_data(), 3U) << "1 has been contended for that reason before";
  Options one = assumed;
  one.learned.unordered = 3;
  evidence.add({.sums_clash = true, .learned = {.contended = 8, .unordered = 16}}, Order::One, one);
  EXPECT_EQ(one.learned.unordered, 19U);
  EXPECT_EQ(evidence.could_be, 3U);
}

} // namespace
} // namespace heddle::explore

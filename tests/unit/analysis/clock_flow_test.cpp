#include "analysis/clock_flow.h"

#include "support/ptx_text.h"
#include <gmock/gmock.h>

#include <optional>
#include <ostream>

namespace heddle::analysis {
namespace {

using Reading = ClockFlow::Reading;

/// Instruction 0 reads %clock64 into %rd1, unless the test says otherwise.
class Clocks {
public:
  explicit Clocks(const std::string& body)
      : module_(
            ptx::must_parse(
                ptx::kernel(
                    ".reg .pred %p<5>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<5>; .local "
                    ".b64 "
                    "mine;\n" +
                    body + " ret;"
                )
            )
        ),
        cfg_(*module_->functions[0]),
        flow_(*module_->functions[0], cfg_) {}
  const ClockFlow* operator->() const { return &flow_; }

private:
  std::unique_ptr<ptx::Module> module_;
  Cfg cfg_;
  ClockFlow flow_;
};

const std::string loop_on_limit = "mov.u64 %rd1, %clock64;\n"
                                  "L: mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1;\n"
                                  "setp.lt.s64 %p1, %rd3, 1000; @%p1 bra L;\n";

TEST(ClockFlow, ALimitIsComparedWithWhatHasPassed) {
  const Clocks f(loop_on_limit);
  EXPECT_EQ(f->reading(0), Reading::Decides);
  EXPECT_EQ(f->reading(1), Reading::Decides);
  EXPECT_FALSE(f->held_before(0)); // nothing is remembered yet
  EXPECT_TRUE(f->held_before(1));
  EXPECT_FALSE(f->held_before(5)); // nor any more
  EXPECT_FALSE(f->absolute());
  EXPECT_TRUE(f->follows(0) && f->follows(1));
  ASSERT_NE(f->time_at(1), nullptr);
  EXPECT_EQ(f->time_at(1)->soon, std::nullopt);
  EXPECT_EQ(ClockFlow::now - f->time_at(1)->late, std::uint64_t{1} << 62);
}

TEST(ClockFlow, AMomentIsATime) {
  const Clocks f(
      "mov.u64 %rd1, %globaltimer; add.s64 %rd4, %rd1, 1000;\n"
      "L: mov.u64 %rd2, %globaltimer; setp.lt.u64 %p1, %rd2, %rd4; @%p1 bra L;\n"
  );
  EXPECT_FALSE(f->absolute());
  EXPECT_TRUE(f->follows(2));
  ASSERT_NE(f->time_at(2), nullptr);
  EXPECT_EQ(ClockFlow::now - f->time_at(2)->late, std::uint64_t{1} << 62);
}

TEST(ClockFlow, HalvesWithTheirSignAreApart) {
  const Clocks f(
      "mov.u32 %r1, %clock; cvt.s64.s32 %rd1, %r1;\n"
      "L: mov.u32 %r2, %clock; cvt.s64.s32 %rd2, %r2; sub.s64 %rd3, %rd2, %rd1;\n"
      "setp.lt.s64 %p1, %rd3, 1000; @%p1 bra L;\n"
  );
  EXPECT_TRUE(f->follows(2));
  ASSERT_NE(f->time_at(2), nullptr);
  EXPECT_EQ(f->time_at(2)->soon, 0x7fffffffU);
  EXPECT_EQ(f->time_at(2)->late, 0xffffffff80000000U);
}

/// What a loop asks of the time %rd3 that has passed since %rd1, with the answers that it gets.
struct Asked {
  const char* body;
  std::optional<std::uint64_t> soon; // how much has passed; none: as it is
  std::optional<std::uint64_t> late; // none: two answers do not stand for all
};
std::ostream& operator<<(std::ostream& out, const Asked& asked) {
  return out << asked.body;
}
class ClockTests : public testing::TestWithParam<Asked> {};

constexpr std::uint64_t all_time = std::uint64_t{1} << 62;
constexpr Asked asked[] = {
    {"setp.lt.s64 %p1, %rd3, 1000;", {}, all_time},
    {"setp.ge.u64 %p1, %rd3, %rd5;", {}, all_time},
    {"setp.eq.s64 %p1, %rd3, 0;", {}, all_time},
    {"setp.eq.s64 %p1, %rd3, 5;", {}, {}},
    {"cvt.u32.u64 %r1, %rd3; setp.lt.s32 %p1, %r1, 1000;", 0x80000000, 0x7fffffff},
    {"cvt.u32.u64 %r1, %rd3; setp.lt.u32 %p1, %r1, 1000;", 0, 0xffffffff},
    {"cvt.u32.u64 %r1, %rd3; setp.ne.u32 %p1, %r1, 1000;", {}, {}},
    {"cvt.u32.u64 %r1, %rd3; cvt.s64.s32 %rd4, %r1; setp.lt.s64 %p1, %rd4, 9;",
     0x80000000,
     0x7fffffff},
    {"and.b64 %rd4, %rd3, 4294967295; setp.lt.s64 %p1, %rd4, 1000;", 0, 0xffffffff},
    {"and.b64 %rd4, %rd3, 255; setp.lt.s64 %p1, %rd4, 1000;", {}, {}},
    {"cvt.rn.f32.s64 %f1, %rd3; mul.f32 %f2, %f1, 0f3A83126F; setp.lt.f32 %p1, %f2, %f3;",
     {},
     all_time},
    {"cvt.rn.f32.s64 %f1, %rd3; mul.f32 %f2, %f1, 0fBA83126F; setp.lt.f32 %p1, %f2, %f3;", {}, {}},
    {"shr.u64 %rd4, %rd3, 10; setp.lt.s64 %p1, %rd4, 1000;", {}, all_time},
    {"shr.u64 %rd4, %rd3, 10; cvt.u32.u64 %r1, %rd4; setp.lt.s32 %p1, %r1, 1000;", {}, {}},
    {"div.s64 %rd4, %rd3, 1000; setp.lt.s64 %p1, %rd4, 1000;", {}, all_time},
    {"rem.s64 %rd4, %rd3, 1000; setp.lt.s64 %p1, %rd4, 100;", {}, {}},
    {"mul.lo.s64 %rd4, %rd3, 1000; setp.lt.s64 %p1, %rd4, 100;", {}, {}},
    {"sub.s64 %rd4, 1000, %rd3; setp.gt.s64 %p1, %rd4, 0;", {}, all_time},
    {"sub.s64 %rd4, 1000, %rd3; setp.gt.u64 %p1, %rd4, 0;", {}, {}},
    {"add.cc.u64 %rd4, %rd3, 1; setp.gt.s64 %p1, %rd4, 0;", {}, {}},
    {"setp.lt.s64 %p2, %rd3, 7; @%p2 st.global.u32 [%rd6], 1; setp.lt.s64 %p1, %rd3, 1000;",
     {},
     {}},
    {"setp.le.s64 %p2, %rd3, 1000; @%p2 st.global.u32 [%rd6], 1; setp.lt.s64 %p1, %rd3, 1000;",
     {},
     {}},
    {"setp.ge.s64 %p2, %rd3, 1000; @%p2 st.global.u32 [%rd6], 1; setp.lt.s64 %p1, %rd3, 1000;",
     {},
     all_time},
    {"ld.volatile.global.u64 %rd4, [%rd6]; setp.lt.s64 %p1, %rd3, %rd4;", {}, {}},
    {"mul.hi.s64 %rd4, %rd3, 2361183241434822607; shr.u64 %rd5, %rd4, 63; shr.s64 %rd4, %rd4, 7;"
     "add.s64 %rd4, %rd4, %rd5; setp.lt.s64 %p1, %rd4, 9;",
     {},
     all_time},
    {"setp.gt.s64 %p2, %rd3, 999; @%p2 st.global.u32 [%rd6], 1; setp.lt.s64 %p1, %rd3, 1000;",
     {},
     all_time},
    {"add.s64 %rd4, %rd3, 1; setp.lt.s64 %p2, %rd4, 9; @%p2 st.global.u32 [%rd6], 1;"
     "add.s64 %rd5, %rd3, 2; setp.lt.s64 %p1, %rd5, 9;",
     {},
     {}},
    {"shr.u64 %rd4, %rd3, 1; setp.lt.s64 %p2, %rd4, 9; @%p2 st.global.u32 [%rd6], 1;"
     "shr.u64 %rd5, %rd3, 2; setp.lt.s64 %p1, %rd5, 9;",
     {},
     {}},
    {"ld.volatile.global.u64 %rd5, [%rd6]; add.s64 %rd4, %rd3, %rd5; setp.lt.s64 %p1, %rd4, 9;",
     {},
     {}},
    {"min.s64 %rd4, %rd3, 5; setp.lt.s64 %p1, %rd4, 7;", {}, {}},
    {"ld.global.u64 %rd4, [%rd3]; setp.lt.s64 %p1, %rd4, 7;", {}, {}},
};

TEST_P(ClockTests, HaveAnswersForBothSides) {
  const Clocks f(
      std::string(
          "mov.u64 %rd1, %clock64; L: mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1;\n"
      ) +
      GetParam().body + " @%p1 bra L;\n"
  );
  EXPECT_EQ(f->reading(1), Reading::Decides);
  EXPECT_EQ(f->follows(0), GetParam().late.has_value());
  EXPECT_EQ(f->follows(1), GetParam().late.has_value());
  const ClockFlow::Time* time = f->time_at(1);
  if (GetParam().late) {
    ASSERT_NE(time, nullptr);
    EXPECT_EQ(ClockFlow::now - time->late, *GetParam().late);
    EXPECT_EQ(time->soon.has_value(), GetParam().soon.has_value());
    EXPECT_EQ(ClockFlow::now - time->soon.value_or(ClockFlow::now), GetParam().soon.value_or(0));
  }
}
INSTANTIATE_TEST_SUITE_P(Clocks, ClockTests, testing::ValuesIn(asked));

TEST(ClockFlow, TwoTimesAreMoreThanTwoAnswers) {
  const Clocks f(
      "mov.u64 %rd1, %clock64; ld.volatile.global.u32 %r1, [%rd6]; mov.u64 %rd4, %clock64;\n"
      "L: mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1; sub.s64 %rd5, %rd2, %rd4;\n"
      "setp.lt.s64 %p1, %rd3, 1000; @%p1 bra L; setp.lt.s64 %p2, %rd5, 1000; @%p2 bra L;\n"
  );
  EXPECT_FALSE(f->follows(3));
}

TEST(ClockFlow, TimesOneAfterTheOtherHaveTheirOwnLimits) {
  const Clocks f(
      "mov.u64 %rd1, %clock64;\n"
      "L: mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1; setp.lt.s64 %p1, %rd3, 10; @%p1 bra "
      "L;\n"
      "mov.u64 %rd1, %clock64;\n"
      "M: mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1; setp.lt.s64 %p1, %rd3, 20; @%p1 bra "
      "M;\n"
  );
  EXPECT_TRUE(f->follows(1) && f->follows(6));
  EXPECT_NE(f->time_at(6), nullptr);
}

/// Waits again and again; `between` comes behind each time that is over, `renews` before the next.
std::string waits_again(const std::string& renews, const std::string& between) {
  return "mov.u64 %rd5, 10; mov.u64 %rd1, %clock64; R: " + renews +
         " L: mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1; setp.lt.s64 %p1, %rd3, %rd5;\n"
         "@%p1 bra L; " +
         between + " ld.volatile.global.u32 %r1, [%rd6]; setp.eq.u32 %p2, %r1, 0; @%p2 bra R;\n";
}

TEST(ClockFlow, ALimitMayChangeWithTheTime) {
  const std::string grows = "shl.b64 %rd5, %rd5, 1;", renews = "mov.u64 %rd1, %clock64;";
  EXPECT_TRUE(Clocks(waits_again("", ""))->follows(1));
  EXPECT_TRUE(Clocks(waits_again(renews, grows))->follows(2));
  EXPECT_FALSE(Clocks(waits_again("", grows))->follows(1));
  EXPECT_FALSE(Clocks(waits_again("@%p3 " + renews, grows))->follows(2));
}

TEST(ClockFlow, ATimeMayBeTheLastOneThatWasOver) {
  const Clocks f(
      "mov.u64 %rd1, %clock64;\n"
      "L: mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1; setp.gt.s64 %p1, %rd3, 1000;\n"
      "selp.b64 %rd1, %rd2, %rd1, %p1; @%p1 st.global.u32 [%rd6], 1;\n"
      "ld.volatile.global.u32 %r1, [%rd6]; setp.eq.u32 %p2, %r1, 0; @%p2 bra L;\n"
  );
  EXPECT_TRUE(f->follows(1));
}

TEST(ClockFlow, AMomentThatIsPutOffIsNotFollowed) {
  const Clocks f(
      "mov.u64 %rd1, %clock64; add.s64 %rd4, %rd1, 1000;\n"
      "L: mov.u64 %rd2, %clock64; setp.lt.s64 %p1, %rd2, %rd4; @%p1 bra L;\n"
      "add.s64 %rd4, %rd4, 1000; ld.volatile.global.u32 %r1, [%rd6];\n"
      "setp.eq.u32 %p2, %r1, 0; @%p2 bra L;\n"
  );
  EXPECT_FALSE(f->follows(2));
}

TEST(ClockFlow, WhatIsLeftUntilAMomentHasASign) {
  const auto loop = [](const std::string& test) {
    return "mov.u64 %rd1, %clock64; add.s64 %rd4, %rd1, 1000;\n"
           "L: mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd4; " +
           test + " @%p1 bra L;\n";
  };
  EXPECT_TRUE(Clocks(loop("setp.lt.s64 %p1, %rd3, 0;"))->follows(2));
  EXPECT_FALSE(Clocks(loop("setp.lt.u64 %p1, %rd3, 5;"))->follows(2));
}

TEST(ClockFlow, WhatMayBeNoTimeIsNotFollowed) { // before the first round
  const Clocks f(
      "mov.u64 %rd1, 0;\n"
      "L: mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1; mov.u64 %rd1, %rd2;\n"
      "setp.lt.s64 %p1, %rd3, 10; @%p1 bra L;\n"
  );
  EXPECT_FALSE(f->follows(1));
}

TEST(ClockFlow, WhatAnotherLaneHasReadIsNotFollowed) {
  const Clocks f(
      "mov.u64 %rd1, %clock64; cvt.u32.u64 %r1, %rd1; shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\n"
      "mov.u64 %rd2, %clock64; cvt.u32.u64 %r3, %rd2; sub.s32 %r4, %r3, %r2;\n"
      "setp.lt.u32 %p1, %r4, 10; @%p1 trap;\n"
  );
  EXPECT_FALSE(f->follows(0));
}

TEST(ClockFlow, KnowsWhichStoresWriteIt) {
  const Clocks f(
      "mov.u64 %rd1, %clock64; L: mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1;\n"
      "setp.lt.s64 %p1, %rd3, 1000; selp.u32 %r1, 1, 0, %p1; st.global.u32 [%rd6], %r1;\n"
      "st.global.u64 [%rd6], %rd3; @%p1 bra L;\n"
  );
  EXPECT_TRUE(f->follows(1));
  EXPECT_THAT(f->stores(1), testing::ElementsAre(6));
}

TEST(ClockFlow, WhatIsOnlyStoredIsData) {
  const Clocks f(
      "mov.u64 %rd1, %clock64; ld.global.u32 %r1, [%rd5]; mov.u64 %rd2, %clock64;\n"
      "sub.s64 %rd3, %rd2, %rd1; st.global.u64 [%rd6], %rd3;"
  );
  EXPECT_EQ(f->reading(0), Reading::Data);
  EXPECT_EQ(f->reading(2), Reading::Data);
  EXPECT_FALSE(f->held_before(2));
}

TEST(ClockFlow, WhatSaysHowLongToSleepIsData) {
  const Clocks f(
      "mov.u64 %rd1, %clock64; L: mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1;\n"
      "cvt.u32.u64 %r1, %rd3; nanosleep.u32 %r1; ld.volatile.global.u32 %r2, [%rd5];\n"
      "setp.eq.u32 %p1, %r2, 0; @%p1 bra L;\n"
  );
  EXPECT_EQ(f->reading(0), Reading::Data);
  EXPECT_EQ(f->reading(1), Reading::Data);
}

TEST(ClockFlow, TheAnswerOfAComparisonIsMoreThanData) {
  const Clocks f(
      "mov.u64 %rd1, %clock64; mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1;\n"
      "setp.gt.s64 %p1, %rd3, 1000; selp.u32 %r1, 1, 0, %p1; st.global.u32 [%rd6], %r1;"
  );
  EXPECT_EQ(f->reading(0), Reading::Decides);
  EXPECT_EQ(f->reading(1), Reading::Decides);
}

TEST(ClockFlow, AMomentOfSomebodyElseIsAbsolute) {
  const Clocks f(
      "ld.global.u64 %rd4, [%rd5]; L: mov.u64 %rd2, %clock64;\n"
      "setp.lt.u64 %p1, %rd2, %rd4; @%p1 bra L;\n"
  );
  EXPECT_TRUE(f->absolute());
}

TEST(ClockFlow, AVariableOfTheThreadIsNotFollowed) {
  const Clocks f(
      "mov.u64 %rd1, %clock64; st.local.u64 [mine], %rd1;\n"
      "L: mov.u64 %rd2, %clock64; ld.local.u64 %rd4, [mine]; sub.s64 %rd3, %rd2, %rd4;\n"
      "setp.lt.s64 %p1, %rd3, 1000; @%p1 bra L;\n"
  );
  EXPECT_EQ(f->reading(0), Reading::Decides);
  EXPECT_TRUE(f->absolute());
  EXPECT_FALSE(f->follows(0));
}

TEST(ClockFlow, AVariableThatDecidesNothingCostsNothing) {
  const Clocks f(
      "mov.u64 %rd1, %clock64; st.local.u64 [mine], %rd1; ld.local.u64 %rd4, [mine];\n"
      "st.global.u64 [%rd6], %rd4;\n"
  );
  EXPECT_TRUE(f->follows(0));
}

// The first operand of these is no destination.
TEST(ClockFlow, WhatIsCalledOrMetIsNotFollowed) {
  for (const char* use : {
           "P: .callprototype _ (); ld.global.u64 %rd3, [%rd2]; call %rd3, (), P;",
           "barrier.sync %r1, 64;",
           "bar.warp.sync %r1;",
       }) {
    const Clocks f(
        std::string("mov.u64 %rd1, %clock64; and.b64 %rd2, %rd1, 8; cvt.u32.u64 %r1, %rd2;\n") + use
    );
    EXPECT_EQ(f->reading(0), Reading::Decides) << use;
    EXPECT_FALSE(f->follows(0)) << use;
  }
}

TEST(ClockFlow, LanesThatStandAtAnotherCollectiveGetIt) {
  const std::string handed_over = "mov.u32 %r1, %clock; shfl.sync.idx.b32 %r2, %r1, 0, 31, 3;\n";
  const Clocks one(handed_over + "st.global.u32 [%rd6], %r2;\n");
  EXPECT_TRUE(one->follows(0));
  const Clocks two(
      "@%p2 bra M;\n" + handed_over +
      "bra N; M: shfl.sync.idx.b32 %r3, %r4, 0, 31, 3; setp.eq.u32 %p1, %r3, 9;\n"
      "L: @%p1 bra L; N:"
  );
  EXPECT_FALSE(two->follows(1));
}

TEST(ClockFlow, WhereItSaysWhatIsReadItDecides) {
  const Clocks f(
      "mov.u64 %rd1, %clock64; ld.global.u64 %rd2, [%rd1]; st.global.u64 [%rd3], %rd2;\n"
  );
  EXPECT_EQ(f->reading(0), Reading::Decides);
  EXPECT_FALSE(f->follows(0));
}

TEST(ClockFlow, WhatIsDividedIsNotKnownToBeATime) {
  const Clocks f(
      "mov.u64 %rd1, %clock64; shr.u64 %rd4, %rd1, 10;\n"
      "L: mov.u64 %rd2, %clock64; shr.u64 %rd5, %rd2, 10; setp.eq.u64 %p1, %rd5, %rd4;\n"
      "@%p1 bra L;\n"
  );
  EXPECT_TRUE(f->held_before(2));
  EXPECT_FALSE(f->follows(2));
  EXPECT_EQ(f->time_at(2), nullptr);
}

TEST(ClockFlow, ReadsNone) {
  const Clocks f("mov.u32 %r1, %clusterid.x; st.global.u32 [%rd6], %r1;");
  EXPECT_EQ(f->reading(0), Reading::None);
}

} // namespace
} // namespace heddle::analysis

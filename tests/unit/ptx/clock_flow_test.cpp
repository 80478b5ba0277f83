#include "ptx/clock_flow.h"

#include "helpers.h"
#include <gmock/gmock.h>

namespace heddle::ptx {
namespace {

using Clock = ClockFlow::Clock;
using Reading = ClockFlow::Reading;

/// Instruction 0 reads %clock64 into %rd1, unless the test says otherwise.
class Flow {
public:
  explicit Flow(const std::string& body)
      : module_(must_parse(kernel(
            ".reg .pred %p<5>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .local .b64 mine;\n" + body +
            " ret;"
        ))),
        flow_(*module_->functions[0], Cfg(*module_->functions[0])) {}
  const ClockFlow* operator->() const { return &flow_; }

private:
  std::unique_ptr<Module> module_;
  ClockFlow flow_;
};

const std::string loop_on_limit = "mov.u64 %rd1, %clock64;\n"
                                  "L: mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1;\n"
                                  "setp.lt.s64 %p1, %rd3, 1000; @%p1 bra L;\n";

TEST(ClockFlow, ALimitIsComparedWithWhatHasPassed) {
  const Flow f(loop_on_limit);
  EXPECT_EQ(f->reading(0), Reading::Decides);
  EXPECT_EQ(f->reading(1), Reading::Decides);
  EXPECT_FALSE(f->held_before(0)); // nothing is remembered yet
  EXPECT_TRUE(f->held_before(1));
  EXPECT_FALSE(f->held_before(5)); // nor any more
  EXPECT_FALSE(f->absolute());
  ASSERT_NE(f->times_at(1), nullptr);
  ASSERT_EQ(f->times_at(1)->size(), 1U);
  EXPECT_EQ(f->times_at(1)->front().of, Clock::Cycles);
}

TEST(ClockFlow, AMomentIsATime) {
  const Flow f(
      "mov.u64 %rd1, %globaltimer; add.s64 %rd4, %rd1, 1000;\n"
      "L: mov.u64 %rd2, %globaltimer; setp.lt.u64 %p1, %rd2, %rd4; @%p1 bra L;\n"
  );
  EXPECT_FALSE(f->absolute());
  ASSERT_NE(f->times_at(2), nullptr);
  ASSERT_EQ(f->times_at(2)->size(), 1U);
  EXPECT_EQ(f->times_at(2)->front().of, Clock::Nanoseconds);
}

TEST(ClockFlow, HalvesAreClocksOfTheirOwn) {
  const Flow f(
      "mov.u32 %r1, %clock; cvt.s64.s32 %rd1, %r1;\n"
      "L: mov.u32 %r2, %clock; cvt.s64.s32 %rd2, %r2; sub.s64 %rd3, %rd2, %rd1;\n"
      "setp.lt.s64 %p1, %rd3, 1000; @%p1 bra L;\n"
  );
  ASSERT_NE(f->times_at(2), nullptr);
  EXPECT_EQ(f->times_at(2)->front().of, Clock::CyclesLow);
}

TEST(ClockFlow, WhatIsOnlyStoredIsData) {
  const Flow f(
      "mov.u64 %rd1, %clock64; ld.global.u32 %r1, [%rd5]; mov.u64 %rd2, %clock64;\n"
      "sub.s64 %rd3, %rd2, %rd1; st.global.u64 [%rd6], %rd3;"
  );
  EXPECT_EQ(f->reading(0), Reading::Data);
  EXPECT_EQ(f->reading(2), Reading::Data);
  EXPECT_FALSE(f->held_before(2));
}

TEST(ClockFlow, WhatSaysHowLongToSleepIsData) {
  const Flow f(
      "mov.u64 %rd1, %clock64; L: mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1;\n"
      "cvt.u32.u64 %r1, %rd3; nanosleep.u32 %r1; ld.volatile.global.u32 %r2, [%rd5];\n"
      "setp.eq.u32 %p1, %r2, 0; @%p1 bra L;\n"
  );
  EXPECT_EQ(f->reading(0), Reading::Data);
  EXPECT_EQ(f->reading(1), Reading::Data);
}

TEST(ClockFlow, TheAnswerOfAComparisonIsMoreThanData) {
  const Flow f(
      "mov.u64 %rd1, %clock64; mov.u64 %rd2, %clock64; sub.s64 %rd3, %rd2, %rd1;\n"
      "setp.gt.s64 %p1, %rd3, 1000; selp.u32 %r1, 1, 0, %p1; st.global.u32 [%rd6], %r1;"
  );
  EXPECT_EQ(f->reading(0), Reading::Decides);
  EXPECT_EQ(f->reading(1), Reading::Decides);
}

TEST(ClockFlow, AMomentOfSomebodyElseIsAbsolute) {
  const Flow f(
      "ld.global.u64 %rd4, [%rd5]; L: mov.u64 %rd2, %clock64;\n"
      "setp.lt.u64 %p1, %rd2, %rd4; @%p1 bra L;\n"
  );
  EXPECT_TRUE(f->absolute());
}

TEST(ClockFlow, AVariableOfTheThreadIsNotFollowed) {
  const Flow f(
      "mov.u64 %rd1, %clock64; st.local.u64 [mine], %rd1;\n"
      "L: mov.u64 %rd2, %clock64; ld.local.u64 %rd4, [mine]; sub.s64 %rd3, %rd2, %rd4;\n"
      "setp.lt.s64 %p1, %rd3, 1000; @%p1 bra L;\n"
  );
  EXPECT_EQ(f->reading(0), Reading::Decides);
  EXPECT_TRUE(f->absolute());
}

TEST(ClockFlow, WhatIsDividedIsNotKnownToBeATime) {
  const Flow f(
      "mov.u64 %rd1, %clock64; shr.u64 %rd4, %rd1, 10;\n"
      "L: mov.u64 %rd2, %clock64; shr.u64 %rd5, %rd2, 10; setp.eq.u64 %p1, %rd5, %rd4;\n"
      "@%p1 bra L;\n"
  );
  EXPECT_TRUE(f->held_before(2));
  EXPECT_EQ(f->times_at(2), nullptr);
}

TEST(ClockFlow, ReadsNone) {
  const Flow f("mov.u32 %r1, %clusterid.x; st.global.u32 [%rd6], %r1;");
  EXPECT_EQ(f->reading(0), Reading::None);
}

} // namespace
} // namespace heddle::ptx

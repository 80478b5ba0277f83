// shfl, vote, match, redux, elect, activemask: converged, diverged, with ended lanes (PTX
// ISA 9.0, 9.7.9.6, 9.7.13.8 to 9.7.13.14). What PTX leaves open is as recorded from an H200.
#include "isa/ops_collective.h"

#include "unit/isa/one_kernel.h"

namespace heddle {
namespace {

using isa::ops::Shuffle;
using isa::ops::shuffle_source;
using test::OneKernel;
using test::warp;

TEST(ShuffleSource, FollowsClampAndSegments) {
  EXPECT_EQ(shuffle_source<Shuffle::Down>(30, 3, 31).lane, 30);
  EXPECT_FALSE(shuffle_source<Shuffle::Down>(30, 3, 31).in_range);
  EXPECT_EQ(shuffle_source<Shuffle::Down>(6, 1, 0x181f).lane, 7);
  EXPECT_EQ(shuffle_source<Shuffle::Down>(7, 1, 0x181f).lane, 7); // segments of 8
  EXPECT_EQ(shuffle_source<Shuffle::Up>(8, 1, 0x1800).lane, 8);
  EXPECT_EQ(shuffle_source<Shuffle::Up>(9, 1, 0x1800).lane, 8);
  EXPECT_EQ(shuffle_source<Shuffle::Bfly>(5, 7, 31).lane, 2);
  EXPECT_EQ(shuffle_source<Shuffle::Idx>(21, 3, 0x181f).lane, 19);
  EXPECT_EQ(shuffle_source<Shuffle::Idx>(21, 35, 31).lane, 3); // five bits count
}

TEST(Shfl, ReadsOtherLanesAndTellsWhetherInRange) {
  OneKernel k(
      "mul.lo.u32 %r1, %r0, 10; shfl.sync.down.b32 %r2|%p1, %r1, 4, 31, -1; selp.u32 %r3, 1, 0, "
      "%p1;\n"
      "shfl.sync.bfly.b32 %r1, %r1, 1, 31, 0xffffffff; st.global.v2.u32 [%rd5], {%r2, %r3};\n"
      "st.global.u32 [%rd4+512], %r1;"
  );
  ASSERT_EQ(k.run(warp()), "");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(k.out[2 * i], (i < 28 ? i + 4 : i) * 10);
    EXPECT_EQ(k.out[2 * i + 1], i < 28 ? 1U : 0U);
    EXPECT_EQ(k.out[128 + i], (i ^ 1) * 10);
  }
}

TEST(Shfl, LanesMeetFromDifferentInstructions) {
  OneKernel k(
      "add.u32 %r1, %r0, 100; add.u32 %r2, %r0, 200; sub.u32 %r3, 31, %r0; setp.lt.u32 %p1, %r0, "
      "16;\n"
      "@%p1 bra LOW; shfl.sync.idx.b32 %r4, %r2, %r3, 31, -1; add.u32 %r4, %r4, 1000; bra END;\n"
      "LOW: shfl.sync.idx.b32 %r4, %r1, %r3, 31, -1;\n"
      "END: st.global.u32 [%rd4], %r4;"
  );
  ASSERT_EQ(k.run(warp()), "");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(k.out[i], i < 16 ? 200 + 31 - i : 1000 + 100 + 31 - i) << i;
  }
}

TEST(Shfl, LanesMeetInDifferentCalls) {
  OneKernel k(
      "setp.lt.u32 %p1, %r0, 8; @%p1 bra LOW;\n"
      "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r0; call (r), swap, (a); ld.param.b32 "
      "%r1, [r]; }\n"
      "bra END;\n"
      "LOW: add.u32 %r2, %r0, 50;\n"
      "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r2; call (r), swap, (a); ld.param.b32 "
      "%r1, [r]; }\n"
      "END: st.global.u32 [%rd4], %r1;",
      ".func (.param .b32 r) swap(.param .b32 a)\n"
      "{ .reg .b32 %r<4>; ld.param.u32 %r1, [a]; shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1;\n"
      "st.param.b32 [r], %r2; ret; }"
  );
  ASSERT_EQ(k.run(warp()), "");
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t from = i ^ 8;
    EXPECT_EQ(k.out[i], from < 8 ? from + 50 : from) << i;
  }
}

TEST(Shfl, LanesThatDoNotTakePartReadAsZero) {
  OneKernel k(
      "setp.ge.u32 %p1, %r0, 16; @%p1 exit; add.u32 %r1, %r0, 100; add.u32 %r2, %r0, 8;\n"
      "shfl.sync.idx.b32 %r3, %r1, %r2, 31, 0xffff; shfl.sync.idx.b32 %r4, %r1, %r2, 31, -1;\n"
      "st.global.v2.u32 [%rd5], {%r3, %r4};"
  );
  ASSERT_EQ(k.run(warp()), "");
  for (std::uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(k.out[2 * i], i < 8 ? i + 108 : 0);
    EXPECT_EQ(k.out[2 * i + 1], k.out[2 * i]);
  }
}

TEST(Shfl, DisjointMasksAtTheSameTime) {
  OneKernel k(
      "and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; selp.b32 %r2, 0x55555555, 0xaaaaaaaa, %p1;\n"
      "@%p1 bra EVEN; nanosleep.u32 50; EVEN: and.b32 %r3, %r0, 1; add.u32 %r3, %r3, 2;\n"
      "shfl.sync.idx.b32 %r4, %r0, %r3, 31, %r2; st.global.u32 [%rd4], %r4;"
  );
  ASSERT_EQ(k.run(warp()), "");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(k.out[i], 2 + i % 2);
  }
}

TEST(Vote, AllModesAndNegation) {
  OneKernel k(
      "setp.lt.u32 %p1, %r0, 5; vote.sync.ballot.b32 %r1, %p1, -1; vote.sync.ballot.b32 %r2, !%p1, "
      "0xffffffff;\n"
      "vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred %p3, %p1, -1; vote.sync.uni.pred %p4, "
      "%p1, -1;\n"
      "setp.lt.u32 %p5, %r0, 99; vote.sync.all.pred %p6, %p5, -1; vote.sync.uni.pred %p7, !%p5, "
      "-1;\n"
      "selp.u32 %r3, 1, 0, %p2; selp.u32 %r4, 2, 0, %p3; selp.u32 %r5, 4, 0, %p4; selp.u32 %r6, 8, "
      "0, %p6;\n"
      "selp.u32 %r7, 16, 0, %p7; or.b32 %r3, %r3, %r4; or.b32 %r3, %r3, %r5; or.b32 %r3, %r3, "
      "%r6;\n"
      "or.b32 %r3, %r3, %r7; st.global.v2.u32 [%rd2], {%r1, %r2}; st.global.u32 [%rd2+8], %r3;"
  );
  ASSERT_EQ(k.run(warp()), "");
  EXPECT_EQ(k.out[0], 0x1fU);
  EXPECT_EQ(k.out[1], ~0x1fU);
  EXPECT_EQ(k.out[2], 1U + 8 + 16);
}

TEST(Vote, ShortWarpCountsItsLanesOnly) {
  OneKernel k(
      "setp.eq.u32 %p1, %r0, %r0; vote.sync.ballot.b32 %r1, %p1, -1; vote.sync.all.pred %p2, %p1, "
      "-1;\n"
      "selp.u32 %r2, 1, 0, %p2; st.global.v2.u32 [%rd5], {%r1, %r2};"
  );
  ASSERT_EQ(k.run(warp(10)), "");
  EXPECT_EQ(k.out[0], 0x3ffU);
  EXPECT_EQ(k.out[1], 1U);
}

TEST(Match, AnyAndAll) {
  OneKernel k(
      "and.b32 %r1, %r0, 3; match.any.sync.b32 %r2, %r1, -1; cvt.u64.u32 %rd6, %r1; shl.b64 %rd6, "
      "%rd6, 40;\n"
      "match.any.sync.b64 %r3, %rd6, -1; match.all.sync.b32 %r4|%p1, %r1, -1; mov.u32 %r5, 9;\n"
      "match.all.sync.b32 %r6|%p2, %r5, -1; selp.u32 %r7, 1, 0, %p1; selp.u32 %r8, 2, 0, %p2; "
      "or.b32 %r7, %r7, %r8;\n"
      "xor.b32 %r2, %r2, %r3; shl.b32 %r9, 1, %r0; and.b32 %r9, %r9, %r3; st.global.u32 [%rd4], "
      "%r9;\n"
      "st.global.v2.u32 [%rd2+512], {%r2, %r4}; st.global.v2.u32 [%rd2+520], {%r6, %r7};"
  );
  ASSERT_EQ(k.run(warp()), "");
  EXPECT_EQ(k.out[7], 1U << 7);
  EXPECT_EQ(k.out[128], 0U);
  EXPECT_EQ(k.out[129], 0U);
  EXPECT_EQ(k.out[130], 0xffff'ffffU);
  EXPECT_EQ(k.out[131], 2U);
}

TEST(Redux, EveryOperation) {
  OneKernel k(
      "sub.u32 %r1, %r0, 20; redux.sync.add.s32 %r2, %r1, -1; redux.sync.min.s32 %r3, %r1, -1;\n"
      "redux.sync.max.s32 %r4, %r1, -1; redux.sync.min.u32 %r5, %r1, -1; redux.sync.and.b32 %r6, "
      "%r1, -1;\n"
      "redux.sync.xor.b32 %r7, %r0, -1; redux.sync.or.b32 %r8, %r0, -1; cvt.rn.f32.s32 %f1, %r1; "
      "neg.f32 %f1, %f1;\n"
      "redux.sync.max.f32 %f2, %f1, -1; redux.sync.max.abs.f32 %f3, %f1, -1; mov.f32 %f4, "
      "0f7fc00000;\n"
      "setp.eq.u32 %p1, %r0, 3; @%p1 mov.f32 %f1, %f4; redux.sync.min.f32 %f5, %f1, -1; "
      "redux.sync.min.NaN.f32 %f6, %f1, -1;\n"
      "st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r5}; st.global.v2.u32 [%rd2+16], {%r6, %r7}; "
      "st.global.u32 [%rd2+24], %r8;\n"
      "st.global.v2.f32 [%rd2+32], {%f2, %f3}; st.global.v2.f32 [%rd2+40], {%f5, %f6};"
  );
  ASSERT_EQ(k.run(warp()), "");
  EXPECT_EQ(static_cast<std::int32_t>(k.out[0]), 31 * 16 - 20 * 32);
  EXPECT_EQ(static_cast<std::int32_t>(k.out[1]), -20);
  EXPECT_EQ(static_cast<std::int32_t>(k.out[2]), 11);
  EXPECT_EQ(k.out[3], 0U);
  EXPECT_EQ(k.out[4], 0U);
  EXPECT_EQ(k.out[5], 0U);
  EXPECT_EQ(k.out[6], 31U);
  EXPECT_EQ(std::bit_cast<float>(k.out[8]), 20.0F);
  EXPECT_EQ(std::bit_cast<float>(k.out[9]), 20.0F);
  EXPECT_EQ(std::bit_cast<float>(k.out[10]), -11.0F);
  EXPECT_EQ(k.out[11], 0x7fff'ffffU);
}

TEST(Elect, LowestLaneOfTheMask) {
  OneKernel k(
      "setp.lt.u32 %p1, %r0, 8; @%p1 bra END; elect.sync %r1|%p2, 0xffffff00; selp.u32 %r2, 1, 0, "
      "%p2;\n"
      "st.global.v2.u32 [%rd5], {%r1, %r2}; END:"
  );
  ASSERT_EQ(k.run(warp()), "");
  for (std::uint32_t i = 8; i < 32; ++i) {
    EXPECT_EQ(k.out[2 * i], 8U);
    EXPECT_EQ(k.out[2 * i + 1], i == 8 ? 1U : 0U);
  }
}

TEST(Activemask, NamesTheLanesThatExecuteTogether) {
  OneKernel k("setp.lt.u32 %p1, %r0, 4; @%p1 activemask.b32 %r1; st.global.u32 [%rd4], %r1;");
  ASSERT_EQ(k.run(warp()), "");
  EXPECT_EQ(k.out[3], 15U);
  EXPECT_EQ(k.out[4], 0U);
}

TEST(WarpSync, OrdersSharedAccessesOfLanes) {
  OneKernel k(
      ".shared .align 4 .b8 s[128]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, %r1;\n"
      "setp.eq.u32 %p1, %r0, 0; @!%p1 bra MEET; nanosleep.u32 1000; st.shared.u32 [%r1], 77;\n"
      "MEET: bar.warp.sync 0xffffffff; ld.shared.u32 %r3, [%r1]; st.global.u32 [%rd4], %r3;"
  );
  ASSERT_EQ(k.run(warp()), "");
  EXPECT_EQ(k.out[31], 77U);
}

TEST(Barrier, ReductionsCountsAndNames) {
  OneKernel k(
      "setp.lt.u32 %p1, %r0, 40; bar.red.popc.u32 %r1, 0, %p1; bar.red.popc.u32 %r2, 1, 96, !%p1;\n"
      "bar.red.and.pred %p2, 2, %p1; bar.red.or.pred %p3, %r0, !%p1;\n"
      "selp.u32 %r3, 1, 0, %p2; selp.u32 %r4, 2, 0, %p3; or.b32 %r3, %r3, %r4; st.global.v2.u32 "
      "[%rd2], {%r1, %r2};\n"
      "st.global.u32 [%rd2+8], %r3;"
  );
  // The last barrier's name is a register, different in each thread: only 0 to 15 exist.
  EXPECT_NE(k.run(warp(96)).find("barrier 16 does not exist"), std::string::npos);
}

TEST(Barrier, ReductionResults) {
  OneKernel k(
      "setp.lt.u32 %p1, %r0, 40; bar.red.popc.u32 %r1, 0, %p1; bar.red.popc.u32 %r2, 1, 96, !%p1; "
      "mov.u32 %r5, 3;\n"
      "barrier.red.aligned.and.pred %p2, 2, %p1; barrier.cta.red.or.pred %p3, %r5, !%p1;\n"
      "selp.u32 %r3, 1, 0, %p2; selp.u32 %r4, 2, 0, %p3; or.b32 %r3, %r3, %r4; st.global.v2.u32 "
      "[%rd2], {%r1, %r2};\n"
      "st.global.u32 [%rd2+8], %r3;"
  );
  ASSERT_EQ(k.run(warp(96)), "");
  EXPECT_EQ(k.out[0], 40U);
  EXPECT_EQ(k.out[1], 56U);
  EXPECT_EQ(k.out[2], 2U);
}

TEST(Barrier, ArriveDoesNotWait) {
  OneKernel k(
      ".shared .align 4 .b8 s[4]; mov.u32 %r1, s; setp.lt.u32 %p1, %r0, 32; @%p1 bra CONSUMER;\n"
      "st.shared.u32 [%r1], 5; bar.arrive 4, 64; bra END;\n"
      "CONSUMER: bar.sync 4, 64; ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd4], %r2; END:"
  );
  ASSERT_EQ(k.run(warp(64)), "");
  EXPECT_EQ(k.out[31], 5U);
}

} // namespace
} // namespace heddle

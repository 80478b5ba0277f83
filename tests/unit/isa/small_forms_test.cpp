// alloca, stacksave and stackrestore; registers that are read before they are written; aliases of
// functions.
#include "one_kernel.h"

namespace heddle::test {
namespace {

TEST(Stack, GivesEachThreadItsOwnBytes) {
  OneKernel k(R"(
    add.u32 %r1, %r0, 1;  cvt.u64.u32 %rd6, %r1;  shl.b64 %rd6, %rd6, 3;
    stacksave.u64 %rd9;
    alloca.u64 %rd7, %rd6, 32;
    and.b64 %rd10, %rd7, 31;
    alloca.u64 %rd8, 16, 8;
    st.local.u32 [%rd7], %r0;  st.local.u32 [%rd8], 77;
    ld.local.u32 %r2, [%rd7];
    stackrestore.u64 %rd9;
    alloca.u64 %rd11, 16, 16;
    add.u64 %rd11, %rd11, 16;  setp.eq.u64 %p1, %rd11, %rd9;  selp.u32 %r3, 1000, 0, %p1;
    setp.ne.u64 %p2, %rd10, 0;  selp.u32 %r4, 5000, 0, %p2;
    add.u32 %r2, %r2, %r3;  add.u32 %r2, %r2, %r4;
    st.global.u32 [%rd4], %r2;)");
  ASSERT_EQ(k.run(warp()), "");
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(k.out[lane], lane + 1000);
  }
}

TEST(Stack, LanesAllocateApartFromEachOther) {
  OneKernel k(R"(
    stacksave.u64 %rd9;
    setp.lt.u32 %p1, %r0, 5;
    @%p1 alloca.u64 %rd7, 48, 16;
    alloca.u64 %rd8, 16, 16;
    st.local.u32 [%rd8], %r0;
    sub.u64 %rd9, %rd9, %rd8;
    cvt.u32.u64 %r1, %rd9;  st.global.u32 [%rd4], %r1;)");
  ASSERT_EQ(k.run(warp()), "");
  EXPECT_EQ(k.out[4], 64U);
  EXPECT_EQ(k.out[5], 16U);
}

TEST(Stack, WhatACallHasAllocatedGoesWithIt) {
  OneKernel k(
      "stacksave.u64 %rd6;  setp.lt.u32 %p1, %r0, 5;\n"
      "@%p1 call.uni callee, ();  stacksave.u64 %rd7;\n"
      "sub.u64 %rd7, %rd6, %rd7;  st.global.u64 [%rd5], %rd7;",
      ".func callee() { .reg .b64 %a; alloca.u64 %a, 32, 16; st.local.u32 [%a], 1; }\n"
  );
  ASSERT_EQ(k.run(warp()), "");
  EXPECT_EQ(k.wide(3), 0U);
  EXPECT_EQ(k.wide(7), 0U);
}

TEST(Stack, ASizeBeyondTheStackIsAFault) {
  OneKernel k("mov.u64 %rd6, 0x7fffffff;  alloca.u64 %rd7, %rd6, 16;  st.global.u64 [%rd5], %rd7;");
  EXPECT_NE(k.run(warp()), "");
  ASSERT_TRUE(k.fault);
  EXPECT_EQ(k.fault->fault.kind, isa::FaultKind::StackOverflow);
}

TEST(Registers, AreZeroBeforeTheyAreWritten) {
  OneKernel k("@%p3 mov.u32 %r9, 5;  st.global.u32 [%rd4], %r9;");
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(k.run(warp()), "");
    EXPECT_EQ(k.out[7], 0U);
  }
}

TEST(Alias, CallsGoToTheAliasee) {
  OneKernel k(
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call.uni (b), other, (a);"
      " ld.param.b32 %r1, [b]; } st.global.u32 [%rd4], %r1;",
      ".func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %v; ld.param.b32 %v, [x];"
      " add.u32 %v, %v, %v; st.param.b32 [r], %v; ret; }\n"
      ".func (.param .b32 r) other(.param .b32 x);\n.alias other, twice;\n"
  );
  ASSERT_EQ(k.run(warp()), "");
  EXPECT_EQ(k.out[21], 42U);
}

TEST(VectorMov, ReadsBeforeItWrites) {
  OneKernel k(R"(
    mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;
    add.u32 %r5, %r1, 100;
    mov.v2.b32 {%r1, %r5}, {%r5, %r1};
    shl.b32 %r5, %r5, 16;  add.u32 %r1, %r1, %r5;  add.u32 %r1, %r1, %r4;
    st.global.u32 [%rd4], %r1;)");
  ASSERT_EQ(k.run(warp()), "");
  EXPECT_EQ(k.out[9], 109U + (9U << 16));
}

TEST(StoreBulk, FillsWithZeros) {
  OneKernel k(
      R"(
    mov.u32 %r1, s;  mul.lo.u32 %r2, %r0, 16;  add.u32 %r1, %r1, %r2;
    st.shared.v4.u32 [%r1], {7, 8, 9, 10};
    cvt.u64.u32 %rd6, %r1;  mov.u64 %rd7, 8;
    st.bulk.weak.shared::cta [%rd6], %rd7, 0;
    ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r1];
    add.u32 %r3, %r3, %r4;  add.u32 %r3, %r3, %r5;
    st.global.u32 [%rd4], %r3;)",
      ".shared .align 16 .b8 s[512];"
  );
  ASSERT_EQ(k.run(warp()), "");
  EXPECT_EQ(k.out[31], 9U);
}

} // namespace
} // namespace heddle::test

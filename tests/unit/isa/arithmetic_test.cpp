// Arithmetic instructions as PTX: what lowering makes of operands, modifiers, guards and partial
// warps. The values themselves are tested in ops_*_test.cpp and against an H200 (tests/golden).
#include "one_kernel.h"
#include <fmt/format.h>

namespace heddle::test {
namespace {

machine::LaunchConfig warp() {
  machine::LaunchConfig config;
  config.block = {32, 1, 1};
  return config;
}
/// Runs a body in which every thread stores %r1.
std::vector<std::uint32_t> results(const std::string& body, const std::string& variables = "") {
  OneKernel k(body + " st.global.u32 [%rd4], %r1;", variables);
  EXPECT_EQ(k.run(warp()), "") << body;
  k.out.resize(32);
  return k.out;
}
std::uint32_t result(const std::string& body, const std::string& variables = "") {
  return results(body, variables)[0];
}

TEST(Arithmetic, WritesOnlyTheExecutingLanes) {
  // From one lane to all of them: few are done one by one, many at once.
  for (std::uint32_t count = 0; count <= 32; ++count) {
    const auto out = results(
        fmt::format(
            "mov.u32 %r1, 7; setp.lt.u32 %p1, %r0, {};"
            "@%p1 add.u32 %r1, %r0, 100;",
            count
        )
    );
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      ASSERT_EQ(out[lane], lane < count ? lane + 100 : 7) << count;
    }
  }
}
TEST(Arithmetic, PartialLanesOfEveryWidth) {
  for (const std::uint32_t mask :
       {0x0000'0001U, 0x8000'0000U, 0x5555'5555U, 0xffff'0000U, 0x7fff'ffffU}) {
    OneKernel k(
        fmt::format(
            "mov.u32 %r5, 1; shl.b32 %r5, %r5, %r0; and.b32 %r5, %r5, {:#x}; setp.ne.u32 %p1, %r5, "
            "0;"
            "mov.b16 %h1, 0x1111; mov.u64 %rd10, 0x2222222222222222; mov.b128 %q1, {{%rd10, "
            "%rd10}};"
            "mov.u64 %rd11, 0x3333333333333333; mov.b128 %q2, {{%rd11, %rd11}};"
            "@%p1 mov.b16 %h1, 0x7777; @%p1 mov.u64 %rd10, 0x8888888888888888; @%p1 mov.b128 %q1, "
            "%q2;"
            "cvt.u32.u16 %r1, %h1; cvt.u32.u64 %r2, %rd10; mov.b128 {{%rd12, %rd13}}, %q1;"
            "cvt.u32.u64 %r3, %rd13; shl.b64 %rd20, %rd5, 0; sub.u64 %rd20, %rd5, %rd2; add.u64 "
            "%rd20, %rd20, %rd5;"
            "sub.u64 %rd20, %rd20, %rd2; mul.wide.u32 %rd20, %r0, 12; add.u64 %rd20, %rd20, %rd2;"
            "st.global.u32 [%rd20], %r1; st.global.u32 [%rd20+4], %r2; st.global.u32 [%rd20+8], "
            "%r3;",
            mask
        )
    );
    ASSERT_EQ(k.run(warp()), "");
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const bool taken = ((mask >> lane) & 1U) != 0;
      ASSERT_EQ(k.out[3 * lane], taken ? 0x7777U : 0x1111U) << lane;
      ASSERT_EQ(k.out[3 * lane + 1], taken ? 0x8888'8888U : 0x2222'2222U) << lane;
      ASSERT_EQ(k.out[3 * lane + 2], taken ? 0x3333'3333U : 0x2222'2222U) << lane;
    }
  }
}

TEST(Arithmetic, SetpWritesBothPredicatesAndCombines) {
  const std::string show =
      "selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; or.b32 %r1, %r1, %r2;";
  EXPECT_EQ(result("setp.lt.s32 %p1|%p2, -1, 0;" + show), 1U);
  EXPECT_EQ(result("setp.lt.u32 %p1|%p2, -1, 0;" + show), 2U);
  EXPECT_EQ(result("mov.pred %p2, 1; setp.lt.s32 %p1|_, -1, 0;" + show), 3U);
  // p = t and !c, q = !t and !c.
  EXPECT_EQ(result("setp.eq.u32 %p3, 0, 1; setp.eq.and.u32 %p1|%p2, 5, 5, !%p3;" + show), 1U);
  EXPECT_EQ(result("setp.eq.u32 %p3, 0, 0; setp.eq.and.u32 %p1|%p2, 5, 5, !%p3;" + show), 0U);
  EXPECT_EQ(result("setp.eq.u32 %p3, 0, 0; setp.ne.xor.u32 %p1|%p2, 5, 5, %p3;" + show), 1U);
  // Unordered comparisons.
  EXPECT_EQ(result("setp.geu.f32 %p1|%p2, 0f7FC00000, 0f3F800000;" + show), 1U);
  EXPECT_EQ(result("setp.ge.f32 %p1|%p2, 0f7FC00000, 0f3F800000;" + show), 2U);
  EXPECT_EQ(result("setp.nan.f64 %p1|%p2, 0d7FF8000000000000, 0d0000000000000000;" + show), 1U);
}
TEST(Arithmetic, APackedComparisonReadsItsPredicateBeforeItWrites) {
  const std::string show =
      "selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; or.b32 %r1, %r1, %r2;";
  // Low half: 1 < 2 is true; high half: 1 < 2 is true; c = p1 = false is overwritten by the first.
  EXPECT_EQ(
      result(
          "setp.ne.u32 %p1, 0, 0; mov.b32 %r3, 0x3c003c00; mov.b32 %r4, 0x40004000;"
          "setp.lt.and.f16x2 %p1|%p2, %r3, %r4, %p1;" +
          show
      ),
      0U
  );
}
TEST(Arithmetic, GuardsMayBeOverwrittenByTheirInstruction) {
  const auto out =
      results("setp.lt.u32 %p1, %r0, 16; @%p1 setp.lt.u32 %p1, %r0, 8; selp.u32 %r1, 1, 0, %p1;");
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    ASSERT_EQ(out[lane], lane < 8 ? 1U : 0U);
  }
}

TEST(Arithmetic, PredicateLogicTakesNegatedOperands) {
  EXPECT_EQ(
      result("mov.pred %p1, 1; mov.pred %p2, 0; and.pred %p3, %p1, !%p2; selp.u32 %r1, 5, 6, %p3;"),
      5U
  );
  EXPECT_EQ(result("mov.pred %p1, 1; not.pred %p3, %p1; selp.u32 %r1, 5, 6, %p3;"), 6U);
}
TEST(Arithmetic, Lop3WithAPredicate) {
  EXPECT_EQ(
      result(
          "mov.pred %p1, 0; mov.u32 %r2, 0xf0; mov.u32 %r3, 0x3c; mov.u32 %r4, 1;"
          "lop3.or.b32 %r1|%p2, %r2, %r3, %r4, 0xc0, %p1; @!%p2 mov.u32 %r1, 99;"
      ),
      0x30U
  );
  EXPECT_EQ(
      result(
          "mov.pred %p1, 1; mov.u32 %r2, 0xf0; mov.u32 %r3, 0x3c; mov.u32 %r4, 1; mov.u32 %r1, 1;"
          "lop3.and.b32 _|%p2, %r2, %r3, %r4, 0x00, %p1; @%p2 mov.u32 %r1, 99;"
      ),
      1U
  );
}

TEST(Arithmetic, CarriesArePerThread) {
  const auto out = results(
      "sub.u32 %r2, 0, %r0; mov.u32 %r3, 1; add.cc.u32 %r4, %r2, %r3; addc.u32 %r1, 10, 0;"
  );
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    ASSERT_EQ(out[lane], lane == 1 ? 11U : 10U); // -1 + 1 carries
  }
}

TEST(Arithmetic, VectorsOfRegistersPackAndUnpack) {
  EXPECT_EQ(
      result("mov.b32 %r2, 0x12345678; mov.b32 {%h1, %h2}, %r2; mov.b32 %r1, {%h2, %h1};"),
      0x5678'1234U
  );
  EXPECT_EQ(result("mov.u64 %rd10, 0x1122334455667788; mov.b64 {_, %r1}, %rd10;"), 0x1122'3344U);
  EXPECT_EQ(result("mov.b64 %rd10, {0, 5}; shr.u64 %rd10, %rd10, 32; cvt.u32.u64 %r1, %rd10;"), 5U);
}

TEST(Arithmetic, CvtTakesTheLowBitsOfWideRegisters) {
  EXPECT_EQ(result("mov.u32 %r2, 0xabcd80; cvt.s32.s8 %r1, %r2;"), 0xffff'ff80U);
  EXPECT_EQ(result("mov.u64 %rd10, 0xffffffffffff8001; cvt.u32.u16 %r1, %rd10;"), 0x8001U);
  EXPECT_EQ(
      result("mov.u32 %r2, -5; cvt.u16.s8 %r1, %r2;"),
      0xfffbU
  ); // sign to 16 bits, zeros above
  EXPECT_EQ(result("mov.u32 %r2, 300; cvt.sat.u8.u32 %r1, %r2;"), 255U);
  EXPECT_EQ(result("cvt.rzi.s8.f32 %r1, 0fC3960000;"), 0xffff'ff80U); // -300
  EXPECT_EQ(result("cvt.u64.u32 %rd10, %tid.x; cvt.u32.u64 %r1, %rd10;"), 0U);
  EXPECT_EQ(result("mov.f32 %f1, 0f40490FDB; cvt.rn.sat.f32.s32 %f1, -5; mov.b32 %r1, %f1;"), 0U);
}

TEST(Arithmetic, MixedPrecisionAndPairs) {
  EXPECT_EQ(
      result("mov.b16 %h1, 0x3c00; add.f32.f16 %f1, %h1, 0f3F800000; mov.b32 %r1, %f1;"),
      0x4000'0000U
  );
  EXPECT_EQ(
      result("mov.b16 %h1, 0x4000; fma.rn.f32.bf16 %f1, %h1, %h1, 0f3F800000; mov.b32 %r1, %f1;"),
      0x40a0'0000U
  );
  EXPECT_EQ(
      result(
          "mov.b64 %rd10, {0f3F800000, 0f40000000}; add.rn.f32x2 %rd11, %rd10, %rd10;"
          "mov.b64 {_, %r1}, %rd11;"
      ),
      0x4080'0000U
  );
  EXPECT_EQ(
      result("max.f32 %f1, 0f3F800000, 0f40400000, 0f40000000; mov.b32 %r1, %f1;"),
      0x4040'0000U
  );
  EXPECT_EQ(
      result("min.NaN.abs.f32 %f1, 0fBF800000, 0fC0400000, 0f40000000; mov.b32 %r1, %f1;"),
      0x3f80'0000U
  );
}

TEST(Arithmetic, AddressesOfVariables) {
  EXPECT_EQ(
      result(
          "mov.u32 %r1, window+8; mov.u32 %r2, window; sub.u32 %r1, %r1, %r2;",
          ".shared .align 16 .b8 window[64];"
      ),
      8U
  );
  EXPECT_EQ(
      result(
          "mov.u64 %rd10, place; cvta.global.u64 %rd10, %rd10; ld.u32 %r1, [%rd10+4];",
          ".global .align 4 .u32 place[2] = {3, 4};"
      ),
      4U
  );
  EXPECT_EQ(
      result(
          "mov.u64 %rd10, place; cvta.const.u64 %rd10, %rd10; isspacep.const %p1, %rd10; "
          "isspacep.shared %p2, %rd10;"
          "selp.u32 %r1, 1, 0, %p1; @%p2 mov.u32 %r1, 9;",
          ".const .align 4 .u32 place = 3;"
      ),
      1U
  );
}

TEST(Arithmetic, AFormThatHeddleCannotExecuteSaysItsName) {
  OneKernel k("{ .reg .b32 %x; cvt.rs.satfinite.e4m3x4.f32 %x, {%f1, %f2, %f3, %f4}, %r1; }");
  EXPECT_NE(k.run(warp()).find("cvt.rs.satfinite.e4m3x4.f32"), std::string::npos);
}

} // namespace
} // namespace heddle::test

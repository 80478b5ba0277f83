// ld, st, mapa, hints: extension, vectors, spaces, strong accesses, faults (PTX ISA 9.0, 9.7.9.8
// on).
#include "unit/isa/one_kernel.h"

namespace heddle {
namespace {

using test::OneKernel;
using test::warp;

TEST(Load, ExtendsByTypeIntoWiderRegisters) {
  OneKernel k(
      "ld.global.s8 %r1, [%rd3]; ld.global.u8 %r2, [%rd3]; ld.global.s16 %rd6, [%rd3];\n"
      "ld.global.b16 %rd7, [%rd3]; ld.global.s8 %h1, [%rd3]; ld.global.s32 %rd8, [%rd3];\n"
      "ld.global.b32 %rd9, [%rd3];\n"
      "st.global.u32 [%rd2], %r1; st.global.u32 [%rd2+4], %r2; st.global.u64 [%rd2+8], %rd6;\n"
      "st.global.u64 [%rd2+16], %rd7; st.global.u16 [%rd2+24], %h1;\n"
      "st.global.u64 [%rd2+32], %rd8; st.global.u64 [%rd2+40], %rd9;"
  );
  k.in = {0x8000'8081U};
  ASSERT_EQ(k.run(warp(1)), "");
  EXPECT_EQ(k.out[0], 0xffff'ff81U);
  EXPECT_EQ(k.out[1], 0x81U);
  EXPECT_EQ(k.wide(1), 0xffff'ffff'ffff'8081ULL);
  EXPECT_EQ(k.wide(2), 0x8081ULL);
  EXPECT_EQ(k.out[6], 0xff81U);
  EXPECT_EQ(k.wide(4), 0xffff'ffff'8000'8081ULL);
  EXPECT_EQ(k.wide(5), 0x8000'8081ULL);
}

TEST(Load, WholeWarpConsecutiveSameAndStrided) {
  OneKernel k(
      "mul.wide.u32 %rd6, %r0, 4; add.s64 %rd6, %rd6, %rd3; ld.global.u32 %r1, [%rd6];\n"
      "ld.global.u32 %r2, [%rd3+8]; xor.b32 %r3, %r0, 31; mul.wide.u32 %rd7, %r3, 4;\n"
      "add.s64 %rd7, %rd7, %rd3; ld.global.u32 %r4, [%rd7];\n"
      "add.u32 %r5, %r1, %r2; add.u32 %r5, %r5, %r4; st.global.u32 [%rd4], %r5;"
  );
  for (std::uint32_t i = 0; i < 32; ++i) {
    k.in.push_back(i * i);
  }
  ASSERT_EQ(k.run(warp()), "");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(k.out[i], i * i + 4 + (31 - i) * (31 - i)) << i;
  }
}

TEST(Load, VectorsWithSinksAndPredicatedLanes) {
  OneKernel k(
      "setp.lt.u32 %p1, %r0, 3; mul.wide.u32 %rd6, %r0, 16; add.s64 %rd6, %rd6, %rd3;\n"
      "mov.u32 %r1, 1; mov.u32 %r3, 3;\n"
      "@%p1 ld.global.v4.u32 {%r1, _, %r3, _}, [%rd6];\n"
      "st.global.v2.u32 [%rd5], {%r1, %r3};"
  );
  for (std::uint32_t i = 0; i < 16; ++i) {
    k.in.push_back(100 + i);
  }
  ASSERT_EQ(k.run(warp(4)), "");
  EXPECT_EQ(k.out[0], 100U);
  EXPECT_EQ(k.out[1], 102U);
  EXPECT_EQ(k.out[4], 108U);
  EXPECT_EQ(k.out[5], 110U);
  EXPECT_EQ(k.out[6], 1U); // lane 3 did not load
  EXPECT_EQ(k.out[7], 3U);
}

TEST(Load, EightElementsAnd128Bits) {
  OneKernel k(
      "ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd3];\n"
      "st.global.v8.b32 [%rd2], {%r8,%r7,%r6,%r5,%r4,%r3,%r2,%r1};\n"
      "ld.global.b128 %q0, [%rd3+16]; st.global.b128 [%rd2+32], %q0;\n"
      "ld.relaxed.gpu.global.b128 %q1, [%rd3]; st.release.sys.global.b128 [%rd2+48], %q1;"
  );
  k.in = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_EQ(k.run(warp(1)), "");
  const std::vector<std::uint32_t> expected = {8, 7, 6, 5, 4, 3, 2, 1, 5, 6, 7, 8, 1, 2, 3, 4};
  EXPECT_EQ(std::vector(k.out.begin(), k.out.begin() + 16), expected);
}

TEST(Store, NarrowTakesLowBits) {
  OneKernel k(
      "mov.b64 %rd6, 0x1122334455667788; st.global.b8 [%rd2], %rd6;\n"
      "st.global.u16 [%rd2+2], %rd6; st.global.b32 [%rd2+4], %rd6; st.global.v2.u8 [%rd2+8], {%r0, "
      "255};\n"
      "st.global.f32 [%rd2+12], 0f3F800000; st.global.u32 [%rd2+16], -2;"
  );
  ASSERT_EQ(k.run(warp(1)), "");
  EXPECT_EQ(k.out[0], 0x7788'0088U);
  EXPECT_EQ(k.out[1], 0x5566'7788U);
  EXPECT_EQ(k.out[2], 0xff00U);
  EXPECT_EQ(k.out[3], 0x3f80'0000U);
  EXPECT_EQ(k.out[4], 0xffff'fffeU);
}

TEST(Spaces, SharedLocalConstGenericAndParam) {
  OneKernel k(
      ".local .align 8 .b8 mine[64]; .shared .align 4 .b8 ours[256];\n"
      "mov.u64 %rd6, mine; mul.lo.u32 %r1, %r0, 3; st.local.u32 [%rd6+8], %r1;\n"
      "mov.u32 %r2, ours; shl.b32 %r3, %r0, 2; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %r0;\n"
      "bar.sync 0; xor.b32 %r4, %r3, 4; mov.u32 %r5, ours; add.u32 %r5, %r5, %r4;\n"
      "ld.shared.u32 %r6, [%r5]; cvta.local.u64 %rd7, %rd6; ld.u32 %r7, [%rd7+8];\n"
      "ld.local.u32 %r8, [mine+8]; ld.const.u32 %r9, [table+4]; ld.global.u32 %r10, [counter];\n"
      "cvt.u64.u32 %rd8, %r5; cvta.shared.u64 %rd8, %rd8; ld.u32 %r11, [%rd8];\n"
      "add.u32 %r12, %r6, %r7; add.u32 %r12, %r12, %r8; add.u32 %r12, %r12, %r9;\n"
      "add.u32 %r12, %r12, %r10; add.u32 %r12, %r12, %r11; ld.param.u32 %r13, [out+4];\n"
      "st.global.v2.u32 [%rd5], {%r12, %r13};",
      ".const .align 4 .u32 table[2] = {5, 1000}; .global .align 4 .u32 counter = 10000;"
  );
  ASSERT_EQ(k.run(warp(40)), "");
  for (std::uint32_t i = 0; i < 40; ++i) {
    EXPECT_EQ(k.out[2 * i], 2 * (i ^ 1) + 6 * i + 11000) << i;
    EXPECT_EQ(k.out[2 * i + 1], k.out[1]) << i; // upper half of the pointer
  }
}

TEST(Spaces, ArgumentsOfFunctions) {
  OneKernel k(
      "{ .param .b32 a; .param .align 8 .b8 b[16]; .param .b32 r;\n"
      "st.param.b32 [a], %r0; mov.u64 %rd6, 7; st.param.b64 [b+8], %rd6;\n"
      "call (r), sum, (a, b); ld.param.b32 %r1, [r]; }\n"
      "st.global.u32 [%rd4], %r1;",
      ".func (.param .b32 r) sum(.param .b32 a, .param .align 8 .b8 b[16])\n"
      "{ .reg .b32 %r<4>; .reg .b64 %rd<3>; ld.param.u32 %r1, [a]; mov.b64 %rd1, b;\n"
      "ld.param.u64 %rd2, [b+8]; cvt.u32.u64 %r2, %rd2; add.u32 %r1, %r1, %r2;\n"
      "st.param.b32 [r], %r1; ret; }"
  );
  ASSERT_EQ(k.run(warp()), "");
  EXPECT_EQ(k.out[31], 38U);
}

TEST(Strong, AllOrdersReadWhatWasWritten) {
  OneKernel k(
      "st.volatile.global.u32 [%rd4], %r0; ld.acquire.gpu.global.u32 %r1, [%rd4];\n"
      "add.u32 %r1, %r1, 1; st.release.sys.u32 [%rd4], %r1; ld.relaxed.cta.u32 %r2, [%rd4];\n"
      "add.u32 %r2, %r2, 1; st.mmio.relaxed.sys.global.u32 [%rd4], %r2;\n"
      "ld.mmio.relaxed.sys.global.u32 %r3, [%rd4]; add.u32 %r3, %r3, 1;\n"
      "st.relaxed.gpu.global.v2.u16 [%rd4], {%r3, 0}; ld.volatile.u32 %r4, [%rd4];\n"
      "add.u32 %r4, %r4, 1; st.relaxed.cluster.global.u32 [%rd4], %r4;"
  );
  ASSERT_EQ(k.run(warp()), "");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(k.out[i], i + 4);
  }
}

TEST(Faults, WindowsAreClosedToGlobalAccesses) {
  OneKernel k(
      ".shared .align 4 .b8 s[16]; mov.u64 %rd6, s; cvta.shared.u64 %rd6, %rd6;\n"
      "st.u32 [%rd6], 1; st.global.u32 [%rd6], 2;"
  );
  EXPECT_NE(k.run(warp(1)), "");
  ASSERT_TRUE(k.fault);
  EXPECT_EQ(k.fault->fault.kind, isa::FaultKind::BadSpace);
  EXPECT_EQ(k.fault->fault.space, ptx::Mod::Global);
  EXPECT_FALSE(k.fault->fault.generic);
}

TEST(Faults, VectorsNeedTheirOwnAlignment) {
  OneKernel k("ld.global.v2.u32 {%r1, %r2}, [%rd3+4];");
  EXPECT_NE(k.run(warp(1)), "");
  ASSERT_TRUE(k.fault);
  EXPECT_EQ(k.fault->fault.kind, isa::FaultKind::Misaligned);
  EXPECT_EQ(k.fault->fault.bytes, 8U);
}

TEST(Faults, OnlyExecutingLanesAccess) {
  OneKernel k(
      "setp.eq.u32 %p1, %r0, 40; mov.u64 %rd6, 0; @%p1 ld.global.u32 %r1, [%rd6]; @%p1 st.u32 "
      "[%rd6], 0;"
  );
  EXPECT_EQ(k.run(warp()), "");
}

TEST(Hints, ChangeNothing) {
  OneKernel k(
      "prefetch.global.L1 [%rd2]; mov.u64 %rd6, 0; prefetch.L2 [%rd6]; prefetchu.L1 [%rd6];\n"
      "discard.global.L2 [%rd2], 128; applypriority.global.L2::evict_normal [%rd2], 128;\n"
      "createpolicy.fractional.L2::evict_last.b64 %rd7, 1.0;\n"
      "ld.global.L2::cache_hint.u32 %r1, [%rd3], %rd7; st.global.L2::cache_hint.u32 [%rd2], %r1, "
      "%rd7;"
  );
  k.in = {42};
  ASSERT_EQ(k.run(warp(1)), "");
  EXPECT_EQ(k.out[0], 42U);
}

// Recorded on an H200 (CUDA 13): rows of address, primary bytes, total bytes, policy.
TEST(Policies, OfRanges) {
  struct Row {
    std::uint64_t address, primary, total, last, normal_first;
  };
  const std::vector<Row> rows{
      {0x12345678, 0, 0, 0x1800000000000000, 0x1800000000000000},
      {0x1000, 0x1001, 0, 0x1800000000000000, 0x1800000000000000},
      {0, 1, 1, 0x1c00002000000000, 0x1f00002000000000},
      {0x1000, 0, 1, 0x1c00100000000000, 0x1f00100000000000},
      {0x1000, 0x100000, 0x200000, 0x1c20082000000000, 0x1f20082000000000},
      {0x12345678, 0x1000, 0x4000, 0x1c04504000000000, 0x1f04504000000000},
      {0x12345678, 0x80000, 0x80000, 0x1c045fe000000000, 0x1f045fe000000000},
      {0x12345678, 0x80001, 0x80001, 0x1c12282000000000, 0x1f12282000000000},
      {0x7f1234567890, 0x300000, 0x500000, 0x1c45662000000000, 0x1f45662000000000},
      {0x7f1234567890, 0x80000000, 0xffffffff, 0x1cd1a82000000000, 0x1fd1a82000000000},
      {0x7f1234567890, 0x800, 0x200, 0x1c06704000000000, 0x1f06704000000000},
      {0x12345678, 0x64, 0x40000000, 0x1cb2402000000000, 0x1fb2402000000000},
  };
  std::string body;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    body += fmt::format(
        "mov.u64 %rd6, {}; mov.u32 %r1, {}; mov.u32 %r2, {};\n"
        "createpolicy.range.global.L2::evict_last.b64 %rd7, [%rd6], %r1, %r2;\n"
        "createpolicy.range.L2::evict_normal.L2::evict_first.b64 %rd8, [%rd6], %r1, %r2;\n"
        "st.global.u64 [%rd2+{}], %rd7; st.global.u64 [%rd2+{}], %rd8;\n",
        rows[i].address,
        rows[i].primary,
        rows[i].total,
        16 * i,
        16 * i + 8
    );
  }
  OneKernel k(body);
  ASSERT_EQ(k.run(warp(1)), "");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(k.wide(2 * i), rows[i].last) << i;
    EXPECT_EQ(k.wide(2 * i + 1), rows[i].normal_first) << i;
  }
}

TEST(Policies, OfFractionsAndProperties) {
  // .f32 as bits; what it becomes in the 4 bits behind the upper byte.
  const std::vector<std::pair<std::string, std::uint64_t>> rows{
      {"1.0", 0xf},
      {"0.99", 0xf},
      {"0.9375", 0xe},
      {"0.87505", 0xd},
      {"0.75", 0xb},
      {"0.3", 4},
      {"0.18755", 2},
      {"0.12501", 1},
      {"0.0625", 0},
      {"0.03", 0},
      {"1.5", 7},
      {"2.0", 0xf},
      {"-1.0", 0},
  };
  std::string body = "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd7;\n"
                     "createpolicy.cvt.L2.b64 %rd8, 81985529216486895;\n"
                     "st.global.u64 [%rd2], %rd7; st.global.u64 [%rd2+8], %rd8;\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    body += fmt::format(
        "mov.f32 %f1, {}; createpolicy.fractional.L2::evict_unchanged.L2::evict_first.b64 %rd7, "
        "%f1;\n"
        "st.global.u64 [%rd2+{}], %rd7;\n",
        rows[i].first,
        16 + 8 * i
    );
  }
  OneKernel k(body);
  ASSERT_EQ(k.run(warp(1)), "");
  EXPECT_EQ(k.wide(0), 0x12f0000000000000U);
  EXPECT_EQ(k.wide(1), 0x0123456789abcdefU);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(k.wide(2 + i), std::uint64_t{0x11} << 56 | rows[i].second << 52) << rows[i].first;
  }
}

TEST(Cluster, MappedAddressesReachTheOtherBlock) {
  OneKernel k(
      ".shared .align 4 .b8 s[16]; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, s;\n"
      "add.u32 %r3, %r1, 70; st.shared.u32 [%r2+4], %r3;\n"
      "barrier.cluster.arrive; barrier.cluster.wait;\n"
      "xor.b32 %r4, %r1, 1; mapa.shared::cluster.u32 %r5, %r2, %r4;\n"
      "ld.shared::cluster.u32 %r6, [%r5+4]; getctarank.shared::cluster.u32 %r7, %r5;\n"
      "mov.u64 %rd6, s; cvta.shared.u64 %rd6, %rd6; mapa.u64 %rd7, %rd6, %r4;\n"
      "ld.u32 %r8, [%rd7+4]; getctarank.u64 %r9, %rd7; getctarank.u64 %r10, %rd6;\n"
      "mul.wide.u32 %rd8, %r1, 32; add.s64 %rd8, %rd8, %rd2;\n"
      "st.global.v4.u32 [%rd8], {%r6, %r7, %r8, %r9}; st.global.u32 [%rd8+16], %r10;\n"
      "barrier.cluster.arrive; barrier.cluster.wait;"
  );
  machine::LaunchConfig config;
  config.grid = {2, 1, 1};
  config.cluster = {2, 1, 1};
  config.explicit_cluster = true;
  ASSERT_EQ(k.run(config), "");
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::uint32_t* out = k.out.data() + rank * 8;
    EXPECT_EQ(out[0], 71 - rank);
    EXPECT_EQ(out[1], 1 - rank);
    EXPECT_EQ(out[2], 71 - rank);
    EXPECT_EQ(out[3], 1 - rank);
    EXPECT_EQ(out[4], rank);
  }
}

} // namespace
} // namespace heddle

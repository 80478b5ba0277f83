// cp.async, bulk copies and reductions, st.async, red.async (PTX
// ISA 9.0, 9.7.9.25, 9.7.9.12, 9.7.13.7).
#include "unit/isa/one_kernel.h"

namespace heddle {
namespace {

using test::OneKernel;
using test::warp;

TEST(CpAsync, CopiesFillsWithZerosAndIgnores) {
  OneKernel k(
      ".shared .align 16 .b8 s[64]; mov.u32 %r1, s; setp.eq.u32 %p1, %r0, 0;\n"
      "cp.async.cg.shared.global [%r1], [%rd3], 16; cp.async.ca.shared.global [%r1+16], [%rd3+16], "
      "8, 3;\n"
      "mov.u32 %r2, 0; cp.async.ca.shared.global [%r1+24], [%rd2+1073741824], 8, %r2;\n"
      "cp.async.ca.shared.global [%r1+32], [%rd3], 4; cp.async.ca.shared.global [%r1+32], [%rd3], "
      "4, %p1;\n"
      "cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;\n"
      "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r1]; st.global.v4.u32 [%rd2], {%r3, %r4, %r5, "
      "%r6};\n"
      "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r1+16]; st.global.v4.u32 [%rd2+16], {%r3, %r4, "
      "%r5, %r6};\n"
      "ld.shared.u32 %r3, [%r1+32]; st.global.u32 [%rd2+32], %r3;"
  );
  k.in = {1, 2, 3, 4, 0x8877'6655U, 6};
  ASSERT_EQ(k.run(warp(1)), "");
  const std::vector<std::uint32_t> expected = {1, 2, 3, 4, 0x77'6655U, 0, 0, 0, 0};
  EXPECT_EQ(std::vector(k.out.begin(), k.out.begin() + 9), expected);
}

TEST(CpAsync, ArrivesAtMbarrier) {
  OneKernel k(
      ".shared .align 16 .b8 s[64]; .shared .align 8 .b8 bar[8]; mov.u32 %r1, s; mov.u32 %r2, "
      "bar;\n"
      "mbarrier.init.shared.b64 [%r2], 2; cp.async.ca.shared.global [%r1], [%rd3], 4;\n"
      "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2]; cp.async.mbarrier.arrive.shared.b64 "
      "[%r2];\n"
      "mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0; selp.u32 %r3, 1, 0, %p1;\n"
      "mbarrier.arrive.shared.b64 %rd6, [%r2]; mbarrier.test_wait.parity.shared.b64 %p1, [%r2], "
      "0;\n"
      "selp.u32 %r4, 1, 0, %p1; st.global.v2.u32 [%rd2], {%r3, %r4};"
  );
  ASSERT_EQ(k.run(warp(1)), "");
  EXPECT_EQ(k.out[0], 0U); // with the increment the second arrival changes nothing
  EXPECT_EQ(k.out[1], 1U);
}

TEST(Bulk, ToSharedAndBack) {
  OneKernel k(
      ".shared .align 16 .b8 s[256]; .shared .align 8 .b8 bar[8]; mov.u32 %r1, s; mov.u32 %r2, "
      "bar;\n"
      "mbarrier.init.shared.b64 [%r2], 1; mbarrier.arrive.expect_tx.shared.b64 %rd6, [%r2], 64;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd3], 64, "
      "[%r2];\n"
      "WAIT: mbarrier.try_wait.shared.b64 %p1, [%r2], %rd6; @!%p1 bra WAIT;\n"
      "fence.proxy.async.shared::cta;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 64;\n"
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [%r1+16], 32;\n"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;\n"
      "cp.async.bulk.prefetch.L2.global [%rd3], 64;"
  );
  for (std::uint32_t i = 0; i < 16; ++i) {
    k.in.push_back(i * 10);
  }
  ASSERT_EQ(k.run(warp(1)), "");
  for (std::uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(k.out[i], i * 10 + (i < 8 ? (i + 4) * 10 : 0)) << i;
  }
}

TEST(Bulk, SizeIsAMultipleOf16) {
  OneKernel k(
      ".shared .align 16 .b8 s[64]; mov.u32 %r1, s;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 20;"
  );
  EXPECT_NE(k.run(warp(1)).find("multiple of 16"), std::string::npos);
}

TEST(Bulk, EveryByteMustExist) {
  OneKernel k(
      ".shared .align 16 .b8 s[64]; mov.u32 %r1, s;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%rd2+4080], [%r1], 32;"
  );
  EXPECT_NE(k.run(warp(1)), "");
  ASSERT_TRUE(k.fault);
  EXPECT_EQ(k.fault->fault.kind, isa::FaultKind::OutOfBounds);
}

constexpr std::string_view pair_of_blocks =
    ".shared .align 16 .b8 s[128]; .shared .align 8 .b8 bar[8]; mov.u32 %r1, s; mov.u32 %r2, bar;\n"
    "mov.u32 %r3, %cluster_ctarank; xor.b32 %r4, %r3, 1; mapa.shared::cluster.u32 %r5, %r1, %r4;\n"
    "mapa.shared::cluster.u32 %r6, %r2, %r4; mbarrier.init.shared.b64 [%r2], 1;\n"
    "barrier.cluster.arrive; barrier.cluster.wait;\n";
constexpr std::string_view wait_and_copy_out =
    "WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0; @!%p1 bra WAIT;\n"
    "mul.wide.u32 %rd6, %r3, 32; add.s64 %rd6, %rd6, %rd2; ld.shared.v4.u32 {%r10, %r11, %r12, "
    "%r13}, [%r1];\n"
    "st.global.v4.u32 [%rd6], {%r10, %r11, %r12, %r13}; barrier.cluster.arrive; "
    "barrier.cluster.wait;\n";

machine::LaunchConfig two_blocks() {
  machine::LaunchConfig config = warp(1);
  config.grid = {2, 1, 1};
  config.cluster = {2, 1, 1};
  config.explicit_cluster = true;
  return config;
}

TEST(Async, StoresAndReductionsIntoTheOtherBlock) {
  OneKernel k(
      std::string(pair_of_blocks) +
      "mbarrier.arrive.expect_tx.shared.b64 %rd7, [%r2], 16; add.u32 %r7, %r3, 5;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r5], {%r7, %r4}, [%r6];\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5+8], %r7, [%r6];\n"
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r5+8], "
      "100, [%r6];\n" +
      std::string(wait_and_copy_out)
  );
  ASSERT_EQ(k.run(two_blocks()), "");
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(k.out[rank * 8], 5 + (1 - rank));
    EXPECT_EQ(k.out[rank * 8 + 1], rank);
    EXPECT_EQ(k.out[rank * 8 + 2], 105 + (1 - rank));
  }
}

TEST(Bulk, MulticastReachesEveryBlockNamed) {
  OneKernel k(
      std::string(pair_of_blocks) +
      "mbarrier.arrive.expect_tx.shared.b64 %rd7, [%r2], 16; setp.ne.u32 %p2, %r3, 1; @%p2 bra "
      "WAIT; mov.b16 %h1, 3;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], "
      "[%rd3], 16, [%r2], %h1;\n" +
      std::string(wait_and_copy_out)
  );
  k.in = {4, 3, 2, 1};
  ASSERT_EQ(k.run(two_blocks()), "");
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(k.out[rank * 8], 4U);
    EXPECT_EQ(k.out[rank * 8 + 3], 1U);
  }
}

TEST(Bulk, BetweenBlocks) {
  OneKernel k(
      std::string(pair_of_blocks) +
      "mbarrier.arrive.expect_tx.shared.b64 %rd7, [%r2], 16; add.u32 %r7, %r3, 20; st.shared.u32 "
      "[%r1+64], %r7;\n"
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r1+64], 16, "
      "[%r6];\n" +
      std::string(wait_and_copy_out)
  );
  ASSERT_EQ(k.run(two_blocks()), "");
  EXPECT_EQ(k.out[0], 21U);
  EXPECT_EQ(k.out[8], 20U);
}

TEST(ClusterControl, RequestsAreRefused) {
  OneKernel k(
      ".shared .align 16 .b8 s[32]; .shared .align 8 .b8 bar[8]; mov.u32 %r1, s; mov.u32 %r2, "
      "bar;\n"
      "st.shared.u32 [%r1], 1; mbarrier.init.shared.b64 [%r2], 1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 %rd6, [%r2], 16;\n"
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], "
      "[%r2];\n"
      "WAIT: mbarrier.try_wait.shared.b64 %p1, [%r2], %rd6; @!%p1 bra WAIT;\n"
      "ld.shared.b128 %q0, [%r1]; mov.pred %p2, 1;\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q0; selp.u32 %r3, 1, 2, %p2;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r4, %r5, %r6, _}, %q0;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r7, %q0;\n"
      "st.global.u32 [%rd2], %r3;"
  );
  ASSERT_EQ(k.run(warp(1)), "");
  EXPECT_EQ(k.out[0], 2U);
}

} // namespace
} // namespace heddle

// mbarrier: the object's word, phases, transactions, misuse (PTX ISA 9.0, 9.7.13.15).
#include "isa/ops_mbarrier.h"

#include "unit/isa/one_kernel.h"

namespace heddle {
namespace {

using isa::ops::Mbarrier;
using test::OneKernel;
using test::warp;

TEST(MbarrierWord, PacksEveryField) {
  for (const std::int32_t tx : {0, 1, -1, 1048575, -1048575}) {
    for (const std::uint32_t count : {0U, 1U, 1048575U}) {
      Mbarrier b;
      b.pending = count;
      b.expected = 1048575 - count;
      b.transactions = tx;
      b.phase = count % 8;
      const Mbarrier c = Mbarrier::unpack(b.pack());
      EXPECT_EQ(c.pending, b.pending);
      EXPECT_EQ(c.expected, b.expected);
      EXPECT_EQ(c.transactions, b.transactions);
      EXPECT_EQ(c.phase, b.phase);
    }
  }
}

TEST(MbarrierWord, PhaseNeedsArrivalsAndTransactions) {
  Mbarrier b;
  ASSERT_EQ(mbarrier_init(b, 2), nullptr);
  const std::uint64_t token = b.pack();
  EXPECT_TRUE(mbarrier_test_parity(b, 1)); // the phase before the first counts as complete
  EXPECT_FALSE(mbarrier_test_parity(b, 0));
  ASSERT_EQ(mbarrier_complete_tx(b, 64), nullptr); // bytes may come before they are expected
  ASSERT_EQ(mbarrier_arrive(b, 1, false), nullptr);
  ASSERT_EQ(mbarrier_expect_tx(b, 128), nullptr);
  ASSERT_EQ(mbarrier_arrive(b, 1, false), nullptr);
  EXPECT_FALSE(mbarrier_test(b, token));
  ASSERT_EQ(mbarrier_complete_tx(b, 64), nullptr);
  EXPECT_TRUE(mbarrier_test(b, token));
  EXPECT_TRUE(mbarrier_test_parity(b, 0));
  EXPECT_EQ(b.pending, 2U);
  ASSERT_EQ(mbarrier_arrive(b, 1, /*drop=*/true), nullptr);
  ASSERT_EQ(mbarrier_arrive(b, 1, false), nullptr);
  EXPECT_EQ(b.pending, 1U); // the next phase expects one less
  EXPECT_EQ(b.phase, 2U);
}

TEST(MbarrierWord, MisuseIsNamed) {
  Mbarrier b;
  EXPECT_STREQ(mbarrier_arrive(b, 1, false), "arrival at an mbarrier that is not initialised");
  EXPECT_NE(mbarrier_init(b, 0), nullptr);
  EXPECT_NE(mbarrier_init(b, 1 << 20), nullptr);
  ASSERT_EQ(mbarrier_init(b, 1), nullptr);
  EXPECT_STREQ(mbarrier_arrive(b, 2, false), "more arrivals at an mbarrier than its phase expects");
  EXPECT_NE(mbarrier_expect_tx(b, 1 << 20), nullptr);
}

constexpr std::string_view init =
    ".shared .align 8 .b8 bar[8]; .shared .align 16 .b8 data[1024]; mov.u32 %r1, bar; mov.u32 %r2, "
    "%ntid.x;\n"
    "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r1], %r2; bar.sync 0;\n";

TEST(Mbarrier, ThreadsOfSeveralWarpsMeet) {
  OneKernel k(
      std::string(init) +
      "mov.u32 %r5, data; shl.b32 %r6, %r0, 2; add.u32 %r7, %r5, %r6; st.shared.u32 [%r7], %r0;\n"
      "mbarrier.arrive.shared.b64 %rd6, [%r1];\n"
      "WAIT: mbarrier.test_wait.shared.b64 %p2, [%r1], %rd6; @!%p2 bra WAIT;\n"
      "mbarrier.pending_count.b64 %r8, %rd6; setp.eq.u32 %p3, %r8, 0; @%p3 trap;\n"
      "xor.b32 %r9, %r6, 256; add.u32 %r9, %r9, %r5; ld.shared.u32 %r10, [%r9]; st.global.u32 "
      "[%rd4], %r10;"
  );
  ASSERT_EQ(k.run(warp(128)), "");
  for (std::uint32_t i = 0; i < 128; ++i) {
    EXPECT_EQ(k.out[i], i ^ 64);
  }
}

TEST(Mbarrier, ParityTryWaitAndPhases) {
  // Three rounds; thread 0 arrives last each time, after the others poll.
  OneKernel k(
      std::string(init) +
      "mov.u32 %r3, 0; mov.u32 %r4, 0;\n"
      "ROUND: setp.ne.u32 %p2, %r0, 0; @%p2 bra ARRIVE; nanosleep.u32 100;\n"
      "ARRIVE: mbarrier.arrive.release.cta.shared::cta.b64 _, [%r1], 1;\n"
      "and.b32 %r5, %r3, 1;\n"
      "WAIT: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [%r1], %r5, 1000; @!%p3 bra "
      "WAIT;\n"
      "add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 3; @%p4 bra ROUND; st.global.u32 [%rd4], %r3;"
  );
  ASSERT_EQ(k.run(warp(64)), "");
  EXPECT_EQ(k.out[63], 3U);
}

TEST(Mbarrier, GenericAddressAndArriveExpect) {
  OneKernel k(
      ".shared .align 8 .b8 bar[8]; mov.u64 %rd6, bar; cvta.shared.u64 %rd6, %rd6;\n"
      "mbarrier.init.b64 [%rd6], 1; mbarrier.arrive.expect_tx.b64 %rd7, [%rd6], 32;\n"
      "mbarrier.test_wait.b64 %p1, [%rd6], %rd7; selp.u32 %r1, 1, 0, %p1;\n"
      "mov.u32 %r5, bar; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r5], 32;\n"
      "mbarrier.test_wait.b64 %p2, [%rd6], %rd7; selp.u32 %r2, 1, 0, %p2;\n"
      "mbarrier.inval.b64 [%rd6]; st.global.v2.u32 [%rd2], {%r1, %r2};"
  );
  ASSERT_EQ(k.run(warp(1)), "");
  EXPECT_EQ(k.out[0], 0U);
  EXPECT_EQ(k.out[1], 1U);
}

TEST(Mbarrier, MisuseIsReported) {
  OneKernel k(
      std::string(init) + "mbarrier.inval.shared.b64 [%r1]; mbarrier.arrive.shared.b64 %rd6, [%r1];"
  );
  EXPECT_EQ(k.run(warp(1)), "arrival at an mbarrier that is not initialised");
  ASSERT_TRUE(k.fault);
  EXPECT_EQ(k.fault->fault.kind, isa::FaultKind::BarrierMisuse);
}

TEST(Mbarrier, LiesInSharedMemory) {
  OneKernel k("mbarrier.init.b64 [%rd2], 1;");
  EXPECT_NE(k.run(warp(1)), "");
  ASSERT_TRUE(k.fault);
  EXPECT_EQ(k.fault->fault.kind, isa::FaultKind::BadSpace);
}

TEST(Mbarrier, RemoteArrivalInCluster) {
  OneKernel k(
      ".shared .align 8 .b8 bar[8]; mov.u32 %r1, bar; mov.u32 %r2, %cluster_ctarank;\n"
      "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r1], 32;\n"
      "fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait;\n"
      "xor.b32 %r3, %r2, 1; mapa.shared::cluster.u32 %r4, %r1, %r3;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];\n"
      "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; @!%p2 bra WAIT;\n"
      "mul.lo.u32 %r5, %r2, 32; add.u32 %r5, %r5, %r0; mul.wide.u32 %rd6, %r5, 4;\n"
      "add.s64 %rd6, %rd6, %rd2; st.global.u32 [%rd6], 1; barrier.cluster.arrive; "
      "barrier.cluster.wait;"
  );
  machine::LaunchConfig config = warp(32);
  config.grid = {2, 1, 1};
  config.cluster = {2, 1, 1};
  config.explicit_cluster = true;
  ASSERT_EQ(k.run(config), "");
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(k.out[i], 1U);
  }
}

} // namespace
} // namespace heddle

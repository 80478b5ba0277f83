// atom, red, fence: values, widths, contention with other workers (PTX ISA 9.0, 9.7.13.4
// to 9.7.13.6).
#include "isa/ops_atomic.h"

#include "unit/isa/one_kernel.h"

#include <thread>

namespace heddle {
namespace {

using test::OneKernel;
using test::warp;

TEST(Atomic, OldValuesAreReturnedAndNothingIsLost) {
  OneKernel k(
      "atom.global.add.u32 %r1, [%rd2+512], 1; mul.wide.u32 %rd6, %r1, 4;\n"
      "add.s64 %rd6, %rd6, %rd2; red.relaxed.gpu.add.u32 [%rd6], 1;"
  );
  machine::LaunchConfig config = warp(64);
  config.grid = {2, 1, 1};
  ASSERT_EQ(k.run(config), "");
  EXPECT_EQ(k.out[128], 128U + 0);
  for (std::size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(k.out[i], 1U) << i; // every old value once
  }
}

TEST(Atomic, OperationsAndSignedness) {
  OneKernel k(
      "st.global.s32 [%rd2], -5; atom.global.min.s32 %r1, [%rd2], -7; atom.global.max.u32 %r2, "
      "[%rd2], 3;\n"
      "st.global.u32 [%rd2+4], 9; atom.inc.u32 %r3, [%rd2+4], 9; atom.dec.u32 %r4, [%rd2+4], 6;\n"
      "atom.dec.u32 %r5, [%rd2+4], 6;\n"
      "atom.global.exch.b32 %r6, [%rd2+8], 77; atom.global.cas.b32 %r7, [%rd2+8], 77, 78;\n"
      "atom.global.cas.b32 %r8, [%rd2+8], 77, 79; atom.global.xor.b32 %r9, [%rd2+8], 0xff;\n"
      "st.global.v2.u32 [%rd2+16], {%r1, %r2}; st.global.v4.u32 [%rd2+32], {%r3, %r4, %r5, %r6};\n"
      "st.global.v2.u32 [%rd2+48], {%r7, %r8}; st.global.u32 [%rd2+56], %r9;"
  );
  ASSERT_EQ(k.run(warp(1)), "");
  EXPECT_EQ(k.out[4], static_cast<std::uint32_t>(-5));
  EXPECT_EQ(k.out[5], static_cast<std::uint32_t>(-7));
  EXPECT_EQ(k.out[0], static_cast<std::uint32_t>(-7));
  EXPECT_EQ(k.out[8], 9U);
  EXPECT_EQ(k.out[9], 0U);
  EXPECT_EQ(k.out[10], 6U);
  EXPECT_EQ(k.out[1], 5U);
  EXPECT_EQ(k.out[11], 0U);
  EXPECT_EQ(k.out[12], 77U);
  EXPECT_EQ(k.out[13], 78U);
  EXPECT_EQ(k.out[14], 78U);
  EXPECT_EQ(k.out[2], 78U ^ 0xff);
}

TEST(Atomic, WidthsFrom16To128Bits) {
  OneKernel k(
      "mov.b16 %h1, 0; mov.b16 %h2, 0x1234; atom.global.cas.b16 %h3, [%rd2], %h1, %h2;\n"
      "atom.global.add.u64 %rd6, [%rd2+8], 0x100000000; atom.global.max.s64 %rd7, [%rd2+16], -3;\n"
      "ld.global.b128 %q0, [%rd3]; ld.global.b128 %q1, [%rd3+16];\n"
      "atom.global.exch.b128 %q2, [%rd2+32], %q0; atom.global.cas.b128 %q3, [%rd2+32], %q0, %q1;\n"
      "st.global.b128 [%rd2+48], %q3; atom.global.cas.b128 %q3, [%rd2+32], %q0, %q2;\n"
      "st.global.b128 [%rd2+64], %q3;"
  );
  k.in = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_EQ(k.run(warp(1)), "");
  EXPECT_EQ(k.out[0], 0x1234U);
  EXPECT_EQ(k.wide(1), 0x1'0000'0000ULL);
  EXPECT_EQ(k.wide(2), 0ULL);
  const std::vector<std::uint32_t> expected = {5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(std::vector(k.out.begin() + 8, k.out.begin() + 20), expected);
}

TEST(Atomic, FloatsFlushInGlobalMemoryOnly) {
  // As recorded from an H200: subnormal sums survive in shared memory, also through generic
  // addresses.
  OneKernel k(
      ".shared .align 4 .b8 s[8]; mov.f32 %f1, 0f00000002; mov.u32 %r1, s;\n"
      "st.shared.u32 [%r1], 1; st.shared.u32 [%r1+4], 1; st.global.u32 [%rd2], 1;\n"
      "red.shared.add.f32 [%r1], %f1; cvt.u64.u32 %rd6, %r1; cvta.shared.u64 %rd6, %rd6;\n"
      "red.add.f32 [%rd6+4], %f1; red.add.f32 [%rd2], %f1;\n"
      "ld.shared.v2.u32 {%r2, %r3}, [%r1]; st.global.u32 [%rd2+4], %r2; st.global.u32 [%rd2+8], "
      "%r3;\n"
      "st.global.f64 [%rd2+16], 0d3FF0000000000000; red.global.add.f64 [%rd2+16], "
      "0d4000000000000000;\n"
      "red.global.add.v2.f32 [%rd2+24], {%f1, 0f3F800000};\n"
      "mov.b32 %r4, 0x3c007e01; atom.global.add.noftz.f16x2 %r5, [%rd2+32], %r4;\n"
      "mov.b16 %h1, 1; atom.add.noftz.bf16 %h2, [%rd2+36], %h1; atom.add.noftz.bf16 %h2, "
      "[%rd2+36], %h1;"
  );
  ASSERT_EQ(k.run(warp(1)), "");
  EXPECT_EQ(k.out[0], 0U);
  EXPECT_EQ(k.out[1], 3U);
  EXPECT_EQ(k.out[2], 3U);
  EXPECT_EQ(k.wide(2), 0x4008'0000'0000'0000ULL);
  EXPECT_EQ(k.out[6], 0U);
  EXPECT_EQ(k.out[7], 0x3f80'0000U);
  EXPECT_EQ(k.out[8], 0x3c00'7fffU);
  EXPECT_EQ(k.out[9], 2U);
}

TEST(Atomic, HalfVectorsMinAndMax) {
  OneKernel k(
      "mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x7e00; mov.b16 %h3, 0x8000; mov.b16 %h4, 0xbc00;\n"
      "atom.global.min.noftz.v4.f16 {%h5, %h6, %h7, %h8}, [%rd2], {%h1, %h2, %h3, %h4};\n"
      "atom.global.max.noftz.v2.f16 {%h5, _}, [%rd2+8], {%h1, %h4};"
  );
  ASSERT_EQ(k.run(warp(1)), "");
  EXPECT_EQ(k.out[0], 0U);           // min(0, 1), min(0, NaN)
  EXPECT_EQ(k.out[1], 0xbc00'8000U); // min(0, -0), min(0, -1)
  EXPECT_EQ(k.out[2], 0x3c00U);      // max(0, 1), max(0, -1)
}

TEST(Atomic, InLocalMemoryThroughGenericAddress) {
  OneKernel k(
      ".local .align 4 .b8 mine[4]; mov.u64 %rd6, mine; cvta.local.u64 %rd6, %rd6;\n"
      "st.u32 [%rd6], %r0; fence.sc.cta; atom.add.u32 %r1, [%rd6], 5; ld.acquire.cta.u32 %r2, "
      "[%rd6];\n"
      "membar.gl; fence.acq_rel.gpu; fence.proxy.async; st.global.u32 [%rd4], %r2;"
  );
  ASSERT_EQ(k.run(warp()), "");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(k.out[i], i + 5);
  }
}

// The update functions take part in races with other threads of the process, host threads included.
template <class T, auto F> T race(T operand, int rounds) {
  alignas(16) static T cell;
  cell = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        isa::ops::update_atomically<T, F>(reinterpret_cast<std::byte*>(&cell), operand);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return cell;
}

TEST(Atomic, UpdatesOfSeveralHostThreads) {
  namespace ops = isa::ops;
  EXPECT_EQ((race<std::uint16_t, ops::atomic_add<std::uint16_t>>(1, 5000)), 20000);
  EXPECT_EQ((race<std::uint32_t, ops::atomic_inc<std::uint32_t>>(1'000'000, 5000)), 20000U);
  EXPECT_EQ(
      (race<std::uint64_t, ops::atomic_add<std::uint64_t>>(1ULL << 40, 5000)),
      20000ULL << 40
  );
  const auto one = isa::ops::Uint128{1} << 100;
  EXPECT_TRUE((race<ops::Uint128, ops::atomic_add<ops::Uint128>>(one, 5000)) == 20000 * one);
  EXPECT_EQ(
      std::bit_cast<float>(race<std::uint32_t, ops::atomic_add_f32<true>>(0x3f80'0000U, 5000)),
      20000.0F
  );
}

// All lanes of a warp at one place, with one worker, who is alone with it, and with several. The
// first operation finds out where that lies, so the second one is of the whole warp at once.
TEST(Atomic, AWarpAtOnePlace) {
  for (const unsigned workers : {1U, 4U}) {
    machine::EngineOptions options;
    options.workers = workers;
    OneKernel k(
        "mov.u32 %r9, 0; mov.u32 %r1, 0;"
        "LOOP: add.u32 %r1, %r0, 3; atom.global.add.u32 %r1, [%rd2+4000], %r1;"
        "shl.b32 %r2, %r0, 1; cvt.rn.f32.u32 %f1, %r0; add.f32 %f1, %f1, 0f4C000001;"
        "atom.global.add.f32 %f2, [%rd2+4004], %f1; red.global.max.u32 [%rd2+4008], %r2;"
        "atom.shared.add.u32 %r3, [s], %r2; atom.shared.exch.b32 %r4, [s+4], %r0;"
        "add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 2; @%p1 bra LOOP;"
        "st.global.u32 [%rd4], %r1; st.global.f32 [%rd4+128], %f2; st.global.u32 [%rd4+256], %r3;"
        "st.global.u32 [%rd4+384], %r4;",
        ".shared .align 4 .b8 s[8];",
        std::move(options)
    );
    ASSERT_EQ(k.run(warp()), "");
    std::uint32_t sum = 0;
    std::uint32_t twice = 0;
    float floats = 0;
    for (std::uint32_t n = 0; n < 64; ++n) {
      const std::uint32_t lane = n % 32;
      if (n >= 32) {
        EXPECT_EQ(k.out[lane], sum);
        EXPECT_EQ(std::bit_cast<float>(k.out[32 + lane]), floats);
        EXPECT_EQ(k.out[64 + lane], twice);
        EXPECT_EQ(k.out[96 + lane], (lane + 31) % 32);
      }
      sum += lane + 3;
      twice += 2 * lane;
      floats += static_cast<float>(lane) + std::bit_cast<float>(0x4c00'0001U);
    }
    EXPECT_EQ(k.out[1000], sum);
    EXPECT_EQ(std::bit_cast<float>(k.out[1001]), floats);
    EXPECT_EQ(k.out[1002], 62U);
  }
}

TEST(Atomic, OneWorkerAndPlacesInDisorder) {
  machine::EngineOptions options;
  options.workers = 1;
  OneKernel k(
      "mul.lo.u32 %r1, %r0, 5; and.b32 %r1, %r1, 7; mul.wide.u32 %rd6, %r1, 4;"
      "add.s64 %rd6, %rd6, %rd2; red.global.add.u32 [%rd6+2048], 1;"
      "atom.global.cas.b32 %r2, [%rd6+3000], 0, %r0; st.global.u32 [%rd4], %r2;",
      "",
      std::move(options)
  );
  machine::LaunchConfig config = warp(96);
  config.grid = {3};
  ASSERT_EQ(k.run(config), "");
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(k.out[512 + i], 36U);
  }
}

TEST(Atomic, LocalSpaceFaults) {
  OneKernel k("mov.u64 %rd6, 16; atom.add.u32 %r1, [%rd6], 1;");
  EXPECT_NE(k.run(warp(1)), "");
  ASSERT_TRUE(k.fault);
  EXPECT_EQ(k.fault->fault.kind, isa::FaultKind::Null);
  EXPECT_TRUE(k.fault->fault.store);
}

} // namespace
} // namespace heddle

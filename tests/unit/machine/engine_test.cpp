// The engine's promises, on small PTX kernels: divergence, barriers, collectives, and that threads
// which wait for each other get their turns ([DEV], [CLUSTER], [COOP], [DEP]).
#include "support/kernel_runner.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <numeric>
#include <set>
#include <thread>

namespace heddle {
namespace {

using test::KernelRunner;

constexpr std::string_view header = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::string kernel(std::string_view parameters, std::string_view body) {
  return fmt::format("{}.visible .entry k({})\n{{\n{}\n}}\n", header, parameters, body);
}

constexpr std::string_view registers =
    ".reg .pred %p<10>; .reg .b32 %r<20>; .reg .b64 %rd<20>;\n"
    "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3;\n";

TEST(Engine, EveryThreadOfManyBlocksRunsOnce) {
  KernelRunner runner(kernel(
      ".param .u64 out",
      std::string(registers) + "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
                               "mad.lo.s32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd5, %r4, 4;\n"
                               "add.s64 %rd6, %rd2, %rd5; atom.global.add.u32 %r5, [%rd6], %r4;\n"
                               "ret;"
  ));
  auto out = runner.buffer<std::uint32_t>(100 * 70);
  const auto result = runner.launch("k", {.grid = {100}, .block = {70}}, {out.address});
  ASSERT_FALSE(result.fault);
  ASSERT_EQ(result.error, "");
  for (std::uint32_t i = 0; i < 7000; ++i) {
    ASSERT_EQ(out[i], i);
  }
}

TEST(Engine, BlocksThatAWorkerGivesBackAreTakenTogether) {
  // Each block executes so many instructions that nobody comes to the end of what was taken first.
  machine::EngineOptions options;
  std::uint64_t turns = 0;
  options.workers = 1;
  options.worked = [&](const machine::Grid&, const machine::Worked& worked) {
    turns += worked.instructions != 0;
  };
  KernelRunner runner(
      kernel(
          ".param .u64 out",
          std::string(registers) + "mov.u32 %r2, 0;\n"
                                   "LOOP: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 1400;\n"
                                   "@%p1 bra LOOP; atom.global.add.u32 %r5, [%rd4], 1; ret;"
      ),
      options
  );
  auto out = runner.buffer<std::uint32_t>(32);
  constexpr std::uint32_t blocks = 256;
  ASSERT_FALSE(runner.launch("k", {.grid = {blocks}, .block = {32}}, {out.address}).fault);
  EXPECT_EQ(out[7], blocks);
  EXPECT_LT(turns, blocks / 4);
}

TEST(Engine, DivergedLanesMeetAgain) {
  // Lanes loop tid times, then all count how many lanes are active together at the end.
  KernelRunner runner(kernel(
      ".param .u64 out",
      std::string(registers) + "mov.u32 %r2, 0;\n"
                               "LOOP: setp.ge.u32 %p1, %r2, %r1; @%p1 bra DONE;\n"
                               "add.u32 %r2, %r2, 1; bra LOOP;\n"
                               "DONE: activemask.b32 %r3; popc.b32 %r4, %r3;\n"
                               "st.global.u32 [%rd4], %r4; ret;"
  ));
  auto out = runner.buffer<std::uint32_t>(32);
  ASSERT_FALSE(runner.launch("k", {.grid = {1}, .block = {32}}, {out.address}).fault);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(out[static_cast<std::size_t>(i)], 32U) << i;
  }
}

TEST(Engine, LaneWaitsForLaterLaneOfItsWarp) {
  // [CLUSTER] within a block: lane 0 spins until lane 1 stores.
  KernelRunner runner(kernel(
      ".param .u64 out",
      std::string(registers) + "setp.ne.u32 %p1, %r1, 0; @%p1 bra OTHER;\n"
                               "SPIN: ld.relaxed.gpu.global.u32 %r2, [%rd2+4];\n"
                               "setp.eq.u32 %p2, %r2, 0; @%p2 bra SPIN;\n"
                               "st.global.u32 [%rd2], 7; bra END;\n"
                               "OTHER: st.relaxed.gpu.global.u32 [%rd4], 1;\n"
                               "END: ret;"
  ));
  auto out = runner.buffer<std::uint32_t>(32);
  ASSERT_FALSE(runner.launch("k", {.grid = {1}, .block = {32}}, {out.address}).fault);
  EXPECT_EQ(out[0], 7U);
}

TEST(Engine, FirstBlockWaitsForLastOnes) {
  // Not promised for plain grids, but all blocks fit on the device, and there it works as on
  // hardware.
  KernelRunner runner(kernel(
      ".param .u64 out",
      std::string(registers) + "atom.global.add.u32 %r2, [%rd2], 1;\n"
                               "SPIN: ld.volatile.global.u32 %r3, [%rd2];\n"
                               "setp.lt.u32 %p1, %r3, 64; @%p1 bra SPIN; ret;"
  ));
  auto out = runner.buffer<std::uint32_t>(1);
  ASSERT_FALSE(runner.launch("k", {.grid = {64}, .block = {1}}, {out.address}).fault);
  EXPECT_EQ(out[0], 64U);
}

TEST(Engine, BarrierOrdersWarps) {
  // [BAR-1]: warp w reads what warp w+1 wrote before the barrier; 200 threads, the last warp
  // partial.
  KernelRunner runner(kernel(
      ".param .u64 out",
      ".shared .align 4 .b8 s[800];\n" + std::string(registers) +
          "mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %r1;\n"
          "bar.sync 0; add.u32 %r5, %r1, 32; rem.u32 %r5, %r5, 200; shl.b32 %r5, %r5, 2;\n"
          "add.u32 %r6, %r2, %r5; ld.shared.u32 %r7, [%r6]; st.global.u32 [%rd4], %r7; ret;"
  ));
  auto out = runner.buffer<std::uint32_t>(200);
  const auto result = runner.launch("k", {.grid = {1}, .block = {200}}, {out.address});
  ASSERT_FALSE(result.fault);
  for (std::uint32_t i = 0; i < 200; ++i) {
    ASSERT_EQ(out[i], (i + 32) % 200);
  }
}

TEST(Engine, ExitedThreadsDoNotHoldUpABarrier) {
  // [BAR-3]
  KernelRunner runner(kernel(
      ".param .u64 out",
      std::string(registers) + "setp.ge.u32 %p1, %r1, 40; @%p1 exit; bar.sync 0;\n"
                               "st.global.u32 [%rd4], 1; ret;"
  ));
  auto out = runner.buffer<std::uint32_t>(64);
  ASSERT_FALSE(runner.launch("k", {.grid = {1}, .block = {64}}, {out.address}).fault);
  EXPECT_EQ(out[39], 1U);
  EXPECT_EQ(out[40], 0U);
}

TEST(Engine, OneWarpThatWaitsForAnotherBlockIsNoDeadlock) {
  // One of four warps has ended, so turns of a cluster end within a round of its warps; then two
  // warps that wait at the barrier are left, while the first one could move.
  KernelRunner runner(kernel(
      ".param .u64 out",
      std::string(registers) +
          "mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra OTHER;\n"
          "setp.ge.u32 %p2, %r1, 96; @%p2 exit; setp.ge.u32 %p3, %r1, 32; @%p3 bra BARRIER;\n"
          "SPIN: ld.relaxed.gpu.global.u32 %r3, [%rd2]; setp.eq.u32 %p4, %r3, 0; @%p4 bra SPIN;\n"
          "BARRIER: bar.sync 0; ret;\n"
          "OTHER: setp.ne.u32 %p5, %r1, 0; @%p5 exit; mov.u32 %r4, 0;\n"
          "LOOP: add.u32 %r4, %r4, 1; setp.lt.u32 %p6, %r4, 3000000; @%p6 bra LOOP;\n"
          "st.relaxed.gpu.global.u32 [%rd2], 1; ret;"
  ));
  auto out = runner.buffer<std::uint32_t>(1);
  const auto result = runner.launch("k", {.grid = {2}, .block = {128}}, {out.address});
  EXPECT_FALSE(result.fault);
}

TEST(Engine, BarrierThatNotAllReachIsADeadlock) {
  KernelRunner runner(kernel(
      ".param .u64 out",
      std::string(registers) + "setp.ge.u32 %p1, %r1, 32; @%p1 bra B; bar.sync 0; bra E;\n"
                               "B: bar.sync 1; E: ret;"
  ));
  auto out = runner.buffer<std::uint32_t>(64);
  const auto result = runner.launch("k", {.grid = {1}, .block = {64}}, {out.address});
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, machine::FaultReport::Kind::Deadlock);
  ASSERT_EQ(result.fault->waits.size(), 2U);
  EXPECT_NE(result.fault->waits[0].text.find("31 more"), std::string::npos)
      << result.fault->waits[0].text;
}

TEST(Engine, SpinThatNobodyEndsIsAHang) {
  KernelRunner runner(kernel(
      ".param .u64 out",
      std::string(registers) + "SPIN: ld.volatile.global.u32 %r3, [%rd2]; nanosleep.u32 20;\n"
                               "setp.eq.u32 %p1, %r3, 0; @%p1 bra SPIN; ret;"
  ));
  auto out = runner.buffer<std::uint32_t>(1);
  const auto result = runner.launch("k", {.grid = {3}, .block = {64}}, {out.address});
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, machine::FaultReport::Kind::Livelock);
  EXPECT_NE(result.fault->waits[0].text.find("191 more"), std::string::npos)
      << result.fault->waits[0].text;
}

TEST(Engine, CountedPollsAreNoHang) {
  // Polls five million times, then gives up: long without progress, but never the same state twice.
  KernelRunner runner(kernel(
      ".param .u64 out",
      std::string(registers) + "mov.u32 %r4, 0;\n"
                               "SPIN: ld.volatile.global.u32 %r3, [%rd2]; add.u32 %r4, %r4, 1;\n"
                               "setp.lt.u32 %p2, %r4, 5000000; @%p2 bra SPIN;\n"
                               "st.global.u32 [%rd2], 1; ret;"
  ));
  auto out = runner.buffer<std::uint32_t>(1);
  EXPECT_FALSE(runner.launch("k", {.grid = {1}, .block = {32}}, {out.address}).fault);
  EXPECT_EQ(out[0], 1U);
}

TEST(Engine, TimeOutIsNoHang) {
  KernelRunner runner(kernel(
      ".param .u64 out",
      std::string(registers) + "mov.u64 %rd7, %globaltimer;\n"
                               "SPIN: mov.u64 %rd8, %globaltimer; sub.u64 %rd9, %rd8, %rd7;\n"
                               "setp.lt.u64 %p1, %rd9, 1500000000; @%p1 bra SPIN;\n"
                               "st.global.u32 [%rd2], 1; ret;"
  ));
  auto out = runner.buffer<std::uint32_t>(1);
  EXPECT_FALSE(runner.launch("k", {.grid = {1}, .block = {32}}, {out.address}).fault);
  EXPECT_EQ(out[0], 1U);
}

/// How often the thread asks that waits until another one, in the next warp or block, has counted
/// to `count`. There is one worker, so it could ask for as long as it likes.
std::uint32_t polls_of(std::string_view wait, std::string_view number, std::uint32_t count) {
  machine::EngineOptions options;
  options.workers = 1;
  const bool blocks = number == "%ctaid.x";
  KernelRunner runner(
      kernel(
          ".param .u64 out",
          std::string(registers) +
              fmt::format(
                  "mov.u32 %r2, {}; setp.ge.u32 %p1, %r2, {}; mov.u32 %r3, 0; @%p1 bra COUNT;\n"
                  "ASK: add.u32 %r3, %r3, 1; ld.volatile.global.u32 %r4, [%rd2+4];\n"
                  "setp.ne.u32 %p2, %r4, 0; @%p2 bra DONE; {} bra ASK;\n"
                  "DONE: st.global.u32 [%rd2], %r3; ret;\n"
                  "COUNT: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, {}; @%p3 bra COUNT;\n"
                  "st.volatile.global.u32 [%rd2+4], 1; ret;",
                  number,
                  blocks ? 1 : 32,
                  wait,
                  count
              )
      ),
      options
  );
  auto out = runner.buffer<std::uint32_t>(2);
  const machine::LaunchConfig config = blocks ? machine::LaunchConfig{.grid = {2}, .block = {32}}
                                              : machine::LaunchConfig{.grid = {1}, .block = {64}};
  EXPECT_FALSE(runner.launch("k", config, {out.address}).fault);
  return out[0];
}

// The other warp needs ten turns to count so far: 4,096 rounds of its loop in each.
TEST(Engine, WhoOnlyAsksGivesWay) {
  EXPECT_LT(polls_of("", "%tid.x", 40'000), 400U);
  EXPECT_LT(polls_of("nanosleep.u32 20;", "%tid.x", 40'000), 40U);
}

// It has sixteen of these before another block has its turn, unless all of its warps only ask.
TEST(Engine, ABlockThatOnlyAsksGivesWay) {
  EXPECT_LT(polls_of("", "%ctaid.x", 400'000), 400U);
  EXPECT_LT(polls_of("nanosleep.u32 20;", "%ctaid.x", 400'000), 40U);
}

TEST(Engine, SyncwarpJoinsLanesFromTwoBranches) {
  KernelRunner runner(kernel(
      ".param .u64 out",
      std::string(registers) + "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;\n"
                               "bar.warp.sync -1; bra END; EVEN: bar.warp.sync -1;\n"
                               "END: st.global.u32 [%rd4], 5; ret;"
  ));
  auto out = runner.buffer<std::uint32_t>(32);
  ASSERT_FALSE(runner.launch("k", {.grid = {1}, .block = {32}}, {out.address}).fault);
  EXPECT_EQ(out[31], 5U);
}

TEST(Engine, RecursionKeepsFramesApart) {
  const std::string text = std::string(header) +
                           ".func (.param .b32 r) fib(.param .b32 n)\n{\n"
                           ".reg .pred %p<2>; .reg .b32 %r<9>;\n"
                           "ld.param.u32 %r1, [n]; setp.lt.s32 %p1, %r1, 2; mov.u32 %r4, %r1;\n"
                           "@%p1 bra END;\n"
                           "{ .param .b32 a; st.param.b32 [a+0], %r1; }\n"
                           "add.s32 %r2, %r1, -1;\n"
                           "{ .param .b32 p0; st.param.b32 [p0+0], %r2; .param .b32 r0;\n"
                           "call.uni (r0), fib, (p0); ld.param.b32 %r3, [r0+0]; }\n"
                           "add.s32 %r2, %r1, -2;\n"
                           "{ .param .b32 p0; st.param.b32 [p0+0], %r2; .param .b32 r0;\n"
                           "call.uni (r0), fib, (p0); ld.param.b32 %r5, [r0+0]; }\n"
                           "add.s32 %r4, %r3, %r5;\n"
                           "END: st.param.b32 [r+0], %r4; ret;\n}\n" +
                           std::string(".visible .entry k(.param .u64 out)\n{\n") +
                           std::string(registers) +
                           "{ .param .b32 p0; st.param.b32 [p0+0], %r1; .param .b32 r0;\n"
                           "call.uni (r0), fib, (p0); ld.param.b32 %r3, [r0+0]; }\n"
                           "st.global.u32 [%rd4], %r3; ret;\n}\n";
  KernelRunner runner(text);
  auto out = runner.buffer<std::uint32_t>(16);
  const auto result = runner.launch("k", {.grid = {1}, .block = {16}}, {out.address});
  ASSERT_FALSE(result.fault);
  std::uint32_t a = 0;
  std::uint32_t b = 1;
  for (std::size_t i = 0; i < 16; ++i) {
    ASSERT_EQ(out[i], a) << i;
    b = std::exchange(a, b) + b;
  }
}

TEST(Engine, SeedGivesTheSameScheduleTwice) {
  const std::string text = kernel(
      ".param .u64 out",
      std::string(registers) + "mov.u32 %r2, %ctaid.x; atom.global.exch.b32 %r3, [%rd2], %r2;\n"
                               "mul.wide.u32 %rd5, %r2, 4; add.s64 %rd6, %rd2, %rd5;\n"
                               "st.global.u32 [%rd6+4], %r3; ret;"
  );
  std::vector<std::uint32_t> first;
  for (int run = 0; run < 2; ++run) {
    KernelRunner runner(text, {.seed = 42, .warp_rules = {}});
    auto out = runner.buffer<std::uint32_t>(65);
    ASSERT_FALSE(runner.launch("k", {.grid = {64}, .block = {1}}, {out.address}).fault);
    const std::vector<std::uint32_t> now(out.data, out.data + 65);
    if (run == 0) {
      first = now;
    } else {
      EXPECT_EQ(now, first);
    }
  }
}

// Each block stores how many went before it. A seed may let any of those begin first that fit
// beside each other; seed 0 begins them in the order of their numbers.
TEST(Engine, SeedChoosesWhichBlockBeginsFirst) {
  const std::string text = kernel(
      ".param .u64 out",
      std::string(registers) + "atom.global.add.u32 %r3, [%rd2], 1;\n"
                               "mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd5, %r2, 4;\n"
                               "add.s64 %rd6, %rd2, %rd5; st.global.u32 [%rd6+4], %r3; ret;"
  );
  std::vector<std::uint32_t> ascending(8);
  std::iota(ascending.begin(), ascending.end(), 0);
  std::set<std::vector<std::uint32_t>> orders;
  std::set<std::uint32_t> first;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    KernelRunner runner(text, {.seed = seed, .warp_rules = {}});
    auto out = runner.buffer<std::uint32_t>(9);
    ASSERT_FALSE(runner.launch("k", {.grid = {8}, .block = {1}}, {out.address}).fault);
    const std::vector<std::uint32_t> order(out.data + 1, out.data + 9);
    EXPECT_TRUE(std::ranges::is_permutation(order, ascending));
    if (seed == 0) {
      EXPECT_EQ(order, ascending);
    }
    first.insert(static_cast<std::uint32_t>(std::ranges::find(order, 0U) - order.begin()));
    orders.insert(order);
  }
  EXPECT_GE(orders.size(), 8U);
  EXPECT_GE(first.size(), 4U);
}

machine::CommandPtr submit_one_thread(KernelRunner& runner) {
  const isa::Kernel& code = **runner.program().kernel("k");
  const std::vector<std::byte> parameters(code.parameter_bytes);
  auto command = std::make_shared<machine::Command>();
  command->kind = machine::CommandKind::Kernel;
  const std::shared_ptr<isa::Program> program(std::shared_ptr<void>(), &runner.program());
  command->grid = *runner.world().make_grid(program, code, {}, parameters, 0);
  runner.world().submit(command);
  return command;
}

// A fault takes time to be put into words. Until then its kernel is not over: a program that ends
// meanwhile would exit with status 0.
TEST(Engine, TheRestIsOverOnlyWhenItsFaultCanBeSeen) {
  KernelRunner runner(kernel(".param .u64 out", std::string(registers) + "trap; ret;"));
  machine::World& world = runner.world();
  std::promise<void> begun;
  world.on_fault([&](const machine::FaultReport&) {
    begun.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  });
  const auto command = submit_one_thread(runner);
  begun.get_future().wait();
  EXPECT_FALSE(command->done.load());
  const auto later = submit_one_thread(runner);
  EXPECT_FALSE(later->done.load());
  EXPECT_TRUE(world.driver().complete_rest());
  EXPECT_TRUE(world.has_fault());
  EXPECT_TRUE(command->done.load());
  EXPECT_TRUE(later->done.load());
}

} // namespace
} // namespace heddle

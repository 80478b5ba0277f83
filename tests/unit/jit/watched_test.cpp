// Kernels in several schedules, with a monitor or none, interpreted and compiled: the same words
// come out, and the monitor finds the same, in the same order, as often. HEDDLE_RANDOM_KERNELS=N:
// how many random ones (default 12), from HEDDLE_RANDOM_SEED=N on.
#include "race/monitor.h"
#include "unwritten/monitor.h"

#include "support/compiled.h"
#include "unit/isa/one_kernel.h"
#include "unit/jit/random_kernels.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace heddle::test {
namespace {

using Watch = jit::LaunchShape::Watch;

std::string text_of(const race::RaceSide& side) {
  return fmt::format("{} {} at '{}'", side.who, side.action, side.place.instruction);
}

std::string text_of(const race::RaceReport& race) {
  return fmt::format(
      "{}; {}; why {} {} {}{}{}{}{}{}; '{}' at {}+{}; flags '{}' '{}'; {} times\n",
      text_of(race.first),
      text_of(race.second),
      static_cast<int>(race.why),
      static_cast<int>(race.distance),
      race.same_value,
      race.unordered_value,
      race.update,
      race.shared,
      race.reversed,
      race.next_round,
      race.variable,
      race.address,
      race.bytes,
      race.flag_write.instruction,
      race.flag_read.instruction,
      race.count
  );
}

std::string text_of(const unwritten::Report& report) {
  return fmt::format(
      "{} {} '{}' '{}' {} {} {}; {} times\n",
      static_cast<int>(report.matter),
      report.who,
      report.use.instruction,
      report.read.instruction,
      report.memory,
      report.bytes,
      report.ended_lane,
      report.count
  );
}

struct Outcome {
  std::string error;
  std::vector<std::uint32_t> out;
  std::string found;
  bool operator==(const Outcome&) const = default;
};

/// `kernels`: nullptr to interpret.
Outcome execute(
    const std::string& body,
    const char* variables,
    const machine::LaunchConfig& config,
    std::uint64_t seed,
    Watch watch,
    const std::shared_ptr<CompiledKernels>& kernels
) {
  machine::EngineOptions options =
      kernels != nullptr ? compiled(kernels) : machine::EngineOptions{};
  options.seed = seed;
  options.one_at_a_time = watch != Watch::Nothing;
  OneKernel kernel(body, variables, std::move(options));
  memory::AddressSpace& space = kernel.runner().space();
  race::Races* races = nullptr;
  unwritten::Unwritten* unwritten = nullptr;
  if (watch == Watch::Shared) {
    auto monitor = std::make_unique<race::Races>(space, seed);
    races = monitor.get();
    kernel.runner().world().set_monitor(std::move(monitor));
  } else if (watch == Watch::All) {
    auto monitor = std::make_unique<unwritten::Unwritten>(space);
    unwritten = monitor.get();
    kernel.runner().world().set_monitor(std::move(monitor));
  }
  for (std::uint32_t i = 0; i < 64; ++i) {
    kernel.in.push_back(i * 0x9e37'79b9U);
  }
  Outcome run;
  run.error = kernel.run(config);
  if (const auto& fault = kernel.fault) {
    run.error += fmt::format(
        " {} {} {} {} '{}' ({},{},{})",
        static_cast<int>(fault->fault.kind),
        fault->fault.lane,
        fault->fault.bytes,
        fault->lanes,
        fault->instruction,
        fault->thread.x,
        fault->thread.y,
        fault->block.x
    );
  }
  run.out = kernel.out;
  if (races != nullptr) {
    for (const race::RaceReport& report : races->reports()) {
      run.found += text_of(report);
    }
  } else if (unwritten != nullptr) {
    for (const unwritten::Report& report : unwritten->reports()) {
      run.found += text_of(report);
    }
  }
  return run;
}

/// Both ways; answers what was found without a seed.
std::string both(
    const std::string& body,
    const machine::LaunchConfig& config,
    Watch watch,
    const char* variables = "",
    bool guesses = true
) {
  std::string found;
  const auto kernels = std::make_shared<CompiledKernels>();
  kernels->watch = watch;
  kernels->guesses = guesses;
  kernels->keeps_image = true;
  { // there is one address space at a time
    OneKernel unwatched(body, variables);
    EXPECT_TRUE(kernels->compile(**unwatched.runner().program().kernel("k"), config.block.x));
  }
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    kernels->compiled = 0;
    Outcome interpreted;
    Outcome machine_code;
    // The engine looks for threads that never get on (machine/probe.h) when half a second has
    // passed: on a busy machine that may give somebody a turn in one of the two.
    for (int attempt = 0; attempt < 3; ++attempt) {
      kernels->forget();
      interpreted = execute(body, variables, config, seed, watch, nullptr);
      machine_code = execute(body, variables, config, seed, watch, kernels);
      if (interpreted == machine_code) {
        break;
      }
    }
    EXPECT_GE(kernels->compiled, 1) << body;
    EXPECT_EQ(interpreted.error, machine_code.error) << "seed " << seed << '\n' << body;
    EXPECT_EQ(interpreted.out, machine_code.out) << "seed " << seed << '\n' << body;
    EXPECT_EQ(interpreted.found, machine_code.found) << "seed " << seed << '\n' << body;
    if (seed == 0) {
      found = interpreted.found;
    }
  }
  return found;
}

void compare_random(unsigned seed, Watch watch) {
  const machine::LaunchConfig shapes[] = {
      {.block = {64}},
      {.grid = {3}, .block = {16, 4}},
      {.block = {8, 6}},
      {.grid = {2}, .block = {5, 7}},
      {.grid = {2}, .block = {96}},
      {.block = {40}}
  };
  std::string body = ".local .align 4 .b8 l[16];\n";
  if (watch == Watch::All && seed % 3 != 0) { // else nobody writes what is read
    body += "setp.lt.u32 %p1, %r0, 64; mul.wide.u32 %rd6, %r0, 4; add.s64 %rd6, %rd6, %rd3;\n"
            "@%p1 st.global.u32 [%rd6], %r0; st.local.v4.u32 [l], {%r0, %r0, %r0, %r0};\n"
            "@%p1 st.global.u32 [%rd6+128], %r0; bar.sync 0;\n";
  }
  body += RandomKernel(seed, /*shares=*/true).body();
  SCOPED_TRACE(fmt::format("kernel {}", seed));
  both(body, shapes[seed % std::size(shapes)], watch, random_kernel_variables, seed % 4 != 0);
}

void compare_random(Watch watch) {
  const char* wanted = std::getenv("HEDDLE_RANDOM_KERNELS");
  const char* from = std::getenv("HEDDLE_RANDOM_SEED");
  const unsigned count = wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : 6;
  const unsigned first = from != nullptr ? static_cast<unsigned>(std::atoi(from)) : 1;
  for (unsigned seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    compare_random(seed, watch);
  }
}

TEST(Watched, RandomKernelsHaveTheSameRaces) {
  compare_random(Watch::Shared);
}

TEST(Watched, RandomKernelsReadTheSameUnwritten) {
  compare_random(Watch::All);
}

TEST(Watched, RandomKernelsDoTheSameWithASeed) {
  compare_random(Watch::Nothing);
}

// Rows of words by whole warps and halves, and something else that comes to some of their words.
TEST(Watched, RacesWithPartsOfRows) {
  constexpr const char* shared = ".shared .align 64 .b8 s[4096];";
  constexpr const char* place = "mov.u32 %r4, s; shl.b32 %r5, %r0, 2; add.u32 %r6, %r4, %r5;";
  for (const char* body : {
           "st.shared.u32 [%r6], %r0; ld.shared.u32 %r7, [%r4+20];",
           "st.shared.u32 [%r6], %r0; bar.sync 0; ld.shared.u32 %r7, [%r6+4]; bar.warp.sync -1;"
           "st.shared.u32 [%r6], %r7;",
           "st.shared.u32 [%r6], %r0; bar.sync 0; ld.shared.u32 %r7, [%r6];"
           "setp.eq.u32 %p1, %r0, 40; @%p1 st.shared.u16 [%r4+38], 7;",
           "and.b32 %r7, %r0, 15; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r4;"
           "ld.shared.u32 %r8, [%r7]; setp.eq.u32 %p1, %r0, 3; @%p1 st.shared.u32 [%r4+12], 7;",
           "ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r4+16]; setp.eq.u32 %p1, %r0, 9;"
           "@%p1 st.shared.u32 [%r4+24], %r7;",
           "atom.shared.add.u32 %r7, [%r4+8], 1; st.shared.u32 [%r6], %r7;",
       }) {
    const std::string text = std::string(place) + body;
    for (const machine::LaunchConfig& shape : std::initializer_list<machine::LaunchConfig>{
             {.block = {64}},
             {.grid = {2}, .block = {16, 4}},
             {.block = {50}}
         }) {
      EXPECT_NE(both(text, shape, Watch::Shared, shared), "") << body;
    }
  }
}

// Other threads go first behind reads that decide: compiled code leaves those to the interpreter.
TEST(Watched, OthersGoFirstWhereValuesDecide) {
  const std::string found = both(
      "setp.ne.u32 %p1, %r0, 0; @%p1 bra READ; st.global.u32 [%rd3], 5;"
      "st.volatile.global.u32 [%rd3+128], 1; bra END;"
      "READ: ld.volatile.global.u32 %r4, [%rd3+128]; setp.eq.u32 %p2, %r4, 0; @%p2 bra END;"
      "ld.global.u32 %r5, [%rd3]; st.global.u32 [%rd4], %r5; END:",
      {.grid = {2}, .block = {64}},
      Watch::Shared
  );
  EXPECT_NE(found, "");
}

// In the interpreter a turn of a warp costs some fuel, however short it is, and ends where lanes
// meet in several parties. So the first warp's loop takes two rounds, and the second one reads
// before the first one writes.
TEST(Watched, TurnsEndWhereTheInterpretersDo) {
  constexpr const char* body =
      "mov.u32 %r4, %laneid; and.b32 %r4, %r4, 24; mov.u32 %r5, 255; shl.b32 %r5, %r5, %r4;"
      "setp.ge.u32 %p1, %r0, 32; selp.u32 %r6, 100, 400, %p1; mov.u32 %r7, %r0;"
      "LOOP: shfl.sync.bfly.b32 %r7, %r7, 1, 0x181f, %r5; sub.u32 %r6, %r6, 1;"
      "setp.gt.s32 %p2, %r6, 0; @%p2 bra LOOP; @%p1 bra READ; st.shared.u32 [s], 7; bra END;"
      "READ: ld.shared.u32 %r8, [s]; add.u32 %r8, %r8, %r7; st.global.u32 [%rd4], %r8; END:";
  EXPECT_NE(both(body, {.block = {64}}, Watch::Shared, ".shared .align 4 .b8 s[4];"), "");
  both(body, {.block = {64}}, Watch::Nothing, ".shared .align 4 .b8 s[4];");
}

TEST(Watched, UnwrittenBitsAreTheInterpreters) {
  for (const char* body : {
           "ld.global.u32 %r4, [%rd3+8]; add.u32 %r4, %r4, 1; st.global.u32 [%rd4], %r4;",
           "st.shared.u32 [s], %r0; bar.sync 0; ld.shared.v2.u32 {%r4, %r5}, [s];"
           "add.u32 %r4, %r4, 1; st.global.u32 [%rd4], %r4; setp.eq.u32 %p1, %r5, 0; @%p1 bra END;"
           "st.global.u32 [%rd4], 7; END:",
           "st.shared.u8 [s+1], 3; bar.sync 0; atom.shared.add.u32 %r4, [s], 1;"
           "st.global.u32 [%rd4], %r4;",
           "setp.gt.u32 %p1, %r0, 20; @%p1 st.local.u32 [l], %r0; ld.local.u32 %r4, [l];"
           "setp.gt.u32 %p2, %r4, 3; @%p2 st.global.u32 [%rd4], 1;",
           "setp.eq.u32 %p1, %r0, 7; @%p1 exit; shfl.sync.idx.b32 %r4, %r0, 7, 31, -1;"
           "add.u32 %r4, %r4, 1; st.global.u32 [%rd4], %r4;",
           "atom.shared.exch.b32 %r4, [s], 5; setp.eq.u32 %p1, %r4, 0; @%p1 st.global.u32 [%rd4], "
           "1;",
       }) {
    const std::string text = std::string(".local .align 4 .b8 l[16];\n") + body;
    for (const std::uint32_t threads : {32U, 64U}) {
      EXPECT_NE(both(text, {.block = {threads}}, Watch::All, ".shared .align 8 .b8 s[64];"), "")
          << body;
    }
  }
}

TEST(Watched, FaultsAreTheInterpreters) {
  for (const char* body : {
           "setp.eq.u32 %p1, %r0, 40; @%p1 mov.u64 %rd4, 64; st.global.u32 [%rd4], %r0;",
           "st.global.u32 [%rd3], %r0; mul.wide.u32 %rd6, %r0, 100000; add.s64 %rd6, %rd6, %rd2;"
           "ld.global.u32 %r1, [%rd6]; st.global.u32 [%rd4], %r1;",
           "add.s64 %rd6, %rd2, 2; st.global.u32 [%rd6], %r0;",
           "shl.b32 %r1, %r0, 12; st.shared.u32 [%r1], %r0; ld.shared.u32 %r2, [%r1];",
           "setp.gt.u32 %p1, %r0, 33; @%p1 trap; st.global.u32 [%rd3], %r0;",
       }) {
    for (const Watch watch : {Watch::Shared, Watch::All}) {
      both(body, {.grid = {2}, .block = {64}}, watch, ".shared .align 8 .b8 s[64];");
    }
  }
}

// Nothing is found here, and all of it is compiled.
TEST(Watched, RightProgramsStayRight) {
  constexpr const char* tile =
      "mov.u32 %r4, s; shl.b32 %r5, %r0, 2; add.u32 %r6, %r4, %r5; mov.u32 %r7, 0; mov.u32 %r8, 0;"
      "ROUND: add.u32 %r9, %r0, %r8; st.shared.u32 [%r6], %r9; bar.sync 0; mov.u32 %r10, 0;"
      "LOOP: xor.b32 %r11, %r0, %r10; shl.b32 %r11, %r11, 2; add.u32 %r11, %r11, %r4;"
      "ld.shared.u32 %r12, [%r11]; mad.lo.u32 %r7, %r7, 5, %r12; add.u32 %r10, %r10, 1;"
      "setp.lt.u32 %p1, %r10, 64; @%p1 bra LOOP; bar.sync 0; add.u32 %r8, %r8, 1;"
      "setp.lt.u32 %p2, %r8, 3; @%p2 bra ROUND; st.global.u32 [%rd4], %r7;";
  for (const Watch watch : {Watch::Shared, Watch::All}) {
    EXPECT_EQ(both(tile, {.block = {64}}, watch, ".shared .align 4 .b8 s[256];"), "");
  }
}

} // namespace
} // namespace heddle::test

// The machine one move at a time: what is a move, what counts as a step, who is guaranteed, and
// when two states are the same.
#include "reduce/stepper.h"

#include "support/stepper_device.h"
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace heddle::reduce {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using test::Device;
using test::kernel;
using test::shape;

const auto guarantee_is = [](Stepper::Guarantee guarantee) {
  return Field(&Stepper::Move::guarantee, guarantee);
};

TEST(Stepper, WhatCountsAsAStep) { // [STEP.1] [STEP.3] [STEP.4]
  Device device(kernel(
      "k",
      "ld.volatile.u32 %r2, [%rd1]; st.volatile.u32 [%rd1], %r2;\n"
      "ld.relaxed.gpu.u32 %r2, [%rd1]; ld.acquire.gpu.u32 %r2, [%rd1];\n"
      "st.relaxed.gpu.u32 [%rd1], 1; fence.sc.gpu; st.release.gpu.u32 [%rd1], 2;\n"
      "atom.add.u32 %r2, [%rd1], 1; red.add.u32 [%rd1], 1;"
  ));
  device.launch("k", shape(1, 1));
  std::vector<StepKind> taken;
  while (!device.moves().empty()) {
    taken.push_back(device.step());
  }
  using enum StepKind;
  // The end follows at once: the thread is guaranteed by then.
  EXPECT_THAT(taken, ElementsAre(Volatile, Volatile, Sync, Sync, None, None, Sync, Sync));
  EXPECT_EQ(device.word(0), 4U);
}

// PTX ISA 9.0: ldu reads like ld. It is no choice once the thread has taken a step.
TEST(Stepper, UniformLoadsArePlainReads) {
  Device device(kernel(
      "k",
      "ld.volatile.u32 %r2, [%rd1]; ldu.global.u32 %r2, [%rd1]; ld.volatile.u32 %r2, [%rd1];"
  ));
  device.launch("k", shape(1, 1));
  std::vector<StepKind> taken;
  while (!device.moves().empty()) {
    taken.push_back(device.step());
  }
  EXPECT_THAT(taken, ElementsAre(StepKind::Volatile, StepKind::Volatile));
}

/// Does the search say that threads of the second warp go around a barrier, on to `behind`?
bool goes_around_barrier(const std::string& behind) {
  Device device(kernel(
      "k",
      (".shared .align 16 .b8 s[512]; mov.u32 %r2, s; setp.ge.u32 %p1, %r1, 32;\n"
       "@%p1 bra BEHIND; bar.sync 0;\nBEHIND: " +
       behind)
          .c_str()
  ));
  device.launch("k", shape(1, 64));
  while (!device.stepper().failure() && !device.moves().empty()) {
    device.stepper().step(device.moves().front());
  }
  return device.stepper().failure().has_value();
}

// [BAR-6]: they have gone around it, and not left early, if there is something to be done behind
// it, whatever that is.
TEST(Stepper, ThreadsThatGoAroundABarrier) {
  EXPECT_FALSE(goes_around_barrier("add.u32 %r3, %r2, 1;"));
  EXPECT_FALSE(goes_around_barrier("ld.param.u64 %rd3, [p];"));
  EXPECT_TRUE(goes_around_barrier("st.global.u32 [%rd1], %r2;"));
  EXPECT_TRUE(goes_around_barrier("ldu.global.u32 %r3, [%rd1];"));
  EXPECT_TRUE(goes_around_barrier("elect.sync %r3|%p2, -1;"));
  EXPECT_TRUE(goes_around_barrier("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r3};"));
}

TEST(Stepper, OutputIsAStep) { // [STEP.2]
  Device device(
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".global .align 1 .b8 text[2] = {104, 0};\n" +
      kernel(
          "k",
          "mov.u64 %rd2, text; cvta.global.u64 %rd3, %rd2; mov.u64 %rd4, 0;\n"
          "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd3;\n"
          "st.param.b64 [b], %rd4; call.uni (r), vprintf, (a, b); }"
      )
  );
  device.launch("k", shape(1, 1));
  EXPECT_EQ(device.step(), StepKind::Io);
}

TEST(Stepper, NothingDoneToALocalVariableIsAMove) { // [STEP.3] [STEP.4]
  Device device(kernel(
      "k",
      "mov.u64 %rd2, mine; cvta.local.u64 %rd3, %rd2; st.volatile.u32 [%rd3], 1;\n"
      "atom.add.u32 %r2, [%rd3], 1; ld.acquire.cta.u32 %r2, [%rd3];"
  ));
  device.launch("k", shape(1, 1));
  EXPECT_EQ(device.step(), StepKind::End);
  EXPECT_THAT(device.moves(), IsEmpty());
}

TEST(Stepper, OneStepObligesTheClusterAndNobodyElse) { // [CLUSTER]
  Device device(kernel("k", "atom.add.u32 %r2, [%rd1], 1; atom.add.u32 %r2, [%rd1+4], 1;"));
  device.launch("k", shape(2, 2));
  EXPECT_THAT(device.moves(), Each(guarantee_is(Stepper::Guarantee::None)));
  device.step(3); // second thread of the second block
  const auto moves = device.moves();
  ASSERT_THAT(moves, SizeIs(4));
  for (const Stepper::Move& move : moves) {
    EXPECT_EQ(
        move.guarantee,
        move.cluster == 1 ? Stepper::Guarantee::Cluster : Stepper::Guarantee::None
    );
  }
}

TEST(Stepper, AThreadAloneInItsClusterIsGuaranteedByItsOwnStep) { // [DEV]
  Device device(kernel("k", "atom.add.u32 %r2, [%rd1], 1; atom.add.u32 %r2, [%rd1+4], 1;"));
  device.launch("k", shape(1, 1));
  device.step();
  EXPECT_THAT(device.moves(), ElementsAre(guarantee_is(Stepper::Guarantee::Itself)));
}

TEST(Stepper, OneStepObligesACooperativeGrid) { // [COOP]
  Device device(kernel("k", "atom.add.u32 %r2, [%rd1], 1; atom.add.u32 %r2, [%rd1+4], 1;"));
  LaunchConfig config = shape(3, 1);
  config.cooperative = true;
  device.launch("k", config);
  device.step();
  EXPECT_THAT(device.moves(), Each(guarantee_is(Stepper::Guarantee::Cooperative)));
  EXPECT_THAT(device.moves(), SizeIs(3));
}

TEST(Stepper, AnAtomicWriteObligesNobody) { // [STEP.4]
  Device device(kernel("k", "st.relaxed.gpu.u32 [%rd1], 1; atom.add.u32 %r2, [%rd1], 1;"));
  device.launch("k", shape(1, 2));
  device.step();
  EXPECT_THAT(device.moves(), Each(guarantee_is(Stepper::Guarantee::None)));
}

TEST(Stepper, AGridWaitsForWhatItDependsOn) { // [DEP]
  const std::string both =
      kernel("a", "atom.add.u32 %r2, [%rd1], 1;") + kernel("b", "atom.add.u32 %r2, [%rd1+4], 1;");
  Device device(both);
  const CommandPtr a = device.launch("a", shape(1, 1));
  const CommandPtr b = device.launch("b", shape(1, 1), {a});
  EXPECT_THAT(device.moves(), SizeIs(1));
  device.step();
  EXPECT_TRUE(a->done);
  device.step();
  EXPECT_TRUE(b->done);
  EXPECT_TRUE(device.stepper().facts().dependency);
}

TEST(Stepper, TheOrderOfGridsCanBeIgnored) { // [DEP]
  Device device(
      kernel("a", "atom.add.u32 %r2, [%rd1], 1;") + kernel("b", "atom.add.u32 %r2, [%rd1+4], 1;"),
      {.model = {.ignore_grid_order = true}}
  );
  device.launch("b", shape(1, 1), {device.launch("a", shape(1, 1))});
  EXPECT_THAT(device.moves(), SizeIs(2));
}

TEST(Stepper, LoopsWithoutAStepAreRecognised) { // [LOOP]
  for (const char* body :
       {"L: bra L;",
        "L: nanosleep.u32 0; bra L;",
        "mov.u32 %r2, 1; L: setp.ne.u32 %p1, %r2, 0; @%p1 bra L;",
        "mov.u64 %rd2, mine; cvta.local.u64 %rd3, %rd2; L: ld.volatile.u32 %r2, [%rd3]; bra L;",
        "mov.u32 %r2, 0; L: add.u32 %r2, %r2, 1; and.b32 %r2, %r2, 1023; bra L;"}) {
    Device device(kernel("k", body));
    device.launch("k", shape(1, 1));
    ASSERT_THAT(device.moves(), SizeIs(1)) << body;
    EXPECT_TRUE(device.moves()[0].endless) << body;
    EXPECT_EQ(device.step(), StepKind::None) << body;
  }
}

TEST(Stepper, ALongLoopIsNotEndless) {
  Device device(kernel(
      "k",
      "mov.u32 %r2, 0; L: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 2000000;\n"
      "@%p1 bra L; st.relaxed.gpu.u32 [%rd1], %r2;"
  ));
  device.launch("k", shape(1, 1));
  EXPECT_FALSE(device.moves().at(0).endless);
  device.step();
  EXPECT_EQ(device.word(0), 2'000'000U);
}

TEST(Stepper, ALoopOnAPlainReadCanBeEndedByOthers) {
  Device device(kernel(
      "k",
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra W; L: ld.u32 %r2, [%rd1];\n"
      "setp.eq.u32 %p2, %r2, 0; @%p2 bra L; ret; W: st.relaxed.gpu.u32 [%rd1], 1;"
  ));
  device.launch("k", shape(1, 2));
  EXPECT_EQ(device.step(0), StepKind::None) << "a plain read is no step";
  EXPECT_FALSE(device.moves().at(0).endless);
  device.step(1);
  for (int n = 0; n < 4 && !device.moves().empty(); ++n) {
    device.step();
  }
  EXPECT_THAT(device.moves(), IsEmpty());
}

TEST(Stepper, BarriersAreNoChoicesOnceTheBlockIsGuaranteed) { // [BAR-1]
  Device device(
      kernel("k", "bar.sync 0; bar.sync 0; bar.sync 0; red.add.u32 [%rd1], 1; bar.sync 0;")
  );
  device.launch("k", shape(1, 64));
  EXPECT_THAT(device.moves(), SizeIs(1)) << "whoever arrives first makes no difference";
  device.step();
  EXPECT_THAT(device.moves(), SizeIs(64)) << "all stand at their atomic now";
  for (int n = 0; n < 64; ++n) {
    device.step();
  }
  EXPECT_THAT(device.moves(), IsEmpty());
  EXPECT_EQ(device.word(0), 64U);
}

TEST(Stepper, AWarpArrivesAtAnAlignedBarrierTogether) { // [BAR-3] [BAR-4]
  // Warp 0 hands two rounds to warp 1 without waiting and ends: each arrival counts 32, not more,
  // in whatever order its lanes come.
  Device device(kernel(
      "k",
      "setp.ge.u32 %p1, %r1, 32; @%p1 bra C; bar.arrive 1, 64; bar.arrive 2, 64; ret;\n"
      "C: bar.sync 1, 64; bar.sync 2, 64;"
  ));
  const CommandPtr k = device.launch("k", shape(1, 64));
  device.step();
  EXPECT_THAT(device.moves(), IsEmpty());
  EXPECT_TRUE(k->done);
}

TEST(Stepper, ThreadsThatMeetAtBarriersForEverKeepMoving) {
  Device device(kernel("k", "L: bar.sync 0; bra L;"));
  device.launch("k", shape(1, 2));
  for (int n = 0; n < 20; ++n) {
    ASSERT_FALSE(device.moves().empty());
    EXPECT_EQ(device.step(), StepKind::Sync);
  }
}

TEST(Stepper, WaitsSayWhoIsBlockedAndWhere) {
  Device device(
      kernel("k", "setp.eq.u32 %p1, %r1, 0; @%p1 bra A; bar.sync 0; ret; A: barrier.sync 1, 64;")
  );
  device.launch("k", shape(1, 32));
  device.step();
  EXPECT_THAT(device.moves(), IsEmpty());
  const auto waits = device.stepper().report().waits();
  ASSERT_THAT(waits, SizeIs(2));
  EXPECT_EQ(waits[0].threads + waits[1].threads, 32U);
}

TEST(Stepper, WhoStartsMattersIfFirstStepsAreSeen) {
  Device device(kernel("k", "atom.relaxed.gpu.add.u32 %r2, [%rd1], 1; bar.sync 0;"));
  device.launch("k", shape(2, 3));
  EXPECT_THAT(device.moves(), SizeIs(6));
}

TEST(Stepper, OnlyTheStartOfAClusterIsAMoveOfAnyThread) {
  Device device(kernel("k", "bar.sync 0; atom.relaxed.gpu.add.u32 %r2, [%rd1], 1;"));
  device.launch("k", shape(2, 3));
  EXPECT_THAT(device.moves(), SizeIs(2)) << "each cluster may start, and need not";
  device.step(1);
  EXPECT_THAT(device.moves(), SizeIs(4));
}

TEST(Stepper, SumsAreNoChoices) {
  Device device(
      kernel(
          "k",
          "red.add.u32 [%rd1], 1; atom.add.u32 %r2, [%rd1], 2; bar.sync 0; red.add.u32 [%rd1], 1;"
      ),
      {}
  );
  const CommandPtr k = device.launch("k", shape(3, 32));
  ASSERT_THAT(device.moves(), SizeIs(1));
  device.step();
  EXPECT_TRUE(k->done);
  EXPECT_EQ(device.word(0), 3U * 32 * 4);
  EXPECT_FALSE(device.stepper().sums_clash());
}

TEST(Stepper, AnUpdateWhoseResultIsUsedIsNoSum) {
  Device device(kernel("k", "atom.add.u32 %r2, [%rd1], 2; st.u32 [%rd1+4], %r2;"), {});
  device.launch("k", shape(1, 32));
  EXPECT_THAT(device.moves(), SizeIs(32));
}

TEST(Stepper, SumsOfTwoKindsClash) {
  Device device(
      kernel(
          "k",
          "setp.eq.u32 %p1, %r1, 0; @%p1 red.max.u32 [%rd1], 7; @!%p1 red.add.u32 [%rd1], 1;"
      ),
      {}
  );
  device.launch("k", shape(1, 2));
  device.step();
  EXPECT_TRUE(device.stepper().sums_clash());
}

TEST(Stepper, ASumThatIsReadMeanwhileClashes) {
  const std::string kernels =
      kernel("add", "red.add.u32 [%rd1], 1;") + kernel("look", "ld.relaxed.gpu.u32 %r2, [%rd1];");
  for (const bool ordered : {true, false}) {
    Device device(kernels, {});
    const CommandPtr first = device.launch("add", shape(1, 1));
    device.launch("look", shape(1, 1), ordered ? std::vector{first} : std::vector<CommandPtr>());
    while (!device.moves().empty()) {
      device.step();
    }
    EXPECT_EQ(device.stepper().sums_clash(), !ordered);
  }
}

TEST(Stepper, ClustersWithPlainAccessesOnlyRunThroughTogether) {
  Device device(kernel(
      "k",
      "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.u32 [%rd3], 7;\n"
      "bar.sync 0; ld.u32 %r2, [%rd3]; add.u32 %r2, %r2, 1; st.u32 [%rd3], %r2;"
  ));
  const CommandPtr k = device.launch("k", shape(3, 32));
  ASSERT_THAT(device.moves(), SizeIs(1));
  EXPECT_EQ(device.word(31), 0U) << "trying it out has left nothing behind";
  device.step();
  EXPECT_TRUE(k->done);
  EXPECT_EQ(device.word(31), 8U);
}

/// The fingerprint after these moves, which are taken back.
Hash128 after(Device& device, std::initializer_list<std::size_t> steps) {
  const Stepper::Mark mark = device.stepper().mark();
  const Hash128 before = device.fingerprint();
  for (const std::size_t n : steps) {
    device.step(n);
  }
  const Hash128 hash = device.fingerprint();
  device.stepper().undo_to(mark);
  EXPECT_EQ(device.fingerprint(), before);
  return hash;
}

TEST(Stepper, EqualStatesHaveEqualFingerprints) {
  Device device(kernel(
      "k",
      "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
      "atom.add.u32 %r2, [%rd3], 1; red.add.u32 [%rd1+64], 1; red.add.u32 [%rd1+64], 1;"
  ));
  device.launch("k", shape(1, 2));
  EXPECT_EQ(after(device, {0, 1}), after(device, {1, 0}));
  EXPECT_NE(after(device, {0}), after(device, {1}));
  EXPECT_NE(after(device, {0}), after(device, {}));
  EXPECT_NE(after(device, {0, 1, 0}), after(device, {0, 1, 1}));
}

TEST(Stepper, WhatWasHandedOverOnceDoesNotTellStatesApart) {
  // Who comes first hands over 0 in the shuffle, which nobody looks at; then lane 0 waits at a
  // barrier that hands over nothing.
  Device device(kernel(
      "k",
      "atom.add.u32 %r2, [%rd1], 1; shfl.sync.idx.b32 %r3, %r2, 0, 31, 3;\n"
      "setp.eq.u32 %p1, %r1, 0; @%p1 bra M; atom.add.u32 %r2, [%rd1+4], 1; st.u32 [%rd1+8], %r2;\n"
      "M: bar.warp.sync 3;"
  ));
  device.launch("k", shape(1, 2));
  EXPECT_EQ(after(device, {0, 0}), after(device, {1, 0}));
}

TEST(Stepper, DeadRegistersDoNotTellStatesApart) {
  // Each thread reads a counter that the other changes; one program forgets what it read.
  for (const bool forgets : {true, false}) {
    Device device(kernel(
        "k",
        forgets ? "atom.add.u32 %r2, [%rd1], 1; ld.relaxed.gpu.u32 %r3, [%rd1+4];"
                : "atom.add.u32 %r2, [%rd1], 1; ld.relaxed.gpu.u32 %r3, [%rd1+4];\n"
                  "st.relaxed.gpu.u32 [%rd1+4], %r2;"
    ));
    device.launch("k", shape(1, 2));
    EXPECT_EQ(after(device, {0, 1}) == after(device, {1, 0}), forgets);
  }
}

TEST(Stepper, EqualThreadsAreOneMove) {
  // Nobody asks who it is once it stands at its atomic.
  for (const bool symmetry : {true, false}) {
    Device device(
        kernel("k", "atom.add.u32 %r2, [%rd1], 1; red.add.u32 [%rd1+4], %r2;"),
        {.independence = {.sums = false}, .renaming = {.symmetry = symmetry}}
    );
    device.launch("k", shape(3, 2));
    ASSERT_THAT(device.moves(), SizeIs(symmetry ? 1 : 6));
    EXPECT_EQ(device.moves()[0].count, symmetry ? 6U : 1U);
    device.step();
    // The other thread of the block is guaranteed now, those of other blocks are not.
    EXPECT_THAT(device.moves(), SizeIs(symmetry ? 3 : 6));
  }
}

TEST(Stepper, StatesThatDifferInThePlacesOfEqualThreadsAreOne) {
  Device device(
      kernel("k", "atom.add.u32 %r2, [%rd1], 1; red.add.u32 [%rd1+4], %r2;"),
      {.independence = {.sums = false}, .renaming = {.symmetry = true}}
  );
  device.launch("k", shape(3, 1));
  // One thread goes twice, another once, in either order of their first moves.
  device.step(0);
  const auto first = device.moves();
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_NE(first[0].who, first[1].who);
}

TEST(Stepper, WhoeverAsksWhoItIsIsNotLikeOthers) {
  Device device(
      kernel("k", "atom.add.u32 %r2, [%rd1], 1; mov.u32 %r3, %ctaid.x; red.add.u32 [%rd1+4], %r3;"),
      {.independence = {.sums = false}, .renaming = {.symmetry = true}}
  );
  device.launch("k", shape(3, 2));
  EXPECT_THAT(device.moves(), SizeIs(3)) << "equal only within a block";
}

TEST(Stepper, ChangesSayWhichClassBecameWhich) {
  Device device(
      kernel("k", "atom.add.u32 %r2, [%rd1], 1; red.add.u32 [%rd1+4], 1;"),
      {.independence = {.sums = false}, .renaming = {.symmetry = true}}
  );
  device.launch("k", shape(2, 1));
  const auto move = device.moves().at(0);
  device.step();
  const auto& changes = device.stepper().changes();
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].from, move.who);
  EXPECT_NE(changes[0].to, move.who);
  EXPECT_EQ(changes[1], (Stepper::Change{move.who, move.who})) << "the other block kept its class";
}

TEST(Stepper, EverythingCanBeTakenBack) {
  Device device(kernel(
      "k",
      "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
      "atom.add.u32 %r2, [%rd3], 1; bar.sync 0; st.u32 [%rd3+64], %r1; bar.sync 0;\n"
      "atom.add.u32 %r2, [%rd3], %r1;"
  ));
  const CommandPtr k = device.launch("k", shape(2, 40));
  const Stepper::Mark start = device.stepper().mark();
  const Hash128 before = device.fingerprint();
  std::vector<Hash128> way;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t n = 0; !device.moves().empty(); ++n) {
      device.step(n % device.moves().size());
      if (round == 0) {
        way.push_back(device.fingerprint());
      } else {
        ASSERT_EQ(device.fingerprint(), way.at(n));
      }
    }
    EXPECT_TRUE(k->done);
    EXPECT_NE(device.word(1), 0U);
    device.stepper().undo_to(start);
    EXPECT_FALSE(k->done);
    EXPECT_EQ(device.word(1), 0U);
    EXPECT_EQ(device.fingerprint(), before);
  }
}

TEST(Stepper, ProgressModelsSayWhoIsGuaranteed) {
  using enum Stepper::Guarantee;
  const std::pair<ProgressModel, std::vector<Stepper::Guarantee>> expected[] = {
      {ProgressModel::Cuda, {None, Itself, None}},
      {ProgressModel::Obe, {None, Itself, None}},
      {ProgressModel::Fair, {Itself, Itself, Itself}},
      {ProgressModel::Hsa, {Itself, None, None}},
      {ProgressModel::Lobe, {Itself, Itself, None}}
  };
  for (const auto& [model, guarantees] : expected) {
    Device device(
        kernel("k", "atom.add.u32 %r2, [%rd1], 1; atom.add.u32 %r2, [%rd1+4], 1;"),
        {.model = {.progress = model}, .independence = {.sums = false}}
    );
    device.launch("k", shape(3, 1));
    device.step(1);
    std::vector<Stepper::Guarantee> seen;
    for (const Stepper::Move& move : device.moves()) {
      seen.push_back(move.guarantee);
    }
    EXPECT_EQ(seen, guarantees) << static_cast<int>(model);
  }
}

TEST(Stepper, AFaultIsTold) {
  Device device(kernel("k", "st.volatile.u32 [%rd1+100000], 1;"));
  device.launch("k", shape(1, 1));
  EXPECT_FALSE(device.stepper().step(device.moves().at(0)));
  ASSERT_TRUE(device.stepper().failure());
  EXPECT_EQ(device.stepper().failure()->report.fault.kind, isa::FaultKind::OutOfBounds);
}

} // namespace
} // namespace heddle::reduce

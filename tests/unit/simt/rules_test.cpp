// Each rule of spec/simt.md on the smallest program that needs it, and what liveness it costs.
#include "explore.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace heddle::simt {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

Instruction make(Operation operation, int a = 0, int value = 0, std::uint32_t target = 0) {
  Instruction i;
  i.operation = operation;
  i.a = a;
  i.value = value;
  i.target = target;
  return i;
}
Instruction guarded(Instruction i, int by) {
  i.guard = by;
  return i;
}
Instruction table(Operation operation, int a, std::vector<std::uint32_t> targets) {
  Instruction i = make(operation, a);
  i.targets = std::move(targets);
  return i;
}

Program kernel(std::vector<Instruction> body, int cells = 0) {
  Program program;
  program.cells = cells;
  program.functions.push_back({std::move(body), {}, {}, {}});
  program.finish();
  return program;
}

class Recorder final : public Observer {
public:
  void stepped(Rule rule, const Token& token, LaneMask acted, const Warp& after) override {
    rules.push_back(rule);
    text.push_back(
        std::string(id(rule)) + " " + std::to_string(token.mask) + "@" + std::to_string(token.pc)
    );
    deepest = std::max(deepest, after.stack.size());
    last_acted = acted;
  }
  std::vector<Rule> rules;
  std::vector<std::string> text;
  std::size_t deepest = 0;
  LaneMask last_acted = 0;
};

/// Runs to the end, or until the warp waits forever, or for `limit` steps.
Stepped run(LanguageCore& core, Recorder& recorder, int limit = 1000) {
  Choices choices;
  Warp warp = core.start();
  Stepped stepped = Stepped::Moved;
  for (int n = 0; n < limit && stepped == Stepped::Moved; ++n) {
    stepped = step(warp, core, choices, &recorder);
  }
  return stepped;
}

TEST(Rules, UniformBranchLeavesTheStackAlone) { // [SIMT-EXECUTE] [SIMT-BRANCH] [SIMT-EXIT]
  const Program program = kernel(
      {make(Operation::Assign, 0, 1),
       make(Operation::BranchIf, 0, 1, 3),
       make(Operation::Exit),
       make(Operation::Exit)}
  );
  LanguageCore core(program, 2);
  Recorder seen;
  EXPECT_EQ(run(core, seen), Stepped::Ended);
  EXPECT_THAT(seen.text, ElementsAre("SIMT-EXECUTE 3@0", "SIMT-BRANCH 3@1", "SIMT-EXIT 3@3"));
  EXPECT_EQ(seen.deepest, 1U);
}

TEST(Rules, GuardedLanesStayWithTheOthers) { // [SIMT-PREDICATE]
  const Program program =
      kernel({make(Operation::LaneId, 0), guarded(make(Operation::Assign, 1, 7), 0)});
  LanguageCore core(program, 3);
  Recorder seen;
  EXPECT_EQ(run(core, seen), Stepped::Ended);
  EXPECT_EQ(seen.rules[1], Rule::Predicate);
  EXPECT_EQ(core.lanes[0].r[1], 0);
  EXPECT_EQ(core.lanes[2].r[1], 7);
}

TEST(Rules, LanesPartAndMeetAtThePostDominator) { // [SIMT-DIVERGE] [SIMT-ORDER] [SIMT-RECONVERGE]
  // if (lane == 1) r1 = 5; else r1 = 6;  r2 = ballot
  const Program program = kernel(
      {make(Operation::LaneId, 0),
       make(Operation::BranchIf, 0, 1, 4),
       make(Operation::Assign, 1, 6),
       make(Operation::Jump, 0, 0, 5),
       make(Operation::Assign, 1, 5),
       make(Operation::Ballot, 2),
       make(Operation::Exit)}
  );
  LanguageCore core(program, 3);
  Recorder seen;
  EXPECT_EQ(run(core, seen), Stepped::Ended);
  EXPECT_THAT(
      seen.text,
      ElementsAre(
          "SIMT-EXECUTE 7@0",
          "SIMT-DIVERGE 7@1",
          "SIMT-EXECUTE 5@2", // the side of lane 0 first
          "SIMT-BRANCH 5@3",
          "SIMT-RECONVERGE 5@5",
          "SIMT-EXECUTE 2@4",
          "SIMT-RECONVERGE 2@5",
          "SIMT-COLLECTIVE 7@5",
          "SIMT-EXIT 7@6"
      )
  );
  EXPECT_EQ(core.lanes[1].r[2], 0b110) << "a vote of all lanes again"; // [SIMT-COLLECTIVE]
}

Instruction add(int a, int value) {
  Instruction i = make(Operation::Add, a, value);
  i.b = 3; // which is 0
  return i;
}

TEST(Rules, LeavingALoopOneByOneDoesNotGrowTheStack) { // [SIMT-DIVERGE]
  // while (r0 != 0) r0 -= 1;  r2 = ballot
  const Program program = kernel(
      {make(Operation::LaneId, 0),
       make(Operation::BranchIf, 0, 0, 4),
       add(0, -1),
       make(Operation::Jump, 0, 0, 1),
       make(Operation::Ballot, 2),
       make(Operation::Exit)}
  );
  LanguageCore core(program, 32);
  core.lanes[5].r[2] = 1;
  for (LaneState& lane : core.lanes) {
    lane.r[1] = 1;
  }
  Recorder seen;
  EXPECT_EQ(run(core, seen), Stepped::Ended);
  EXPECT_LE(seen.deepest, 3U);
}

TEST(Rules, CallsAreTokensOfTheirOwn) { // [SIMT-CALL] [SIMT-RETURN]
  // Lane 1 returns early; the caller goes on with both.
  Program program;
  program.functions.push_back(
      {{make(Operation::LaneId, 0), make(Operation::Call, 0, 0, 1), make(Operation::Ballot, 2)},
       {},
       {},
       {}}
  );
  program.functions.push_back(
      {{make(Operation::BranchIf, 0, 1, 3),
        make(Operation::Assign, 1, 9),
        make(Operation::Ballot, 3),
        make(Operation::Return)},
       {},
       {},
       {}}
  );
  program.ends = analysis::Ends::Leave;
  program.finish();
  LanguageCore core(program, 2);
  Recorder seen;
  EXPECT_EQ(run(core, seen), Stepped::Ended);
  EXPECT_THAT(seen.rules, testing::Contains(Rule::Call));
  EXPECT_EQ(std::ranges::count(seen.rules, Rule::Return), 2) << "one side after the other";
  EXPECT_EQ(core.lanes[0].r[1], 9);
  EXPECT_EQ(core.lanes[1].r[1], 0);
}

TEST(Rules, RecursionToADifferentDepthInEachLane) { // [SIMT-CALL] [SIMT-RETURN]
  Program program;
  program.functions.push_back(
      {{make(Operation::LaneId, 0), make(Operation::Call, 0, 0, 1)}, {}, {}, {}}
  );
  program.functions.push_back(
      {{add(1, 1),
        make(Operation::BranchIf, 0, 0, 4),
        add(0, -1),
        make(Operation::Call, 0, 0, 1),
        make(Operation::Return)},
       {},
       {},
       {}}
  );
  program.finish();
  LanguageCore core(program, 8);
  Recorder seen;
  EXPECT_EQ(run(core, seen), Stepped::Ended);
  for (int lane = 0; lane < 8; ++lane) {
    EXPECT_EQ(core.lanes[static_cast<std::size_t>(lane)].r[1], lane + 1);
  }
}

TEST(Rules, AnIndirectCallEntersOneFunctionAfterTheOther) { // [SIMT-CALL-DIVERGE]
  Program program;
  program.functions.push_back(
      {{make(Operation::LaneId, 0),
        table(Operation::CallTable, 0, {1, 2, 1, 2}),
        make(Operation::Ballot, 2)},
       {},
       {},
       {}}
  );
  program.functions.push_back({{make(Operation::Assign, 1, 10)}, {}, {}, {}});
  program.functions.push_back({{make(Operation::Assign, 1, 20)}, {}, {}, {}});
  program.finish();
  LanguageCore core(program, 4);
  Recorder seen;
  EXPECT_EQ(run(core, seen), Stepped::Ended);
  EXPECT_EQ(seen.rules[1], Rule::CallDiverge);
  EXPECT_EQ(core.lanes[2].r[1], 10);
  EXPECT_EQ(core.lanes[3].r[1], 20);
  EXPECT_EQ(core.lanes[3].r[2], 0b1110) << "all meet behind the call";
}

TEST(Rules, NobodyWaitsForLanesThatHaveEnded) { // [SIMT-EXIT]
  const Program program = kernel(
      {make(Operation::LaneId, 0),
       make(Operation::BranchIf, 0, 1, 3),
       make(Operation::Jump, 0, 0, 4),
       make(Operation::Exit),
       make(Operation::Barrier),
       make(Operation::Ballot, 2)}
  );
  LanguageCore core(program, 3);
  Recorder seen;
  EXPECT_EQ(run(core, seen), Stepped::Ended);
  EXPECT_EQ(core.lanes[2].r[2], 0b100);
}

TEST(Rules, ABarrierInOneSideWaitsForEver) { // [SIMT-ARRIVE]
  // Independent threads meet at the two barriers; a lockstep warp cannot.
  const Program program = kernel(
      {make(Operation::LaneId, 0),
       make(Operation::BranchIf, 0, 1, 4),
       make(Operation::Barrier),
       make(Operation::Jump, 0, 0, 5),
       make(Operation::Barrier),
       make(Operation::Mix, 1)}
  );
  LanguageCore core(program, 2);
  Recorder seen;
  EXPECT_EQ(run(core, seen), Stepped::Waits);
  EXPECT_EQ(seen.rules.back(), Rule::Arrive);

  LanguageCore alone(program, 2);
  for (int n = 0; n < 100; ++n) {
    alone.step_alone(n % 2);
  }
  EXPECT_EQ(alone.live(), 0U);
}

/// Holds lanes back at the barrier as another warp of the block would.
class HeldCore final : public Core {
public:
  explicit HeldCore(LanguageCore& core) : core_(core) {}
  bool held = false;
  bool ends_early(Activation a, Pc branch, Pc pc) override {
    return core_.ends_early(a, branch, pc);
  }
  Kind kind(Activation a, Pc pc) override { return core_.kind(a, pc); }
  Pc next(Activation a, Pc pc) override { return core_.next(a, pc); }
  Pc reconvergence(Activation a, Pc pc) override { return core_.reconvergence(a, pc); }
  LaneMask call_together(Activation activation, Pc pc, LaneMask lanes) override {
    return core_.call_together(activation, pc, lanes);
  }
  bool execute(Activation a, Pc pc, LaneMask lanes, Executed& result) override {
    held = held || core_.kind(a, pc) == Kind::Barrier;
    return core_.execute(a, pc, lanes, result);
  }
  LaneMask waiting() const override { return held ? core_.live() : 0; }
  LaneMask stand_at(LaneMask lanes, Activation a, Pc pc) const override {
    return core_.stand_at(lanes, a, pc);
  }
  LaneMask live() const override { return core_.live(); }

private:
  LanguageCore& core_;
};

TEST(Rules, AWarpIsReleasedWhenTheBarrierOpens) { // [SIMT-RELEASE]
  const Program program = kernel({make(Operation::Barrier), make(Operation::Exit)});
  LanguageCore core(program, 4);
  HeldCore held(core);
  Choices choices;
  Recorder seen;
  Warp warp = core.start();
  EXPECT_EQ(step(warp, held, choices, &seen), Stepped::Moved);
  EXPECT_EQ(step(warp, held, choices, &seen), Stepped::Waits);
  EXPECT_EQ(step(warp, held, choices, &seen), Stepped::Waits);
  held.held = false;
  EXPECT_EQ(step(warp, held, choices, &seen), Stepped::Moved);
  EXPECT_EQ(step(warp, held, choices, &seen), Stepped::Moved);
  EXPECT_EQ(step(warp, held, choices, &seen), Stepped::Ended);
  EXPECT_THAT(seen.rules, ElementsAre(Rule::Arrive, Rule::Release, Rule::Exit));
}

std::set<std::vector<int>> outcomes(const Program& program, int lanes, bool stale = false) {
  LanguageCore core(program, lanes);
  core.block.stale_reads = stale;
  std::set<std::vector<int>> result;
  const Explored explored = explore_lockstep(core, [&](const LanguageCore& end) {
    std::vector<int> values = end.block.cell;
    for (const LaneState& lane : end.lanes) {
      values.push_back(lane.r[1]);
    }
    result.insert(values);
  });
  EXPECT_EQ(explored.verdict(), "terminates");
  return result;
}

TEST(Rules, AtomicsAreSerialisedInAnyOrder) { // [SIMT-ATOMIC]
  const Program program =
      kernel({make(Operation::LaneId, 1), add(1, 1), make(Operation::Exchange, 1, 0)}, 1);
  // Cell, lane 0, lane 1: whoever is second finds the other's value.
  EXPECT_THAT(
      outcomes(program, 2),
      UnorderedElementsAre(ElementsAre(2, 0, 1), ElementsAre(1, 2, 0))
  );
}

TEST(Rules, OneOfConflictingWritesRemains) { // [SIMT-WRITE]
  const Program program = kernel({make(Operation::LaneId, 1), make(Operation::Store, 1, 0)}, 1);
  EXPECT_THAT(
      outcomes(program, 3),
      UnorderedElementsAre(
          ElementsAre(0, 0, 1, 2),
          ElementsAre(1, 0, 1, 2),
          ElementsAre(2, 0, 1, 2)
      )
  );
}

/// Reads cell 0 into r1, then somebody else writes it, then reads it again into r1.
int reread(bool stale, bool strong, bool fence) {
  std::vector<Instruction> body{make(Operation::Load, 1, 0)};
  if (fence) {
    body.push_back(make(Operation::Fence));
  }
  body.push_back(make(strong ? Operation::LoadStrong : Operation::Load, 1, 0));
  const Program program = kernel(body, 1);
  LanguageCore core(program, 2);
  core.block.stale_reads = stale;
  Choices choices;
  Warp warp = core.start();
  EXPECT_EQ(step(warp, core, choices), Stepped::Moved);
  core.block.cell[0] = 42; // another block
  while (step(warp, core, choices) == Stepped::Moved) {
  }
  return core.lanes[0].r[1];
}

TEST(Rules, ReadsMayBeStaleUntilAFence) { // [SIMT-READ] [SIMT-FENCE]
  EXPECT_EQ(reread(/*stale=*/true, /*strong=*/false, /*fence=*/false), 0);
  EXPECT_EQ(reread(true, false, /*fence=*/true), 42);
  EXPECT_EQ(reread(true, /*strong=*/true, false), 42);
  EXPECT_EQ(reread(/*stale=*/false, false, false), 42);
}

// --- Liveness

TEST(Liveness, ASpinLockWithinAWarpHangs) { // [SIMT-LIVENESS]
  // while (exchange(lock, 1) != 0) ;  store(lock, 0)
  const Program program = kernel(
      {make(Operation::Assign, 1, 1),
       make(Operation::Exchange, 1, 0),
       make(Operation::BranchIf, 1, 1, 0),
       make(Operation::Assign, 1, 0),
       make(Operation::Store, 1, 0)},
      1
  );
  EXPECT_EQ(explore_lockstep(LanguageCore(program, 2)).verdict(), "hangs") << "in every order";
  EXPECT_EQ(explore_lockstep(LanguageCore(program, 1)).verdict(), "terminates");
  LanguageCore alone(program, 2);
  for (int n = 0; n < 100; ++n) {
    alone.step_alone(n % 2);
  }
  EXPECT_EQ(alone.live(), 0U) << "independent threads that take turns end";
}

TEST(Liveness, ALockThatIsReleasedInsideTheLoopDoesNot) { // the well-known way out
  // for (done = 0; !done;) if (exchange(lock, 1) == 0) { store(lock, 0); done = 1; }
  const Program program = kernel(
      {make(Operation::Assign, 1, 1),
       make(Operation::Exchange, 1, 0),
       make(Operation::BranchIf, 1, 1, 6),
       make(Operation::Assign, 1, 0),
       make(Operation::Store, 1, 0),
       make(Operation::Assign, 2, 1),
       make(Operation::BranchIf, 2, 0, 0),
       make(Operation::Exit)},
      1
  );
  EXPECT_EQ(explore_lockstep(LanguageCore(program, 2)).verdict(), "terminates");
}

Program flag(bool waiting_side_jumps) {
  // lane 0 waits for the flag, lane 1 sets it; which of them is the taken side of the branch is the
  // compiler's layout.
  if (waiting_side_jumps) {
    return kernel(
        {make(Operation::LaneId, 0),
         make(Operation::BranchIf, 0, 0, 5),
         make(Operation::Assign, 1, 1),
         make(Operation::Store, 1, 0),
         make(Operation::Jump, 0, 0, 7),
         make(Operation::LoadStrong, 1, 0),
         make(Operation::BranchIf, 1, 0, 5),
         make(Operation::Exit)},
        1
    );
  }
  return kernel(
      {make(Operation::LaneId, 0),
       make(Operation::BranchIf, 0, 1, 5),
       make(Operation::LoadStrong, 1, 0),
       make(Operation::BranchIf, 1, 0, 2),
       make(Operation::Jump, 0, 0, 7),
       make(Operation::Assign, 1, 1),
       make(Operation::Store, 1, 0),
       make(Operation::Exit)},
      1
  );
}

class SideFirst final : public Choices {
public:
  explicit SideFirst(int which) : which_(which) {}
  int side(int n) override { return std::min(which_, n - 1); }

private:
  int which_;
};

TEST(Liveness, AFlagBetweenTwoLanesDependsOnWhichSideGoesFirst) { // [SIMT-ORDER] [SIMT-LIVENESS]
  for (const bool jumps : {false, true}) {
    const Program program = flag(jumps);
    EXPECT_EQ(explore_lockstep(LanguageCore(program, 2)).verdict(), "may-hang");
    for (const int first : {0, 1}) {
      LanguageCore core(program, 2);
      SideFirst choices(first);
      Warp warp = core.start();
      Stepped stepped = Stepped::Moved;
      for (int n = 0; n < 200 && stepped == Stepped::Moved; ++n) {
        stepped = step(warp, core, choices);
      }
      // Side 0 is the one that ends by a jump to the last exit: that of the waiting lane 0 in one
      // layout, that of lane 1 in the other.
      const bool waits_first = (first == 0) != jumps;
      EXPECT_EQ(stepped, waits_first ? Stepped::Moved : Stepped::Ended);
      if (waits_first) {
        EXPECT_EQ(next_to_execute(warp).mask, 1U);
      }
    }
  }
}

TEST(Liveness, AFlagWithTheSetterBehindTheJoinHangsInEveryOrder) {
  // if (lane == 0) while (!flag) ;   if (lane == 1) flag = 1;
  const Program program = kernel(
      {make(Operation::LaneId, 0),
       make(Operation::BranchIf, 0, 1, 4),
       make(Operation::LoadStrong, 1, 0),
       make(Operation::BranchIf, 1, 0, 2),
       make(Operation::BranchIf, 0, 0, 7),
       make(Operation::Assign, 1, 1),
       make(Operation::Store, 1, 0),
       make(Operation::Exit)},
      1
  );
  EXPECT_EQ(explore_lockstep(LanguageCore(program, 2)).verdict(), "hangs");
}

} // namespace
} // namespace heddle::simt

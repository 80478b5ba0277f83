// From a table of states to the report: which hang it is, who is named, what a clean verdict says.
#include "explore/verdict/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::explore {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A program in which the host (actor 0) waits inside cudaDeviceSynchronize for kernels with one
/// thread each (actors 1, 2, …).
struct Program {
  StateTable table = std::move(*StateTable::create({.max_states = 100}));
  std::uint32_t host_site = table.intern(Site{"a.cu", 9, 1, "inside cudaDeviceSynchronize"});

  Program() {
    table.add_actor({ActorKind::Host, "the host thread", "", ""});
    table.add_actor({ActorKind::DeviceThread, "thread a", "a", "kernel 'a'"});
    table.add_actor({ActorKind::DeviceThread, "thread b", "b", "kernel 'b'"});
  }
  StateId state(const std::vector<Demand>& demands, std::uint32_t moves, const char* waits = "") {
    const StateId id = table.visit({table.state_count() + 1ULL, 1}, {})->id;
    table.claim(id, {.device = true});
    table.describe(
        id,
        {.demands = demands,
         .host_site = host_site,
         .waits = table.intern(std::string_view(waits))},
        moves
    );
    return id;
  }
  void move(StateId from, StateId to, ActorId actor, Step step, std::uint32_t line) {
    table.add_edge(
        {.from = from,
         .to = to,
         .actor = actor,
         .who = actor,
         .step = step,
         .site = table.intern(Site{"a.cu", line, 3, "an atomic read"})}
    );
  }
  report::Report judge(bool finished = true) {
    return explore::judge(
               table,
               [](const Site& site) { return site; },
               {.finished = finished, .seconds = 0}
    )
        .report;
  }
};

TEST(Verdict, StarvationNamesWhoSpinsAndWhoNeedNotStart) { // [HANG-STARVATION]
  Program p;
  const StateId s = p.state({{Rule::Device, 1}, {Rule::Api, 0}}, 2);
  p.move(s, s, 1, Step::Sync, 3);
  p.move(s, *p.table.end_state(), 2, Step::Sync, 5);
  const report::Report report = p.judge();
  EXPECT_EQ(report.verdict(), report::Verdict::MayHang);
  ASSERT_THAT(report.findings, SizeIs(1));
  const report::Diagnostic& d = report.findings[0];
  EXPECT_EQ(d.finding, report::Finding::Starvation);
  EXPECT_EQ(d.rule_id(), "API");
  EXPECT_EQ(d.place.line, 3U);
  ASSERT_THAT(d.labels, SizeIs(3));
  EXPECT_THAT(d.labels[2].text, HasSubstr("thread b has not started and need not"));
  EXPECT_THAT(d.threads, ElementsAre("thread a", "host thread", "thread b"));
}

TEST(Verdict, ALoopWithoutStepsIsNamedFirst) { // [HANG-LOOP]
  Program p;
  const StateId s = p.state({{Rule::Api, 0}}, 1);
  p.move(s, s, 1, Step::None, 3);
  const report::Report report = p.judge();
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].finding, report::Finding::NoProgressLoop);
}

TEST(Verdict, EverybodyMovesForEverIsALivelock) { // [HANG-LIVELOCK]
  Program p;
  const StateId s = p.state({{Rule::Device, 1}, {Rule::Device, 2}, {Rule::Api, 0}}, 2);
  p.move(s, s, 1, Step::Sync, 3);
  p.move(s, s, 2, Step::Sync, 4);
  const report::Report report = p.judge();
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].finding, report::Finding::Livelock);
}

TEST(Verdict, NobodyCanMoveIsADeadlock) { // [HANG-DEADLOCK]
  Program p;
  const std::string site =
      std::to_string(p.table.intern(Site{"a.cu", 4, 5, "thread a waits at a barrier"})) + " ";
  p.state({}, 0, site.c_str());
  const report::Report report = p.judge();
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].finding, report::Finding::Deadlock);
  EXPECT_EQ(report.findings[0].place.line, 4U) << "the barrier, not the host";
}

TEST(Verdict, LikeThreadsAreOneFinding) {
  Program p;
  const StateId s = p.state({{Rule::Api, 0}, {Rule::Device, 1}}, 2);
  const StateId t = p.state({{Rule::Api, 0}, {Rule::Device, 1}}, 1);
  p.move(s, s, 1, Step::Sync, 3);
  p.move(s, t, 2, Step::End, 5);
  p.move(t, t, 1, Step::Sync, 3);
  const report::Report report = p.judge();
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].finding, report::Finding::Livelock) << "fewest others can move";
}

TEST(Verdict, ACleanVerdictSaysOnWhatItRests) { // [BOUND]
  Program p;
  const StateId s = p.state({{Rule::Cluster, 2}, {Rule::Device, 1}}, 2);
  p.move(s, s, 1, Step::Sync, 3);
  p.move(s, *p.table.end_state(), 2, Step::Sync, 5);
  const report::Report report = p.judge();
  EXPECT_EQ(report.verdict(), report::Verdict::Terminates);
  EXPECT_THAT(report.rests_on, ElementsAre("CLUSTER", "STEP.4"));
  EXPECT_THAT(report.bounds, HasSubstr("kernel 'a', kernel 'b'"));
}

TEST(Verdict, AnExitStatusThatIsNotExpectedIsADefect) { // [EXIT]
  Program p;
  const StateId s = p.state({{Rule::Device, 1}}, 3);
  p.move(s, *p.table.end_state(), 1, Step::End, 3);
  p.move(s, *p.table.end_state(7), 1, Step::End, 4);
  p.move(s, *p.table.end_state(0), 1, Step::End, 5);
  p.table.note(Fact::EndsAsExpected);
  const report::Report report = p.judge();
  EXPECT_EQ(report.verdict(), report::Verdict::Defect);
  ASSERT_THAT(report.findings, SizeIs(2)) << "one for each status";
  EXPECT_THAT(report.findings[0].message, HasSubstr("exit status 0 under some schedule"));
  EXPECT_EQ(report.findings[0].place.line, 5U);
  EXPECT_THAT(report.findings[1].message, HasSubstr("exit status 7 under some schedule"));
  EXPECT_EQ(report.findings[1].place.line, 4U);
}

TEST(Verdict, TheSameExitStatusInEveryExecutionIsCalledThat) { // [EXIT], [BOUND]
  for (const bool finished : {true, false}) {
    Program p;
    const StateId s = p.state({{Rule::Device, 1}}, 1);
    p.move(s, *p.table.end_state(7), 1, Step::End, 3);
    const report::Report report = p.judge(finished);
    ASSERT_THAT(report.findings, SizeIs(1));
    EXPECT_THAT(
        report.findings[0].message,
        HasSubstr(finished ? "under every schedule" : "under some schedule")
    );
  }
}

TEST(Verdict, AProgramWithoutKernelsIsNotCalledCleanInSilence) { // [BOUND]
  auto table = std::move(*StateTable::create({.max_states = 10}));
  const auto site = table.intern(Site{"a.cu", 9, 1, "inside cudaMalloc"});
  table.add_actor({ActorKind::Host, "the host thread", "", ""});
  const StateId s = table.visit({1, 1}, {})->id;
  table.claim(s, {.device = true});
  const std::vector<Demand> demands{{Rule::Host, 0}};
  table.describe(s, {.demands = demands, .host_site = site}, 1);
  table.add_edge({.from = s, .to = *table.end_state(), .step = Step::Host, .site = site});
  const report::Report report =
      judge(table, [](const Site& place) { return place; }, {.finished = true, .seconds = 0})
          .report;
  EXPECT_EQ(report.verdict(), report::Verdict::Terminates);
  EXPECT_THAT(report.bounds, HasSubstr("no kernel ran"));
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("no kernel ran")));
  // One that was cut short has seen no kernel yet.
  const report::Report cut =
      judge(table, [](const Site& place) { return place; }, {.finished = false, .seconds = 0})
          .report;
  EXPECT_THAT(cut.warnings, ElementsAre(HasSubstr("no kernel had run when the search ended")));
}

TEST(Verdict, ASearchThatWasCutShortProvesNothing) { // [BOUND]
  for (const bool finished : {true, false}) {
    Program p;
    const StateId s = p.state({{Rule::Device, 1}}, finished ? 2 : 1); // one move is not explored
    p.move(s, *p.table.end_state(), 1, Step::End, 3);
    const report::Report report = p.judge(finished);
    EXPECT_THAT(report.findings, IsEmpty());
    EXPECT_EQ(report.verdict(), report::Verdict::Unknown);
    EXPECT_EQ(report.exit_code(), report::exit_code::budget);
  }
}

TEST(Verdict, WhatIsNotImplementedIsNoResult) { // [SCOPE]
  Program p;
  p.table.add_event(EventKind::Unsupported, 0, p.host_site, "a second host thread");
  const report::Report report = p.judge();
  EXPECT_EQ(report.exit_code(), report::exit_code::unsupported);
}

} // namespace
} // namespace heddle::explore

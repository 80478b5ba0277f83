// Lockstep warps through the stepper's moves: what is left open is a move each, a state can be come
// back to, and lanes that are alike are one.
#include "simt/lockstep.h"

#include "search.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace heddle::simt {
namespace {

using reduce::Stepper;
using test::Device;
using test::kernel;
using test::shape;
using testing::ElementsAre;

Stepper::Options in_lockstep() {
  return {.model = {.warp_rules = lockstep({})}, .renaming = {.symmetry = true}};
}

struct Found {
  Explored explored;
  std::set<std::vector<std::uint32_t>> results; // the buffer's first words at the ends
};

Found explore(const std::string& text, unsigned blocks, unsigned threads, int words) {
  Device device(text, in_lockstep());
  const auto command = device.launch("k", shape(blocks, threads));
  Found found;
  found.explored = search(device, command, [&] {
    std::vector<std::uint32_t> result;
    for (int n = 0; n < words; ++n) {
      result.push_back(device.word(n));
    }
    found.results.insert(result);
  });
  return found;
}

// out[1 + tid] = %r2
constexpr const char* give = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1;\n"
                             "st.global.u32 [%rd2+4], %r2;\n";

TEST(Search, EitherSideOfABranchMayGoFirst) { // [SIMT-ORDER]
  // Each side appends its digit to word 0.
  const Found found = explore(
      kernel(
          "k",
          "setp.eq.u32 %p1, %r1, 0; @%p1 bra One;\n"
          "ld.volatile.u32 %r2, [%rd1]; mad.lo.u32 %r2, %r2, 10, 2; st.volatile.u32 [%rd1], %r2;\n"
          "bra.uni Join;\n"
          "One: ld.volatile.u32 %r2, [%rd1]; mad.lo.u32 %r2, %r2, 10, 1;\n"
          "st.volatile.u32 [%rd1], %r2;\n"
          "Join: mov.u32 %r3, 1; mov.u32 %r3, 2;"
      ),
      1,
      3,
      1
  );
  EXPECT_THAT(found.results, ElementsAre(ElementsAre(12), ElementsAre(21)));
  EXPECT_FALSE(found.explored.may_hang);
  EXPECT_EQ(found.explored.states, 11U) << "two, then four accesses in two orders, and the end";
}

TEST(Search, ThreeWaysHaveSixOrders) { // [SIMT-ORDER]
  std::string sides;
  for (int n = 1; n <= 3; ++n) {
    sides += fmt::format(
        "S{0}: ld.volatile.u32 %r2, [%rd1]; mad.lo.u32 %r2, %r2, 10, {0};\n"
        "st.volatile.u32 [%rd1], %r2; bra.uni Join;\n",
        n
    );
  }
  const Found found = explore(
      kernel(
          "k",
          ("T: .branchtargets S1, S2, S3;\nbrx.idx %r1, T;\n" + sides +
           "Join: mov.u32 %r3, 1; mov.u32 %r3, 2;")
              .c_str()
      ),
      1,
      3,
      1
  );
  EXPECT_EQ(found.results.size(), 6U) << testing::PrintToString(found.results);
}

TEST(Search, LanesThatUpdateOnePlace) { // [SIMT-ATOMIC]
  // Tickets: every order.
  const std::string tickets = "atom.add.u32 %r2, [%rd1], 1;\n";
  EXPECT_EQ(explore(kernel("k", (tickets + give).c_str()), 1, 4, 5).results.size(), 24U);
  // Of lanes that are alike, one order: nobody can tell them apart any more.
  const Found alike =
      explore(kernel("k", "atom.add.u32 %r2, [%rd1], 1; st.volatile.u32 [%rd1+4], %r2;"), 1, 8, 1);
  EXPECT_EQ(alike.results.size(), 1U);
  EXPECT_LE(alike.explored.states, 12U) << "eight values to write last";
  // A lock: who is first.
  const std::string lock = "atom.cas.b32 %r2, [%rd1], 0, 1;\n";
  EXPECT_EQ(explore(kernel("k", (lock + give).c_str()), 1, 32, 33).results.size(), 32U);
  // A sum: nothing.
  const Found sum = explore(kernel("k", "red.add.u32 [%rd1], %r1;"), 1, 32, 1);
  EXPECT_LE(sum.explored.states, 3U);
  // An exchange whose result nobody reads: whose value is last.
  EXPECT_EQ(explore(kernel("k", "atom.exch.b32 %r2, [%rd1], %r1;"), 1, 5, 1).results.size(), 5U);
  // Two places.
  const std::string two = "and.b32 %r3, %r1, 1; mul.wide.u32 %rd3, %r3, 4;\n"
                          "add.u64 %rd3, %rd3, %rd1; atom.cas.b32 %r2, [%rd3], 0, 1;\n"
                          "add.u64 %rd1, %rd1, 4;\n";
  EXPECT_EQ(explore(kernel("k", (two + give).c_str()), 1, 4, 6).results.size(), 4U);
}

TEST(Search, MoreOrdersThanAreTriedAreTold) {
  Device device(
      kernel("k", (std::string("atom.add.u32 %r2, [%rd1], 1;\n") + give).c_str()),
      in_lockstep()
  );
  device.launch("k", shape(1, 32));
  EXPECT_TRUE(device.stepper().facts().more_orders);
  EXPECT_EQ(device.moves().size(), 32U) << "each of them first";
}

TEST(Search, AnyOfTheValuesIsThereAfterAWrite) { // [SIMT-WRITE]
  const Found found = explore(kernel("k", "st.global.u32 [%rd1], %r1;"), 1, 6, 1);
  EXPECT_EQ(found.results.size(), 6U);
  const Found same = explore(kernel("k", "st.global.u32 [%rd1], 7;"), 1, 6, 1);
  EXPECT_THAT(same.results, ElementsAre(ElementsAre(7)));
  EXPECT_LE(same.explored.states, 3U);
}

constexpr const char* spin_lock = "Try: atom.cas.b32 %r2, [%rd1], 0, 1;\n"
                                  "setp.ne.u32 %p1, %r2, 0; @%p1 bra Try;\n"
                                  "ld.volatile.u32 %r3, [%rd1+4]; add.u32 %r3, %r3, 1;\n"
                                  "st.volatile.u32 [%rd1+4], %r3; atom.exch.b32 %r2, [%rd1], 0;";

TEST(Search, ASpinLockHangsInEveryOrder) { // [SIMT-LIVENESS]
  for (const unsigned lanes : {2U, 32U}) {
    const Found found = explore(kernel("k", spin_lock), 1, lanes, 1);
    EXPECT_EQ(found.explored.verdict(), "hangs") << lanes;
    EXPECT_LE(found.explored.states, 4U) << "lanes are alike";
  }
  EXPECT_EQ(explore(kernel("k", spin_lock), 1, 1, 1).explored.verdict(), "terminates");
}

TEST(Search, ALockBetweenWarpsIsAsEver) {
  // One lane of each warp takes it.
  const std::string one = std::string(
                              "and.b32 %r4, %r1, 31; setp.ne.u32 %p2, %r4, 0;\n"
                              "@%p2 bra Out;\n"
                          ) +
                          spin_lock + "\nOut: mov.u32 %r5, 1; mov.u32 %r5, 2;";
  Device device(kernel("k", one.c_str()), in_lockstep());
  const auto command = device.launch("k", shape(1, 96));
  const Explored found = search(device, command);
  EXPECT_TRUE(found.may_end);
  EXPECT_TRUE(found.may_hang) << "a circle: who spins need not let others go; fairness forbids it";
  EXPECT_LE(found.states, 40U) << "warps that are alike are one";
}

TEST(Search, WhoIsLeftBehindIsTold) { // [SIMT-LIVENESS]
  Device device(kernel("k", spin_lock), in_lockstep());
  device.launch("k", shape(1, 4));
  EXPECT_TRUE(device.stepper().report().left_behind().empty());
  device.step();
  const auto left = device.stepper().report().left_behind();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].behind.lanes, 1U);
  EXPECT_EQ(left[0].behind.others, 14U);
  EXPECT_TRUE(left[0].behind.meets);
  EXPECT_EQ(device.stepper().names().actor(device.moves().at(0)), "warp 0 of block (0,0,0)");
}

TEST(Search, CallsAndBarriersComeBack) {
  // Lanes part, call a function from two places, meet again at a barrier, in two warps: search()
  // checks that every state is come back to.
  const std::string function =
      ".func (.param .b32 out) twice(.param .b32 in) {\n.reg .pred %p<2>; .reg .b32 %r<4>;\n"
      "ld.param.u32 %r2, [in]; and.b32 %r1, %r2, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra Even;\n"
      "add.u32 %r2, %r2, 100; bra.uni Out;\nEven: add.u32 %r2, %r2, 200;\n"
      "Out: st.param.b32 [out], %r2; ret;\n}\n";
  const std::string body =
      "setp.lt.u32 %p1, %r1, 2; @%p1 bra Low;\n"
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), twice, (a);\n"
      "ld.param.b32 %r2, [b]; }\n"
      "red.add.u32 [%rd1], %r2; bra.uni Join;\n"
      "Low: add.u32 %r3, %r1, 1000;\n"
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call.uni (b), twice, (a);\n"
      "ld.param.b32 %r2, [b]; }\n"
      "red.add.u32 [%rd1], %r2;\n"
      "Join: bar.sync 0; ld.volatile.u32 %r4, [%rd1]; st.volatile.u32 [%rd1+4], %r4;";
  const Found found = explore(function + kernel("k", body.c_str()), 1, 34, 2);
  std::uint32_t sum = 0;
  for (std::uint32_t t = 0; t < 34; ++t) {
    const std::uint32_t in = t < 2 ? t + 1000 : t;
    sum += in + (in % 2 == 0 ? 200 : 100);
  }
  EXPECT_THAT(found.results, ElementsAre(ElementsAre(sum, sum)));
  EXPECT_FALSE(found.explored.may_hang);
}

} // namespace
} // namespace heddle::simt

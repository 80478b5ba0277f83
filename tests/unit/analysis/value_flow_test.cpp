#include "analysis/value_flow.h"

#include "support/ptx_text.h"
#include <gmock/gmock.h>

namespace heddle::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Where the result of the first instruction goes to.
class Followed {
public:
  explicit Followed(const std::string& body)
      : module_(
            ptx::must_parse(
                ptx::kernel(
                    ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .shared .b32 s[4];\n"
                    "atom.global.add.u32 %r0, [%rd0], 1;\n" +
                    body + " ret;"
                )
            )
        ),
        flow_(*module_->functions[0]) {}

  bool decides(std::uint32_t instruction = 0) { return flow_.from(instruction).decides; }
  std::vector<std::size_t> stored() { return members(flow_.from(0).stored); }
  std::vector<std::size_t> placed() { return members(flow_.from(0).placed); }
  std::vector<std::size_t> maybe() { return members(flow_.from(0).maybe); }

private:
  static std::vector<std::size_t> members(const BitVector& set) {
    std::vector<std::size_t> result;
    set.each([&](std::size_t i) { result.push_back(i); });
    return result;
  }
  std::unique_ptr<ptx::Module> module_;
  ValueFlow flow_;
};

TEST(ValueFlow, WhatIsReadHasAPlaceToo) {
  Followed f(
      "mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd3, %rd1; ld.global.u32 %r1, [%rd2];\n"
      "st.global.u32 [%rd3], %r1;"
  );
  EXPECT_FALSE(f.decides());
  EXPECT_THAT(f.placed(), ElementsAre(3U));
  EXPECT_THAT(f.stored(), ElementsAre(4U));
}

TEST(ValueFlow, DataAndPlacesAreToldApart) {
  Followed f(
      "mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd3, %rd1; st.global.u32 [%rd2], %r1;\n"
      "add.u32 %r2, %r0, 1; st.shared.u32 [s], %r2; st.global.u32 [%rd3], %r1;"
  );
  EXPECT_FALSE(f.decides());
  EXPECT_THAT(f.placed(), ElementsAre(3U));
  EXPECT_THAT(f.stored(), ElementsAre(5U));
}

TEST(ValueFlow, NothingIsMadeOfIt) {
  Followed f(
      "st.global.u32 [%rd3], %r1; setp.eq.u32 %p0, %r1, 0; @%p0 bra End; End: nanosleep.u32 %r0;"
  );
  EXPECT_FALSE(f.decides());
  EXPECT_THAT(f.stored(), IsEmpty());
}

TEST(ValueFlow, BranchesAreDecidedBy) {
  const auto between = [](const std::string& text) {
    return "setp.eq.u32 %p0, %r0, 7; @%p0 bra Meet; " + text + " Meet: mov.u32 %r8, 0;";
  };
  EXPECT_TRUE(Followed("setp.eq.u32 %p0, %r0, 7; @%p0 ret;").decides());
  EXPECT_TRUE(Followed(between("bar.sync 0;")).decides());
  EXPECT_TRUE(Followed(between("bar.red.popc.u32 %r2, 0, %p1;")).decides());
  EXPECT_TRUE(Followed(between("barrier.red.or.pred %p2, 0, %p1;")).decides());
  EXPECT_TRUE(Followed(between("red.global.add.u32 [%rd3], 1;")).decides());
  EXPECT_TRUE(Followed(between("st.volatile.global.u32 [%rd3], 1;")).decides());
  EXPECT_TRUE(Followed(between("ret;")).decides());
  EXPECT_TRUE(Followed(between("Loop: setp.eq.u32 %p1, %r1, 0; @%p1 bra Loop;")).decides());
  EXPECT_TRUE(Followed("Loop: setp.eq.u32 %p0, %r0, 7; @%p0 bra Loop;").decides());
  EXPECT_TRUE(
      Followed("setp.eq.u32 %p0, %r0, 7; @%p0 st.volatile.global.u32 [%rd3], %r1;").decides()
  );
}

// Which barrier it is, how many come to it and whether this thread does says who waits for whom;
// what it gives to the barrier goes to the other threads of the block.
TEST(ValueFlow, ReducingBarriersAreDecidedBy) {
  EXPECT_TRUE(Followed("bar.red.popc.u32 %r2, %r0, %p1;").decides());
  EXPECT_TRUE(Followed("bar.red.popc.u32 %r2, 0, %r0, %p1;").decides());
  EXPECT_TRUE(Followed("setp.eq.u32 %p0, %r0, 7; @%p0 bar.red.popc.u32 %r2, 0, %p1;").decides());
  EXPECT_TRUE(Followed("setp.eq.u32 %p0, %r0, 7; bar.red.popc.u32 %r2, 0, %p0;").decides());
  EXPECT_FALSE(Followed("bar.red.popc.u32 %r2, 0, %p1; st.global.u32 [%rd3], %r0;").decides());
}

TEST(ValueFlow, SelectionsAreData) {
  Followed f(
      "setp.eq.u32 %p0, %r0, 7; selp.u32 %r1, 1, 0, %p0; @%p0 mov.u32 %r1, 2;\n"
      "st.shared.u32 [s], %r1;"
  );
  EXPECT_FALSE(f.decides());
  EXPECT_THAT(f.stored(), ElementsAre(4U));
}

TEST(ValueFlow, BranchesAroundComputationsAreSelections) {
  Followed f(
      "setp.lt.s32 %p0, %r0, 0; @%p0 bra Meet; ld.global.u32 %r1, [%rd3];\n"
      "setp.eq.u32 %p1, %r1, 0; @%p1 bra Meet; mov.u32 %r2, 5; st.global.u32 [%rd2], %r3;\n"
      "Meet: st.shared.u32 [s], %r2; st.shared.u32 [s+4], %r3; bar.sync 0;"
  );
  EXPECT_FALSE(f.decides());
  EXPECT_THAT(f.maybe(), ElementsAre(7U));
  EXPECT_THAT(f.stored(), ElementsAre(8U)); // %r3 is the same on both ways
  Followed guarded("setp.eq.u32 %p0, %r0, 7; @%p0 st.global.u32 [%rd3], %r1;");
  EXPECT_FALSE(guarded.decides());
  EXPECT_THAT(guarded.maybe(), ElementsAre(2U));
}

// %r1 is the guess of an update by compare-and-swap of what lies at %rd0.
std::string retry(
    const std::string& before,
    const std::string& round,
    const std::string& behind = "mov.u32 %r1, %r3;"
) {
  return "mov.u32 %r1, %r0;" + before + " Round: " + round +
         " atom.global.cas.b32 %r3, [%rd0], %r1, %r2; setp.ne.s32 %p0, %r3, %r1;" + behind +
         " @%p0 bra Round; Left: st.global.u32 [%rd3], %r3;";
}

TEST(ValueFlow, HowOftenAnUpdateIsTriedIsNotDecided) {
  EXPECT_FALSE(Followed(retry("", "add.u32 %r2, %r1, 7;")).decides());
  EXPECT_FALSE(Followed(retry("", "fence.sc.gpu; mul.lo.u32 %r2, %r1, %r4;")).decides());
  EXPECT_FALSE(
      Followed(retry("", "setp.ge.u32 %p1, %r1, %r4; @%p1 bra Left; mov.u32 %r2, %r4;")).decides()
  );
  EXPECT_FALSE(
      Followed(retry("", "ld.volatile.global.u32 %r1, [%rd0]; add.u32 %r2, %r1, 7;", "")).decides()
  );
}

TEST(ValueFlow, WhereAnUpdateIsMayBeComputedAgain) {
  const auto update = [](const std::string& round) {
    return Followed(
        "mov.u32 %r1, %r0; Round: " + round +
        " atom.shared.cas.b32 %r3, [%r6], %r1, %r2; setp.ne.s32 %p0, %r3, %r1;"
        "mov.u32 %r1, %r3; @%p0 bra Round;"
    );
  };
  EXPECT_FALSE(update("mov.u32 %r7, s; add.u32 %r6, %r7, %r8;").decides());
  EXPECT_FALSE(update("mov.u32 %r7, s; mapa.shared::cluster.u32 %r6, %r7, %r8;").decides());
  EXPECT_TRUE(update("suld.b.1d.b32.clamp %r6, [%rd2, {%r8}];").decides());
  EXPECT_TRUE(update("ldu.global.u32 %r6, [%rd2];").decides());
  EXPECT_TRUE(update("add.u32 %r6, %r6, 4;").decides());
  EXPECT_TRUE(update("add.u32 %r6, %r1, 4;").decides());
  EXPECT_TRUE(update("ld.shared.u32 %r6, [s];").decides());
}

TEST(ValueFlow, WhatALoopWithAnExchangeDoesBesidesIsDecided) {
  const auto decides = [](const std::string& before, const std::string& round, auto... behind) {
    return Followed(retry(before, round, behind...)).decides();
  };
  const std::string next = "mov.u32 %r1, %r3;";
  // It counts its rounds, and goes by the count.
  EXPECT_TRUE(decides("", "add.u32 %r5, %r5, 1; add.u32 %r2, %r1, %r5;"));
  EXPECT_TRUE(decides("", "add.u32 %r2, %r1, 7;", next + "add.u32 %r5, %r5, 1;"));
  // It waits for a lock: expects always the same.
  EXPECT_TRUE(decides("", "mov.u32 %r2, 7;", ""));
  EXPECT_TRUE(decides("", "mov.u32 %r2, 7;", "mov.u32 %r1, 0;"));
  // … or for a bit that somebody else clears: what the exchange finds decides, and not the first
  // guess, which nobody reads.
  Followed bit(retry(
      "",
      "ld.volatile.global.u32 %r1, [%rd0]; setp.gt.u32 %p1, %r1, 7; @%p1 bra Round;"
      "add.u32 %r2, %r1, 7;",
      ""
  ));
  EXPECT_FALSE(bit.decides());
  EXPECT_TRUE(bit.decides(6));
  // It is left when it has failed.
  EXPECT_TRUE(
      decides("", "add.u32 %r2, %r1, 7;", next + "setp.gt.u32 %p1, %r1, 9; @%p1 bra Left;")
  );
  // It leaves something behind in each round, looks at a clock, at another place.
  EXPECT_TRUE(decides("", "add.u32 %r2, %r1, 7; st.global.u32 [%rd1], %r2;"));
  EXPECT_TRUE(decides("", "mov.u32 %r2, %clock;"));
  EXPECT_TRUE(decides("", "ld.volatile.global.u32 %r2, [%rd1];"));
  Followed place(retry("", "ld.volatile.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 7;", ""));
  EXPECT_FALSE(place.decides());
  EXPECT_TRUE(place.decides(4));
  // Whether it is done at all.
  EXPECT_TRUE(decides("setp.gt.u32 %p1, %r0, 9; @%p1 bra Left;", "add.u32 %r2, %r1, 7;"));
  // What is done behind it.
  EXPECT_TRUE(Followed(
                  "mov.u32 %r1, %r0; Round: setp.ge.u32 %p1, %r1, 9; @%p1 bra Left;"
                  "atom.global.cas.b32 %r3, [%rd0], %r1, 9; setp.ne.s32 %p0, %r3, %r1;"
                  "mov.u32 %r1, %r3; @%p0 bra Round; red.global.add.u32 [%rd3], 1; Left:"
  )
                  .decides());
}

// A wait that backs off by what it gets: %r0 says how long to sleep, and whether at all.
TEST(ValueFlow, BackingOffIsNoDecision) {
  const auto wait = [](const std::string& back_off, const std::string& behind = "") {
    return "mov.u32 %r4, 0; Wait: ld.volatile.global.u32 %r1, [%rd3]; setp.ne.u32 %p1, %r1, 0;"
           "@%p1 bra Done;" +
           back_off + "bra Wait; Done: " + behind;
  };
  const std::string long_or_not = "setp.lt.u32 %p0, %r0, 9; @%p0 bra Long; nanosleep.u32 5; bra "
                                  "Wait; Long: nanosleep.u32 %r0;";
  EXPECT_FALSE(Followed(wait("nanosleep.u32 %r0;")).decides());
  EXPECT_FALSE(Followed(wait("shr.u32 %r2, %r0, 2; nanosleep.u32 %r2;")).decides());
  EXPECT_FALSE(Followed(wait(long_or_not)).decides());
  EXPECT_FALSE(
      Followed(wait("setp.lt.u32 %p0, %r0, 9; @%p0 bra Wait; nanosleep.u32 %r0;")).decides()
  );
  // A count of that comes to nothing; told to others, it is data; asked for, it decides.
  const std::string counts = "setp.lt.u32 %p0, %r0, 9; @%p0 bra Wait; add.u32 %r4, %r4, 1;";
  EXPECT_FALSE(Followed(wait(counts)).decides());
  EXPECT_THAT(Followed(wait(counts)).stored(), IsEmpty());
  Followed stores(wait(counts, "st.global.u32 [%rd2], %r4;"));
  EXPECT_FALSE(stores.decides());
  EXPECT_THAT(stores.stored(), ElementsAre(9U));
  EXPECT_TRUE(Followed(wait(counts, "setp.eq.u32 %p2, %r4, 0; @%p2 bar.sync 0;")).decides());
  // One of the ways leaves, meets others, waits for something else, or goes round by itself.
  EXPECT_TRUE(Followed(wait("setp.lt.u32 %p0, %r0, 9; @%p0 bra Wait; ret;")).decides());
  EXPECT_TRUE(Followed(wait("setp.lt.u32 %p0, %r0, 9; @%p0 bra Wait; bar.sync 0;")).decides());
  EXPECT_TRUE(
      Followed(wait("setp.lt.u32 %p0, %r0, 9; @%p0 bra Wait; ld.volatile.global.u32 %r5, [%rd2];"))
          .decides()
  );
  EXPECT_TRUE(
      Followed(wait("Long: setp.lt.u32 %p0, %r0, 9; nanosleep.u32 5; @%p0 bra Long;")).decides()
  );
}

TEST(ValueFlow, AgainstTheOrderOfTheText) {
  Followed f(
      "bra Second; First: st.shared.u32 [s], %r2; ret; Second: mov.u32 %r2, %r0; bra First;"
  );
  EXPECT_FALSE(f.decides());
  EXPECT_THAT(f.stored(), ElementsAre(2U));
}

TEST(ValueFlow, WhereAtomicsAndStrongAccessesAreIsDecided) {
  EXPECT_TRUE(Followed("cvt.u64.u32 %rd1, %r0; red.global.add.u32 [%rd1], 1;").decides());
  EXPECT_TRUE(Followed("cvt.u64.u32 %rd1, %r0; st.volatile.global.u32 [%rd1], 1;").decides());
  EXPECT_TRUE(Followed("cvt.u64.u32 %rd1, %r0; ld.relaxed.gpu.global.u32 %r1, [%rd1];").decides());
  EXPECT_FALSE(Followed("cvt.u64.u32 %rd1, %r0; ld.global.u32 %r1, [%rd1];").decides());
}

TEST(ValueFlow, WhatAtomicsAreGivenComesOutOfThem) {
  Followed f("atom.shared.max.u32 %r1, [s], %r0; st.shared.u32 [s+4], %r1;");
  EXPECT_FALSE(f.decides());
  EXPECT_THAT(f.stored(), ElementsAre(1U, 2U));
}

TEST(ValueFlow, ThroughShufflesToOtherLanes) {
  Followed f("shfl.sync.idx.b32 %r1|%p0, %r0, 0, 31, -1; st.shared.u32 [s], %r1;");
  EXPECT_FALSE(f.decides());
  EXPECT_THAT(f.stored(), ElementsAre(2U));
  EXPECT_TRUE(Followed("shfl.sync.idx.b32 %r1, %r2, 0, 31, %r0;").decides()); // who comes
  EXPECT_TRUE(Followed("bar.sync %r0;").decides());
}

TEST(ValueFlow, ThroughTheCarry) {
  Followed f("add.cc.u32 %r1, %r0, %r2; addc.u32 %r3, %r4, 0; st.shared.u32 [s], %r3;");
  EXPECT_FALSE(f.decides());
  EXPECT_THAT(f.stored(), ElementsAre(3U));
}

// Local memory is one object: what is stored there anywhere may be read anywhere.
std::string in_local(const std::string& body, const std::string& decides) {
  return ".local .b8 l[16]; " + body + " setp.eq.u32 %p0, " + decides + ", 7; @%p0 ret;";
}

TEST(ValueFlow, ThroughLocalMemory) {
  const auto decides = [](const std::string& body, const std::string& by = "%r1") {
    return Followed(in_local(body, by)).decides();
  };
  const std::string load = "ld.local.u32 %r1, [l+4];";
  EXPECT_TRUE(decides("st.local.u32 [l], %r0;" + load));
  EXPECT_TRUE(decides(load + "st.local.v2.u32 [l], {%r2, %r0};")); // in the next round
  EXPECT_TRUE(decides("st.local.u32 [l], %r0; ld.local.v2.u32 {%r2, %r1}, [l];"));
  EXPECT_TRUE(decides("cvt.u64.u32 %rd1, %r0; st.local.u32 [%rd1], 1;" + load));     // where
  EXPECT_TRUE(decides("setp.eq.u32 %p1, %r0, 3; @%p1 st.local.u32 [l], 1;" + load)); // whether
  EXPECT_TRUE(decides("setp.eq.u32 %p1, %r0, 3; @%p1 bra Meet; st.local.u32 [l], 1; Meet:" + load));
  EXPECT_TRUE(
      decides("st.local.u32 [l], %r0; ld.local.u32 %r2, [l]; st.local.u32 [l], %r2;" + load)
  );
  EXPECT_FALSE(decides("st.local.u32 [l], %r0;" + load, "%r2"));
  EXPECT_FALSE(decides("st.local.u32 [l], %r2;" + load));
  EXPECT_FALSE(decides("st.global.u32 [%rd3], %r0;" + load));
}

TEST(ValueFlow, ThroughLocalMemoryByGenericAddresses) {
  const auto decides = [](const std::string& body) {
    return Followed(in_local(body, "%r1")).decides();
  };
  const std::string to = "mov.u64 %rd1, l; cvta.local.u64 %rd1, %rd1;";
  const std::string shared = "mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2;";
  const std::string load = "ld.local.u32 %r1, [l];";
  EXPECT_TRUE(decides(to + "st.u32 [%rd1], %r0;" + load));
  EXPECT_TRUE(decides(to + "st.local.u32 [l], %r0; ld.u32 %r1, [%rd1];"));
  EXPECT_TRUE(decides("st.u32 [%rd3], %r0;" + load)); // who knows where that is
  EXPECT_TRUE(decides(to + shared + "selp.b64 %rd1, %rd1, %rd2, %p1; st.u32 [%rd1], %r0;" + load));
  EXPECT_FALSE(decides(shared + "st.u32 [%rd2], %r0;" + load));
  EXPECT_FALSE(decides(shared + "st.local.u32 [l], %r0; ld.u32 %r1, [%rd2];"));
  // Without local memory a generic address leads elsewhere.
  EXPECT_FALSE(
      Followed("st.u32 [%rd3], %r0; ld.u32 %r1, [%rd2]; setp.eq.u32 %p0, %r1, 7; @%p0 ret;")
          .decides()
  );
}

// Lanes that meet may stand at different instructions.
TEST(ValueFlow, ThroughCollectivesToLanesElsewhere) {
  const auto decides = [](const std::string& body, const std::string& by = "%r1") {
    return Followed(body + "setp.eq.u32 %p0, " + by + ", 7; @%p0 ret;").decides();
  };
  const std::string all = ", 31, -1;";
  EXPECT_TRUE(
      decides("shfl.sync.idx.b32 %r2, %r0, 0" + all + "shfl.sync.idx.b32 %r1, %r3, 0" + all)
  );
  EXPECT_TRUE(
      decides("shfl.sync.idx.b32 %r1, %r3, 0" + all + "shfl.sync.up.b32 %r2, %r0, 1" + all)
  );
  EXPECT_TRUE(
      decides("shfl.sync.idx.b32 %r2, %r3, %r0" + all + "shfl.sync.idx.b32 %r1, %r3, 0" + all)
  );
  EXPECT_TRUE(decides("match.any.sync.b32 %r2, %r0, -1; match.any.sync.b32 %r1, %r3, -1;"));
  EXPECT_TRUE(decides("redux.sync.add.u32 %r2, %r0, -1; redux.sync.add.u32 %r1, %r3, -1;"));
  const std::string odd = "setp.eq.u32 %p1, %r0, 3;";
  EXPECT_TRUE(
      decides(odd + "vote.sync.ballot.b32 %r2, %p1, -1; vote.sync.ballot.b32 %r1, %p2, -1;")
  );
  EXPECT_TRUE(
      Followed(odd + "vote.sync.any.pred %p0, %p1, -1; vote.sync.all.pred %p2, %p0, -1; @%p2 ret;")
          .decides()
  );
  EXPECT_FALSE(decides("shfl.sync.idx.b32 %r2, %r0, 0" + all + "redux.sync.add.u32 %r1, %r3, -1;"));
  EXPECT_FALSE(decides("redux.sync.add.u32 %r2, %r0, -1; redux.sync.add.u32 %r1, %r3, -1;", "%r3"));
}

// In functions that call each other it does not follow them.
TEST(ValueFlow, WhereOthersGoOnIsDecided) {
  const auto decides = [](const std::string& head, const std::string& body, std::size_t which) {
    const auto module = ptx::must_parse(
        ".version 9.0\n.target sm_100a\n.address_size 64\n" + head +
        "{ .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .local .b8 l[16];\n"
        "atom.global.add.u32 %r0, [%rd0], 1; " +
        body + " ret; }"
    );
    ValueFlow flow(*module->functions[which]);
    return flow.from(0).decides;
  };
  const std::string function = ".func f(.param .b64 a) ", entry = ".visible .entry k() ";
  const std::string calls = ".func f(.param .b64 a) { ret; } " + entry;
  const std::string shuffles = "shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;";
  const std::string stores = "st.local.u32 [l], %r0;";
  const std::string call = "{ .param .b64 a; st.param.b64 [a], %rd1; call f, (a); }";
  EXPECT_TRUE(decides(function, shuffles, 0));
  EXPECT_TRUE(decides(function, stores, 0));
  EXPECT_TRUE(decides(calls, shuffles + call, 1));
  EXPECT_TRUE(decides(calls, stores + call, 1));
  EXPECT_TRUE(decides(calls, "cvt.u64.u32 %rd1, %r0;" + call, 1));
  EXPECT_FALSE(decides(entry, shuffles + stores, 0));
  EXPECT_FALSE(decides(function, "st.global.u32 [%rd1], %r0;", 0));
  // A function of the library only prints what is there.
  const std::string prints =
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b); ";
  EXPECT_FALSE(decides(
      prints + entry,
      stores + "{ .param .b32 r; .param .b64 a; .param .b64 b; st.param.b64 [a], %rd1;"
               "st.param.b64 [b], %rd2; call (r), vprintf, (a, b); }",
      1
  ));
}

TEST(ValueFlow, ThroughBytes) {
  Followed f("prmt.b32 %r1, %r2, %r0, 0x7; prmt.b32 %r3, %r4, %r1, 0; st.shared.u32 [s], %r3;");
  EXPECT_FALSE(f.decides());
  EXPECT_THAT(f.stored(), ElementsAre(3U));
  EXPECT_TRUE(
      Followed("prmt.b32 %r1, %r2, %r3, %r0; setp.eq.u32 %p0, %r1, 7; @%p0 ret;").decides()
  );
}

} // namespace
} // namespace heddle::analysis

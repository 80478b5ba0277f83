#include "analysis/liveness.h"

#include "support/ptx_text.h"
#include <gmock/gmock.h>

namespace heddle::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Live {
public:
  explicit Live(const std::string& body, Liveness::Of of = Liveness::Of::Reads)
      : module_(
            ptx::must_parse(
                ptx::kernel(".reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<3>;\n" + body)
            )
        ),
        function_(*module_->functions[0]),
        cfg_(function_),
        live_(function_, cfg_, of) {}

  std::vector<std::string> before(std::uint32_t instruction) const {
    return names(live_.before(instruction));
  }
  std::vector<std::string> at_entry(std::uint32_t block) const {
    return names(live_.at_entry(block));
  }
  const Liveness& liveness() const { return live_; }
  const ptx::Function& function() const { return function_; }

private:
  std::vector<std::string> names(const BitVector& set) const {
    std::vector<std::string> result;
    set.each([&](std::size_t r) { result.push_back(function_.registers[r].name); });
    return result;
  }

  std::unique_ptr<ptx::Module> module_;
  const ptx::Function& function_;
  Cfg cfg_;
  Liveness live_;
};

TEST(Liveness, StraightLine) {
  Live l("mov.u32 %r0, 1; add.u32 %r1, %r0, %r2; st.global.u32 [%rd0+4], %r1; ret;");
  EXPECT_THAT(l.before(0), ElementsAre("%r2", "%rd0"));
  EXPECT_THAT(l.before(1), ElementsAre("%r0", "%r2", "%rd0"));
  EXPECT_THAT(l.before(2), ElementsAre("%r1", "%rd0"));
  EXPECT_THAT(l.before(3), IsEmpty());
  EXPECT_EQ(l.liveness().before_each()[1], l.liveness().before(1));
}

TEST(Liveness, UnusedIsWhatIsNotLiveBehindIt) {
  Live l(
      "mov.u32 %r0, 1; atom.global.add.u32 %r1, [%rd0], %r0; nanosleep.u32 %r1; st.global.u32 "
      "[%rd0], "
      "%r0; ret;",
      Liveness::Of::Effects
  );
  EXPECT_FALSE(l.liveness().unused().test(0));
  EXPECT_TRUE(l.liveness().unused().test(1));
  EXPECT_FALSE(l.liveness().idle().test(1)); // it updates
}

// A delay that grows up to a bound, and a count of rounds.
TEST(Liveness, OfEffects) {
  const std::string body =
      "Loop: nanosleep.u32 %r0; setp.lt.u32 %p0, %r0, 256; shl.b32 %r1, %r0, 1;\n"
      "selp.b32 %r0, %r1, %r0, %p0; add.u32 %r2, %r2, 1; ld.volatile.global.u32 %r3, [%rd0];\n"
      "setp.eq.u32 %p1, %r3, 0; @%p1 bra Loop; ret;";
  EXPECT_THAT(Live(body).before(0), ElementsAre("%r0", "%r2", "%rd0"));
  const Live effects(body, Liveness::Of::Effects);
  EXPECT_THAT(effects.before(0), ElementsAre("%rd0"));
  EXPECT_THAT(effects.before(6), ElementsAre("%r3", "%rd0"));
  EXPECT_EQ(effects.liveness().before_each()[6], effects.liveness().before(6));
  // Whether it sleeps depends on a clock, and on a count; what it has slept on a third register.
  const std::string sleeps =
      "Loop: setp.lt.s32 %p0, %r0, 16; @%p0 bra Count; mov.u64 %rd1, %clock64;\n"
      "sub.s64 %rd1, %rd1, %rd2; setp.lt.s64 %p1, %rd1, 40; @%p1 bra Meet; nanosleep.u32 9;\n"
      "bra Meet; Count: add.s32 %r0, %r0, 1;\n"
      "Meet: ld.volatile.global.u32 %r3, [%rd0]; setp.eq.u32 %p2, %r3, 0; @%p2 bra Loop; ";
  EXPECT_THAT(Live(sleeps + "ret;", Liveness::Of::Effects).before(0), ElementsAre("%rd0"));
  EXPECT_THAT(
      Live(sleeps + "st.global.u32 [%rd0], %r0; ret;", Liveness::Of::Effects).before(0),
      ElementsAre("%r0", "%rd0")
  );
  // Who goes round in between might not come out again.
  EXPECT_THAT(
      Live(
          "setp.lt.s32 %p0, %r0, 1; @%p0 bra Meet;\n"
          "Again: setp.lt.s32 %p1, %r1, 9; @%p1 bra Again; Meet: ret;",
          Liveness::Of::Effects
      )
          .before(0),
      ElementsAre("%r0", "%r1")
  );
  // A division by zero is no fault, a sum with a carry is more than its result.
  EXPECT_THAT(
      Live("div.u32 %r0, %r1, %r2; add.cc.u32 %r3, %r4, %r5; ret;", Liveness::Of::Effects)
          .before(0),
      ElementsAre("%r4", "%r5")
  );
}

// What only computes is left out wherever its opcode stands in the table, and so are hints; what
// may fault is not.
TEST(Liveness, OfEffectsOfAllThatComputes) {
  const auto live = [](const std::string& body) {
    return Live(body + " ret;", Liveness::Of::Effects).before(0);
  };
  EXPECT_THAT(live("prmt.b32 %r0, %r1, %r2, 0x5410;"), IsEmpty());
  EXPECT_THAT(live("vadd.u32.u32.u32 %r0, %r1, %r2;"), IsEmpty());
  EXPECT_THAT(live("prefetch.global.L2 [%rd0];"), IsEmpty());
  EXPECT_THAT(live("mapa.u64 %rd1, %rd0, %r1;"), ElementsAre("%r1", "%rd0"));
  EXPECT_THAT(live("ld.global.u32 %r0, [%rd0];"), ElementsAre("%rd0"));
}

TEST(Liveness, AroundALoop) {
  Live l(
      "mov.u32 %r0, 0; Loop: add.u32 %r0, %r0, %r1; setp.lt.u32 %p0, %r0, 9; @%p0 bra Loop;\n"
      "st.global.u32 [%rd0], %r0; ret;"
  );
  EXPECT_THAT(l.at_entry(1), ElementsAre("%r0", "%r1", "%rd0"));
  EXPECT_THAT(l.before(3), ElementsAre("%p0", "%r0", "%r1", "%rd0"));
  EXPECT_THAT(l.at_entry(2), ElementsAre("%r0", "%rd0"));
}

TEST(Liveness, GuardedWriteKeepsTheOldValue) {
  Live l("@%p0 mov.u32 %r0, 1; st.global.u32 [%rd0], %r0; ret;");
  EXPECT_THAT(l.before(0), ElementsAre("%p0", "%r0", "%rd0"));
}

TEST(Liveness, VectorsPairsAndPredicates) {
  Live l(
      "ld.global.v2.u32 {%r0, _}, [%rd0]; setp.eq.u32 %p0|%p1, %r0, 1;\n"
      "mov.b64 %rd1, {%r0, %r1}; @!%p1 st.global.u64 [%rd0], %rd1; ret;"
  );
  EXPECT_THAT(l.before(0), ElementsAre("%r1", "%rd0"));
  EXPECT_THAT(l.before(1), ElementsAre("%r0", "%r1", "%rd0"));
  EXPECT_THAT(l.before(2), ElementsAre("%p1", "%r0", "%r1", "%rd0"));
  EXPECT_THAT(l.before(3), ElementsAre("%p1", "%rd0", "%rd1"));
}

TEST(Liveness, StoresAndBarriersReadTheirFirstOperand) {
  Live l("bar.sync %r0, %r1; red.global.add.u32 [%rd0], %r2; nanosleep.u32 %r3; ret;");
  EXPECT_THAT(l.before(0), ElementsAre("%r0", "%r1", "%r2", "%r3", "%rd0"));
}

TEST(Liveness, ReturnValuesInRegisters) {
  auto module = ptx::must_parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".func (.reg .b32 result) f(.reg .b32 a, .reg .b32 unused)\n"
      "{ add.u32 result, a, 1; ret; }\n"
  );
  const ptx::Function& f = *module->functions[0];
  Cfg cfg(f);
  Liveness live(f, cfg);
  EXPECT_TRUE(live.at_entry(0).test(1)); // a
  EXPECT_FALSE(live.at_entry(0).test(0));
  EXPECT_TRUE(live.before(1).test(0));
}

TEST(BitVector, UniteAndSubtract) {
  BitVector a(130);
  BitVector b(130);
  a.set(0);
  a.set(129);
  b.set(64);
  EXPECT_TRUE(a.unite(b));
  EXPECT_FALSE(a.unite(b));
  EXPECT_EQ(a.count(), 3U);
  a.subtract(b);
  EXPECT_FALSE(a.test(64));
  std::vector<std::size_t> members;
  a.each([&](std::size_t i) { members.push_back(i); });
  EXPECT_THAT(members, ElementsAre(0, 129));
}

// What a store of data writes, and where, is not live; whether it is executed is.
TEST(Liveness, OfDecisions) {
  const auto module = ptx::must_parse(
      ptx::kernel(
          ".reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<3>;\n"
          "ld.global.u32 %r0, [%rd0]; ld.global.u32 %r1, [%rd0+4]; ld.volatile.global.u32 %r2, "
          "[%rd0+8];\n"
          "setp.eq.u32 %p0, %r1, 0; add.u32 %r3, %r0, 1; @%p0 st.global.u32 [%rd1], %r3; ret;"
      )
  );
  const ptx::Function& function = *module->functions[0];
  const Cfg cfg(function);
  BitVector stores(function.body.size());
  const auto live_at_entry = [&] {
    std::vector<std::string> names;
    Liveness(function, cfg, stores).at_entry(0).each([&](std::size_t r) {
      names.push_back(function.registers[r].name);
    });
    return names;
  };
  EXPECT_THAT(live_at_entry(), ElementsAre("%rd0", "%rd1"));
  stores.set(5);
  EXPECT_THAT(live_at_entry(), ElementsAre("%rd0"));
  const BitVector idle = Liveness(function, cfg, stores).idle();
  // The load of data and the addition; not the load of the guard, nor the volatile one.
  std::vector<std::size_t> found;
  idle.each([&](std::size_t n) { found.push_back(n); });
  EXPECT_THAT(found, ElementsAre(0, 4));
}

} // namespace
} // namespace heddle::analysis

#include "ptx/liveness.h"

#include "helpers.h"
#include <gmock/gmock.h>

namespace heddle::ptx {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Live {
public:
  explicit Live(const std::string& body)
      : module_(
            must_parse(kernel(".reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<3>;\n" + body))
        ),
        function_(*module_->functions[0]),
        cfg_(function_),
        live_(function_, cfg_) {}

  std::vector<std::string> before(std::uint32_t instruction) const {
    return names(live_.before(instruction));
  }
  std::vector<std::string> at_entry(std::uint32_t block) const {
    return names(live_.at_entry(block));
  }
  const Liveness& liveness() const { return live_; }
  const Function& function() const { return function_; }

private:
  std::vector<std::string> names(const BitVector& set) const {
    std::vector<std::string> result;
    set.each([&](std::size_t r) { result.push_back(function_.registers[r].name); });
    return result;
  }

  std::unique_ptr<Module> module_;
  const Function& function_;
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
  auto module = must_parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".func (.reg .b32 result) f(.reg .b32 a, .reg .b32 unused)\n"
      "{ add.u32 result, a, 1; ret; }\n"
  );
  const Function& f = *module->functions[0];
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

} // namespace
} // namespace heddle::ptx

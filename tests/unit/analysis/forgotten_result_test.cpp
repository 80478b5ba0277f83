#include "analysis/forgotten_result.h"

#include "support/ptx_text.h"

namespace heddle::analysis {
namespace {

/// A barrier that is made of memory; `opens` is what the last thread does, `behind` what all do.
bool forgets(const std::string& opens, const std::string& behind) {
  const auto module = ptx::must_parse(
      ptx::kernel(
          ".reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<3>;\n"
          "atom.or.acq_rel.cta.b32 %r1, [%rd1], 1; setp.eq.u32 %p1, %r1, 2; @%p1 bra full;\n"
          "wait: ld.acquire.cta.u32 %r2, [%rd1]; and.b32 %r3, %r2, 1; setp.ne.u32 %p2, %r3, 0;\n"
          "@%p2 bra wait; bra.uni over;\n"
          "full: " +
          opens + "\nover: " + behind + " ret;"
      )
  );
  const ptx::Function& function = *module->functions[0];
  return forgets_result(function, Cfg(function), 0);
}

const std::string open = "red.and.relaxed.cta.b32 [%rd1], 0xfffffffc;";

TEST(ForgottenResult, whoever_comes_last_opens_and_goes_on_like_the_others) {
  EXPECT_TRUE(forgets(open, "st.global.u32 [%rd2], %r4;"));
}

TEST(ForgottenResult, what_was_found_is_read_behind) {
  EXPECT_FALSE(forgets(open, "st.global.u32 [%rd2], %r1;"));
  EXPECT_FALSE(forgets(open, "st.global.u32 [%rd2], %r2;"));
}

TEST(ForgottenResult, the_last_one_leaves_a_mark) {
  EXPECT_FALSE(forgets(std::string("mov.u32 %r4, 1; ") + open, "st.global.u32 [%rd2], %r4;"));
  EXPECT_FALSE(forgets(std::string("st.global.u32 [%rd2], 1; ") + open, ""));
  EXPECT_FALSE(forgets(std::string("red.relaxed.gpu.add.u32 [%rd2], 1; ") + open, ""));
}

TEST(ForgottenResult, the_place_is_another_one) {
  EXPECT_FALSE(forgets("add.u64 %rd1, %rd1, 4; red.and.relaxed.cta.b32 [%rd1], 0;", ""));
}

TEST(ForgottenResult, the_last_one_ends) {
  EXPECT_FALSE(forgets(std::string(open) + " ret;", "st.global.u32 [%rd2], %r4;"));
}

TEST(ForgottenResult, the_last_one_goes_round) {
  const std::string computes =
      "round: xor.b32 %r5, %r5, 2; setp.ne.u32 %p2, %r5, 0; @%p2 bra round;";
  const std::string asks =
      "ask: ld.acquire.cta.u32 %r2, [%rd1]; setp.ne.u32 %p2, %r2, 0; @%p2 bra ask;";
  EXPECT_FALSE(forgets(computes + open, ""));
  EXPECT_FALSE(forgets(open + computes, ""));
  EXPECT_FALSE(forgets(open + asks, "")); // whom does it wait for?
  EXPECT_TRUE(forgets(asks, ""));         // that is the barrier's wait
  EXPECT_FALSE(forgets("next: red.and.relaxed.cta.b32 [%rd1], 0; bra next;", ""));
  EXPECT_TRUE(forgets(std::string("xor.b32 %r5, %r5, 2;") + open, ""));
}

// A loop that only computes within one that waits.
TEST(ForgottenResult, a_round_of_the_wait_need_not_end) {
  EXPECT_FALSE(forgets(
      "out: ld.acquire.cta.u32 %r2, [%rd1]; in: xor.b32 %r5, %r5, 2; setp.ne.u32 %p2, %r5, 0;"
      "@%p2 bra in; setp.ne.u32 %p2, %r2, 0; @%p2 bra out;",
      ""
  ));
}

TEST(ForgottenResult, the_last_one_fails_or_is_seen) {
  EXPECT_FALSE(forgets(std::string("trap; ") + open, ""));
  EXPECT_FALSE(forgets(std::string("bar.sync 0; ") + open, ""));
  EXPECT_FALSE(forgets(std::string("suld.b.1d.b32.trap %r5, [%rd2, {%r4}]; ") + open, ""));
}

} // namespace
} // namespace heddle::analysis

#include "analysis/forgotten_answer.h"

#include "support/ptx_text.h"

namespace heddle::analysis {
namespace {

/// A main loop that looks at its next stage: instruction 0 asks, and `waits` is done if the answer
/// was no. Then comes `behind`.
ForgottenAnswers answers_of(
    const std::string& waits,
    const std::string& behind = "",
    const std::string& meanwhile = "mbarrier.arrive.shared.b64 _, [%r3];"
) {
  const auto module = ptx::must_parse(
      ptx::kernel(
          ".reg .pred %p<5>; .reg .b32 %r<9>; .reg .b64 %rd<3>;\n"
          "mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2; selp.u32 %r4, 1, 0, %p1;\n" +
          meanwhile + "\nsetp.ne.u32 %p2, %r4, 0; @%p2 bra over;\n" + waits + "\nover: " + behind +
          " ret;"
      )
  );
  return ForgottenAnswers(*module->functions[0]);
}
constexpr const char* waits_for_it =
    "again: mbarrier.try_wait.parity.shared.b64 %p3, [%r1], %r2; @!%p3 bra again;";

TEST(ForgottenAnswer, it_says_only_whether_to_wait) {
  const ForgottenAnswers answers = answers_of(waits_for_it, "st.global.u32 [%rd2], %r2;");
  EXPECT_TRUE(answers.forgotten(0));
  EXPECT_TRUE(answers.may_skip(5));
  EXPECT_FALSE(answers.forgotten(5)); // that is the loop that waits
  EXPECT_FALSE(answers.may_skip(0));
  EXPECT_TRUE(answers_of("", "").forgotten(0)); // or nothing at all
}

TEST(ForgottenAnswer, it_is_read_behind) {
  EXPECT_FALSE(answers_of(waits_for_it, "st.global.u32 [%rd2], %r4;").forgotten(0));
  EXPECT_FALSE(answers_of(waits_for_it, "", "st.global.u32 [%rd2], %r4;").forgotten(0));
}

TEST(ForgottenAnswer, one_side_leaves_a_mark) {
  EXPECT_FALSE(answers_of("add.u32 %r5, %r5, 1;", "st.global.u32 [%rd2], %r5;").forgotten(0));
  EXPECT_FALSE(answers_of("st.global.u32 [%rd2], 1;").forgotten(0));
  EXPECT_FALSE(answers_of("ld.global.u32 %r5, [%rd2];").forgotten(0));
  EXPECT_FALSE(answers_of("mbarrier.arrive.shared.b64 _, [%r3];").forgotten(0));
  EXPECT_FALSE(answers_of("mov.u64 %rd1, %clock64;").forgotten(0));
  EXPECT_FALSE(answers_of("ret;").forgotten(0));
}

TEST(ForgottenAnswer, a_mark_that_only_decides_the_same_again) {
  EXPECT_TRUE(
      answers_of("add.u32 %r5, %r5, 1;", "setp.eq.u32 %p3, %r5, 0; @%p3 bra end; end:").forgotten(0)
  );
  EXPECT_FALSE(answers_of(
                   "add.u32 %r5, %r5, 1;",
                   "setp.eq.u32 %p3, %r5, 0; @%p3 bra end; st.global.u32 [%rd2], 1; end:"
  )
                   .forgotten(0));
}

TEST(ForgottenAnswer, it_goes_into_a_question) {
  EXPECT_FALSE(
      answers_of("", "mbarrier.test_wait.parity.shared.b64 %p3, [%r1], %r4;").forgotten(0)
  );
}

TEST(ForgottenAnswer, a_question_is_asked_if_it_was_yes) {
  EXPECT_FALSE(answers_of(
                   "bra over; yes: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], %r2;",
                   "",
                   "setp.eq.u32 %p4, %r4, 1; @%p4 bra yes;"
  )
                   .forgotten(0));
  EXPECT_FALSE(answers_of(waits_for_it, "", "xor.b32 %r4, %r4, 1;").forgotten(0)); // who knows
}

TEST(ForgottenAnswer, another_question_comes_before_it_is_forgotten) {
  const std::string asks = "mbarrier.try_wait.parity.shared.b64 %p3, [%r3], %r2;";
  EXPECT_FALSE(answers_of(waits_for_it, "", asks).forgotten(0));
  EXPECT_TRUE(answers_of(waits_for_it, asks).forgotten(0));
}

TEST(ForgottenAnswer, it_is_asked_for_until_it_is_yes) {
  const auto module = ptx::must_parse(
      ptx::kernel(
          ".reg .pred %p<3>; .reg .b32 %r<4>;\n"
          "again: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2; @!%p1 bra again; ret;"
      )
  );
  EXPECT_FALSE(ForgottenAnswers(*module->functions[0]).forgotten(0));
}

TEST(ForgottenAnswer, it_goes_round_a_loop_before_it_is_used) {
  const auto module = ptx::must_parse(
      ptx::kernel(
          ".reg .pred %p<5>; .reg .b32 %r<9>;\n"
          "mov.u32 %r4, 0;\n"
          "next: setp.ne.u32 %p2, %r4, 0; @%p2 bra over;\n"
          "again: mbarrier.try_wait.parity.shared.b64 %p3, [%r1], %r2; @!%p3 bra again;\n"
          "over: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r3; selp.u32 %r4, 1, 0, %p1;\n"
          "mbarrier.arrive.shared.b64 _, [%r6];\n"
          "add.u32 %r5, %r5, 1; setp.lt.u32 %p4, %r5, 9; @%p4 bra next; ret;"
      )
  );
  const ForgottenAnswers answers(*module->functions[0]);
  EXPECT_TRUE(answers.forgotten(5));
  EXPECT_TRUE(answers.may_skip(3));
  EXPECT_FALSE(answers.forgotten(3));
}

// Whichever side it takes, the thread comes to where they meet.
TEST(ForgottenAnswer, a_side_goes_round) {
  const std::string computes =
      "round: xor.b32 %r5, %r5, 2; setp.ne.u32 %p3, %r5, 0; @%p3 bra round;";
  const std::string if_yes = "setp.ne.u32 %p4, %r4, 0; @!%p4 bra next;" + computes + "next:";
  EXPECT_FALSE(answers_of(waits_for_it, if_yes).forgotten(0));
  EXPECT_FALSE(answers_of(computes).forgotten(0));
  EXPECT_FALSE(answers_of(std::string(waits_for_it) + computes).forgotten(0));
  EXPECT_FALSE(answers_of(computes + waits_for_it).forgotten(0));
  // … or forever, or a second one.
  EXPECT_FALSE(answers_of("round: bra round;").forgotten(0));
  EXPECT_FALSE(answers_of("setp.eq.u32 %p3, %r2, 7; @%p3 bra other; bra over; other: bra other;")
                   .forgotten(0));
  // The same without a loop.
  EXPECT_TRUE(
      answers_of("setp.ne.u32 %p3, %r2, 0; @%p3 bra over; xor.b32 %r5, %r5, 2;").forgotten(0)
  );
}

TEST(ForgottenAnswer, only_a_yes_ends_the_loop_that_waits) {
  const std::string asks = "again: mbarrier.try_wait.parity.shared.b64 %p3, [%r1], %r2;";
  EXPECT_TRUE(answers_of(asks + "selp.u32 %r5, 1, 0, %p3; setp.eq.u32 %p3, %r5, 0; @%p3 bra again;")
                  .forgotten(0));
  EXPECT_TRUE(answers_of(asks + "@%p3 bra over; bra again;").forgotten(0));
  EXPECT_TRUE(answers_of(asks + "@%p3 bra over; nanosleep.u32 20; bra again;").forgotten(0));
  EXPECT_FALSE(answers_of(asks + "@%p3 bra again;").forgotten(0)); // as long as it is yes
  EXPECT_FALSE(answers_of(asks + "bra again;").forgotten(0));
  EXPECT_FALSE(answers_of(asks + "setp.eq.u32 %p3, %r2, 7; @!%p3 bra again;").forgotten(0));
  EXPECT_FALSE(answers_of(asks + "setp.eq.or.u32 %p3, %r2, 7, %p3; @!%p3 bra again;").forgotten(0));
  EXPECT_FALSE(answers_of( // of another question
                   asks + "mbarrier.try_wait.parity.shared.b64 %p4, [%r3], %r2; @!%p3 bra again;"
  )
                   .forgotten(0));
}

TEST(ForgottenAnswer, a_side_does_what_others_see) {
  for (const std::string side :
       {"trap;",
        "brkpt;",
        "bar.sync 0;",
        "membar.gl;",
        "st.local.u32 [%rd1], 1;",
        "exit;",
        "red.shared.add.u32 [%r3], 1;",
        "activemask.b32 %r5;",
        "vote.sync.any.pred %p3, %p1, -1;"}) {
    EXPECT_FALSE(answers_of(side).forgotten(0)) << side;
  }
}

} // namespace
} // namespace heddle::analysis

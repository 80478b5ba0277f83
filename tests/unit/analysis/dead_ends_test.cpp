#include "analysis/dead_ends.h"

#include "support/ptx_text.h"
#include <gmock/gmock.h>

namespace heddle::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::uint32_t> reads(const std::string& body) {
  const auto module =
      ptx::must_parse(ptx::kernel(".reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<3>;\n" + body));
  const ptx::Function& function = *module->functions[0];
  return reads_before_dead_ends(function, Cfg(function));
}

TEST(DeadEnds, a_read_that_was_moved_out_of_its_loop) {
  EXPECT_THAT(
      reads(
          "ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2]; add.u32 %r3, %r1, 1;\n"
          "setp.eq.u32 %p1, %r3, 1; @%p1 bra over; st.global.u32 [%rd1], %r2; ret;\n"
          "over: bra.uni over;"
      ),
      ElementsAre(0)
  );
}

TEST(DeadEnds, stores_that_may_reach_such_a_read) {
  const auto module = ptx::must_parse(
      ptx::kernel(
          ".reg .b32 %r<3>; .reg .b64 %rd<3>;\n"
          "ld.global.u32 %r1, [%rd1]; st.global.u64 [%rd1], %rd2; st.global.f32 [%rd1], %r1;\n"
          "st.shared.u32 [%r1], %r2; ret;"
      )
  );
  EXPECT_THAT(stores_like(*module->functions[0], {0}), ElementsAre(2));
  EXPECT_THAT(stores_like(*module->functions[0], {}), IsEmpty());
}

TEST(DeadEnds, what_the_loop_does_matters_not) {
  EXPECT_THAT(
      reads(
          "ld.global.u32 %r1, [%rd1]; setp.ne.u32 %p1, %r1, 0; @%p1 bra end;\n"
          "over: nanosleep.u32 5; ld.volatile.global.u32 %r2, [%rd2]; bra over;\n"
          "end: ret;"
      ),
      ElementsAre(0)
  );
}

TEST(DeadEnds, loops_that_have_a_way_out_are_none) {
  EXPECT_THAT(
      reads("over: ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra over; ret;"),
      IsEmpty()
  );
}

} // namespace
} // namespace heddle::analysis

// Real PTX under the rules, as the engine runs it.
#include "simt/lockstep.h"

#include "support/kernel_runner.h"
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::simt {
namespace {

using test::KernelRunner;
using testing::HasSubstr;

std::string kernel(const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 out) {\n"
         ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
         "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4;\n"
         "add.u64 %rd1, %rd0, %rd1;\n" +
         body + "}\n";
}

machine::EngineOptions in_lockstep(LockstepOptions options = {}) {
  machine::EngineOptions engine;
  engine.workers = 1;
  engine.warp_rules = lockstep(std::move(options));
  return engine;
}

TEST(Lockstep, VotesSeeWhoIsTogether) { // [SIMT-DIVERGE] [SIMT-RECONVERGE] on PTX
  KernelRunner runner(
      kernel(
          "setp.lt.u32 %p0, %r0, 5; @%p0 bra Low;\n"
          "activemask.b32 %r1; bra.uni Join;\n"
          "Low: activemask.b32 %r1;\n"
          "Join: activemask.b32 %r2; xor.b32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1; ret;\n"
      ),
      in_lockstep()
  );
  const auto out = runner.buffer<std::uint32_t>(32);
  const auto outcome = runner.launch("k", {.grid = {1}, .block = {32}}, {out.address});
  ASSERT_FALSE(outcome.fault) << outcome.error;
  EXPECT_EQ(out[0], ~0x1fU) << "the low lanes alone, then all";
  EXPECT_EQ(out[9], 0x1fU);
}

TEST(Lockstep, ATraceNamesTheRules) {
  std::string trace;
  LockstepOptions options;
  options.trace_steps = 100;
  options.trace = [&trace](const std::string& line) { trace += line + "\n"; };
  KernelRunner runner(
      kernel(
          "setp.lt.u32 %p0, %r0, 5; @%p0 bra Out; mov.u32 %r1, 1; add.u32 %r1, %r1, 1;\n"
          "Out: st.global.u32 [%rd1], %r0; ret;\n"
      ),
      in_lockstep(std::move(options))
  );
  const auto out = runner.buffer<std::uint32_t>(32);
  runner.launch("k", {.grid = {1}, .block = {32}}, {out.address});
  EXPECT_THAT(trace, HasSubstr("SIMT-DIVERGE      0000001f"));
  EXPECT_THAT(trace, HasSubstr("SIMT-RECONVERGE   ffffffe0"));
  EXPECT_THAT(trace, HasSubstr("SIMT-EXIT         ffffffff"));
}

} // namespace
} // namespace heddle::simt

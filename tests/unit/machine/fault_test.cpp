// Device faults: kind, thread, address and place are exactly those of the faulting access.
#include "support/kernel_runner.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace heddle {
namespace {

using test::KernelRunner;

/// A kernel in which thread 5 executes `body` with %rd2 = out; others do nothing.
KernelRunner::Outcome
run_fault(std::string_view body, std::string_view variables = "", std::uint64_t extra = 0) {
  KernelRunner runner(
      fmt::format(
          ".version 9.0\n.target sm_90\n.address_size 64\n"
          ".visible .entry k(.param .u64 out, .param .u64 extra)\n{{\n{}\n"
          ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
          "ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [extra]; mov.u32 %r1, %tid.x;\n"
          "setp.ne.u32 %p1, %r1, 5; @%p1 bra END;\n{}\nEND: ret;\n}}\n",
          variables,
          body
      )
  );
  auto out = runner.buffer<std::uint32_t>(16);
  return runner.launch("k", {.grid = {2}, .block = {8}}, {out.address, extra});
}

TEST(Fault, GlobalOutOfBounds) {
  const auto result = run_fault("st.global.u32 [%rd2+64], %r1;");
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->fault.kind, isa::FaultKind::OutOfBounds);
  EXPECT_EQ(result.fault->thread.x, 5U);
  EXPECT_TRUE(result.fault->fault.store);
  ASSERT_TRUE(result.fault->nearest);
  EXPECT_EQ(result.fault->fault.address, result.fault->nearest->base + 64);
  EXPECT_NE(result.fault->instruction.find("st.global.u32"), std::string::npos);
}

TEST(Fault, LastBytesStraddleTheEnd) {
  EXPECT_FALSE(run_fault("ld.global.u64 %rd5, [%rd2+56];").fault);
  EXPECT_TRUE(run_fault("ld.global.u64 %rd5, [%rd2+64];").fault);
}

TEST(Fault, Misaligned) {
  const auto result = run_fault("ld.global.u32 %r2, [%rd2+2];");
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->fault.kind, isa::FaultKind::Misaligned);
}

TEST(Fault, Null) {
  const auto result = run_fault("ld.u32 %r2, [%rd3];");
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->fault.kind, isa::FaultKind::Null);
}

TEST(Fault, HostMemoryThatIsNotRegistered) {
  static int value = 0;
  const auto result = run_fault("ld.u32 %r2, [%rd3];", "", reinterpret_cast<std::uint64_t>(&value));
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->fault.kind, isa::FaultKind::HostMemory);
}

TEST(Fault, WildAddressIsNobodysMemory) {
  const auto result = run_fault("ld.u32 %r2, [%rd3];", "", 0x2100'0000'0000ULL);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->fault.kind, isa::FaultKind::OutOfBounds);
}

TEST(Fault, SharedOutOfBounds) {
  const auto result = run_fault("st.shared.u32 [s+16], %r1;", ".shared .align 4 .b8 s[16];");
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->fault.kind, isa::FaultKind::OutOfBounds);
}

TEST(Fault, LocalOutOfBounds) {
  const auto result = run_fault("st.local.u32 [a+16], %r1;", ".local .align 4 .b8 a[16];");
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->fault.kind, isa::FaultKind::OutOfBounds);
}

TEST(Fault, StoreToConstant) {
  const auto result = run_fault("st.u32 [%rd3], %r1;");
  ASSERT_TRUE(result.fault);
}

TEST(Fault, Trap) {
  const auto result = run_fault("trap;");
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->fault.kind, isa::FaultKind::Trap);
}

} // namespace
} // namespace heddle
